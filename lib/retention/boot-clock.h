/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Boot clock: whether the clock on the wall can be believed in this boot
 *
 * Ages are differences of CLOCK_REALTIME, which anybody may set.  Who sets it by more than a day makes all
 * recordings look old, or young, so that in such a boot nothing goes for its age.  STORE/clock has one line, of when
 * this boot was first seen in the store:
 *
 *      BOOT_ID NS              NS: CLOCK_REALTIME - CLOCK_BOOTTIME then
 */

#include <stdbool.h>

#define BOOT_ID_CHARS 36

/* As in /proc/sys/kernel/random/boot_id; "" if it cannot be read. */
void boot_id_read(char ret[static BOOT_ID_CHARS + 1]);
/* Who owns the store notes this boot, if that was not done yet. */
void boot_clock_note(int store_fd);
/* Since then; false if nobody noted it. */
bool boot_clock_was_set(int store_fd);
