/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A dry run is arming with a plan that is only kept and a ledger that is only in memory.  Since
 * that ledger then holds what the real one would, the way back can be read from it, in the order
 * of ledger_undo().
 */

#include "daemon/tracefs/control.h"
#include "daemon/tracer/controller-private.h"

/* @file is to say @value again, unless it does. */
static int put_back(Plan *p, const char *file, const char *value) {
        _cleanup_free_ char *now = NULL;
        int r = plan_read(p, file, &now);

        if (r == -ENOENT)
                return 0;
        if (r < 0 || control_equal(file, now, value))
                return r;
        return plan_step(p, PLAN_SET, file, NULL, value, NULL);
}

static int plan_stop(Plan *p, const LedgerRecord *e) {
        const char *dir = e->kind == LEDGER_INSTANCE
                                  ? TRACEFS_PATH("%s/", e->file)
                                  : TRACEFS_PATH("%.*s", (int) (basename(e->file) - e->file),
                                                 e->file),
                   *tracer = TRACEFS_PATH("%scurrent_tracer", dir);
        _cleanup_free_ char *now = NULL;
        int r;

        if (e->kind != LEDGER_INSTANCE && (e->kind != LEDGER_FILE || !ledger_is_tracer(e->file)))
                return 0;
        r = plan_read(p, tracer, &now);
        if (r < 0 || !streq(now, "function_graph"))
                return MIN(r, 0);
        r = put_back(p, TRACEFS_PATH("%stracing_on", dir), "0");
        return r < 0 ? r : put_back(p, tracer, "nop");
}

static int plan_file(Plan *p, const LedgerRecord *e) {
        _cleanup_free_ char *line = NULL;

        if (e->kind == LEDGER_FILE && !ledger_is_tracer(e->file))
                return put_back(p, e->file, e->old);
        if (e->kind != LEDGER_LINE)
                return 0;
        line = ledger_line_out(e);
        return line ? plan_step(p, PLAN_LINE, e->file, NULL, line, NULL) : -ENOMEM;
}

static int plan_instance(Plan *p, const LedgerRecord *e) {
        return e->kind == LEDGER_INSTANCE ? plan_step(p, PLAN_RMDIR, e->file, NULL, NULL, NULL) : 0;
}

static int plan_tracer(Plan *p, const LedgerRecord *e) {
        return e->kind == LEDGER_TRACER ? put_back(p, e->file, e->old) : 0;
}

/* What ledger_undo() does for @session. */
static int plan_undo(Plan *p, const char *session) {
        static int (*const turns[])(Plan * p, const LedgerRecord *e) = { plan_stop, plan_file,
                                                                         plan_instance,
                                                                         plan_tracer };
        const Ledger *l = p->ledger;
        int r = 0;

        for (size_t k = 0; k < ELEMENTSOF(turns); k++)
                for (size_t i = 0; r >= 0 && i < l->n; i++) {
                        const LedgerRecord *e = &l->records[k == 0 ? i : l->n - 1 - i];

                        if (streq(e->session, session))
                                r = turns[k](p, e);
                }
        return r;
}

static int rehearse(Tracer *t, Plan *p, size_t *ret_n_arm, SessionMeta *m, Admission *a,
                    Refusal *refusal) {
        const char *file;
        int r = tracer_attach_notifiers(t, p, m, &a->roots, &a->threads, refusal);

        if (r == 0)
                r = tracer_make_values(t, p, m, a, refusal);
        if (r > 0)
                return r;
        if (r >= 0)
                r = tracer_program(t, m, a, p, &file);
        if (r >= 0)
                r = tracer_fill_meta(t, m, a);
        if (r >= 0 && !controller_waits_for_start(&m->spec))
                r = instance_plan_recording(&t->instance, p, true);
        if (r >= 0)
                r = tracer_plan_switches(t, p, m);
        *ret_n_arm = p->n;
        /* What tracer_end() does. */
        if (r >= 0)
                r = plan_undo(p, t->claim->session);
        if (r < 0)
                return r;
        return t->c->arbiter.n > 1 ? tracer_remove_roots(t, p) : plan_undo(p, LEDGER_SHARED);
}

int controller_rehearse(Controller *c, Plan *ret, size_t *ret_n_arm, SessionMeta *m, bool force,
                        Refusal *refusal) {
        _cleanup_(admission_freep) Admission *a = NULL;
        _cleanup_(ledger_freep) Ledger *dry = NULL;
        _cleanup_plan_ Plan plan = {};
        Tracer *t;
        int r;

        background_settle(c->background);
        r = ledger_new_dry(&dry, &c->fs, NULL);
        if (r >= 0)
                r = controller_ask(c, &a, m, force, true, refusal);
        if (r == 0)
                r = tracer_prepare(c, &t, m, a, refusal);
        if (r != 0)
                return r;
        plan = PLAN_INIT(dry, m->name);
        plan.is_dry = true;
        plan.shares_options = instance_shares_options(&c->fs);
        r = rehearse(t, &plan, ret_n_arm, m, a, refusal);
        plan.ledger = NULL;
        tracer_free(t);
        if (r == 0)
                *ret = TAKE(plan, (Plan){});
        return r;
}
