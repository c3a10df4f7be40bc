/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every step passes judge_step().  What a task is in is kept as a stretch of its
 * stack, begun by a call at a depth and over when something at that depth or
 * above it is seen.
 *
 *      source -> judge_step() -> TailSampler -> Reorder -> who asked
 *                     |              |             `- calls that are long enough
 *                     |              `- trees that are kept
 *                     `- everything that is known at once
 *
 * The return of a function follows behind an interrupt that came between the end
 * of the function and its record (calls/census.h): such a stretch is `ending`,
 * and another one may begin meanwhile.
 */

#include <fnmatch.h>

#include "base/array.h"
#include "calls/census.h"
#include "calls/filter.h"
#include "calls/stacks.h"
#include "calls/steps.h"

#define STEPS_MAX 131072 /* that wait for their trees' ends: some 40 MB */
#define LENGTH_MAX 65536 /* in Reorder */
#define ERROR_MAX 4095   /* linux 6.12 include/linux/err.h, MAX_ERRNO */

/* One tree, open or ending. */
typedef struct Tree {
        const Function *root; /* NULL: none */
        uint64_t number;
        uint64_t begin_ns, seen_ns; /* its first step, and its last before a loss */
        uint64_t n_lost;            /* losses before it */
        SampledTree *sampled;       /* NULL: it need not wait */
} Tree;

typedef struct Rank {
        uint64_t duration_ns, number;
} Rank;

/* Of a task: Stack.data. */
typedef struct FilterTask {
        Stretch stretch, notrace, fold;
        Tree tree, ending;   /* of the stretch's function, and of what is ending */
        uint64_t n_left_out; /* as a Step has it */
} FilterTask;

struct Filter {
        const FilterSpec *spec;
        bool by_trees;
        Stacks tasks;
        NameSet roots, functions; /* without patterns: all */
        Prune notrace, fold;      /* likewise: none */
        uint64_t n_trees, n_lost;
        Rank *ranks; /* of the slowest, by number, when they are known */
        size_t n_ranks;
        bool is_ranking;
        bool has_ended, must_finish; /* the source; and then Reorder */
        bool samples, reorders;      /* steps wait there */
        TailSampler tail_sampler;
        Reorder reorder;
};

static bool has_any(const Strv *patterns) {
        return patterns && patterns->n > 0;
}

static bool matches(const Strv *patterns, const char *name) {
        for (size_t i = 0; i < patterns->n; i++)
                if (fnmatch(patterns->items[i], name, 0) == 0)
                        return true;
        return false;
}

static bool keeps_some(const FilterSpec *s) {
        return s->keep_ns > 0 || s->keep_limits || s->keep_failed;
}

bool filter_spec_needs_owners(const FilterSpec *s) {
        OwnerWord i = 0;

        while (i < _OWNER_WORD_N && !has_any(s->owners[i]))
                i++;
        return i < _OWNER_WORD_N;
}

bool filter_spec_is_empty(const FilterSpec *s) {
        return !has_any(s->tasks) && !has_any(s->roots) && !has_any(s->functions) &&
               !has_any(s->notrace) && !has_any(s->fold) && s->n_pids == 0 && !s->cpus &&
               s->from_ns == 0 && s->to_ns == 0 && s->slower_ns == 0 && s->depth == 0 &&
               s->nth == 0 && s->n_slowest == 0 && !keeps_some(s) && !filter_spec_needs_owners(s);
}

bool filter_spec_needs_rank(const FilterSpec *s) {
        return s->n_slowest > 0 || s->keep_limits;
}

/* --- the slowest ------------------------------------------------------------------------------ */

static int compare_numbers(const void *pa, const void *pb) {
        return CMP(((const Rank *) pa)->number, ((const Rank *) pb)->number);
}

/* Of two that took equally long the earlier one comes first. */
static int compare_ranks(const void *pa, const void *pb) {
        const Rank *a = pa, *b = pb;

        return CMP(b->duration_ns, a->duration_ns) ?: compare_numbers(a, b);
}

static void drop_quicker(Filter *f) {
        SORT(f->ranks, f->n_ranks, compare_ranks);
        f->n_ranks = MIN(f->n_ranks, f->spec->n_slowest);
}

/* --- trees ------------------------------------------------------------------------------------ */

static bool is_selected(const Filter *f, uint64_t number) {
        const Rank key = { .number = number };

        if (f->spec->nth > 0 && number != f->spec->nth)
                return false;
        if (f->is_ranking || f->spec->n_slowest == 0)
                return true;
        return f->n_ranks > 0 && bsearch(&key, f->ranks, f->n_ranks, sizeof(key), compare_numbers);
}

static int begin_tree(Filter *f, FilterTask *t, const Step *step) {
        t->stretch.depth = step->depth;
        t->stretch.function = step->function;
        t->n_left_out = 0;
        t->tree = (Tree){ .root = step->function,
                          .number = ++f->n_trees,
                          .n_lost = f->n_lost,
                          .begin_ns = step->timestamp_ns,
                          .seen_ns = step->timestamp_ns };
        if (f->samples && is_selected(f, t->tree.number)) {
                t->tree.sampled = calloc(1, sizeof(SampledTree));
                if (!t->tree.sampled)
                        return -ENOMEM;
        }
        return 0;
}

bool filter_is_error(uint64_t retval) {
        ValueNumber number = retval_number(retval);

        return number.is_negative && number.magnitude <= ERROR_MAX;
}

static bool is_kept(const FilterSpec *spec, const Tree *tree, uint64_t duration_ns,
                    const Step *end) {
        uint64_t limit_ns =
                spec->keep_limits ? spec->keep_limits->limit_ns(spec->keep_limits->data, tree->root)
                                  : spec->keep_ns;

        if ((spec->keep_ns > 0 || spec->keep_limits) && duration_ns >= limit_ns)
                return true;
        return spec->keep_failed && end && end->has_retval && filter_is_error(end->retval);
}

/* @end: its last step; NULL: that was not seen. */
static int end_tree(Filter *f, Tree *tree, const Step *end) {
        uint64_t duration_ns = end ? step_duration_ns(end) : tree->seen_ns - tree->begin_ns;
        int r = 0;

        if (!tree->root)
                return 0;
        if (f->is_ranking && is_selected(f, tree->number)) {
                /* Memory is in proportion to how many are wanted. */
                if (f->n_ranks / 2 >= f->spec->n_slowest)
                        drop_quicker(f);
                if (f->spec->n_slowest > 0 &&
                    !ARRAY_ADD(f->ranks, f->n_ranks, (Rank){ duration_ns, tree->number }))
                        return -ENOMEM;
                if (f->spec->keep_limits)
                        r = f->spec->keep_limits->learn(f->spec->keep_limits->data, tree->root,
                                                        duration_ns);
        }
        if (tree->sampled)
                (void) tail_sampler_end(&f->tail_sampler, tree->sampled,
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

static int find_place(Filter *f, FilterTask *t, const Step *step, TreePlace *ret) {
        bool is_return = step->kind == STEP_LEAVE;
        Leaving leaving = LEAVES_NOTHING;
        int r;

        if (is_return)
                leaving = stretch_leave(&t->stretch, step);
        else if (stretch_call(&t->stretch, step->depth))
                leaving = LEAVES_INSIDE;
        if (leaving != LEAVES_NOTHING) {
                ret->is_end = leaving != LEAVES_INSIDE;
                ret->tree = leaving == LEAVES_ENDING ? &t->ending : &t->tree;
                return 0;
        }
        r = settle_trees(f, t);
        /* A return whose call was not seen is the end of a tree, of which nothing else is kept: that what came
         * before was below it could not be known then. */
        if (r >= 0)
                r = f->roots.patterns ? name_set_has(&f->roots, step->function)
                                      : !is_return || step->depth == 0;
        if (r <= 0)
                return r;
        ret->tree = &t->tree;
        ret->is_end = step->kind != STEP_ENTER;
        r = begin_tree(f, t, step);
        if (ret->is_end)
                t->stretch.function = NULL;
        return r;
}

/* --- judging a step --------------------------------------------------------------------------- */

static bool passes_when(const FilterSpec *spec, const Step *step) {
        return step->timestamp_ns >= spec->from_ns &&
               (spec->to_ns == 0 || step->timestamp_ns <= spec->to_ns);
}

static bool passes_when_and_who(const FilterSpec *spec, const Step *step) {
        size_t i = 0;

        if (!passes_when(spec, step))
                return false;
        if (spec->cpus && (step->cpu >= spec->n_cpus || !spec->cpus[step->cpu]))
                return false;
        if (step->kind == STEP_LOST)
                return true;
        while (i < spec->n_pids && spec->pids[i] != step->pid)
                i++;
        if (spec->n_pids > 0 && i == spec->n_pids)
                return false;
        for (OwnerWord k = 0; k < _OWNER_WORD_N; k++)
                if (has_any(spec->owners[k]) &&
                    !(step->owner && matches(spec->owners[k], owner_word(step->owner, k))))
                        return false;
        return !has_any(spec->tasks) || (step->comm && matches(spec->tasks, step->comm));
}

/* 1 if what is left of the trees has @step, else 0; or -ENOMEM. */
static int passes_functions(Filter *f, FilterTask *t, const Step *step, const TreePlace *place) {
        int hidden = f->notrace.names.patterns ? prune_hides(&f->notrace, &t->notrace, step) : 0;

        if (hidden == 0 && f->fold.names.patterns)
                hidden = prune_hides(&f->fold, &t->fold, step);
        if (hidden != 0)
                return MIN(hidden, 0);
        if (f->by_trees && !place->tree)
                return 0;
        if (step->kind == STEP_OTHER)
                return !f->functions.patterns;
        if (f->spec->depth > 0 && (uint64_t) (step->depth - place->base) >= f->spec->depth)
                return 0;
        return f->functions.patterns ? name_set_has(&f->functions, step->function) : 1;
}

/* Whatever else is asked for. */
static bool is_kept_event(const Filter *f, const Step *step) {
        if (step->kind != STEP_OTHER || (!step->text && !step->late))
                return false;
        if (f->spec->keep_contexts && trace_context_is_said(step))
                return true;
        return f->spec->keep_sched && passes_when(f->spec, step) &&
               (step->late || startswith(step->text, "sched_switch: ") ||
                startswith(step->text, "sched_wak"));
}

/* 1: it is passed on; 0: it waits; -ENOMEM. */
static int wait_or_pass(Filter *f, SampledTree *tree, const Step *step) {
        return f->samples ? tail_sampler_push(&f->tail_sampler, tree, step, NULL) : 1;
}

/* What is open will not end any more. */
static int end_trees(Filter *f) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < f->tasks.n; i++) {
                FilterTask *t = f->tasks.items[i].data;

                r = t ? end_tree(f, &t->ending, NULL) : 0;
                if (r >= 0 && t)
                        r = end_tree(f, &t->tree, NULL);
        }
        return r;
}

/* The same, or 0: it is not. */
static int judge_step(Filter *f, Step *step) {
        TreePlace place = {};
        FilterTask *t;
        int r = 0;

        if (step->kind == STEP_TASK)
                r = stacks_name_task(&f->tasks, step);
        if (_unlikely_(step_cuts_all(step))) {
                r = end_trees(f);
                stacks_done(&f->tasks);
        }
        if (is_kept_event(f, step))
                return wait_or_pass(f, NULL, step);
        if (r < 0 || !passes_when_and_who(f->spec, step))
                return r;
        f->n_lost += step->kind == STEP_LOST;
        if (step->kind == STEP_LOST || step->kind == STEP_TASK)
                return wait_or_pass(f, NULL, step);
        t = stacks_data(&f->tasks, step, sizeof(*t));
        if (!t)
                return -ENOMEM;
        if (f->by_trees && step->kind == STEP_OTHER)
                place.tree = t->stretch.function ? &t->tree : NULL;
        else if (f->by_trees)
                r = find_place(f, t, step, &place);
        if (r < 0)
                return r;
        place.base = t->stretch.depth;
        if (place.tree && place.tree->n_lost == f->n_lost)
                place.tree->seen_ns = add_capped(
                        step->timestamp_ns, step->kind == STEP_LEAF ? step_duration_ns(step) : 0);
        if (place.tree && !is_selected(f, place.tree->number))
                r = 0;
        else
                r = passes_functions(f, t, step, &place);
        if (r == 0)
                t->n_left_out += step->kind < STEP_LEAVE;
        if (r > 0) {
                step->n_left_out = TAKE(t->n_left_out, 0);
                r = wait_or_pass(f, place.tree ? place.tree->sampled : NULL, step);
        }
        if (r >= 0 && place.is_end) {
                int e = end_tree(f, place.tree, step);

                r = e < 0 ? e : r;
        }
        return r;
}

/* With a filter of its own, since functions are the other reader's. */
int filter_rank(Filter *f, const StepSource *source) {
        _cleanup_(filter_freep) Filter *ranking = NULL;
        int r = filter_new(&ranking, f->spec);
        Step step;

        if (r < 0)
                return r;
        ranking->is_ranking = true;
        ranking->samples = false;
        while ((r = step_source_next(source, f->spec->to_ns ?: UINT64_MAX, &step)) > 0) {
                r = judge_step(ranking, &step);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = end_trees(ranking);
        drop_quicker(ranking);
        SORT(ranking->ranks, ranking->n_ranks, compare_numbers);
        f->ranks = TAKE_PTR(ranking->ranks);
        f->n_ranks = ranking->n_ranks;
        return r;
}

/* --- what waits ------------------------------------------------------------------------------- */

/* 1: @ret is filled; 0: nothing can go yet; -ENOMEM. */
static int hand_on(Filter *f, const Step *step, Step *ret) {
        if (f->reorders && step->kind == STEP_OTHER && !is_kept_event(f, step))
                return 0; /* no call */
        if (f->reorders)
                return reorder_push(&f->reorder, step);
        *ret = *step;
        return 1;
}

static int next_waiting(Filter *f, Step *ret) {
        for (;;) {
                Step step;

                if (f->reorders && tail_sampler_pop(&f->reorder.line, f->reorder.now_ns, ret))
                        return 1;
                if (f->samples && tail_sampler_pop(&f->tail_sampler, 0, &step)) {
                        int r = hand_on(f, &step, ret);

                        if (r != 0)
                                return r;
                } else if (f->reorders && TAKE(f->must_finish, false))
                        reorder_finish(&f->reorder);
                else
                        return 0;
        }
}

int filter_next(Filter *f, const StepSource *source, uint64_t until_ns, Step *ret) {
        if (f->spec->to_ns > 0)
                until_ns = MIN(until_ns, f->spec->to_ns);
        for (;;) {
                Step step;
                int r = next_waiting(f, ret);

                if (r != 0)
                        return r;
                r = step_source_next(source, until_ns, &step);
                if (r == 0 && (until_ns == UINT64_MAX || until_ns == f->spec->to_ns) &&
                    !f->has_ended) {
                        f->has_ended = f->must_finish = true;
                        r = end_trees(f);
                        if (r < 0)
                                return r;
                        continue;
                }
                if (r <= 0)
                        return r;
                r = f->spec->see ? f->spec->see(f->spec->witness, &step) : 0;
                if (r < 0)
                        return r;
                r = judge_step(f, &step);
                if (r > 0)
                        r = hand_on(f, &step, ret);
                if (r != 0)
                        return r;
        }
}

int filter_new(Filter **ret, const FilterSpec *spec) {
        Filter *f = NEW(Filter, .spec = spec, .samples = keeps_some(spec),
                        .reorders = spec->slower_ns > 0, .tail_sampler.n_max = STEPS_MAX,
                        .reorder.line = { .n_max = LENGTH_MAX, .min_ns = spec->slower_ns });

        if (!f)
                return -ENOMEM;
        f->by_trees = has_any(spec->roots) || spec->depth > 0 || spec->nth > 0 ||
                      spec->n_slowest > 0 || f->samples;
        f->roots.patterns = has_any(spec->roots) ? spec->roots : NULL;
        f->functions.patterns = has_any(spec->functions) ? spec->functions : NULL;
        f->notrace.names.patterns = has_any(spec->notrace) ? spec->notrace : NULL;
        f->fold.is_below = true;
        f->fold.names.patterns = has_any(spec->fold) ? spec->fold : NULL;
        if (has_any(spec->fold) && strv_contains(spec->fold, "irq"))
                f->fold.names.also = spec->is_irq;
        *ret = f;
        return 0;
}

Filter *filter_free(Filter *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; i < f->tasks.n; i++) {
                FilterTask *t = f->tasks.items[i].data;

                free(t ? t->tree.sampled : NULL);
                free(t ? t->ending.sampled : NULL);
        }
        stacks_done(&f->tasks);
        free(f->ranks);
        name_set_done(&f->roots);
        name_set_done(&f->functions);
        name_set_done(&f->notrace.names);
        name_set_done(&f->fold.names);
        tail_sampler_done(&f->tail_sampler);
        reorder_done(&f->reorder);
        return mfree(f);
}

/* --- names -------------------------------------------------------------------------------------- */

/* Patterns are tried once for each function; what they said is kept. */
enum { NOT_MEANT = 1, MEANT };

static bool is_meant(const NameSet *s, const Function *f) {
        char name[512], *dot;
        size_t n = MIN((size_t) f->n_name, sizeof(name) - 1);

        memcpy(name, f->label, n);
        name[n] = 0;
        if (matches(s->patterns, name) || (s->also && s->also(f)))
                return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        return matches(s->patterns, name);
}

int name_set_has(NameSet *s, const Function *function) {
        uint64_t verdict = hash_get(&s->verdicts, hash_key(function));

        if (_unlikely_(verdict == 0)) {
                verdict = is_meant(s, function) ? MEANT : NOT_MEANT;
                if (hash_add(&s->verdicts, hash_key(function), verdict) < 0)
                        return -ENOMEM;
        }
        return verdict == MEANT;
}

/* --- prune ------------------------------------------------------------------------------------ */

/* A task is in one stretch that is hidden, or in none; a return follows its call. */
int prune_hides(Prune *p, Stretch *s, const Step *step) {
        int r;

        if (step->kind == STEP_OTHER)
                return s->function != NULL;
        if (step->kind == STEP_LEAVE) {
                Leaving leaving = stretch_leave(s, step);

                if (leaving != LEAVES_NOTHING)
                        return leaving == LEAVES_INSIDE || !p->is_below;
        } else if (stretch_call(s, step->depth))
                return 1;
        if (p->is_below && step->kind == STEP_LEAVE)
                r = 0;
        else if (p->names.also && step->said && step->said->irq_begin)
                r = 1;
        else
                r = name_set_has(&p->names, step->function);
        if (r > 0 && step->kind == STEP_ENTER) {
                s->function = step->function;
                s->depth = step->depth;
        }
        return p->is_below ? MIN(r, 0) : r;
}
