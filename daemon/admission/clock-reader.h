/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Clock readers: functions with which the kernel reads the trace clock
 *
 * The clock `mono` reads the clock source.  read_tsc() and the hypervisors' clocks cannot be
 * traced, but read_hpet() and acpi_pm_read() can: each event's time stamp is then an event of its
 * own, and where an interrupt meets one the protection against recursion drops others
 * (calls/census.c).  Seen on 7.2 with the HPET: 38,193 of 49,851 entries were read_hpet(), and 27
 * returns were missing; no kernel counts them as lost.  So they go into the session's set_ftrace_notrace.
 *
 * Source: linux 6.12 arch/x86/kernel/hpet.c, drivers/clocksource/acpi_pm.c, kernel/time/jiffies.c.
 */

#include "base/array.h"
#include "daemon/admission/functions.h"
#include "daemon/tracefs/tracefs.h"

/* Adds those of the clock source in use that can be traced here; none is the rule.  0 or -errno. */
int clock_reader_find(const Tracefs *fs, const Functions *f, Strv *ret);
