/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prefix: what programs that pass lines on put before each of them
 *
 *      > > text                                    mails, Markdown
 *      <4>[  210.412454][ T123] text               printk, with the caller (CONFIG_PRINTK_CALLER)
 *      [Tue Nov 22 18:30:01 2026] text             dmesg -T
 *      kern  :warn  : [  210.412454] text          dmesg -x
 *      Nov 22 18:30:01 host kernel: text           syslog, journalctl
 *      2026-11-22T18:30:01.123456+00:00 host kernel: text
 *      6,1234,210412454,-;text                     /dev/kmsg, netconsole
 *
 * Each takes one blank with it, where its writer sets one; the rest is the line's.
 */

#include "import/scan.h"

/* All of them, one behind the other.  Whether there was any. */
bool prefix_skip(Scan *s);
/* One that may be some of a trace as well: a list's sign, a diff's, a line's number. */
bool prefix_skip_weak(Scan *s);
/* Up to a CPU's number, "0) ", and the time before it, whatever that is.  False: there is none. */
bool prefix_skip_unknown(Scan *s);
/* The same for texts of the same writer: letters and digits do not count, nor how many there are. */
uint32_t prefix_shape(const char *begin, const char *end);
