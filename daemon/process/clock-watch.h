/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * ClockWatch: tells at once when the clock on the wall was set, or the host woke up
 *
 * Without polling: a timer that never expires and is cancelled by the kernel when CLOCK_REALTIME
 * jumps (TFD_TIMER_CANCEL_ON_SET; linux 6.1 fs/timerfd.c, timerfd_clock_was_set(), and
 * timerfd_resume() after a sleep).
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

/* @handler asks clock_watch_has_stepped() of its descriptor.  0 or -errno. */
int clock_watch_new(sd_event_source **ret, sd_event *event, sd_event_io_handler_t handler,
                    void *userdata);
bool clock_watch_has_stepped(int fd);
