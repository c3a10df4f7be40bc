/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every step passes judge_step().  What a task is in is kept as a stretch of its
 * stack, begun by a call at a depth and over when something at that depth or
 * above it is seen: a whole stack of frames is needed only for functions that
 * are left out (calls/prune.h).
 *
 *      source -> judge_step() -> Tail -> Hold -> who asked
 *                     |            |       `- calls that are long enough
 *                     |            `- trees that are kept
 *                     `- everything that is known at once
 *
 * The return of a function follows behind an interrupt that came between the end
 * of the function and its record (calls/trees.h): such a stretch is `ending`,
 * and another one may begin meanwhile.
 */

#include "base/grow.h"
#include "calls/filter.h"
#include "calls/reorder.h"
#include "calls/name-set.h"
#include "calls/prune.h"
#include "calls/slowest.h"
#include "calls/tail-sampler.h"
#include "calls/trees.h"

#define ERROR_MAX 4095 /* linux 6.12 include/linux/err.h, MAX_ERRNO */

/* One tree, open or ending. */
typedef struct Tree {
        const Function *root; /* NULL: none */
        uint64_t number;
        uint64_t begin_ns, seen_ns; /* its first step, and its last so far */
        SampledTree *tail_sampler;  /* NULL: it need not wait */
} Tree;

typedef struct FilterTask {
        Stretch stretch;
        Tree tree, ending; /* of the stretch's function, and of what is ending */
} FilterTask;

struct Filter {
        const FilterSpec *spec;
        bool by_trees;
        Trees *trees; /* gives each task its number */
        FilterTask *tasks;
        size_t n_tasks;
        NameSet *roots, *functions; /* NULL: all */
        Prune *notrace, *fold;      /* NULL: none */
        uint64_t n_trees;
        Slowest *slowest; /* NULL: all */
        bool is_ranking;
        unsigned n_finished;       /* of Tail and Hold */
        TailSampler *tail_sampler; /* NULL: nothing waits there */
        Reorder *reorder;          /* the same */
};

static bool has_any(const Strv *patterns) {
        return patterns && patterns->n > 0;
}

static bool keeps_some(const FilterSpec *s) {
        return s->keep_ns > 0 || s->keep_limits || s->keep_failed;
}

bool filter_spec_is_empty(const FilterSpec *s) {
        return !has_any(s->tasks) && !has_any(s->roots) && !has_any(s->functions) &&
               !has_any(s->notrace) && !has_any(s->fold) && s->n_pids == 0 && !s->cpus &&
               s->from_ns == 0 && s->to_ns == 0 && s->slower_ns == 0 && s->depth == 0 &&
               s->nth == 0 && s->n_slowest == 0 && !keeps_some(s);
}

bool filter_spec_needs_rank(const FilterSpec *s) {
        return s->n_slowest > 0 || s->keep_limits;
}

/* --- trees ------------------------------------------------------------------------------------ */

static bool is_selected(const Filter *f, uint64_t number) {
        if (f->spec->nth > 0 && number != f->spec->nth)
                return false;
        return f->is_ranking || !f->slowest || slowest_has(f->slowest, number);
}

static int begin_tree(Filter *f, FilterTask *t, const Step *step) {
        t->stretch.depth = step->depth;
        t->stretch.function = step->function;
        t->tree = (Tree){ .root = step->function,
                          .number = ++f->n_trees,
                          .begin_ns = step->timestamp_ns,
                          .seen_ns = step->timestamp_ns };
        if (f->tail_sampler && !f->is_ranking && is_selected(f, t->tree.number)) {
                t->tree.tail_sampler = tail_sampler_begin();
                if (!t->tree.tail_sampler)
                        return -ENOMEM;
        }
        return 0;
}

/* As the kernel guesses: a 32 bit function leaves the upper half 0.
 * Source: linux 6.12 kernel/trace/trace_functions_graph.c, print_graph_retval(). */
static bool is_error(uint64_t retval) {
        if (retval <= UINT32_MAX)
                retval = (uint64_t) (int64_t) (int32_t) (uint32_t) retval;
        return retval >= (uint64_t) -ERROR_MAX;
}

static bool is_kept(const FilterSpec *spec, const Tree *tree, uint64_t duration_ns,
                    const Step *end) {
        uint64_t limit_ns =
                spec->keep_limits ? spec->keep_limits->limit_ns(spec->keep_limits->data, tree->root)
                                  : spec->keep_ns;

        if ((spec->keep_ns > 0 || spec->keep_limits) && duration_ns >= limit_ns)
                return true;
        return spec->keep_failed && end && end->has_retval && is_error(end->retval);
}

/* @end: its last step; NULL: that was not seen. */
static int end_tree(Filter *f, Tree *tree, const Step *end) {
        uint64_t duration_ns = end ? step_duration_ns(end) : tree->seen_ns - tree->begin_ns;
        int r = 0;

        if (!tree->root)
                return 0;
        if (f->is_ranking && is_selected(f, tree->number)) {
                if (f->slowest)
                        r = slowest_add(f->slowest, tree->number, duration_ns);
                if (r >= 0 && f->spec->keep_limits)
                        r = f->spec->keep_limits->learn(f->spec->keep_limits->data, tree->root,
                                                        duration_ns);
        }
        if (tree->tail_sampler)
                tail_sampler_end(f->tail_sampler, tree->tail_sampler,
                                 is_kept(f->spec, tree, duration_ns, end));
        *tree = (Tree){};
        return r;
}

/* What was found to be over while @step was looked at. */
static int settle_trees(Filter *f, FilterTask *t) {
        int r = 0;

        if (t->tree.root && !t->stretch.function) {
                if (t->stretch.ending == t->tree.root) {
                        r = end_tree(f, &t->ending, NULL);
                        t->ending = TAKE(t->tree, (Tree){});
                } else
                        r = end_tree(f, &t->tree, NULL);
        }
        if (r >= 0 && t->ending.root && !t->stretch.ending)
                r = end_tree(f, &t->ending, NULL);
        return r;
}

typedef struct TreePlace {
        Tree *tree;   /* NULL: in none that is wanted */
        int32_t base; /* the tree's depth */
        bool is_end;
} TreePlace;

static int place_call(Filter *f, FilterTask *t, const Step *step, TreePlace *ret) {
        int r = 1;

        if (!stretch_call(&t->stretch, step->depth)) {
                r = settle_trees(f, t);
                if (r >= 0)
                        r = f->roots ? name_set_has(f->roots, step->function) : 1;
                if (r <= 0)
                        return r;
                r = begin_tree(f, t, step);
                if (r < 0)
                        return r;
                ret->is_end = step->kind == STEP_LEAF;
                if (ret->is_end)
                        t->stretch.function = NULL;
        }
        ret->tree = &t->tree;
        return 0;
}

/* A return whose call was not seen is the end of a tree, of which nothing else is kept: that what came
 * before was below it could not be known then. */
static int place_late(Filter *f, FilterTask *t, const Step *step, TreePlace *ret) {
        int r = f->roots ? name_set_has(f->roots, step->function) : step->depth == 0;

        if (r <= 0)
                return r;
        r = begin_tree(f, t, step);
        if (r < 0)
                return r;
        t->stretch.function = NULL;
        ret->is_end = true;
        ret->tree = &t->tree;
        return 0;
}

static int place_leave(Filter *f, FilterTask *t, const Step *step, TreePlace *ret) {
        Leaving leaving = stretch_leave(&t->stretch, step);

        if (leaving == LEAVES_NOTHING) {
                int r = settle_trees(f, t);

                return r < 0 ? r : place_late(f, t, step, ret);
        }
        ret->is_end = leaving != LEAVES_INSIDE;
        ret->tree = leaving == LEAVES_ENDING ? &t->ending : &t->tree;
        return 0;
}

/* --- judging a step --------------------------------------------------------------------------- */

static bool passes_when_and_who(const FilterSpec *spec, const Step *step) {
        if (step->timestamp_ns < spec->from_ns ||
            (spec->to_ns > 0 && step->timestamp_ns > spec->to_ns))
                return false;
        if (spec->cpus && (step->cpu >= spec->n_cpus || !spec->cpus[step->cpu]))
                return false;
        if (step->kind == STEP_LOST)
                return true;
        if (spec->n_pids > 0) {
                size_t i = 0;

                while (i < spec->n_pids && spec->pids[i] != step->pid)
                        i++;
                if (i == spec->n_pids)
                        return false;
        }
        return !has_any(spec->tasks) ||
               (step->comm && name_set_patterns_match(spec->tasks, step->comm));
}

/* The number of a step's task; -ENOMEM. */
static ssize_t number_of_task(Filter *f, const Step *step) {
        TaskTree *task = trees_task(f->trees, step);
        size_t i;

        if (!task)
                return -ENOMEM;
        i = (size_t) (task - trees_get(f->trees, 0));
        return ARRAY_REACH(f->tasks, f->n_tasks, i) ? (ssize_t) i : -ENOMEM;
}

/* A STEP_TASK: the nameless task's number is @ret_a, the named one's @ret_b. */
static int numbers_of_named(Filter *f, const Step *step, size_t *ret_a, size_t *ret_b) {
        const Step nameless = { .cpu = step->cpu, .pid = STEP_PID_UNKNOWN(step->cpu) };
        ssize_t a = number_of_task(f, &nameless), b = a < 0 ? a : number_of_task(f, step);

        if (b < 0)
                return (int) b;
        *ret_a = (size_t) a;
        *ret_b = (size_t) b;
        return 0;
}

static int name_task(Filter *f, const Step *step) {
        size_t a, b;
        int r = numbers_of_named(f, step, &a, &b);

        if (r < 0)
                return r;
        SWAP(f->tasks[a], f->tasks[b]);
        r = f->notrace ? prune_hides(f->notrace, step) : 0;
        return r >= 0 && f->fold ? prune_hides(f->fold, step) : r;
}

/* Whether what is left of the trees has @step: 1, 0, -ENOMEM. */
static int passes_functions(Filter *f, const Step *step, const TreePlace *place) {
        int hidden = f->notrace ? prune_hides(f->notrace, step) : 0;

        if (hidden == 0 && f->fold)
                hidden = prune_hides(f->fold, step);
        if (hidden != 0)
                return MIN(hidden, 0);
        if (f->by_trees && !place->tree)
                return 0;
        if (step->kind == STEP_OTHER)
                return !f->functions;
        if (f->spec->depth > 0 && (uint64_t) (step->depth - place->base) >= f->spec->depth)
                return 0;
        return f->functions ? name_set_has(f->functions, step->function) : 1;
}

/* 1: it is passed on; 0: not, or it waits; -ENOMEM. */
static int judge_step(Filter *f, const Step *step) {
        TreePlace place = {};
        FilterTask *t;
        ssize_t task;
        int r = 0;

        if (step->kind == STEP_TASK)
                r = name_task(f, step);
        if (r < 0 || !passes_when_and_who(f->spec, step))
                return r;
        if (step->kind == STEP_LOST || step->kind == STEP_TASK)
                return f->tail_sampler && !f->is_ranking
                               ? tail_sampler_push(f->tail_sampler, NULL, 0, step)
                               : 1;
        task = number_of_task(f, step);
        if (task < 0)
                return (int) task;
        t = &f->tasks[task];
        if (f->by_trees && step->kind == STEP_OTHER)
                place.tree = t->stretch.function ? &t->tree : NULL;
        else if (f->by_trees)
                r = step->kind == STEP_LEAVE ? place_leave(f, t, step, &place)
                                             : place_call(f, t, step, &place);
        if (r < 0)
                return r;
        place.base = t->stretch.depth;
        if (place.tree)
                place.tree->seen_ns = step->timestamp_ns;
        if (place.tree && !is_selected(f, place.tree->number))
                r = 0;
        else
                r = passes_functions(f, step, &place);
        if (r > 0 && f->tail_sampler && !f->is_ranking)
                r = tail_sampler_push(f->tail_sampler, place.tree->tail_sampler, (size_t) task,
                                      step);
        if (r >= 0 && place.is_end) {
                int e = end_tree(f, place.tree, step);

                r = e < 0 ? e : r;
        }
        return r;
}

/* What is open will not end any more. */
static int end_trees(Filter *f) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < f->n_tasks; i++) {
                r = end_tree(f, &f->tasks[i].ending, NULL);
                if (r >= 0)
                        r = end_tree(f, &f->tasks[i].tree, NULL);
        }
        return r;
}

int filter_rank(Filter *f, const StepSource *source) {
        Step step;
        int r;

        f->is_ranking = true;
        while ((r = step_source_next(source, f->spec->to_ns ?: UINT64_MAX, &step)) > 0) {
                r = judge_step(f, &step);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = end_trees(f);
        if (r >= 0 && f->slowest)
                slowest_finish(f->slowest);
        /* From the beginning.  Functions were the other reader's. */
        if (f->n_tasks > 0)
                memset(f->tasks, 0, f->n_tasks * sizeof(*f->tasks));
        if (f->roots)
                name_set_forget(f->roots);
        if (f->functions)
                name_set_forget(f->functions);
        if (r >= 0 && f->notrace)
                r = prune_restart(f->notrace);
        if (r >= 0 && f->fold)
                r = prune_restart(f->fold);
        f->n_trees = 0;
        f->is_ranking = false;
        return r;
}

/* --- what waits ------------------------------------------------------------------------------- */

/* 1: @ret is filled; 0: nothing can go yet; -ENOMEM. */
static int hand_on(Filter *f, size_t task, const Step *step, Step *ret) {
        size_t a, b;
        int r;

        if (!f->reorder) {
                *ret = *step;
                return 1;
        }
        if (step->kind == STEP_TASK) {
                r = numbers_of_named(f, step, &a, &b);
                if (r >= 0)
                        r = reorder_swap_tasks(f->reorder, a, b);
                if (r < 0)
                        return r;
        }
        return reorder_push(f->reorder, task, step);
}

static int next_waiting(Filter *f, Step *ret) {
        for (;;) {
                size_t task;
                Step step;
                int r;

                if (f->reorder && reorder_pop(f->reorder, ret))
                        return 1;
                if (!f->tail_sampler || !tail_sampler_pop(f->tail_sampler, &step, &task))
                        return 0;
                r = hand_on(f, task, &step, ret);
                if (r != 0)
                        return r;
        }
}

/* The source has ended: 1 if more may come of what waits. */
static int finish(Filter *f) {
        int r;

        switch (f->n_finished) {
        case 0:
                f->n_finished++;
                r = end_trees(f);
                if (r < 0 || f->tail_sampler)
                        return r < 0 ? r : 1;
                __attribute__((fallthrough));
        case 1:
                f->n_finished++;
                if (f->reorder)
                        reorder_finish(f->reorder);
                return f->reorder ? 1 : 0;
        default:
                return 0;
        }
}

int filter_next(Filter *f, const StepSource *source, uint64_t until_ns, Step *ret) {
        if (f->spec->to_ns > 0)
                until_ns = MIN(until_ns, f->spec->to_ns);
        for (;;) {
                ssize_t task = 0;
                Step step;
                int r = next_waiting(f, ret);

                if (r != 0)
                        return r;
                r = step_source_next(source, until_ns, &step);
                if (r == 0 && (until_ns == UINT64_MAX || until_ns == f->spec->to_ns))
                        r = finish(f);
                else if (r > 0) {
                        r = judge_step(f, &step);
                        if (r > 0 && f->reorder && step.kind != STEP_LOST)
                                task = number_of_task(f, &step);
                        if (r > 0)
                                r = task < 0 ? (int) task : hand_on(f, (size_t) task, &step, ret);
                        if (r == 0)
                                continue;
                        return r;
                }
                if (r <= 0)
                        return r;
        }
}

int filter_new(Filter **ret, const FilterSpec *spec) {
        _cleanup_(filter_freep) Filter *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        f->spec = spec;
        f->by_trees = has_any(spec->roots) || spec->depth > 0 || spec->nth > 0 ||
                      spec->n_slowest > 0 || keeps_some(spec);
        r = trees_new(&f->trees);
        if (r >= 0 && has_any(spec->roots))
                r = name_set_new(&f->roots, spec->roots);
        if (r >= 0 && has_any(spec->functions))
                r = name_set_new(&f->functions, spec->functions);
        if (r >= 0 && has_any(spec->notrace))
                r = prune_new(&f->notrace, spec->notrace);
        if (r >= 0 && has_any(spec->fold))
                r = prune_new_below(&f->fold, spec->fold, spec->is_irq);
        if (r >= 0 && spec->n_slowest > 0)
                r = slowest_new(&f->slowest, spec->n_slowest);
        if (r >= 0 && keeps_some(spec))
                r = tail_sampler_new(&f->tail_sampler);
        if (r >= 0 && spec->slower_ns > 0)
                r = reorder_new(&f->reorder, spec->slower_ns);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}

Filter *filter_free(Filter *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; f->tail_sampler && i < f->n_tasks; i++) {
                if (f->tasks[i].tree.tail_sampler)
                        tail_sampler_end(f->tail_sampler, f->tasks[i].tree.tail_sampler, false);
                if (f->tasks[i].ending.tail_sampler)
                        tail_sampler_end(f->tail_sampler, f->tasks[i].ending.tail_sampler, false);
        }
        free(f->tasks);
        trees_free(f->trees);
        name_set_free(f->roots);
        name_set_free(f->functions);
        prune_free(f->notrace);
        prune_free(f->fold);
        slowest_free(f->slowest);
        tail_sampler_free(f->tail_sampler);
        reorder_free(f->reorder);
        free(f);
        return NULL;
}
