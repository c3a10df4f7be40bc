/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Summary: what is said of a session in a line
 *
 * Pure functions from metadata to words; strings that came from elsewhere are
 * made fit for a terminal (base/name.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/unit.h"
#include "meta/brief.h"
#include "meta/meta.h"

#define SUMMARY_MAX 256
#define SUMMARY_SILENCE_MAX 1024

/* "udp_sendmsg, udp_recvmsg", or "udp_sendmsg and 12 others" beyond @max characters.  What was
 * asked for where nothing is known yet. */
char *summary_roots(char text[static SUMMARY_MAX], const SessionMeta *m, size_t max);
char *summary_brief_roots(char text[static SUMMARY_MAX], const Brief *b, size_t max);
/* "2026-11-21 09:12:04", local time; "-" for 0. */
char *summary_time(char text[static SUMMARY_MAX], uint64_t realtime_ns);
/* "229,543"; "-" if it is not known. */
char *summary_events(char text[static UNIT_TEXT_MAX], const SessionMeta *m);
/* Whether its times are drawn as the numbers that they are: trace-cmd prints those of a clock that
 * does not count nanoseconds so.  The kernel's own drawing takes them for nanoseconds.  @m may be NULL,
 * of a text. */
bool summary_has_ticks(const SessionMeta *m);
/* "1234.567890", of that many digits behind the point, or "414492044876". */
char *summary_moment(char text[static SUMMARY_MAX], const SessionMeta *m, uint64_t ns,
                     unsigned n_digits);
/* The @i-th of its clock_steps: "2026-11-21 09:12:04, the clock was set forward by 1h 0min", by the new time. */
char *summary_clock_step(char text[static SUMMARY_MAX], const SessionMeta *m, size_t i);
/* The state's name; "degraded" of a live session that something is wrong with, "limited" of one that
 * a limit ended. */
const char *summary_state(const SessionMeta *m);
const char *summary_brief_state(const Brief *b);
/* What was not hooked, and so is part of its callers' time, and the command that records it (calls/unhooked.h);
 * nothing if there is nothing to say. */
void summary_hooked(Buf *out, const SessionMeta *m);
/* Why there are no calls (meta/silence.h), fit for a terminal. */
char *summary_silence(char text[static SUMMARY_SILENCE_MAX], const SessionMeta *m);

bool summary_is_complete(const SessionMeta *m);
/* "nothing lost", "2,646 events lost", "12 events and 1 page lost" */
char *summary_loss(char text[static SUMMARY_MAX], const SessionMeta *m);
/* What a ring has dropped and since when there is data; empty if it dropped nothing. */
char *summary_dropped(char text[static SUMMARY_MAX], const SessionMeta *m);
/* "CPU 3: 2,646 events lost from 10:42:03.120 to 10:42:03.310: the kernel's buffer was full", local
 * time.  All CPUs are not named. */
char *summary_gap(char text[static SUMMARY_MAX], const SessionMeta *m, const Gap *gap);
/* A line for each CPU that lost something, and what would have helped, "CPU 3: 2,646 events lost (buffer full);
 * --buffer-size=32M would have held them."; then the first gaps.  Where a CPU has one, that one line has both. */
void summary_loss_lines(Buf *out, const SessionMeta *m);
/* The size of buffer that would have held what @c lost, a power of two; 0: none up to 1 GiB, or
 * it did not lose for want of room. */
uint64_t summary_better_buffer(const SessionMeta *m, const CpuAccount *c);

/* The same, each in memory of its own until the end of the block. */
#define SUMMARY_ROOTS(m, max) summary_roots((char[SUMMARY_MAX]){}, (m), (max))
#define SUMMARY_BRIEF_ROOTS(b, max) summary_brief_roots((char[SUMMARY_MAX]){}, (b), (max))
#define SUMMARY_TIME(realtime_ns) summary_time((char[SUMMARY_MAX]){}, (realtime_ns))
#define SUMMARY_LOSS(m) summary_loss((char[SUMMARY_MAX]){}, (m))
#define SUMMARY_MOMENT(m, ns, n_digits) summary_moment((char[SUMMARY_MAX]){}, (m), (ns), (n_digits))
#define SUMMARY_CLOCK_STEP(m, i) summary_clock_step((char[SUMMARY_MAX]){}, (m), (i))
#define SUMMARY_SILENCE(m) summary_silence((char[SUMMARY_SILENCE_MAX]){}, (m))
#define SUMMARY_EVENTS(m) summary_events((char[UNIT_TEXT_MAX]){}, (m))
#define SUMMARY_GAP(m, gap) summary_gap((char[SUMMARY_MAX]){}, (m), (gap))
