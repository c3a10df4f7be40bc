/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timer that runs while it is so, and begins anew after every break. */

#include <time.h>

#include "base/cleanup.h"
#include "daemon/process/idle.h"

#define ACCURACY_USEC 100000

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

int idle_init(Idle *i, sd_event *event) {
        int r = sd_event_add_time_relative(event, &i->timer, CLOCK_MONOTONIC, i->usec,
                                           MIN(i->usec / 10 + 1, (uint64_t) ACCURACY_USEC), on_time,
                                           i);

        i->is_idle = i->ask(i->userdata);
        if (r >= 0 && !i->is_idle)
                r = sd_event_source_set_enabled(i->timer, SD_EVENT_OFF);
        return r < 0 ? r : sd_event_add_post(event, &i->post, on_post, i);
}

void idle_done(Idle *i) {
        i->post = sd_event_source_disable_unref(i->post);
        i->timer = sd_event_source_disable_unref(i->timer);
}
