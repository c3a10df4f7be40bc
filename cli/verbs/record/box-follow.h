/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Following a black box
 *
 * Its pages stay in the kernel: whoever read them as they are would take away what a crash is to leave.  What the
 * kernel prints of them takes nothing, and is drawn as the text that it is.
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"

/* Until session @name ends, somebody wants us to (@signal_fd, cli/terminal/signals.h), or nobody reads; an exit status.
 * @ret_ended: the session has. */
int box_follow(const Options *o, Client *c, const char *name, int signal_fd, bool *ret_ended);
