/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What takes a while for the store's sake is done by others (daemon/janitor.h, daemon/sealer.h), bit
 * by bit; here the call is kept until they are done, and told meanwhile how far they are.  A caller
 * who hangs up wants no more of it: what was begun with a session is finished, and the next is left
 * alone.
 */

#include "base/log.h"
#include "daemon/janitor.h"
#include "daemon/methods-private.h"

typedef struct Asked {
        ServerCall *call;
        Methods *methods;
} Asked;

static json_t *progress_to_json(const VacuumProgress *p) {
        return json_pack("{s:{s:I, s:I, s:I, s:I}}", "progress", "done", (json_int_t) p->n_done,
                         "total", (json_int_t) p->n_total, "done_bytes",
                         (json_int_t) MIN(p->done_bytes, p->total_bytes), "total_bytes",
                         (json_int_t) p->total_bytes);
}

static bool on_progress(const VacuumProgress *p, void *userdata) {
        Asked *asked = userdata;
        json_t *reply;

        if (!server_call_is_connected(asked->call))
                return false;
        if (!server_call_wants_more(asked->call))
                return true;
        reply = progress_to_json(p);
        return !reply || server_call_continue(asked->call, reply, NULL, 0) >= 0;
}

static void on_vacuumed(const Vacuum *v, int error, void *userdata) {
        Asked *asked = userdata;
        json_t *reply = v ? vacuum_to_json(v) : NULL;

        if (v && !server_call_is_connected(asked->call))
                log_notice("A vacuum of uid %u was ended when its client left.",
                           (unsigned) server_call_uid(asked->call));
        if (reply)
                (void) server_call_reply(asked->call, reply, NULL, 0);
        else {
                _cleanup_refusal_ Refusal refusal = {};

                error = error < 0 ? -error : ENOMEM;
                if (refusal_set(&refusal, REFUSAL_SYSTEM_ERROR, json_pack("{s:i}", "errno", error),
                                "the sessions in %s cannot be looked at: %s",
                                store_path(asked->methods->store), strerror(error)) == REFUSED)
                        (void) server_call_refuse(asked->call, &refusal);
        }
        (void) server_call_unref(asked->call);
        free(asked);
}

int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        JanitorJob job = { .tell = on_progress, .done = on_vacuumed };
        RetainLimits *l = &job.limits;
        Methods *m = userdata;
        Asked *asked;
        int r;

        r = methods_get_number(parameters, "max_bytes", &l->max_use_bytes, refusal);
        if (r == 0)
                r = methods_get_number(parameters, "max_age_ns", &l->max_age_ns, refusal);
        if (r == 0)
                r = methods_get_number(parameters, "max_sessions", &l->max_sessions, refusal);
        if (r == 0)
                r = methods_get_boolean(parameters, "dry_run", &job.dry_run, refusal);
        if (r != 0)
                return r;
        if (!l->max_use_bytes && !l->max_age_ns && !l->max_sessions)
                *l = janitor_limits(m->limits);
        asked = malloc(sizeof(*asked));
        if (!asked)
                return -ENOMEM;
        *asked = (Asked){ .call = server_call_ref(call), .methods = m };
        job.userdata = asked;
        r = janitor_vacuum(m->janitor, &job);
        if (r < 0) {
                (void) server_call_unref(asked->call);
                free(asked);
        }
        return r;
}
