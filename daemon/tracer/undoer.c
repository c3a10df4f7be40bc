/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timer that runs while something is left; whether it is, is asked after every event. */

#include <time.h>

#include "daemon/tracer/undoer.h"

#define INTERVAL_USEC 5000000
#define ACCURACY_USEC 1000000

struct Undoer {
        Controller *controller;
        Background *background;
        sd_event_source *post, *timer;
        bool is_busy;
};

static int on_post(sd_event_source *source, void *userdata) {
        Undoer *u = userdata;
        bool is_busy = !background_is_busy(u->background) && controller_owes(u->controller);

        if (is_busy == u->is_busy)
                return 0;
        u->is_busy = is_busy;
        if (is_busy)
                (void) sd_event_source_set_time_relative(u->timer, INTERVAL_USEC);
        return sd_event_source_set_enabled(u->timer, is_busy ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Undoer *u = userdata;

        u->is_busy = false; /* on_post() looks what is left */
        if (!background_is_busy(u->background))
                controller_try_again(u->controller);
        return 0;
}

int undoer_new(Undoer **ret, sd_event *event, Controller *controller, Background *background) {
        _cleanup_(undoer_freep) Undoer *u =
                NEW(Undoer, .controller = controller, .background = background);
        int r;

        if (!u)
                return -ENOMEM;
        r = sd_event_add_time_relative(event, &u->timer, CLOCK_MONOTONIC, INTERVAL_USEC,
                                       ACCURACY_USEC, on_time, u);
        if (r >= 0)
                r = sd_event_source_set_enabled(u->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_post(event, &u->post, on_post, u);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(u);
        return 0;
}

bool undoer_is_busy(const Undoer *u) {
        return u && u->is_busy;
}

Undoer *undoer_free(Undoer *u) {
        if (!u)
                return NULL;
        (void) sd_event_source_disable_unref(u->post);
        (void) sd_event_source_disable_unref(u->timer);
        return mfree(u);
}
