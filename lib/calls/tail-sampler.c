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

#define SLACK_NS 20000 /* as far as a return's record may be from it */
#define DRIFT 4096     /* of so much time two clocks differ by less than one */

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

static void free_waiting(WaitingStep *w) {
        if (w)
                free((Object *) w->step->object);
        free(w);
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
                        free_waiting(w);
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

        free_waiting(TAKE_PTR(t->handed));
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
                free_waiting(w);
        free_waiting(t->handed);
}

/* --- reorder ---------------------------------------------------------------------------------- */

/*
 * The frames of a task are its calls that are open, each with its tree.
 *
 * Durations are the kernel's own (without the time slept, if it was told so), so a call counts as long
 * by the time that has passed only if the line has become long meanwhile.
 */

/* What is not shown below @stack's innermost call that is open. */
static void leave_out(Stack *stack, uint64_t n) {
        if (stack->n > 0)
                stack->frames[stack->n - 1].n_left_out += n;
}

/* The same again, for the call at @depth that is shown next: before it. */
static uint64_t take_left_out(Stack *stack, int32_t depth) {
        Frame *caller = stack_caller(stack, depth);

        return caller ? TAKE(caller->n_left_out, 0) : 0;
}

/* A call whose return will not come any more, and that was taken off: what is known of it is how long it was seen. */
static void give_up(Reorder *h, Stack *stack, const Frame *open) {
        uint64_t seen_ns = open->end_ns ?: stack->last_ns;
        uint64_t n_left_out = open->n_left_out + ((SampledTree *) open->data)->n_left_out;

        if (!tail_sampler_end(&h->line, open->data,
                              seen_ns - MIN(seen_ns, open->start_ns) >= h->line.min_ns))
                leave_out(stack, n_left_out + 1);
}

/* What is open was seen until the task's last step: if events were lost since, or if @step is a call in its place. */
static void see(const Reorder *h, Stack *stack, const Step *step) {
        bool is_lossy = (uint32_t) stack->counter != (uint32_t) h->n_lost;

        stack->counter = (int32_t) (uint32_t) h->n_lost;
        for (uint32_t i = stack->n; i > 0; i--) {
                Frame *open = &stack->frames[i - 1];

                if (!is_lossy && (step->kind == STEP_LEAVE || open->depth < step->depth))
                        return;
                open->is_cut |= is_lossy;
                open->end_ns = open->end_ns ?: stack->last_ns;
        }
}

/* A return that comes so long after an entry, behind a loss, is of another one. */
static bool is_anothers(const Frame *open, const Step *step) {
        uint64_t passed_ns = step->timestamp_ns - MIN(step->timestamp_ns, open->start_ns);

        return open->is_cut &&
               add_capped(step_duration_ns(step), SLACK_NS + passed_ns / DRIFT) < passed_ns;
}

static int open_call(Reorder *h, Stack *stack, const Step *step) {
        Frame *ended, *open;
        SampledTree *tree;
        Step *copy;
        int r;

        while ((ended = stack_pop_before_call(stack, step->depth)))
                give_up(h, stack, ended);
        open = stack_push(stack, step->function, step->depth);
        if (!open)
                return -ENOMEM;
        open->start_ns = step->timestamp_ns;
        open->data = tree = calloc(1, sizeof(*tree));
        if (!tree) {
                stack->n--;
                return -ENOMEM;
        }
        tree->n_left_out = take_left_out(stack, step->depth);
        r = tail_sampler_push(&h->line, tree, step, &copy);
        if (r >= 0)
                copy->n_left_out = tree->n_left_out;
        return r;
}

int reorder_push(Reorder *h, const Step *step) {
        uint64_t n_left_out = 0, n_before = 0;
        bool is_shown = true;
        Stack *stack;
        Frame *open, ended;
        Step *copy;
        int r;

        h->now_ns = step->timestamp_ns;
        h->n_lost += step->kind == STEP_LOST;
        if (step->kind == STEP_TASK && stacks_name_task(&h->tasks, step) < 0)
                return -ENOMEM;
        if (!step_is_call(step))
                return tail_sampler_push(&h->line, NULL, step, NULL);
        stack = stacks_get(&h->tasks, step);
        if (!stack)
                return -ENOMEM;
        see(h, stack, step);
        leave_out(stack, step->n_left_out);
        if (step->kind == STEP_ENTER) {
                r = open_call(h, stack, step);
                stack->last_ns = step->timestamp_ns;
                return r;
        }
        is_shown = step_duration_ns(step) >= h->line.min_ns;
        if (step->kind == STEP_LEAVE) {
                while ((open = stack_pop_deeper(stack, step->depth)))
                        give_up(h, stack, open);
                open = stack_find(stack, step->depth, step->function);
                if (open) {
                        ended = *open;
                        stack_remove(stack, open);
                        if (is_anothers(&ended, step))
                                give_up(h, stack, &ended);
                        else {
                                n_before = ((SampledTree *) ended.data)->n_left_out;
                                /* The end of what is shown already is shown, too. */
                                is_shown = tail_sampler_end(&h->line, ended.data, is_shown);
                                n_left_out = ended.n_left_out;
                        }
                }
        }
        stack->last_ns = add_capped(step->timestamp_ns,
                                    step->kind == STEP_LEAF ? step_duration_ns(step) : 0);
        if (!is_shown) {
                leave_out(stack, n_left_out + n_before + 1);
                return 0;
        }
        if (step->kind == STEP_LEAF)
                n_left_out = take_left_out(stack, step->depth);
        r = tail_sampler_push(&h->line, NULL, step, &copy);
        if (r >= 0)
                copy->n_left_out = n_left_out;
        return r;
}

void reorder_finish(Reorder *h) {
        const Frame *ended;

        for (size_t i = 0; i < h->tasks.n; i++)
                while ((ended = stack_pop_deeper(&h->tasks.items[i], -1)))
                        give_up(h, &h->tasks.items[i], ended);
}

void reorder_done(Reorder *h) {
        reorder_finish(h);
        stacks_done(&h->tasks);
        tail_sampler_done(&h->line);
}
