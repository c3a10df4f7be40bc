/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What an earlier daemon armed is in the kernel and in the ledger; the claim and the instance are
 * made again from session.json, and nothing is written.  Every question here has the answer "then
 * it ends": the ledger knows the way back whatever became of the session.
 */

#include "daemon/tracer/controller-private.h"

/* True if the ledger holds what arming @m put there first and disarming takes out last. */
static bool is_in_ledger(const Controller *c, const SessionMeta *m) {
        const char *path = m->instance ? TRACEFS_PATH("instances/%s%s", m->instance,
                                                      m->spec.black_box ? "/current_tracer" : "")
                                       : "current_tracer";

        return ledger_record_of(c->ledger, m->name, LEDGER_FILE, path, NULL);
}

/*
 * 1 if set_graph_function still has every root of @m.  One whose module has gone is an address
 * there (daemon/tracer/controller-arm.c, warn_of_addresses()).
 */
static int has_roots(const Controller *c, const SessionMeta *m) {
        _cleanup_strv_ Strv now = {};
        size_t n_missing = 0, n_addresses = 0;
        int r = control_read_list(c->fs.fd, GRAPH_FUNCTION, &now);

        if (r < 0)
                return r;
        for (size_t i = 0; i < now.n; i++)
                n_addresses += control_is_address(now.items[i]);
        for (size_t i = 0; i < m->roots.n; i++)
                n_missing += !strv_contains(&now, m->roots.items[i]);
        return n_missing <= n_addresses;
}

/* Whether nothing but the roots is hooked of one that waits for a trigger, or did so: the daemon may have
 * ended in the middle of changing that. */
static int look_at_hooks(Tracer *t, const SessionMeta *m) {
        _cleanup_strv_ Strv lines = {};
        int r;

        if (m->n_hooked > 0 || !controller_waits_for_start(&m->spec))
                return 0;
        r = instance_read_list(&t->instance, "set_ftrace_filter", &lines);
        t->waits = r >= 0 && lines.n > 0;
        return r;
}

static int tracer_adopt(Tracer *t, const SessionMeta *m, const char **ret_why) {
        Controller *c = t->c;
        _cleanup_strv_ Strv users = {};
        ClaimValues values = controller_claim_values(c, &m->spec);
        const Claim *holder;
        const char *what;
        int r;

        t->clock = strdup(m->clock);
        if (!t->clock)
                return -ENOMEM;
        r = instance_init(&t->instance, &c->fs, m->instance, m->spec.black_box && m->instance);
        if (r < 0)
                return r;
        if (m->instance && !m->spec.black_box &&
            !streq_ptr(startswith(m->instance, INSTANCE_PREFIX), m->name)) {
                *ret_why = "its instance has another name than this daemon would give";
                return CONTROLLER_E_GONE;
        }
        r = tracefs_find_graph_users(&c->fs, &users);
        if (r < 0)
                return r;
        if (!strv_contains(&users, t->instance.dir)) {
                *ret_why = "somebody has switched its tracer off meanwhile";
                return CONTROLLER_E_GONE;
        }
        r = arbiter_join(&c->arbiter, &t->claim, m->name, m->owner_uid, &m->roots, &m->notrace,
                         &values, &holder, &what);
        if (r == ARBITER_E_HELD) {
                *ret_why = "its settings conflict with another session's";
                return CONTROLLER_E_GONE;
        }
        if (r < 0)
                return r;
        t->claim->since_ns = m->start.realtime_ns;

        r = has_roots(c, m);
        if (r == 0)
                *ret_why = "somebody has changed set_graph_function meanwhile";
        return r < 0 ? r : look_at_hooks(t, m);
}

int controller_adopt(Controller *c, Tracer **ret, const SessionMeta *m, const char **ret_why) {
        Tracer *t;
        int r;

        *ret_why = NULL;
        if (c->fs.fd < 0) {
                *ret_why = "tracefs cannot be reached";
                return CONTROLLER_E_GONE;
        }
        if (!is_in_ledger(c, m)) {
                *ret_why = "what it had changed in the kernel has been undone, or is in no ledger "
                           "any more, or the host was started anew";
                return CONTROLLER_E_GONE;
        }
        t = NEW(Tracer, .c = c,
                .buffer_bytes = m->spec.black_box ? 0 : memory_of_buffers(&m->spec, 1));
        if (!t)
                return -ENOMEM;
        r = tracer_adopt(t, m, ret_why);
        if (r != 0) {
                tracer_free(t);
                return r;
        }
        t->next = c->tracers;
        c->generation++;
        c->tracers = t;
        c->has_instances = m->instance != NULL;
        *ret = t;
        return 0;
}
