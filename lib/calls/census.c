/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What is open is on the task's stack (calls/stacks.h).  A step at depth d proves that whatever is still open below d has
 * ended without our seeing it, and a return that what came after its call at the same depth has.
 */

#include "base/array.h"
#include "calls/census.h"

/* --- trees ------------------------------------------------------------------------------------ */

Stack *trees_get(Stacks *tasks, const Step *step) {
        Stack *s = stacks_get(tasks, step);

        if (_likely_(s && s->data))
                return s;
        return stacks_data(tasks, step, sizeof(TaskTree)) ? stacks_get(tasks, step) : NULL;
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

Place task_tree_place(Stack *stack, const Step *step) {
        Stretch *tree = &((TaskTree *) stack->data)->tree;

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

/* A frame of which nothing is asked but its function and depth.  0 or -ENOMEM. */
static inline int push(Stack *stack, const Step *step) {
        Frame *frame = stack_next(stack);

        if (!frame)
                return -ENOMEM;
        frame->function = step->function;
        frame->depth = step->depth;
        stack->n++;
        return 0;
}

int task_tree_is_stray(Stack *stack, const Step *step, Place place, uint64_t n_lost) {
        TaskTree *task = stack->data;
        Frame *entered;

        if (place == PLACE_ROOT)
                task->n_lost = n_lost;
        if (step->kind == STEP_LEAF)
                return false;
        if (step->kind == STEP_ENTER) {
                while (stack_pop_before_call(stack, step->depth))
                        ;
                return push(stack, step);
        }
        while (stack_pop_deeper(stack, step->depth))
                ;
        entered = stack_find(stack, step->depth, step->function);
        if (entered)
                stack_remove(stack, entered);
        return !entered && place == PLACE_INSIDE && task->n_lost == n_lost;
}

/* --- the census ------------------------------------------------------------------------------- */

/* irq_exit() begins inside an interrupt and returns outside of it, where its return may find the tracer in the
 * middle of two records already, which is one too many: for every user of function_graph alike it is
 * not recorded, and not counted as lost (linux 7.2 kernel/trace/fgraph.c,
 * __ftrace_return_to_handler(); 6.12 has no such limit).  No other function changes sides. */
static _cold_ void count_unmatched(Census *c, const Function *f) {
        c->n_unmatched_entries++;
        c->n_unmatched_irq_exits += streq(f->label, "irq_exit_rcu") || streq(f->label, "irq_exit");
}

static int enter(Census *c, Stack *stack, const Step *step) {
        const Frame *ended;

        stack->floor = MIN(stack->floor, step->depth);
        while ((ended = stack_pop_before_call(stack, step->depth)))
                count_unmatched(c, ended->function);
        return step->kind == STEP_LEAF ? 0 : push(stack, step);
}

static void leave(Census *c, Stack *stack, const Step *step) {
        const Frame *open, *ended;

        while ((ended = stack_pop_deeper(stack, step->depth)))
                count_unmatched(c, ended->function);
        open = stack_find(stack, step->depth, step->function);
        while ((ended = stack_pop_deeper(stack, step->depth - 1))) {
                if (open == ended)
                        return;
                count_unmatched(c, ended->function);
        }
        /* Below all that was entered it is of a call that was open when the recording began. */
        c->n_unmatched_exits += step->depth >= stack->floor;
}

static int count_call(Census *c, const Step *step) {
        Stack *stack = trees_get(&c->trees, step);
        Place place;

        if (!stack)
                return -ENOMEM;
        place = task_tree_place(stack, step);
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
        if (step->kind != STEP_LEAVE)
                return enter(c, stack, step);
        leave(c, stack, step);
        return 0;
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
        if (_unlikely_(!c->cpus[step->cpu])) {
                c->cpus[step->cpu] = true;
                c->n_cpus++;
        }
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

void census_done(Census *c) {
        free(c->cpus);
        stacks_done(&c->trees);
        *c = (Census){};
}
