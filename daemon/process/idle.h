/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Idle: something has been so for a while, such as that there is nothing to do
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Idle {
        uint64_t usec;
        bool (*ask)(
                void *userdata); /* whether it is so now: after every event, so it must be cheap */
        void (*reached)(
                void *userdata); /* it has been for @usec without a break, and again after as long */
        void *userdata;
        sd_event_source *post, *timer; /* its own, as the next */
        bool is_idle;
} Idle;

/* @i: filled by the caller.  idle_done() it.  0 or -errno. */
int idle_init(Idle *i, sd_event *event);
void idle_done(Idle *i);
