/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What triggers need of tracefs.  function_graph with recording off still runs its hooks (linux 6.12
 * kernel/trace/fgraph.c, function_graph_enter_regs(), which asks nobody), so what a session has
 * hooked while it waits is what it costs everybody: the lean set, or the roots alone where there is
 * none.
 */

#include "daemon/tracer/controller-private.h"

#define FEW_NAMES 2

/* The kernel by itself. */
static bool can_switch(const Trigger *t) {
        return t->kind == TRIGGER_FUNCTION || t->kind == TRIGGER_EVENT ||
               t->kind == TRIGGER_RETURN || t->kind == TRIGGER_SLOWER;
}

bool tracer_can_ring(const Trigger *t) {
        return can_switch(t) || t->kind == TRIGGER_COUNT;
}

int tracer_attach_notifiers(Tracer *t, Plan *p, const SessionMeta *m, const Strv *roots,
                            const Strv *threads, Refusal *refusal) {
        const Strv *rules = &m->spec.triggers;
        int r = 0;

        for (size_t i = 0; r == 0 && i < rules->n; i++) {
                _cleanup_trigger_ Trigger trigger = {};
                char why[TRIGGER_WHY_MAX];

                r = trigger_parse(&trigger, rules->items[i], why);
                if (r > 0)
                        return ORIGIN(-EINVAL); /* the spec's table has looked */
                if (r == 0 && tracer_can_ring(&trigger))
                        r = notifier_attach(p, i, &trigger, &t->c->functions, roots, threads,
                                            refusal);
        }
        return r == 0 && lean_counts_calls(&m->spec)
                       ? notifier_attach(p, rules->n, &(Trigger){ .kind = TRIGGER_COUNT },
                                         &t->c->functions, roots, &(Strv){}, refusal)
                       : r;
}

int tracer_switch_of(const Spec *spec, const Trigger *t) {
        if (!can_switch(t))
                return -1;
        if (t->does[TRIGGER_START])
                return 1;
        if (t->does[TRIGGER_SNAPSHOT])
                return spec->in_kernel && t->delay_ns[TRIGGER_SNAPSHOT] == 0 ? 0 : -1;
        return t->delay_ns[TRIGGER_STOP] == 0 ? 0 : -1;
}

/* Those of the rules that a session of @m listens to first. */
int tracer_plan_switches(const Tracer *t, Plan *p, const SessionMeta *m) {
        bool waits = controller_waits_for_start(&m->spec);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < m->spec.triggers.n; i++) {
                _cleanup_trigger_ Trigger trigger = {}, s = {};
                char why[TRIGGER_WHY_MAX];

                if (trigger_parse(&trigger, m->spec.triggers.items[i], why) != 0 ||
                    tracer_switch_of(&m->spec, &trigger) < 0 ||
                    trigger.does[TRIGGER_START] != waits)
                        continue;
                r = notifier_event(t->claim->session, i, &trigger, &s)
                            ?: switch_put(p, t->instance.dir, &s,
                                          tracer_switch_of(&m->spec, &trigger) > 0);
        }
        return r;
}

int tracer_put_switch(Tracer *t, size_t i, const Trigger *trigger, bool on) {
        _cleanup_plan_ Plan plan = PLAN_INIT(t->c->ledger, t->claim->session);
        _cleanup_trigger_ Trigger s = {};

        background_settle(t->c->background);
        return notifier_event(t->claim->session, i, trigger, &s)
                       ?: switch_put(&plan, t->instance.dir, &s, on);
}

int tracer_take_switch(Tracer *t, size_t i, const Trigger *trigger, bool on) {
        _cleanup_trigger_ Trigger s = {};

        return notifier_event(t->claim->session, i, trigger, &s)
                       ?: switch_take(&t->c->fs, t->instance.dir, &s, on);
}

/* --- what is hooked while it waits ------------------------------------------------------------ */

/* True if a rule starts it; @is_moment: at a moment, which is near, and exact: what it records is hooked before. */
static bool has_start(const Spec *spec, bool is_moment) {
        for (size_t i = 0; i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX];

                if (trigger_parse(&t, spec->triggers.items[i], why) == 0 && t.does[TRIGGER_START] &&
                    (t.is_moment || !is_moment))
                        return true;
        }
        return false;
}

bool controller_waits_for_start(const Spec *spec) {
        return has_start(spec, false);
}

/* The kernel looks through all its functions for each name, and finds a number at once. */
static int hook_roots(const Functions *f, const Strv *roots, Hooks *hooks) {
        int r = strv_copy(&hooks->names, roots);

        return r < 0 || roots->n <= FEW_NAMES ? r : functions_find_lines(f, roots, &hooks->lines);
}

int hooks_for_waiting(const Functions *f, const SessionMeta *m, const Strv *roots,
                      const Hooks *lean, Hooks *ret, bool *ret_waits) {
        *ret_waits = lean->names.n == 0 && controller_waits_for_start(&m->spec) &&
                     !has_start(&m->spec, true);
        return *ret_waits ? hook_roots(f, roots, ret) : 0;
}

bool tracer_waits(const Tracer *t) {
        return t->waits;
}

bool tracer_can_wait(const Tracer *t, const SessionMeta *m) {
        return !t->waits && m->n_hooked == 0;
}

static int hook(Tracer *t, const Hooks *hooks) {
        _cleanup_plan_ Plan plan = PLAN_INIT(t->c->ledger, t->claim->session);
        const char *file;

        background_settle(t->c->background);
        return instance_plan_hooks(&t->instance, &plan, "set_ftrace_filter", hooks)
                       ?: tracer_apply(t, &plan, &file);
}

int tracer_hook_all(Tracer *t) {
        int r = t->waits ? hook(t, &(Hooks){}) : 0;

        if (r >= 0)
                t->waits = false;
        return r;
}

int tracer_hook_roots(Tracer *t, const SessionMeta *m) {
        _cleanup_(hooks_done) Hooks hooks = {};
        int r;

        background_settle(t->c->background); /* it may be being narrowed */
        if (!tracer_can_wait(t, m))
                return 0;
        t->waits = true;
        r = functions_load(&t->c->functions, &t->c->fs)
                    ?: hook_roots(&t->c->functions, &m->roots, &hooks)
                    ?: hook(t, &hooks);
        if (r < 0)
                t->waits = false;
        return r;
}
