/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Methods that take their time, or wait for who does: the rest of such a call is a task beside the loop
 * (daemon/process/background.h), an errand.  One errand at a time is among the tasks, and the next is another user's
 * if any waits, so that nobody's start stands behind all that somebody else has asked for.  The loop comes
 * round between two of them: who has to wait until tasks have ended (background_settle()) waits for one.
 */

#include "base/log.h"
#include "daemon/api/api.h"

#define TELL_US 500000

struct Errand {
        Errand *next;
        Methods *methods;
        ServerCall *call;
        json_t *parameters;
        ServerMethodHandler run;
};

static Errand *errand_free(Errand *e) {
        if (!e)
                return NULL;
        (void) server_call_unref(e->call);
        json_decref(e->parameters);
        return mfree(e);
}
DEFINE_CLEANUP(Errand *, errand_free);

/* As the server does with a method that runs at once. */
static void errand_run(Errand *e) {
        _cleanup_refusal_ Refusal refusal = {};
        int r;

        if (!server_call_is_connected(e->call))
                return;
        r = e->run(e->call, e->parameters, &refusal, e->methods);
        if (r < 0) {
                log_error_errno(r, "A call of process %i failed: %m", (int) e->call->who.pid);
                r = refusal_set_errno(&refusal, -r, "that failed: %s", origin_report(r));
        }
        if (r == REFUSED)
                (void) server_call_refuse(e->call, &refusal);
}

/* Takes one out of the list: the first that is not @uid's, or the first; NULL: there is none. */
static Errand *take_next(Methods *m, uid_t uid) {
        Errand **at = &m->errands;

        while (*at && (*at)->call->who.uid == uid)
                at = &(*at)->next;
        if (!*at)
                at = &m->errands;
        return POP(*at);
}

/* A task. */
static void run_one(void *userdata) {
        Methods *m = userdata;
        _cleanup_(errand_freep) Errand *e = take_next(m, m->errand_uid);

        if (e) { /* its caller has not left while it stood behind other tasks */
                m->errand_uid = e->call->who.uid;
                m->errand_call = e->call->wants_more ? e->call : NULL;
                (void) sd_event_source_set_time_relative(m->errand_tick, TELL_US);
                (void) sd_event_source_set_enabled(m->errand_tick, SD_EVENT_ONESHOT);
                errand_run(e);
                m->errand_call = NULL;
        }
        m->errand_runs = false;
        if (m->errands)
                (void) sd_event_source_set_enabled(m->errand_turn, SD_EVENT_ONESHOT);
}

static void begin_one(Methods *m) {
        if (m->errands && !TAKE(m->errand_runs, true))
                background_run(m->background, run_one, m);
}

static int on_turn(sd_event_source *source, void *userdata) {
        begin_one(userdata);
        return 0;
}

/* While a start waits for the kernel to compare names, it tells how far that is. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        Methods *m = userdata;
        uint64_t done, total;

        if (!m->errand_call || !server_call_is_connected(m->errand_call))
                return 0;
        if (controller_progress(m->controller, &done, &total))
                (void) server_call_continue(m->errand_call, json_pack("{s:{s:I, s:I}}", "progress",
                                                                      "done", (json_int_t) done,
                                                                      "total", (json_int_t) total));
        (void) sd_event_source_set_time_relative(source, TELL_US);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int methods_init(Methods *m) {
        int r = sd_event_add_defer(m->event, &m->errand_turn, on_turn, m);

        if (r >= 0)
                r = sd_event_source_set_enabled(m->errand_turn, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &m->errand_tick, CLOCK_MONOTONIC, 0, 0,
                                               on_tick, m);
        return r < 0 ? r : sd_event_source_set_enabled(m->errand_tick, SD_EVENT_OFF);
}

int methods_run_aside(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run) {
        Errand *e = NEW(Errand, .methods = m, .call = server_call_ref(call),
                        .parameters = json_incref(parameters), .run = run),
               **end = &m->errands;

        if (!e)
                return -ENOMEM;
        while (*end)
                end = &(*end)->next;
        *end = e;
        begin_one(m);
        return 0;
}

/* What is counted of a call (daemon/server/quota.c) is its connection's, so it does not outlive that. */
void methods_drop_errands(Methods *m, bool all) {
        for (Errand **at = &m->errands; *at;) {
                _cleanup_(errand_freep) Errand *e = NULL;
                _cleanup_refusal_ Refusal refusal = {};

                if (!all && server_call_is_connected((*at)->call)) {
                        at = &(*at)->next;
                        continue;
                }
                e = POP(*at);
                (void) refusal_set_errno(&refusal, ECANCELED,
                                         "the daemon was stopped while this waited for its turn");
                (void) server_call_refuse(e->call, &refusal);
        }
}
