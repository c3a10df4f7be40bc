/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked, written so that the kernel heeds it
 *
 * "Everything but these" is written soonest as set_ftrace_notrace, and on linux 6.12 that holds for an instance that
 * is the only user of function_graph and as it was when its tracer was switched on: names that come later change
 * nothing, and with a second user, whatever his lists say, everything is hooked (tried; kernel/trace/ftrace.c,
 * ftrace_startup_subops()).  7.2 heeds a name that comes later, unless there is a second user with a filter: then a
 * change hooks everything (tried).  6.1, which has no instances of function_graph, does as it is told.  What
 * set_ftrace_filter lists they all heed, so an instance lists all the others there once there is a second user, or what
 * is hooked changes.  That takes 6.12 seconds, and is only so where the trace clock is read by a function
 * (daemon/admission/functions.h).
 *
 * The filter of a live tracer is replaced when the file is closed, so in between nothing is missed (linux 6.1
 * kernel/trace/ftrace.c, ftrace_regex_release()).
 */

#include <fcntl.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/admission/functions.h"
#include "daemon/tracer/controller-private.h"

/* What is listed first where fewer than TOO_FEW are: the kernel makes room in the new table for as many as the old one
 * had, and with one row all of 40,000 would be in it, five seconds (linux 6.12 kernel/trace/ftrace.c,
 * append_hashes()). */
#define TOO_FEW 64
#define FEW 1000
#define AWAITED_NS (2 * NSEC_PER_SEC) /* a pass that takes longer is not waited for */

static const char *const lists[] = {
        [KNOWN_HOOKED] = "set_ftrace_filter", [KNOWN_NOT_HOOKED] = "set_ftrace_notrace"
};

static ssize_t find_list(const char *file) {
        for (size_t i = 0; file && i < _KNOWN_N; i++)
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
                free(t->known[k].text);
                t->known[k] = (KnownList){ .text = strdup(s->value) };
        }
}

int tracer_apply(Tracer *t, Plan *p, const char **ret_file) {
        size_t from = p->n_applied;
        int r = ledger_commit(p->ledger);

        if (r >= 0)
                r = plan_apply(p, ret_file);
        if (r >= 0)
                tracer_know_hooks(t, p, from);
        else
                tracer_forget_hooks(t);
        ledger_mark(p->ledger);
        return r;
}

const char *tracer_get_hooks(const Tracer *t, const char *file) {
        ssize_t k = find_list(file);

        return k < 0 ? NULL : t->known[k].text;
}

void tracer_doubt_hooks(Tracer *t) {
        for (size_t i = 0; i < _KNOWN_N; i++)
                t->known[i].is_doubtful = true;
}

int tracer_read_hooks(const Tracer *t, const char *file, Hooks *ret) {
        const KnownList *known = &t->known[find_list(file)];
        int r = known->text && !known->is_doubtful
                        ? strv_split(&ret->names, known->text, "\n")
                        : instance_read_list(&t->instance, file, &ret->names);

        return r < 0 ? r : functions_find_lines(&t->c->functions, &ret->names, &ret->lines);
}

bool tracer_is_crowded(const Tracer *t) {
        return t->instance.name && t->c->arbiter.n > 1;
}

int tracer_list_hooks(const Tracer *t, const Hooks *not_hooked, Hooks *ret) {
        const Functions *f = &t->c->functions;
        _cleanup_strv_ Strv sorted = {};
        int r = strv_copy_sorted(&sorted, &not_hooked->names);

        for (size_t i = 0; r >= 0 && i < f->n; i++)
                if (!strv_finds(&sorted, f->names[i]))
                        r = strv_add(&ret->names, f->names[i]);
        return r < 0 ? r : functions_find_lines(f, &ret->names, &ret->lines);
}

/* 1 or -errno. */
static int plan_few(Tracer *t, Plan *p, const Hooks *all) {
        _cleanup_(hooks_done) Hooks few = {};
        int r = strv_copy(&few.names, &t->claim->roots);

        for (size_t i = 0; r >= 0 && i < all->names.n && i < FEW; i++)
                r = strv_add(&few.names, all->names.items[i]);
        strv_sort_unique(&few.names);
        if (r >= 0)
                r = functions_find_lines(&t->c->functions, &few.names, &few.lines);
        if (r >= 0)
                r = instance_plan_hooks(&t->instance, p, &few);
        return r < 0 ? r : 1;
}

int tracer_plan_list(Tracer *t, Plan *p, const Hooks *all) {
        _cleanup_(hooks_done) Hooks now = {};
        int r = tracer_read_hooks(t, "set_ftrace_filter", &now), is_few = 0;

        if (r >= 0 && now.names.n < MIN((size_t) TOO_FEW, all->names.n))
                r = is_few = plan_few(t, p, all);
        if (r >= 0)
                r = instance_plan_hooks(&t->instance, p, all);
        return r < 0 ? r : is_few;
}

