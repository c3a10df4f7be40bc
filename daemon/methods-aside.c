/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Methods that take their time, or wait for who does: the rest of such a call is a task beside the loop
 * (daemon/aside.h), an errand.  One errand at a time is among the tasks, and the next is another user's
 * if any waits, so that nobody's start stands behind all that somebody else has asked for.
 */

#include "base/log.h"
#include "daemon/methods-private.h"

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
        free(e);
        return NULL;
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
                log_error_errno(r, "A call of process %i failed: %m",
                                (int) server_call_pid(e->call));
                r = refusal_set(&refusal, REFUSAL_SYSTEM_ERROR, json_pack("{s:i}", "errno", -r),
                                "that failed: %s", strerror(-r));
        }
        if (r == REFUSED)
                (void) server_call_refuse(e->call, &refusal);
}

/* Takes one out of the list: the first that is not @uid's, or the first. */
static Errand *take_next(Methods *m, uid_t uid) {
        Errand **at = &m->errands, *e;

        while (*at && server_call_uid((*at)->call) == uid)
                at = &(*at)->next;
        if (!*at)
                at = &m->errands;
        e = *at;
        *at = e->next;
        return e;
}

/* A task. */
static void run_one(void *userdata) {
        Methods *m = userdata;
        _cleanup_(errand_freep) Errand *e = take_next(m, m->errand_uid);

        m->errand_uid = server_call_uid(e->call);
        errand_run(e);
        if (m->errands && aside_run(m->aside, run_one, m) >= 0)
                return;
        m->errand_runs = false;
}

int methods_run_aside(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run) {
        Errand *e = malloc(sizeof(*e)), **end = &m->errands;
        int r = 0;

        if (!e)
                return -ENOMEM;
        *e = (Errand){ .methods = m,
                       .call = server_call_ref(call),
                       .parameters = json_incref(parameters),
                       .run = run };
        while (*end)
                end = &(*end)->next;
        *end = e;
        if (TAKE(m->errand_runs, true))
                return 0;
        r = aside_run(m->aside, run_one, m);
        if (r < 0)
                m->errand_runs = false; /* the next call begins with this one */
        return 0;
}

void methods_drop_errands(Methods *m) {
        while (m->errands) {
                Errand *e = m->errands;

                m->errands = e->next;
                (void) errand_free(e);
        }
}
