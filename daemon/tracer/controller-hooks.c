/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked of a tracer that is on, and what is learned for it
 *
 * The filter of a live tracer is replaced when the file is closed, so in between nothing is missed (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()).  What is never to be hooked (daemon/admission/admission.h) is
 * written once, as set_ftrace_notrace, before the tracer is on.  Linux 6.12 and 7.2 heed that in an instance as long as
 * it is the only user of function_graph (tried; kernel/trace/ftrace.c, ftrace_startup_subops()); what
 * set_ftrace_filter lists they always do.
 */

#include <sys/syscall.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/tracer/controller-private.h"

static const char *const lists[_HOOK_LIST_N] = { "set_ftrace_filter", "set_ftrace_notrace" };

static ssize_t find_list(const char *file) {
        for (size_t i = 0; file && i < _HOOK_LIST_N; i++)
                if (streq(file, lists[i]))
                        return (ssize_t) i;
        return -1;
}

void tracer_know_hooks(Tracer *t, const Plan *p, size_t from) {
        for (size_t i = from; i < p->n_applied; i++) {
                const PlanStep *s = &p->steps[i];
                ssize_t k = find_list(startswith(s->file, t->instance.dir));

                if (k < 0)
                        continue;
                free(t->hook_lists[k]);
                t->hook_lists[k] = strdup(s->value);
        }
}

int tracer_apply(Tracer *t, Plan *p, const char **ret_file) {
        size_t from = p->n_applied;
        int r = ledger_commit(p->ledger) ?: plan_apply(p, ret_file);

        if (r >= 0)
                tracer_know_hooks(t, p, from);
        else
                tracer_forget_hooks(t);
        ledger_mark(p->ledger);
        return r;
}

const char *tracer_get_hooks(const Tracer *t, const char *file) {
        ssize_t k = find_list(file);

        return k < 0 ? NULL : t->hook_lists[k];
}

/* --- what is known of the roots ---------------------------------------------------------------- */

void controller_count_learning(Controller *c, int change) {
        c->n_learning_passes += change;
}

bool controller_is_learning(const Controller *c) {
        return c->n_learning_passes > 0;
}

int controller_leave_clock_readers_out(const Controller *c, Hooks *not_hooked, Strv *warnings) {
        _cleanup_strv_ Strv readers = {};
        _cleanup_free_ char *names = NULL;
        int r = clock_reader_find(&c->fs, &c->functions, &readers);

        if (r < 0 || readers.n == 0)
                return r;
        names = strv_join(&readers, ", ");
        r = names ? strv_addf(warnings,
                              "not recorded: %s, with which this kernel reads the trace clock%s",
                              names,
                              c->has_instances > 0
                                      ? "; beside another session it may be, and calls be missing"
                                      : "")
                  : -ENOMEM;
        return r ?: strv_extend(&not_hooked->names, &readers)
                       ?: functions_find_lines(&c->functions, &readers, &not_hooked->lines);
}

LeanQuestion controller_lean_question(const Controller *c, const Spec *spec, const Strv *roots,
                                      const Strv *notrace) {
        return (LeanQuestion){ .store_fd = c->store_fd,
                               .root_fd = c->fs.root_fd,
                               .functions = &c->functions,
                               .spec = spec,
                               .roots = roots,
                               .notrace = notrace };
}

int controller_rehook(Controller *c, Tracer *t, SessionMeta *m, LeanScope scope, const Load *load) {
        LeanQuestion q = controller_lean_question(c, &m->spec, &m->roots, &m->notrace);
        _cleanup_strv_ Strv warnings = {};
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_plan_ Plan plan = PLAN_INIT(c->ledger, t->claim->session);
        _cleanup_refusal_ Refusal refusal = {};
        const char *file;
        int r;

        background_settle(c->background);
        r = functions_load(&c->functions, &c->fs);
        q.scope = scope;
        q.load = load;
        if (r >= 0)
                r = lean_choose(&choice, &q, &warnings, &refusal);
        if (r != 0)
                return MIN(r, 0);
        r = instance_plan_hooks(&t->instance, &plan, "set_ftrace_filter", &choice.hooks);
        if (r >= 0 && plan.n > 0)
                r = tracer_apply(t, &plan, &file);
        return r ?: lean_choice_tell(&choice, m) ?: plan.n > 0;
}

/* --- what others call -------------------------------------------------------------------------- */

/* A hook is taken to cost what the cheapest system call does (daemon/lean/lean.h). */
static uint64_t time_call(void) {
        enum { TURNS = 5, CALLS = 200 };
        uint64_t least_ns = UINT64_MAX;

        for (int i = 0; i < TURNS; i++) {
                uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

                for (int k = 0; k < CALLS; k++)
                        (void) syscall(SYS_getppid);
                least_ns = MIN(least_ns, (now_ns(CLOCK_MONOTONIC) - since_ns) / CALLS);
        }
        return MAX(least_ns, UINT64_C(1));
}

int controller_sample_calls(Controller *c, CallSample *ret, const Tracer *t, const SessionMeta *m,
                            Strv *ret_names, uint64_t *ret_hook_ns) {
        _cleanup_(hooks_done) Hooks hooks = {};
        _cleanup_strv_ Strv others = {};
        int r;

        background_settle(c->background);
        if (m->n_hooked == 0) /* a lesson */
                return -ENODATA;
        r = controller_find_others(c, NULL, &others);
        if (r < 0 || others.n > 0)
                return r < 0 ? r : -EBUSY;
        r = functions_load(&c->functions, &c->fs);
        if (r >= 0)
                r = instance_read_list(&t->instance, "set_ftrace_filter", &hooks.names);
        strv_sort_unique(&hooks.names);
        r = r ?: functions_find_lines(&c->functions, &hooks.names, &hooks.lines);
        if (r < 0)
                return r;
        *ret_hook_ns = time_call();
        r = call_sample_take(ret, c->ledger, &hooks, t->instance.dir);
        *ret_names = TAKE(hooks.names, (Strv){});
        return r;
}

int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new) {
        /* Those of before a module came or went will do: to read them takes the loop's time. */
        int r = c->functions.n > 0 ? 0 : controller_load_functions(c);

        return r ?: lean_learn(c->store_fd, c->fs.root_fd, &c->functions, roots, kernel, new);
}
