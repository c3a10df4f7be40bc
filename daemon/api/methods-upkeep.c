/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What takes a while for the store's sake is done by others (daemon/api/janitor.h, daemon/upkeep/sealer.h), bit
 * by bit; the call is kept until they are done, and told meanwhile how far they are.
 */

#include "daemon/api/janitor.h"
#include "daemon/api/methods-private.h"
#include "daemon/upkeep/sealer.h"

void methods_set_janitor(Methods *m, Janitor *janitor) {
        m->janitor = janitor;
}

int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        RetainLimits l = {};
        Methods *m = userdata;
        bool dry_run;
        int r = parameter_get_number(parameters, "max_bytes", &l.max_use_bytes, refusal);

        if (r == 0)
                r = parameter_get_number(parameters, "max_age_ns", &l.max_age_ns, refusal);
        if (r == 0)
                r = parameter_get_number(parameters, "max_sessions", &l.max_sessions, refusal);
        if (r == 0)
                r = parameter_get_boolean(parameters, "dry_run", &dry_run, refusal);
        if (r != 0)
                return r;
        if (!l.max_use_bytes && !l.max_age_ns && !l.max_sessions)
                l = vacuum_limits(m->limits);
        return janitor_vacuum(m->janitor, call, &l, dry_run);
}

/* --- sealing ---------------------------------------------------------------------------------- */

struct Sealing {
        Sealing *next;
        ServerCall *call;
        char *session;
        size_t n_total; /* files, once they are counted */
};

static Sealing *sealing_free(Sealing *s) {
        if (!s)
                return NULL;
        (void) server_call_unref(s->call);
        free(s->session);
        return mfree(s);
}
DEFINE_CLEANUP(Sealing *, sealing_free);

void methods_set_sealer(Methods *m, Sealer *sealer) {
        m->sealer = sealer;
}

void methods_drop_sealings(Methods *m) {
        for (Sealing *s; (s = POP(m->sealings));)
                (void) sealing_free(s);
}

static int refuse_full(Refusal *refusal, const Methods *m, const char *session, const char *why) {
        return refusal_set_errno(
                refusal, ENOSPC,
                "session '%s' cannot be sealed: %s in %s; it stays as it is and is tried "
                "again every minute",
                session, why, store_path(m->store));
}

static int refuse_failed(Refusal *refusal, const char *session, size_t n_failed, const char *why) {
        return refusal_set_errno(
                refusal, EIO,
                "%zu segment%s of session '%s' could not be sealed and stay%s as %s: %s; "
                "see the journal of ftraced",
                n_failed, n_failed == 1 ? "" : "s", session, n_failed == 1 ? "s" : "",
                n_failed == 1 ? "it is" : "they are", why);
}

static void sealing_tell(Sealing *s, bool is_known, size_t n_left) {
        if (!is_known || !server_call_wants_more(s->call))
                return;
        s->n_total = MAX(s->n_total, n_left);
        (void) server_call_continue(s->call, json_pack("{s:{s:I, s:I}}", "progress", "done",
                                                       (json_int_t) (s->n_total - n_left), "total",
                                                       (json_int_t) s->n_total));
}

/* What is to be said now; whether that was the last reply. */
static bool sealing_answer(Sealing *s, Methods *m) {
        _cleanup_refusal_ Refusal refusal = {};
        const char *why;
        bool is_known;
        int r;
        size_t n_failed, n_left = sealer_n_left(m->sealer, s->session, &is_known);
        Session *session = sessions_find(m->sessions, s->session);

        if (!server_call_is_connected(s->call))
                return true;
        n_failed = n_left == 0 ? sealer_n_failed(m->sealer, s->session, &why) : 0;
        if (n_failed > 0 && session)
                r = refuse_failed(&refusal, s->session, n_failed, why);
        else if (n_left == 0 && session)
                r = parameter_reply(s->call, "session", session_to_json(session));
        else if (n_left > 0 && sealer_is_full(m->sealer, &why))
                r = refuse_full(&refusal, m, s->session, why);
        else if (!session)
                r = refusal_set_of(&refusal, REFUSAL_SESSION_NOT_FOUND, "session", s->session,
                                   "session '%s' was removed meanwhile", s->session);
        else {
                sealing_tell(s, is_known, n_left);
                return false;
        }
        if (r == REFUSED)
                (void) server_call_refuse(s->call, &refusal);
        return true;
}

void methods_sealer_moved(Methods *m, const char *session) {
        for (Sealing **at = &m->sealings; *at;) {
                Sealing *s = *at;

                if ((!session || streq(s->session, session)) && sealing_answer(s, m)) {
                        *at = s->next;
                        (void) sealing_free(s);
                } else
                        at = &s->next;
        }
}

int method_seal(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(sealing_freep) Sealing *s = NULL;
        Methods *m = userdata;
        Session *session;
        int r = methods_get_session(m, parameters, &session, refusal);

        if (r != 0)
                return r;
        if (session_is_live(session))
                return methods_refuse_live(refusal, session);
        if (!m->sealer)
                return refusal_set_of(refusal, REFUSAL_NOT_SUPPORTED, "what", "sealing",
                                      "a private daemon seals nothing; the service does");
        s = calloc(1, sizeof(*s));
        if (!s || !(s->session = strdup(session_name(session))))
                return -ENOMEM;
        r = sealer_add_session(m->sealer, s->session);
        if (r < 0)
                return r;
        sealer_retry(m->sealer); /* somebody may have made room since */
        s->call = server_call_ref(call);
        s->next = m->sealings;
        m->sealings = TAKE_PTR(s);
        return 0;
}
