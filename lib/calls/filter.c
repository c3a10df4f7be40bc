/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * For each task two stretches of its stack are kept: the tree that it is in, and the call that is
 * left out (notrace).  Both are known by the depth and the function that they began with.  An
 * interrupt may be recorded between the end of a call and its record (calls/trees.h): then a call
 * at that very depth comes first, and the stretch is over but for the one return.
 *
 * Whether a function's name matches is found out once for each function.
 */

#include <fnmatch.h>

#include "calls/filter.h"
#include "calls/hold.h"
#include "calls/trees.h"

enum {
        MARK_KNOWN = 1,
        MARK_ROOT = 2,
        MARK_SHOWN = 4, /* by `functions` */
        MARK_NOTRACE = 8,
};

typedef struct Mark {
        const Function *function; /* NULL: free */
        unsigned bits;
} Mark;

typedef struct Stretch {
        const Function *function; /* that it began with; NULL: there is none */
        const Function *ending;   /* is over, but for this one's return */
        int32_t depth;
} Stretch;

typedef struct FilterTask {
        Stretch tree, hidden;
        uint64_t number;   /* of the tree */
        uint64_t begin_ns; /* of the tree */
} FilterTask;

typedef struct Rank {
        uint64_t duration_ns, number;
} Rank;

struct Filter {
        const FilterSpec *spec;
        bool by_trees;
        Trees *trees; /* gives each task its number */
        FilterTask *tasks;
        size_t n_tasks;
        Mark *marks; /* open addressing */
        size_t n_marks, n_marks_room;
        uint64_t n_trees;
        uint64_t now_ns;
        Rank *ranks; /* a heap, the quickest on top; then sorted by number */
        size_t n_ranks;
        bool is_ranking;
        Hold *hold; /* NULL: nothing waits */
        bool hold_is_finished;
};

static bool has_any(const Strv *patterns) {
        return patterns && patterns->n > 0;
}

bool filter_spec_is_empty(const FilterSpec *s) {
        return !has_any(s->tasks) && !has_any(s->roots) && !has_any(s->functions) &&
               !has_any(s->notrace) && s->n_pids == 0 && !s->cpus && s->from_ns == 0 &&
               s->to_ns == 0 && s->slower_ns == 0 && s->depth == 0 && s->nth == 0 &&
               s->n_slowest == 0;
}

static bool matches(const Strv *patterns, const char *text) {
        for (size_t i = 0; i < patterns->n; i++)
                if (fnmatch(patterns->items[i], text, 0) == 0)
                        return true;
        return false;
}

/* --- functions -------------------------------------------------------------------------------- */

static unsigned judge(const FilterSpec *spec, const Function *function) {
        unsigned bits = MARK_KNOWN;
        char *name = strndup(function->label, function->n_name);

        if (!name)
                return 0;
        if (!has_any(spec->roots) || matches(spec->roots, name))
                bits |= MARK_ROOT;
        if (!has_any(spec->functions) || matches(spec->functions, name))
                bits |= MARK_SHOWN;
        if (has_any(spec->notrace) && matches(spec->notrace, name))
                bits |= MARK_NOTRACE;
        free(name);
        return bits;
}

