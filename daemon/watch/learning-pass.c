/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two questions to the worker, one after the other, with the measuring of hook costs in between.  What the first tells
 * is kept at once, for the second may not be asked any more: hooking more than the budget allows is better
 * than learning nothing.
 */

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/name.h"
#include "daemon/lean/lean.h"
#include "daemon/lean/learner.h"
#include "daemon/watch/learning-pass.h"
#include "daemon/watch/stored-pages.h"

struct LearningPass {
        sd_event *event;
        Background *background;
        Controller *controller;
        LearningPassDone done;
        void *userdata;
        char *session, *kernel;
        Strv roots;
        Workload quiet;
        bool measures_cost, times_quiet;
        Learner *learner;
        LeanCache learned;
        HookCost hook_cost;
        bool is_measuring; /* a task has it */
        bool is_abandoned; /* nobody wants its answer */
};

LearningPass *learning_pass_free(LearningPass *l) {
        if (!l)
                return NULL;
        controller_end_learning_pass(l->controller, &l->roots);
        l->is_abandoned = true;
        if (l->is_measuring)
                background_settle(l->background);
        (void) learner_free(l->learner);
        lean_cache_done(&l->learned);
        hook_cost_done(&l->hook_cost);
        strv_done(&l->roots);
        free(l->session);
        free(l->kernel);
        return mfree(l);
}

/* --- the end --------------------------------------------------------------------------------- */

/* Calls count once, however often what they taught is written down. */
static int keep(LearningPass *l) {
        int r = l->learned.n == 0
                        ? 0
                        : controller_learn(l->controller, &l->roots, l->kernel, &l->learned);

        if (r >= 0)
                l->learned.n_calls = 0;
        return r;
}

static void finish(LearningPass *l, int error) {
        l->learner = learner_free(l->learner);
        if (error >= 0)
                error = keep(l);
        if (error < 0)
                (void) log_warning_errno(error,
                                         "Session '%s': what it called could not be learned for "
                                         "lean: %m; the next one hooks every function again.",
                                         l->session);
        else
                log_debug("lean", "%s: learned %zu functions", l->session, l->learned.n);
        l->done(error, l->userdata);
}

/* --- weights --------------------------------------------------------------------------------- */

/* Window w is that of task w + 1: the first only tells the time. */
static void on_hits(const char *text, int error, void *userdata) {
        uint64_t hits[_WORKLOAD_N - 1];
        LearningPass *l = userdata;
        char name[256];
        int r = 0;

        while (error >= 0 && (r = learner_next(&text, ELEMENTSOF(hits), name, hits)) == 0) {
                LeanFunction *f = lean_cache_find(&l->learned, name);

                for (size_t w = 0; f && w < ELEMENTSOF(hits); w++)
                        f->ppm[w] = hook_cost_ppm(&l->quiet, &l->hook_cost.workload,
                                                  (WorkloadTask) (w + 1), hits[w],
                                                  hits[WORKLOAD_SPIN - 1]);
        }
        if (error >= 0 && r == LEARNER_E_INVALID)
                error = -EBADMSG;
        for (size_t w = 0; error >= 0 && w < ELEMENTSOF(hits); w++) {
                l->learned.fixed_ppm[w] = hook_cost_fixed_ppm(&l->quiet, (WorkloadTask) (w + 1));
                error = strv_add(&l->learned.tasks, workload_task_name((WorkloadTask) (w + 1)));
        }
        if (error >= 0)
                error = strv_add(&l->learned.tasks, LEAN_HOST_TASK);
        if (error < 0) {
                log_debug("lean", "%s: hits could not be counted: %s", l->session,
                          strerror(-error));
                strv_done(&l->learned.tasks);
        }
        finish(l, 0);
}

static int ask_for_hits(LearningPass *l) {
        FunctionCountsWindow windows[_WORKLOAD_N - 1];

        for (size_t w = 0; w < ELEMENTSOF(windows); w++) {
                const WorkloadTime *t = &l->hook_cost.workload.tasks[w + 1];

                windows[w] = (FunctionCountsWindow){ t->from_ns, t->to_ns };
        }
        return learner_start(&l->learner, l->event,
                             &(LearnerJob){ .fds = &l->hook_cost.sample.fd,
                                            .n_fds = 1,
                                            .page_bytes = l->hook_cost.sample.page_bytes,
                                            .format = l->hook_cost.sample.format,
                                            .field = "ip",
                                            .windows = windows,
                                            .n_windows = ELEMENTSOF(windows),
                                            .pids = l->hook_cost.workload.pids,
                                            .n_pids = l->hook_cost.workload.n_pids },
                             on_hits, l);
}

