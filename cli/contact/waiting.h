/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Waiting: a call of Start that may have to wait for its turn
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"

/*
 * waiting_start() - call Start with @parameters
 * @parameters: consumed, wait_ns among them
 * @wake_fd: of cli/terminal/signals.h: a signal ends the waiting; -EBADF: signals do what they do
 * @ret: the last reply
 *
 * Says on stderr what is waited for, and on a terminal since when.  An exit status.
 */
int waiting_start(json_t **ret, const Options *o, Client *c, json_t *parameters, int wake_fd);
