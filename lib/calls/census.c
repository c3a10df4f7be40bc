/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Per task an array of what is open, by depth.  A step at depth d proves that
 * whatever is still open below d has ended without our seeing it.
 *
 * A call at the depth of an open one proves less: the kernel takes the open one off the task's
 * stack before it writes its return, and an interrupt in between is recorded at the same depth
 * (linux 6.1 kernel/trace/fgraph.c, ftrace_pop_return_trace()).  So the open one is kept as
 * `ending` until its return comes, or its caller's.
 */

#include "base/array.h"
#include "calls/census.h"

/* --- trees ------------------------------------------------------------------------------------ */

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

/* --- the census ------------------------------------------------------------------------------- */

/* irq_exit() begins inside an interrupt and returns outside of it, where its return may find the tracer in the
 * middle of two records already, which is one too many: for every user of function_graph alike it is
 * not recorded, and not counted as lost (linux 7.2 kernel/trace/fgraph.c,
 * __ftrace_return_to_handler(); 6.12 has no such limit).  No other function changes sides. */
static void count_unmatched(Census *c, const Function *f) {
        if (!f)
                return;
        c->n_unmatched_entries++;
        c->n_unmatched_irq_exits += streq(f->label, "irq_exit_rcu") || streq(f->label, "irq_exit");
}

static void close_call(Census *c, OpenCall *open) {
        count_unmatched(c, open->function);
        count_unmatched(c, open->ending);
        *open = (OpenCall){};
}

/* Everything at @depth and deeper. */
static void close_from(Census *c, TaskTree *task, int32_t depth) {
        while (task->n_open > depth)
                close_call(c, &task->open[--task->n_open]);
}

/* @function: NULL for a leaf, which leaves nothing open. */
static int enter(Census *c, TaskTree *task, int32_t depth, const Function *function) {
        OpenCall *open;

        task->floor = MIN(task->floor, depth);
        close_from(c, task, depth + 1);
        if (!ARRAY_ROOM(task->open, task->n_room, (size_t) depth + 1))
                return -ENOMEM;
        for (; task->n_open <= depth; task->n_open++)
                task->open[task->n_open] = (OpenCall){};
        open = &task->open[depth];
        if (open->function) {
                count_unmatched(c, open->ending);
                open->ending = open->function;
        }
        open->function = function;
        return 0;
}

static void leave(Census *c, TaskTree *task, int32_t depth, const Function *function) {
        OpenCall *open = task->n_open > depth ? &task->open[depth] : NULL;

        close_from(c, task, depth + 1);
        if (open && open->function == function)
                open->function = NULL;
        else if (open && open->ending == function) {
                open->ending = NULL;
                close_call(c, open);
        } else {
                close_from(c, task, depth);
                if (depth < task->floor)
                        c->n_cut_exits++;
                else
                        c->n_unmatched_exits++;
        }
}

static int count_call(Census *c, const Step *step) {
        TaskTree *task = trees_task(&c->trees, step);
        Place place;

        if (!task)
                return -ENOMEM;
        place = task_tree_place(task, step);
        if (step->kind != STEP_LEAVE) {
                c->n_entries++;
                c->n_trees += place == PLACE_ROOT;
                c->n_below += place == PLACE_INSIDE;
        }
        if (step->kind != STEP_ENTER) {
                c->n_exits++;
                if (place == PLACE_END || place == PLACE_ROOT)
                        c->n_trees_complete++;
        }

        if (step->kind == STEP_LEAVE) {
                leave(c, task, step->depth, step->function);
                return 0;
        }
        return enter(c, task, step->depth, step->kind == STEP_ENTER ? step->function : NULL);
}

int census_step(Census *c, const Step *step) {
        if (step->kind == STEP_LOST) {
                c->n_gaps++;
                c->n_lost += step->n_lost;
                return 0;
        }
        if (step->kind == STEP_TASK)
                return stacks_name_task(&c->trees, step);
        if (!ARRAY_REACH(c->cpus, c->n_cpus_room, step->cpu))
                return -ENOMEM;
        c->n_cpus += !TAKE(c->cpus[step->cpu], true);
        if (c->first_ns == 0)
                c->first_ns = step->timestamp_ns;
        c->last_ns = step->timestamp_ns;
        if (step->kind == STEP_OTHER)
                return 0;
        if (c->only_exits && step->kind == STEP_LEAVE) {
                bool is_root = step->function->root >= 0;

                c->n_entries++;
                c->n_exits++;
                c->n_below += !is_root;
                c->n_trees += is_root;
                c->n_trees_complete += is_root;
                return 0;
        }
        return count_call(c, step);
}

void census_finish(Census *c) {
        uint64_t n = c->n_unmatched_entries, n_irq_exits = c->n_unmatched_irq_exits;

        for (size_t i = 0; i < c->trees.n; i++)
                if (c->trees.items[i].data)
                        close_from(c, c->trees.items[i].data, 0);
        c->n_cut_entries = c->n_unmatched_entries - n;
        c->n_unmatched_entries = n;
        c->n_unmatched_irq_exits = n_irq_exits;
}

void census_done(Census *c) {
        free(c->cpus);
        trees_done(&c->trees);
        *c = (Census){};
}
