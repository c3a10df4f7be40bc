/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A dry run is arming with a plan that is only kept and a ledger that is only in memory.  Since
 * that ledger then holds what the real one would, the way back can be read from it, in the order
 * of ledger_undo().
 */

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

/* Our tracer in @dir. */
static int plan_stop(Plan *p, const char *dir) {
        const char *tracer = TRACEFS_PATH("%scurrent_tracer", dir);
        _cleanup_free_ char *now = NULL;
        int r = plan_read(p, tracer, &now);

        if (r < 0 || !streq(now, "function_graph"))
                return MIN(r, 0);
        return put_back(p, TRACEFS_PATH("%stracing_on", dir), "0") ?: put_back(p, tracer, "nop");
}

enum { TURN_STOP, TURN_FILES, TURN_INSTANCES, TURN_TRACERS, _TURN_N };

static int plan_turn(Plan *p, const LedgerRecord *e, int turn) {
        _cleanup_free_ char *line = NULL;
        bool is_ours = e->kind == LEDGER_FILE && ledger_is_tracer(e->file);

        if (turn == TURN_STOP && is_ours)
                return plan_stop(
                        p, TRACEFS_PATH("%.*s", (int) (basename(e->file) - e->file), e->file));
        if (turn == TURN_STOP && e->kind == LEDGER_INSTANCE)
                return plan_stop(p, TRACEFS_PATH("%s/", e->file));
        if (turn == TURN_INSTANCES && e->kind == LEDGER_INSTANCE)
                return plan_step(p, PLAN_RMDIR, e->file, NULL, NULL, NULL);
        if ((turn == TURN_FILES && e->kind == LEDGER_FILE && !is_ours) ||
            (turn == TURN_TRACERS && e->kind == LEDGER_TRACER))
                return put_back(p, e->file, e->old);
        if (turn != TURN_FILES || e->kind != LEDGER_LINE)
                return 0;
        line = ledger_line_out(e);
        return line ? plan_step(p, PLAN_LINE, e->file, NULL, line, NULL) : -ENOMEM;
}

/* What ledger_undo() does for @session. */
static int plan_undo(Plan *p, const char *session) {
        const Ledger *l = p->ledger;
        int r = 0;

        for (int turn = 0; turn < _TURN_N; turn++)
                for (size_t i = 0; r >= 0 && i < l->n; i++) {
                        const LedgerRecord *e = &l->records[turn == TURN_STOP ? i : l->n - 1 - i];

                        if (streq(e->session, session))
                                r = plan_turn(p, e, turn);
                }
        return r;
}

static int rehearse(Tracer *t, Plan *p, size_t *ret_n_arm, SessionMeta *m, Admission *a,
                    Refusal *refusal) {
        const char *file;
        int r = tracer_attach_notifiers(t, p, m, &a->roots, &a->threads, refusal)
                        ?: tracer_make_values(t, p, m, a, refusal);

        if (r > 0)
                return r;
        r = r ?: tracer_program(t, m, a, p, &file) ?: tracer_fill_meta(t, m, a);
        if (r >= 0 && !controller_waits_for_start(&m->spec))
                r = instance_plan_recording(&t->instance, p, true);
        r = r ?: tracer_plan_switches(t, p, m);
        *ret_n_arm = p->n;
        /* What tracer_end() does. */
        r = r ?: plan_undo(p, t->claim->session);
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
        r = ledger_new_dry(&dry, &c->fs, NULL)
                    ?: controller_admit(c, &a, m, force, true, refusal)
                    ?: tracer_prepare(c, &t, m, a, refusal);
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
