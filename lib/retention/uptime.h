/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Uptime: how long the host of a store has run, all boots together
 *
 * The clock on the wall may be set to any time, so nobody's age is taken from it.  This one is
 * CLOCK_BOOTTIME and what earlier boots came to, as far as anybody wrote it down: it never goes back, and
 * stands still while the host is off.  STORE/uptime has one line:
 *
 *      ID NS BOOT_ID BOOTTIME_NS
 *
 * ID: 16 hex digits that no other store has, for a recording that is moved to another store has an age of
 * that one's uptime.
 */

#include <stdint.h>

#define UPTIME_ID_CHARS 16
#define UPTIME_BOOT_ID_CHARS 36
/* Of a new store, so that what is older than it has a time as well: 100 years. */
#define UPTIME_BEGIN_NS (36525ULL * 86400 * 1000000000)

typedef struct Uptime {
        char id[UPTIME_ID_CHARS + 1];
        char boot_id[UPTIME_BOOT_ID_CHARS + 1]; /* uptime_boot_id() */
        uint64_t before_ns;                     /* all earlier boots */
} Uptime;

/* What is written in the store, or a new one if that is nothing that one can read.  0 or -errno. */
int uptime_load(Uptime *ret, int store_fd);
int uptime_save(const Uptime *u, int store_fd);
uint64_t uptime_now(const Uptime *u);
/* At that CLOCK_BOOTTIME of this boot. */
uint64_t uptime_at(const Uptime *u, uint64_t boottime_ns);
/* What the clock on the wall will show at @uptime_ns, or showed, unless somebody sets it. */
uint64_t uptime_to_realtime(const Uptime *u, uint64_t uptime_ns);

/* Of this boot, as in /proc/sys/kernel/random/boot_id; "" if it cannot be read. */
void uptime_boot_id(char ret[static UPTIME_BOOT_ID_CHARS + 1]);
