/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What lean needs of tracefs: what others call, another filter.  The filter of a live
 * tracer is replaced when the file is closed, so in between nothing is missed (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()).
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/admission/functions.h"
#include "daemon/lean/lean.h"
#include "daemon/tracer/controller-private.h"

#define AWAITED_NS (2 * NSEC_PER_SEC) /* a pass that takes longer is not waited for */

int controller_begin_learning_pass(Controller *c, const Strv *roots) {
        if (!ARRAY_GROW(c->learning_passes, c->n_learning_passes))
                return -ENOMEM;
        c->learning_passes[c->n_learning_passes].roots = roots;
        c->learning_passes[c->n_learning_passes++].since_ns = now_ns(CLOCK_MONOTONIC);
        return 0;
}

void controller_end_learning_pass(Controller *c, const Strv *roots) {
        for (size_t i = 0; i < c->n_learning_passes; i++)
                if (c->learning_passes[i].roots == roots) {
                        c->learning_passes[i] = c->learning_passes[--c->n_learning_passes];
                        return;
                }
}

bool controller_is_learning(const Controller *c) {
        return c->n_learning_passes > 0;
}

bool controller_is_learning_of(const Controller *c, const Spec *spec, const Strv *roots) {
        uint64_t at_ns = now_ns(CLOCK_MONOTONIC);

        if (!lean_asks(spec))
                return false;
        for (size_t i = 0; i < c->n_learning_passes; i++)
                if (at_ns < c->learning_passes[i].since_ns + AWAITED_NS &&
                    strv_equal(c->learning_passes[i].roots, roots))
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

int controller_rehook(Controller *c, Tracer *t, SessionMeta *m, LeanScope scope, const Load *load) {
        LeanQuestion q = controller_lean_question(c, &m->spec, &m->roots, &m->notrace);
        _cleanup_strv_ Strv warnings = {};
        _cleanup_lean_choice_ LeanChoice choice = {};
        _cleanup_refusal_ Refusal refusal = {};
        int r, changed = 0;

        background_settle(c->background);
        r = functions_load(&c->functions, &c->fs);
        q.scope = scope;
        q.load = load;
        if (r >= 0)
                r = lean_choose(&choice, &q, &warnings, &refusal);
        if (r != 0)
                return MIN(r, 0);
        r = controller_leave_clock_readers_out(c, &choice.not_hooked, &warnings);
        if (r >= 0)
                r = changed = tracer_change_hooks(t, &choice);
        if (r >= 0)
                r = lean_choice_tell(&choice, m);
        return r < 0 ? r : changed;
}

/* --- what others call -------------------------------------------------------------------------- */

/* A hook is taken to cost what the cheapest system call does (daemon/lean/call-rates.h). */
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

int controller_open_events(const Tracer *t) {
        return tracefs_open(&t->c->fs, O_RDONLY | O_NONBLOCK | O_CLOEXEC, "%strace_pipe",
                            instance_dir(t->instance));
}

uint64_t controller_count_events(const Tracer *t) {
        static const char *const counters[] = { "entries: ", "overrun: ", "read events: " };
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t n_events = 0;
        size_t n = 0;

        if (tracefs_get_cpus(&t->c->fs, &cpus, &n) < 0)
                return 0;
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *stats = NULL;

                if (tracefs_read(&t->c->fs, &stats, "%sper_cpu/cpu%u/stats",
                                 instance_dir(t->instance), cpus[i]) < 0)
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(counters); k++) {
                        const char *found = strstr(stats, counters[k]);

                        if (found)
                                n_events += strtoull(found + strlen(counters[k]), NULL, 10);
                }
        }
        return n_events;
}

typedef struct Moment {
        const Tracer *tracer;
        uint64_t n_own; /* calls that it recorded */
} Moment;

static int wait_a_moment(void *userdata) {
        Moment *m = userdata;
        uint64_t n_events = controller_count_events(m->tracer);

        if (usleep(CONTROLLER_SAMPLE_MS * 1000) < 0 && errno != EINTR)
                return ORIGIN(-errno);
        m->n_own = (controller_count_events(m->tracer) - n_events) / 2;
        return 0;
}

int controller_sample_calls(Controller *c, CallSample *ret, const Tracer *t, const SessionMeta *m,
                            Strv *ret_names, uint64_t *ret_n_own, uint64_t *ret_hook_ns) {
        _cleanup_(hooks_done) Hooks hooks = {};
        Moment moment = { .tracer = t };
        CallSampleConfig config = { .fs = &c->fs,
                                    .ledger = c->ledger,
                                    .hooks = &hooks,
                                    .buffer_kb = CONTROLLER_SAMPLE_KB,
                                    .work = wait_a_moment,
                                    .userdata = &moment };
        int r;

        background_settle(c->background);
        if (m->n_hooked == 0) /* a lesson */
                return -ENODATA;
        r = controller_others_trace(c);
        if (r != 0)
                return r < 0 ? r : -EBUSY;
        r = functions_load(&c->functions, &c->fs);
        if (r >= 0)
                r = tracer_read_hooks(t, "set_ftrace_filter", &hooks);
        strv_sort_unique(&hooks.names);
        strv_done(&hooks.lines);
        if (r >= 0)
                r = functions_find_lines(&c->functions, &hooks.names, &hooks.lines);
        if (r < 0)
                return r;
        *ret_hook_ns = time_call();
        r = call_sample_take(ret, &config);
        *ret_n_own = moment.n_own;
        *ret_names = TAKE(hooks.names, (Strv){});
        return r;
}

int controller_load_functions(Controller *c) {
        int r = controller_attach(c);

        if (r < 0)
                return r;
        if (!controller_has_functions(c)) /* a task may be comparing names with those of before */
                background_settle(c->background);
        return functions_load(&c->functions, &c->fs);
}

int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new) {
        int r = controller_load_functions(c);

        return r < 0 ? r
                     : lean_learn(c->store_fd, c->fs.root_fd, &c->functions, roots, kernel, new);
}