static int plan_listed(Tracer *t, Plan *p, const LeanChoice *choice) {
        _cleanup_(hooks_done) Hooks listed = {}, none = {};
        int r = tracer_list_hooks(t, &choice->not_hooked, &listed), is_few = 0;

        if (r >= 0)
                r = is_few = tracer_plan_list(t, p, &listed);
        if (r >= 0)
                r = instance_plan_not_hooked(&t->instance, p, &none);
        return r < 0 ? r : is_few;
}

/* As when its tracer was switched on: then the kernel hooks what comes with modules by itself. */
static bool is_as_begun(const Tracer *t, const LeanChoice *choice) {
        _cleanup_(hooks_done) Hooks now = {}, not_hooked = {};
        _cleanup_strv_ Strv wanted = {};

        if (tracer_is_crowded(t) || tracer_read_hooks(t, "set_ftrace_filter", &now) < 0 ||
            now.names.n > 0 || tracer_read_hooks(t, "set_ftrace_notrace", &not_hooked) < 0 ||
            strv_copy_sorted(&wanted, &choice->not_hooked.names) < 0)
                return false;
        strv_sort_unique(&not_hooked.names);
        return strv_equal(&not_hooked.names, &wanted);
}

/* At no time is everything hooked: an empty filter comes after the functions that are not, a full one before. */
static int plan_choice(Tracer *t, Plan *p, const LeanChoice *choice) {
        bool is_filter_first = choice->hooks.lines.n > 0;
        int r = 0;

        if (is_filter_first)
                r = instance_plan_hooks(&t->instance, p, &choice->hooks);
        if (r >= 0)
                r = instance_plan_not_hooked(&t->instance, p, &choice->not_hooked);
        if (r >= 0 && !is_filter_first)
                r = instance_plan_hooks(&t->instance, p, &choice->hooks);
        return r;
}

/* For a tracer that is on.  0: it is as it was; 1; 2: only few functions were in between; -errno. */
static int change_hooks(Tracer *t, const LeanChoice *choice) {
        _cleanup_plan_ Plan p = PLAN_INIT(t->c->ledger, t->claim->session);
        bool is_listed =
                t->instance.name && choice->hooks.names.n == 0 && choice->not_hooked.names.n > 0;
        const char *file;
        int r, is_few;

        if (choice->hooks.names.n == 0 && is_as_begun(t, choice))
                return 0;
        r = is_few = (is_listed ? plan_listed : plan_choice)(t, &p, choice);
        if (r < 0 || p.n == 0)
                return r;
        r = tracer_apply(t, &p, &file);
        return r < 0 ? r : 1 + is_few;
}

void controller_tell_crowded(Controller *c, const Tracer *newcomer) {
        Tracer *t;

        if (!tracer_is_crowded(newcomer))
                return;
        c->n_crowds++;
        do { /* whoever is told may let others change the list meanwhile */
                t = c->tracers;
                while (t && (t == newcomer || t->ended || t->waits || !t->on_crowded ||
                             t->n_crowds == c->n_crowds))
                        t = t->next;
                if (t) {
                        t->n_crowds = c->n_crowds;
                        t->on_crowded(t->userdata);
                }
        } while (t);
}

/* --- what is known of the roots ---------------------------------------------------------------- */

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
                r = changed = change_hooks(t, &choice);
        if (r >= 0)
                r = lean_choice_tell(&choice, m);
        return r < 0 ? r : changed;
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

int controller_open_events(const Tracer *t) {
        return tracefs_open(&t->c->fs, O_RDONLY | O_NONBLOCK | O_CLOEXEC, "%strace_pipe",
                            t->instance.dir);
}

uint64_t controller_count_events(const Tracer *t) {
        uint64_t stats[_STAT_N];

        (void) tracefs_sum_stats(&t->c->fs, t->instance.dir, stats);
        return stats[STAT_ENTRIES] + stats[STAT_OVERRUN] + stats[STAT_READ];
}

/* 1: a tracer that is none of ours is on. */
static int others_trace(const Controller *c) {
        _cleanup_strv_ Strv users = {}, ours = {}, others = {};
        int r = tracefs_find_users(&c->fs, NULL, &users);

        if (r >= 0)
                r = controller_own_dirs(c, &ours);
        strv_sort_unique(&ours);
        if (r >= 0)
                r = strv_pick(&others, &users, &ours, false);
        return r < 0 ? r : others.n > 0;
}

int controller_sample_calls(Controller *c, CallSample *ret, const Tracer *t, const SessionMeta *m,
                            Strv *ret_names, uint64_t *ret_hook_ns) {
        _cleanup_(hooks_done) Hooks hooks = {};
        int r;

        background_settle(c->background);
        if (m->n_hooked == 0) /* a lesson */
                return -ENODATA;
        r = others_trace(c);
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
        r = call_sample_take(ret, c->ledger, &hooks, t->instance.dir);
        *ret_names = TAKE(hooks.names, (Strv){});
        return r;
}

int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new) {
        int r = controller_load_functions(c);

        return r < 0 ? r
                     : lean_learn(c->store_fd, c->fs.root_fd, &c->functions, roots, kernel, new);
}