static int hook_cost_of_learned(LearningPass *l) {
        _cleanup_strv_ Strv names = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < l->learned.n; i++)
                r = strv_add(&names, l->learned.functions[i].name);
        if (r >= 0)
                r = controller_measure_hook_cost(l->controller, &l->hook_cost, &names);
        return r < 0 ? r : ask_for_hits(l);
}

/* --- functions ------------------------------------------------------------------------------- */

/* Of the function that was read last; @keep: into the cache.  0, LEARNER_E_INVALID, -errno. */
static int read_callers(LearningPass *l, const char **text, bool keep) {
        char name[256];
        int r;

        while ((r = learner_next_caller(text, name)) == 0)
                if (keep && function_name_is_valid(name)) {
                        r = lean_cache_add_caller(&l->learned, name);
                        if (r < 0)
                                return r;
                }
        return r == LEARNER_E_END ? 0 : r;
}

static int read_functions(LearningPass *l, const char *text) {
        char name[256];
        uint64_t n;
        int r;

        while ((r = learner_next(&text, 1, name, &n)) == 0) {
                bool is_valid = function_name_is_valid(name);

                if (is_valid && l->learned.n >= LEAN_MAX_FUNCTIONS)
                        return ORIGIN(-E2BIG);
                if (is_valid)
                        r = lean_cache_add(&l->learned, name, NULL, 0);
                if (r >= 0)
                        r = read_callers(l, &text, is_valid);
                if (r != 0)
                        break;
                if (strv_contains(&l->roots, name))
                        l->learned.n_calls += MIN(n, (uint64_t) INT64_MAX / 65536);
        }
        lean_cache_sort(&l->learned);
        if (r < 0)
                return r;
        return r == LEARNER_E_INVALID ? -EBADMSG : 0;
}

/* A task. */
static void measure_them(void *userdata) {
        LearningPass *l = userdata;
        int r = l->is_abandoned ? -ECANCELED : 0;

        if (r >= 0 && l->times_quiet)
                r = BACKGROUND_CALL(workload_time(&l->quiet));
        if (r >= 0)
                r = hook_cost_of_learned(l);
        l->is_measuring = false;
        if (r >= 0 || l->is_abandoned)
                return;
        log_debug("lean", "%s: no hook cost was measured: %s", l->session, origin_text(r));
        finish(l, 0);
}

static void on_functions(const char *text, int error, void *userdata) {
        LearningPass *l = userdata;
        int r;

        l->learner = learner_free(l->learner);
        r = error < 0 ? error : read_functions(l, text);
        if (r < 0 || l->learned.n == 0 || !l->measures_cost) {
                finish(l, r);
                return;
        }
        /* Weights take longest, and whoever cannot wait for them does without. */
        r = keep(l);
        if (r < 0) {
                finish(l, r);
                return;
        }
        l->is_measuring = true;
        if (background_run(l->background, measure_them, l) < 0)
                measure_them(l); /* the loop waits */
}

/* --- the beginning --------------------------------------------------------------------------- */

static int ask_for_functions(LearningPass *l, const SessionDir *dir) {
        const FunctionCountsWindow always = { 0, UINT64_MAX };

        return stored_pages_count(&l->learner, l->event, dir, &always, on_functions, l);
}

int learning_pass_start(LearningPass **ret, sd_event *event, Background *background, Controller *c,
                        const SessionDir *dir, const SessionMeta *m, const Workload *quiet,
                        LearningPassDone done, void *userdata) {
        _cleanup_(learning_pass_freep) LearningPass *l = NEW(
                LearningPass, .event = event, .background = background, .controller = c,
                .done = done, .userdata = userdata, .quiet = quiet ? *quiet : (Workload){},
                .times_quiet = !quiet && m->n_ordinary > 0,
                .measures_cost = quiet || m->n_ordinary > 0,
                .learned.lacks_ordinary = m->n_ordinary > 0, .hook_cost.sample = CALL_SAMPLE_INIT);
        int r;

        if (!l)
                return -ENOMEM;
        l->session = strdup(m->name);
        l->kernel = strdup(m->kernel ?: "");
        if (!l->session || !l->kernel)
                return -ENOMEM;
        r = strv_copy(&l->roots, &m->roots);
        if (r >= 0)
                r = controller_begin_learning_pass(c, &l->roots);
        if (r >= 0)
                r = ask_for_functions(l, dir);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}
