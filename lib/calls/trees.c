/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tasks in an array; the task of the last step is asked first, because events come in runs of one
 * task. */

#include "base/grow.h"
#include "base/hash.h"
#include "calls/trees.h"

struct Trees {
        TaskTree *tasks;
        size_t n_tasks;
        Hash by_key; /* index + 1 */
        size_t i_last;
};

TaskTree *trees_task(Trees *t, const Step *step) {
        int64_t key = step_task_key(step);
        uint64_t i;

        if (_likely_(t->i_last < t->n_tasks && t->tasks[t->i_last].key == key))
                return &t->tasks[t->i_last];
        i = hash_get(&t->by_key, (uint64_t) key);
        if (i == 0) {
                if (!ARRAY_GROW(t->tasks, t->n_tasks) ||
                    hash_add(&t->by_key, (uint64_t) key, t->n_tasks + 1) < 0)
                        return NULL;
                t->tasks[t->n_tasks] = (TaskTree){ .key = key, .floor = INT32_MAX };
                i = ++t->n_tasks;
        }
        t->i_last = i - 1;
        return &t->tasks[t->i_last];
}

int trees_name_task(Trees *t, const Step *step) {
        const Step nameless = { .cpu = step->cpu, .pid = STEP_PID_UNKNOWN(step->cpu) };
        TaskTree *from, *to = trees_task(t, step);
        size_t i_to = t->i_last;
        int64_t key;

        if (!to)
                return -ENOMEM;
        from = trees_task(t, &nameless);
        if (!from)
                return -ENOMEM;
        to = &t->tasks[i_to]; /* the second may have moved the first */
        key = to->key;
        SWAP(*from, *to);
        from->key = to->key;
        to->key = key;
        return 0;
}

bool stretch_call(Stretch *s, int32_t depth) {
        if (s->function && depth > s->depth)
                return true;
        /* A call at the depth of what is open: that has returned.  Above: and was not recorded. */
        if (depth < s->depth)
                s->ending = NULL;
        else if (s->function)
                s->ending = s->function;
        s->function = NULL;
        return false;
}

Leaving stretch_leave(Stretch *s, const Step *step) {
        const Function **open = s->function ? &s->function : &s->ending;
        Leaving end = s->function ? LEAVES_OPEN : LEAVES_ENDING;

        if (s->function && step->depth > s->depth)
                return LEAVES_INSIDE;
        if (*open && step->depth == s->depth && step->function == *open) {
                *open = NULL;
                return end;
        }
        s->function = NULL;
        if (step->depth < s->depth)
                s->ending = NULL;
        return LEAVES_NOTHING;
}

Place task_tree_place(TaskTree *task, const Step *step) {
        Stretch *tree = &task->tree;

        if (step->kind == STEP_LEAVE) {
                Leaving leaving = stretch_leave(tree, step);

                return leaving == LEAVES_NOTHING  ? PLACE_OUTSIDE
                       : leaving == LEAVES_INSIDE ? PLACE_INSIDE
                                                  : PLACE_END;
        }
        if (stretch_call(tree, step->depth))
                return PLACE_INSIDE;
        if (step->function->root < 0)
                return PLACE_OUTSIDE;
        if (step->kind == STEP_ENTER) {
                tree->function = step->function;
                tree->depth = step->depth;
        }
        return PLACE_ROOT;
}

/*
 * More than one call may be open at a depth: one that has returned and whose record is still to come
 * when an interrupt is met (stretch_call()), whose own function may be met in the same way.
 */
int task_tree_is_stray(TaskTree *task, const Step *step, Place place, uint64_t n_lost) {
        const Function **open;

        if (place == PLACE_ROOT)
                task->n_lost = n_lost;
        if (step->kind == STEP_LEAF || step->depth < 0 || step->depth >= TREES_DEPTHS)
                return false;
        if (!task->entered) {
                task->entered = calloc(TREES_DEPTHS, sizeof(*task->entered));
                if (!task->entered)
                        return -ENOMEM;
        }
        open = task->entered[step->depth];
        if (step->kind == STEP_ENTER) {
                memmove(open + 1, open, (TREES_CONTEXTS - 1) * sizeof(*open));
                open[0] = step->function;
                return false;
        }
        for (size_t i = 0; i < TREES_CONTEXTS; i++)
                if (open[i] == step->function) {
                        memmove(open + i, open + i + 1, (TREES_CONTEXTS - 1 - i) * sizeof(*open));
                        open[TREES_CONTEXTS - 1] = NULL;
                        return false;
                }
        return place == PLACE_INSIDE && task->n_lost == n_lost;
}

size_t trees_n(const Trees *t) {
        return t->n_tasks;
}

TaskTree *trees_get(Trees *t, size_t i) {
        return &t->tasks[i];
}

int trees_new(Trees **ret) {
        Trees *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        *ret = t;
        return 0;
}

Trees *trees_free(Trees *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n_tasks; i++) {
                free(t->tasks[i].open);
                free(t->tasks[i].entered);
        }
        free(t->tasks);
        hash_done(&t->by_key);
        free(t);
        return NULL;
}
