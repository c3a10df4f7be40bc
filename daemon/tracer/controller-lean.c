/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What learning needs of tracefs: a look before, hook costs, a narrower filter.  The filter of a live
 * tracer is replaced when the file is closed, so in between nothing is missed (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()).
 */

#include "base/grow.h"
#include "base/log.h"
#include "daemon/admission/clock-reader.h"
#include "daemon/lean/lean.h"
#include "daemon/tracefs/plan.h"
#include "daemon/tracer/controller-private.h"

void tracer_look_at_quiet(Tracer *t) {
        int r = workload_time(&t->quiet);

        t->is_measured = r >= 0;
        if (r < 0)
                log_debug("lean", "ordinary work could not be timed: %s", origin_text(r));
}

const Workload *tracer_quiet(const Tracer *t) {
        return t->is_measured ? &t->quiet : NULL;
}

int controller_begin_learning_pass(Controller *c, const Strv *roots) {
        if (!ARRAY_GROW(c->learning_passes, c->n_learning_passes))
                return -ENOMEM;
        c->learning_passes[c->n_learning_passes++] = roots;
        return 0;
}

void controller_end_learning_pass(Controller *c, const Strv *roots) {
        for (size_t i = 0; i < c->n_learning_passes; i++)
                if (c->learning_passes[i] == roots) {
                        c->learning_passes[i] = c->learning_passes[--c->n_learning_passes];
                        return;
                }
}

bool controller_is_learning(const Controller *c) {
        return c->n_learning_passes > 0;
}

bool controller_is_learning_of(const Controller *c, const Spec *spec, const Strv *roots) {
        if (!lean_asks(spec))
                return false;
        for (size_t i = 0; i < c->n_learning_passes; i++)
                if (strv_equal(c->learning_passes[i], roots))
                        return true;
        return false;
}

int controller_leave_clock_readers_out(const Controller *c, Hooks *not_hooked, Strv *warnings) {
        _cleanup_strv_ Strv readers = {};
        _cleanup_free_ char *names = NULL;
        int r = clock_reader_find(&c->fs, &c->functions, &readers);

        if (r < 0 || readers.n == 0)
                return r;
        names = strv_join(&readers, ", ");
        r = names ? strv_addf(warnings,
                              "not recorded: %s, with which this kernel reads the trace clock",
                              names)
                  : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < readers.n; i++)
                r = strv_add(&not_hooked->names, readers.items[i]);
        return r < 0 ? r : functions_find_lines(&c->functions, &readers, &not_hooked->lines);
}

int controller_narrow(Controller *c, Tracer *t, SessionMeta *m) {
        _cleanup_strv_ Strv warnings = {};
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_plan_ Plan plan = {};
        _cleanup_refusal_ Refusal refusal = {};
        const char *file = NULL;
        int r;

        background_settle(c->background);
        r = lean_choose(&choice, c->store_fd, c->fs.root_fd, &c->functions, &m->spec, &m->roots,
                        &m->notrace, false, &warnings, &refusal);
        if (r != 0 || choice.hooks.lines.n == 0)
                return MIN(r, 0);
        r = controller_leave_clock_readers_out(c, &choice.not_hooked, &warnings);
        if (r >= 0)
                r = instance_plan_hooks(t->instance, &plan, c->ledger, t->claim->session,
                                        &choice.hooks);
        /* After that, so that at no time everything is hooked. */
        if (r >= 0)
                r = instance_plan_not_hooked(t->instance, &plan, c->ledger, t->claim->session,
                                             &choice.not_hooked);
        if (r >= 0)
                r = ledger_commit(c->ledger, c->fs.path);
        if (r >= 0)
                r = plan_apply(&plan, &c->fs, &file);
        ledger_mark(c->ledger, &c->fs);
        if (r < 0)
                return r;
        r = lean_choice_tell(&choice, m);
        return r < 0 ? r : 1;
}

int controller_measure_hook_cost(Controller *c, HookCost *ret, const Strv *names) {
        _cleanup_(hooks_done) Hooks hooks = {};
        int r;

        background_settle(c->background);
        r = functions_load(&c->functions, &c->fs);
        for (size_t i = 0; r >= 0 && i < names->n; i++)
                if (functions_contain(&c->functions, names->items[i]))
                        r = strv_add(&hooks.names, names->items[i]);
        if (r >= 0)
                r = functions_find_lines(&c->functions, &hooks.names, &hooks.lines);
        return r < 0 ? r : hook_cost_measure(ret, &c->fs, c->ledger, &hooks);
}

int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new) {
        int r;

        if (!controller_has_functions(c))
                background_settle(
                        c->background); /* a task may be comparing names with those of before */
        r = functions_load(&c->functions, &c->fs);
        return r < 0 ? r
                     : lean_learn(c->store_fd, c->fs.root_fd, &c->functions, roots, kernel, new);
}
