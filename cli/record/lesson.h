/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lesson: which functions a SOURCE saw, to hook these
 *
 * A recording of another host serves as well, or what another tracer made: names count, and those that the kernel
 * of the daemon does not have are left out.
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"

/* Adds names to @ret, sorted, each once; an exit status. */
int lesson_read(Strv *ret, const Options *o, Client *c, const char *source);