static size_t mark_slot(const Mark *marks, size_t n_room, const Function *function) {
        size_t i = (size_t) (((uintptr_t) function * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
                   (n_room - 1);

        while (marks[i].function && marks[i].function != function)
                i = (i + 1) & (n_room - 1);
        return i;
}

static int grow_marks(Filter *f) {
        size_t n_room = f->n_marks_room * 2;
        Mark *marks = calloc(n_room, sizeof(*marks));

        if (!marks)
                return -ENOMEM;
        for (size_t i = 0; i < f->n_marks_room; i++)
                if (f->marks[i].function)
                        marks[mark_slot(marks, n_room, f->marks[i].function)] = f->marks[i];
        free(f->marks);
        f->marks = marks;
        f->n_marks_room = n_room;
        return 0;
}

/* 0 without memory. */
static unsigned marks_of(Filter *f, const Function *function) {
        size_t i = mark_slot(f->marks, f->n_marks_room, function);
        unsigned bits;

        if (_likely_(f->marks[i].function))
                return f->marks[i].bits;
        if (f->n_marks >= f->n_marks_room / 2) {
                if (grow_marks(f) < 0)
                        return 0;
                i = mark_slot(f->marks, f->n_marks_room, function);
        }
        bits = judge(f->spec, function);
        if (bits != 0) {
                f->marks[i] = (Mark){ function, bits };
                f->n_marks++;
        }
        return bits;
}

/* --- stretches of a task's stack -------------------------------------------------------------- */

/* A call at @depth: what was open there or deeper is over.  Whether it lies in the stretch. */
static bool stretch_call(Stretch *s, int32_t depth) {
        if (s->function && depth > s->depth)
                return true;
        if (depth < s->depth)
                s->ending = NULL;
        else if (s->function)
                s->ending = s->function;
        s->function = NULL;
        return false;
}

/* A return: whether it lies in the stretch, of which it may be the end. */
static bool stretch_leave(Stretch *s, const Step *step, bool *ret_is_end) {
        const Function **open = s->function ? &s->function : &s->ending;

        *ret_is_end = false;
        if (s->function && step->depth > s->depth)
                return true;
        if (*open && step->depth == s->depth && step->function == *open) {
                *ret_is_end = true;
                *open = NULL;
                return true;
        }
        s->function = NULL;
        if (step->depth < s->depth)
                s->ending = NULL;
        return false;
}

/* --- the slowest ------------------------------------------------------------------------------ */

static bool is_quicker(const Rank *a, const Rank *b) {
        /* Of equals the later one goes first. */
        return a->duration_ns < b->duration_ns ||
               (a->duration_ns == b->duration_ns && a->number > b->number);
}

static void rank_down(Filter *f, size_t i) {
        for (;;) {
                size_t child = 2 * i + 1;
                Rank swap;

                if (child >= f->n_ranks)
                        return;
                if (child + 1 < f->n_ranks && is_quicker(&f->ranks[child + 1], &f->ranks[child]))
                        child++;
                if (!is_quicker(&f->ranks[child], &f->ranks[i]))
                        return;
                swap = f->ranks[i];
                f->ranks[i] = f->ranks[child];
                f->ranks[child] = swap;
                i = child;
        }
}

static int note_tree(Filter *f, uint64_t number, uint64_t duration_ns) {
        Rank rank = { duration_ns, number };

        if (f->n_ranks < f->spec->n_slowest) {
                if ((f->n_ranks & (f->n_ranks - 1)) == 0) {
                        Rank *p =
                                reallocarray(f->ranks, f->n_ranks ? f->n_ranks * 2 : 1, sizeof(*p));

                        if (!p)
                                return -ENOMEM;
                        f->ranks = p;
                }
                f->ranks[f->n_ranks++] = rank;
                if (f->n_ranks == f->spec->n_slowest)
                        for (size_t i = f->n_ranks / 2; i-- > 0;)
                                rank_down(f, i);
        } else if (is_quicker(&f->ranks[0], &rank)) {
                f->ranks[0] = rank;
                rank_down(f, 0);
        }
        return 0;
}

static int compare_numbers(const void *a, const void *b) {
        const Rank *x = a, *y = b;

        return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_selected(const Filter *f, uint64_t number) {
        const Rank key = { .number = number };

        if (f->spec->nth > 0 && number != f->spec->nth)
                return false;
        if (f->is_ranking || f->spec->n_slowest == 0)
                return true;
        return bsearch(&key, f->ranks, f->n_ranks, sizeof(key), compare_numbers);
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
        return !has_any(spec->tasks) || matches(spec->tasks, step->comm);
}

/* 1: in a tree that is wanted; 0; -ENOMEM. */
static int place_in_trees(Filter *f, FilterTask *t, const Step *step, unsigned marks) {
        bool inside, is_end = false;
        int r = 0;

        if (step->kind == STEP_LEAVE)
                inside = stretch_leave(&t->tree, step, &is_end);
        else {
                inside = stretch_call(&t->tree, step->depth);
                if (!inside && (marks & MARK_ROOT)) {
                        inside = true;
                        is_end = step->kind == STEP_LEAF;
                        t->number = ++f->n_trees;
                        t->begin_ns = step->timestamp_ns;
                        t->tree.depth = step->depth;
                        if (!is_end)
                                t->tree.function = step->function;
                }
        }
        if (!inside || !is_selected(f, t->number))
                return 0;
        if (is_end && f->is_ranking)
                r = note_tree(f, t->number, step_duration_ns(step));
        if (f->spec->depth > 0 && (uint64_t) (step->depth - t->tree.depth) >= f->spec->depth)
                return 0;
        return r < 0 ? r : 1;
}

/* Whether @step is of a call that is left out, or of what it calls. */
static bool is_left_out(FilterTask *t, const Step *step, unsigned marks) {
        bool is_end;

        if (step->kind == STEP_LEAVE)
                return stretch_leave(&t->hidden, step, &is_end) || (marks & MARK_NOTRACE);
        if (stretch_call(&t->hidden, step->depth))
                return true;
        if (!(marks & MARK_NOTRACE))
                return false;
        if (step->kind == STEP_ENTER) {
                t->hidden.function = step->function;
                t->hidden.depth = step->depth;
        }
        return true;
}

/* The number of a step's task; -ENOMEM. */
static ssize_t number_of_task(Filter *f, const Step *step) {
        TaskTree *task = trees_task(f->trees, step);
        size_t i;

        if (!task)
                return -ENOMEM;
        i = (size_t) (task - trees_get(f->trees, 0));
        if (i >= f->n_tasks) {
                size_t n = MAX(i + 1, f->n_tasks * 2);
                FilterTask *p = reallocarray(f->tasks, n, sizeof(*p));

                if (!p)
                        return -ENOMEM;
                memset(p + f->n_tasks, 0, (n - f->n_tasks) * sizeof(*p));
                f->tasks = p;
                f->n_tasks = n;
        }
        return (ssize_t) i;
}

/* 1: it is passed on; 0; -errno. */
static int judge_step(Filter *f, const Step *step, size_t *ret_task) {
        unsigned marks;
        FilterTask *t;
        ssize_t i;
        int r = 1;

        *ret_task = 0;
        if (!passes_when_and_who(f->spec, step))
                return 0;
        if (step->kind == STEP_LOST)
                return 1;
        i = number_of_task(f, step);
        if (i < 0)
                return (int) i;
        *ret_task = (size_t) i;
        t = &f->tasks[i];
        f->now_ns = step->timestamp_ns;
        if (step->kind == STEP_OTHER)
                return !has_any(f->spec->functions) && !t->hidden.function &&
                       (!f->by_trees || (t->tree.function && is_selected(f, t->number)));
        marks = marks_of(f, step->function);
        if (marks == 0)
                return -ENOMEM;
        if (f->by_trees)
                r = place_in_trees(f, t, step, marks);
        if (has_any(f->spec->notrace) && is_left_out(t, step, marks))
                r = MIN(r, 0);
        return r > 0 && !(marks & MARK_SHOWN) ? 0 : r;
}

int filter_rank(Filter *f, Steps *steps) {
        size_t task;
        Step step;
        int r;

        f->is_ranking = true;
        while ((r = steps_next(steps, f->spec->to_ns ?: UINT64_MAX, &step)) > 0) {
                r = judge_step(f, &step, &task);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; r >= 0 && i < f->n_tasks; i++)
                if (f->tasks[i].tree.function && is_selected(f, f->tasks[i].number))
                        r = note_tree(f, f->tasks[i].number, f->now_ns - f->tasks[i].begin_ns);
        if (f->n_ranks > 0)
                qsort(f->ranks, f->n_ranks, sizeof(*f->ranks), compare_numbers);
        /* From the beginning. */
        if (f->n_tasks > 0)
                memset(f->tasks, 0, f->n_tasks * sizeof(*f->tasks));
        /* Functions were the other reader's. */
        memset(f->marks, 0, f->n_marks_room * sizeof(*f->marks));
        f->n_marks = 0;
        f->n_trees = 0;
        f->is_ranking = false;
        return r;
}

/* What waits goes first; 1, 0: the source has to be asked. */
static int next_held(Filter *f, Step *ret) {
        return f->hold && hold_pop(f->hold, ret);
}

int filter_next(Filter *f, Steps *steps, uint64_t until_ns, Step *ret) {
        if (f->spec->to_ns > 0)
                until_ns = MIN(until_ns, f->spec->to_ns);
        for (;;) {
                size_t task;
                int r = next_held(f, ret);

                if (r > 0)
                        return r;
                r = steps_next(steps, until_ns, ret);
                if (r < 0)
                        return r;
                if (r == 0) {
                        if (!f->hold || f->hold_is_finished ||
                            (until_ns != UINT64_MAX && until_ns != f->spec->to_ns))
                                return 0;
                        f->hold_is_finished = true;
                        hold_finish(f->hold);
                        continue;
                }
                r = judge_step(f, ret, &task);
                if (r < 0)
                        return r;
                if (r > 0 && !f->hold)
                        return 1;
                if (r > 0) {
                        r = hold_push(f->hold, task, ret);
                        if (r < 0)
                                return r;
                }
        }
}

int filter_new(Filter **ret, const FilterSpec *spec) {
        _cleanup_(filter_freep) Filter *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        f->spec = spec;
        f->by_trees =
                has_any(spec->roots) || spec->depth > 0 || spec->nth > 0 || spec->n_slowest > 0;
        f->n_marks_room = 2048;
        f->marks = calloc(f->n_marks_room, sizeof(*f->marks));
        if (!f->marks)
                return -ENOMEM;
        r = trees_new(&f->trees);
        if (r >= 0 && spec->slower_ns > 0)
                r = hold_new(&f->hold, spec->slower_ns);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}

Filter *filter_free(Filter *f) {
        if (!f)
                return NULL;
        trees_free(f->trees);
        hold_free(f->hold);
        free(f->tasks);
        free(f->marks);
        free(f->ranks);
        free(f);
        return NULL;
}
