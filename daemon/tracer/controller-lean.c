/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What learning needs of tracefs: a look before, hook costs, what others call, another filter.  The filter of a live
 * tracer is replaced when the file is closed, so in between nothing is missed (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()).
 */

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/now.h"
#include "daemon/admission/clock-reader.h"
#include "daemon/lean/lean.h"
#include "daemon/lean/ordinary.h"
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
        if (r >= 0)
                r = strv_extend(&not_hooked->names, &readers);
        return r < 0 ? r : functions_find_lines(&c->functions, &readers, &not_hooked->lines);
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

int controller_rehook(Controller *c, Tracer *t, SessionMeta *m, bool is_wide) {
        LeanQuestion q = controller_lean_question(c, &m->spec, &m->roots, &m->notrace);
        _cleanup_strv_ Strv warnings = {};
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_refusal_ Refusal refusal = {};
        int r, changed = 0;

        background_settle(c->background);
        r = functions_load(&c->functions, &c->fs);
        q.is_wide = is_wide;
        q.is_profile = m->profile && m->n_hooked > 0;
        if (r >= 0)
                r = lean_choose(&choice, &q, &warnings, &refusal);
        if (r != 0)
                return MIN(r, 0);
        r = controller_leave_clock_readers_out(c, &choice.not_hooked, &warnings);
        if (r >= 0)
                r = changed = tracer_change_hooks(t, &choice);
        if (r <= 0)
                return r;
        r = lean_choice_tell(&choice, m);
        return r < 0 ? r : changed;
}

/* --- what others call -------------------------------------------------------------------------- */

/* That these are called often is known before counting. */
static int find_ordinary(const Controller *c, Hooks *ret) {
        _cleanup_strv_ Strv here = {};
        int r = ordinary_find(&c->functions, &(Strv){}, &(Strv){}, &ret->names, &here);

        return r < 0 ? r : functions_find_lines(&c->functions, &ret->names, &ret->lines);
}

/* A hook is taken to cost what the cheapest system call does (daemon/lean/hook-cost.h). */
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

static int wait_a_moment(void *userdata) {
        return usleep(CONTROLLER_SAMPLE_MS * 1000) < 0 && errno != EINTR ? ORIGIN(-errno) : 0;
}

static int work_a_moment(void *userdata) {
        Workload ignored;
        int r = workload_run(userdata, false, &ignored);

        return r < 0 && r != -ETIME && r != -EIO ? r : wait_a_moment(NULL);
}

int controller_sample_calls(Controller *c, CallSample *ret, const Tracer *t, unsigned *part,
                            uint64_t *ret_hook_ns) {
        _cleanup_(workload_freep) WorkloadChild *child = NULL;
        _cleanup_(hooks_done) Hooks hooks = {}, not_hooked = {};
        CallSampleConfig config = { .fs = &c->fs,
                                    .ledger = c->ledger,
                                    .hooks = &hooks,
                                    .not_hooked = &not_hooked,
                                    .cpu = CALL_SAMPLE_ALL_CPUS,
                                    .buffer_kb = CONTROLLER_SAMPLE_KB,
                                    .work = wait_a_moment };
        int r;

        background_settle(c->background);
        r = controller_others_trace(c);
        if (r != 0)
                return r < 0 ? r : -EBUSY;
        r = functions_load(&c->functions, &c->fs);
        if (r >= 0 && t) {
                r = tracer_read_hooks(t, "set_ftrace_filter", &hooks);
                if (r >= 0)
                        r = tracer_read_hooks(t, "set_ftrace_notrace", &not_hooked);
                if (hooks.names.n > 0)
                        *part = 0;
                if (r >= 0 && *part > 0) {
                        r = tracer_list_hooks(t, &not_hooked, *part - 1, CONTROLLER_SAMPLE_PARTS,
                                              &hooks);
                        config.not_hooked = NULL;
                }
        } else if (r >= 0) {
                r = find_ordinary(c, &not_hooked);
                if (r >= 0)
                        r = workload_start(&child);
                config.work = work_a_moment;
                config.userdata = child;
        }
        if (r < 0)
                return r;
        *ret_hook_ns = time_call();
        return call_sample_take(ret, &config);
}

int controller_learn_hot(Controller *c, const SessionMeta *m, const char *kernel, const Strv *names,
                         const uint32_t *ppm) {
        int r = controller_load_functions(c);

        if (r < 0)
                return r;
        if (m && m->n_hooked > 0)
                return lean_learn_hot(c->store_fd, c->fs.root_fd, &c->functions, &m->roots, kernel,
                                      names, ppm);
        return ordinary_learn_host(&c->functions, c->store_fd, c->fs.root_fd, kernel, names, !m);
}

bool controller_needs_survey(Controller *c, uint64_t since_ns) {
        _cleanup_strv_ Strv names = {};
        uint64_t at_ns = 0;

        return controller_has_functions(c) &&
               ordinary_find_host(&c->functions, c->store_fd, c->fs.root_fd, &names, &at_ns) >= 0 &&
               at_ns < since_ns;
}

int controller_load_functions(Controller *c) {
        int r = controller_attach(c);

        if (r < 0)
                return r;
        if (!controller_has_functions(c)) /* a task may be comparing names with those of before */
                background_settle(c->background);
        return functions_load(&c->functions, &c->fs);
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
        int r = controller_load_functions(c);

        return r < 0 ? r
                     : lean_learn(c->store_fd, c->fs.root_fd, &c->functions, roots, kernel, new);
}
