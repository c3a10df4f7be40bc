/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A timer and a learning pass, one after the other. */

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-lean.h"
#include "daemon/watch/learning-pass.h"

#define SESSION_LEARN_US (UINT64_C(10) * 1000000)
#define SESSION_LEARN_MAX_US (UINT64_C(3600) * 1000000)

struct SessionLean {
        SessionLeanConfig config;
        sd_event_source *timer;
        uint64_t us;                 /* that it is set to next */
        LearningPass *learning_pass; /* goes on after the end */
        bool has_ended;
};

int session_lean_new(SessionLean **ret, const SessionLeanConfig *config) {
        SessionLean *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->config = *config;
        *ret = l;
        return 0;
}

SessionLean *session_lean_free(SessionLean *l) {
        if (!l)
                return NULL;
        (void) sd_event_source_disable_unref(l->timer);
        (void) learning_pass_free(l->learning_pass);
        return mfree(l);
}

static bool is_recording(const SessionLean *l) {
        return !l->has_ended && l->config.meta->state == SESSION_RECORDING;
}

static int set_timer(SessionLean *l);

/* A task. */
static void take_learning_pass(void *userdata) {
        SessionLean *l = userdata;

        l->config.learned(l->config.userdata);
        if (l->config.meta->learns && is_recording(l))
                (void) set_timer(l);
}

static void on_learning_pass(int error, void *userdata) {
        SessionLean *l = userdata;

        l->learning_pass = learning_pass_free(l->learning_pass);
        l->config.changed(l->config.userdata);
        if (!is_recording(l))
                return;
        if (error < 0)
                (void) set_timer(l);
        else if (background_run(l->config.background, take_learning_pass, l) < 0)
                take_learning_pass(l); /* the loop waits */
}

static void look(SessionLean *l) {
        const SessionLeanConfig *c = &l->config;
        int r;

        if (l->learning_pass)
                return;
        r = learning_pass_start(&l->learning_pass, c->event, c->background, c->controller, c->dir,
                                c->meta, tracer_quiet(c->tracer), on_learning_pass, l);
        if (r < 0 && r != -ENODATA)
                (void) log_warning_errno(r, "Session '%s': cannot learn what it calls: %m",
                                         c->meta->name);
        if (r < 0 && is_recording(l))
                (void) set_timer(l);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->timer = sd_event_source_disable_unref(l->timer);
        look(l);
        return 0;
}

static int set_timer(SessionLean *l) {
        uint64_t us = l->us;

        l->us = MIN(2 * us, SESSION_LEARN_MAX_US);
        l->timer = sd_event_source_disable_unref(l->timer);
        return sd_event_add_time_relative(l->config.event, &l->timer, CLOCK_MONOTONIC, us, 0,
                                          on_timer, l);
}

int session_lean_begin(SessionLean *l) {
        if (!l->config.meta->learns || l->timer || l->learning_pass)
                return 0;
        l->us = SESSION_LEARN_US;
        return set_timer(l);
}

void session_lean_end(SessionLean *l, bool has_calls) {
        l->timer = sd_event_source_disable_unref(l->timer);
        if (l->config.meta->learns && has_calls)
                look(l);
        l->has_ended = true;
}

bool session_lean_is_busy(const SessionLean *l) {
        return l && l->learning_pass;
}
