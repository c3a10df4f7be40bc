/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timer that runs while it is so, and begins anew after every break. */

#include <time.h>

#include "daemon/process/idle.h"

#define ACCURACY_USEC 100000

struct Idle {
        uint64_t usec;
        IdleAsk ask;
        IdleReached reached;
        void *userdata;
        sd_event_source *post, *timer;
        bool is_idle;
};

static int on_post(sd_event_source *source, void *userdata) {
        Idle *i = userdata;
        bool is_idle = i->ask(i->userdata);

        if (is_idle == i->is_idle)
                return 0;
        i->is_idle = is_idle;
        if (is_idle)
                (void) sd_event_source_set_time_relative(i->timer, i->usec);
        return sd_event_source_set_enabled(i->timer, is_idle ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Idle *i = userdata;

        i->is_idle = false; /* on_post() looks whether it still is */
        if (i->ask(i->userdata))
                i->reached(i->userdata);
        return 0;
}

int idle_new(Idle **ret, sd_event *event, uint64_t usec, IdleAsk ask, IdleReached reached,
             void *userdata) {
        _cleanup_(idle_freep) Idle *i = NEW(Idle, .usec = usec, .ask = ask, .reached = reached,
                                            .userdata = userdata, .is_idle = ask(userdata));
        int r;

        if (!i)
                return -ENOMEM;
        r = sd_event_add_time_relative(event, &i->timer, CLOCK_MONOTONIC, usec,
                                       MIN(usec / 10 + 1, (uint64_t) ACCURACY_USEC), on_time, i);
        if (r >= 0 && !i->is_idle)
                r = sd_event_source_set_enabled(i->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_post(event, &i->post, on_post, i);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(i);
        return 0;
}

Idle *idle_free(Idle *i) {
        if (!i)
                return NULL;
        (void) sd_event_source_disable_unref(i->post);
        (void) sd_event_source_disable_unref(i->timer);
        return mfree(i);
}
