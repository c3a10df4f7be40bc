/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * ClockWatch: tells at once when the clock on the wall was set, or the host woke up
 *
 * Without polling: a timer that never expires and is cancelled by the kernel when CLOCK_REALTIME
 * jumps (TFD_TIMER_CANCEL_ON_SET; linux 6.1 fs/timerfd.c, timerfd_clock_was_set(), and
 * timerfd_resume() after a sleep).
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct ClockWatch ClockWatch;
typedef void (*ClockStepped)(void *userdata);

int clock_watch_new(ClockWatch **ret, sd_event *event, ClockStepped stepped, void *userdata);
ClockWatch *clock_watch_free(ClockWatch *w);
DEFINE_CLEANUP(ClockWatch *, clock_watch_free);
