/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "calls/trees.h"

TaskTree *trees_task(Stacks *tasks, const Step *step) {
        Stack *stack = stacks_get(tasks, step);
        TaskTree *task = stack ? stack->data : NULL;

        if (_likely_(task) || !stack)
                return task;
        task = stack->data = calloc(1, sizeof(*task));
        if (task)
                task->floor = INT32_MAX;
        return task;
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

void trees_done(Stacks *tasks) {
        for (size_t i = 0; i < tasks->n; i++) {
                TaskTree *task = tasks->items[i].data;

                if (task) {
                        free(task->open);
                        free(task->entered);
                }
        }
        stacks_done(tasks);
}
