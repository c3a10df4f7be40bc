/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One list of all steps that wait, and for each tree that is undecided a chain of its own through
 * the same entries:
 *
 *      first   a{  -  b{  -  a.  -  !  -  b}   last
 *      tree a  a{  -  a.
 *      tree b  b{  -  b}
 *
 * A tree that is kept leaves its entries where they are, as if they had never been in one.
 */

#include "base/array.h"
#include "calls/steps.h"

struct WaitingStep {
        WaitingStep *next, *previous; /* of all */
        WaitingStep *next_in_tree;
        SampledTree *tree; /* NULL: may go */
        Step *step;        /* behind this */
};

int tail_sampler_push(TailSampler *t, SampledTree *tree, const Step *step, Step **ret_copy) {
        Step *copy;
        WaitingStep *w = step_copy(step, sizeof(*w), &copy);

        if (!w)
                return -ENOMEM;
        *w = (WaitingStep){ .previous = t->last, .step = copy };
        *(t->last ? &t->last->next : &t->first) = w;
        t->last = w;
        t->n_waiting++;
        if (ret_copy)
                *ret_copy = copy;
        if (!tree || tree->is_kept)
                return 0;
        w->tree = tree;
        *(tree->last ? &tree->last->next_in_tree : &tree->first) = w;
        tree->last = w;
        return 0;
}

static void unlink_waiting(TailSampler *t, WaitingStep *w) {
        *(w->previous ? &w->previous->next : &t->first) = w->next;
        *(w->next ? &w->next->previous : &t->last) = w->previous;
        t->n_waiting--;
}

static void decide(TailSampler *t, SampledTree *tree, bool is_kept) {
        WaitingStep *next;

        for (WaitingStep *w = tree->first; w; w = next) {
                next = w->next_in_tree;
                w->tree = NULL;
                if (!is_kept) {
                        unlink_waiting(t, w);
                        free(w);
                }
        }
        tree->first = tree->last = NULL;
        tree->is_kept = is_kept;
}

bool tail_sampler_end(TailSampler *t, SampledTree *tree, bool is_kept) {
        is_kept |= tree->is_kept;
        decide(t, tree, is_kept);
        free(tree);
        return is_kept;
}

bool tail_sampler_pop(TailSampler *t, uint64_t now_ns, Step *ret) {
        WaitingStep *w = t->first;

        free(TAKE_PTR(t->handed));
        if (!w)
                return false;
        if (w->tree) {
                if (t->n_waiting < t->n_max || now_ns - w->step->timestamp_ns < t->min_ns)
                        return false;
                decide(t, w->tree, true);
        }
        unlink_waiting(t, w);
        t->handed = w;
        *ret = *w->step;
        return true;
}

void tail_sampler_done(TailSampler *t) {
        for (WaitingStep *w; (w = POP(t->first));)
                free(w);
        free(t->handed);
}

/* --- reorder ---------------------------------------------------------------------------------- */

/*
 * The frames of a task are its calls that are open, each with its tree.
 *
 * Durations are the kernel's own (without the time slept, if it was told so), so a call counts as long
 * by the time that has passed only if the line has become long meanwhile.
 */

/* A call whose return will not come any more: what is known of it is how long it was open. */
static void give_up(Reorder *h, const Frame *open) {
        (void) tail_sampler_end(&h->line, open->data, h->now_ns - open->start_ns >= h->line.min_ns);
}

static int open_call(Reorder *h, Stack *stack, const Step *step) {
        Frame ended, *open;

        while (stack_pop_before_call(stack, step->depth, &ended))
                give_up(h, &ended);
        open = stack_push(stack, step->function, step->depth);
        if (!open)
                return -ENOMEM;
        open->start_ns = step->timestamp_ns;
        open->data = calloc(1, sizeof(SampledTree));
        if (!open->data) {
                stack->n--;
                return -ENOMEM;
        }
        return tail_sampler_push(&h->line, open->data, step, NULL);
}

int reorder_push(Reorder *h, const Step *step) {
        bool is_shown = true;
        Stack *stack;
        Frame *open, ended;

        h->now_ns = step->timestamp_ns;
        if (step->kind == STEP_TASK && stacks_name_task(&h->tasks, step) < 0)
                return -ENOMEM;
        if (step->kind == STEP_LEAF || step->kind == STEP_LEAVE)
                is_shown = step_duration_ns(step) >= h->line.min_ns;
        if (step->kind == STEP_ENTER || step->kind == STEP_LEAVE) {
                stack = stacks_get(&h->tasks, step);
                if (!stack)
                        return -ENOMEM;
                if (step->kind == STEP_ENTER)
                        return open_call(h, stack, step);
                while (stack_pop_deeper(stack, step->depth, &ended))
                        give_up(h, &ended);
                open = stack_find(stack, step->depth, step->function);
                /* The end of what is shown already is shown, too. */
                if (open) {
                        is_shown = tail_sampler_end(&h->line, open->data, is_shown);
                        stack_remove(stack, open);
                }
        }
        return is_shown ? tail_sampler_push(&h->line, NULL, step, NULL) : 0;
}

void reorder_finish(Reorder *h) {
        Frame ended;

        for (size_t i = 0; i < h->tasks.n; i++)
                while (stack_pop_deeper(&h->tasks.items[i], -1, &ended))
                        give_up(h, &ended);
}

void reorder_done(Reorder *h) {
        reorder_finish(h);
        stacks_done(&h->tasks);
        tail_sampler_done(&h->line);
}
