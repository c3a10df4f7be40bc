/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Later: the same command, by a timer of systemd's (start --at, --in)
 *
 * A transient timer, which is gone after the next boot; a schedule (cli/schedule/schedule.h) is not.
 */

#include <stdbool.h>

#include "cli/options/options.h"

bool later_is_wanted(const Options *o);
/* Checks what is to be recorded, makes the timer, and prints its name; an exit status. */
int later_start(const Options *o);
