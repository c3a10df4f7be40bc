/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A frame's `user` is whether what it calls is hidden: because it is itself, or
 * because its function is one of the patterns'.  The two kinds differ in the
 * frame that begins it; a return follows its call.
 */

#include "calls/name-set.h"
#include "calls/prune.h"
#include "calls/stacks.h"

struct Prune {
        NameSet *names;
        Stacks stacks;
        bool is_below; /* a pattern's own call stays */
        bool has_irqs;
        bool (*is_irq)(const Function *);
};

/* 1, 0, -ENOMEM */
static int begins(Prune *p, const Step *step) {
        if (p->has_irqs && (step->function->is_irq_entry || (step->said && step->said->irq_begin) ||
                            (p->is_irq && p->is_irq(step->function))))
                return 1;
        return name_set_has(p->names, step->function);
}

static int hides_call(Prune *p, Stack *stack, const Step *step) {
        const Frame *caller = stack_caller(stack, step->depth);
        bool is_inside = caller && caller->user;
        int is_hidden = is_inside ? 1 : begins(p, step);
        Frame *frame;

        if (is_hidden < 0)
                return is_hidden;
        if (step->kind == STEP_ENTER) {
                frame = stack_push(stack, step->function, step->depth);
                if (!frame)
                        return -ENOMEM;
                frame->user = (uint32_t) is_hidden;
        }
        return p->is_below ? is_inside : is_hidden;
}

static int hides_leave(Prune *p, Stack *stack, const Step *step) {
        Frame *frame = stack_find(stack, step->depth, step->function), *caller;
        bool is_hidden = frame && frame->user;

        if (frame)
                stack_remove(stack, frame);
        if (frame && !p->is_below)
                return is_hidden;
        caller = stack_caller(stack, step->depth);
        if (caller && caller->user)
                return 1;
        return p->is_below ? 0 : begins(p, step);
}

int prune_hides(Prune *p, const Step *step) {
        Stack *stack;
        Frame ended;

        if (step->kind == STEP_TASK)
                return stacks_name_task(&p->stacks, step);
        if (step->kind == STEP_LOST)
                return 0;
        stack = stacks_get(&p->stacks, step);
        if (!stack)
                return -ENOMEM;
        if (step->kind == STEP_OTHER)
                return stack->n > 0 && stack->frames[stack->n - 1].user;
        if (step->kind != STEP_LEAVE) {
                while (stack_pop_before_call(stack, step->depth, &ended))
                        ;
                return hides_call(p, stack, step);
        }
        while (stack_pop_deeper(stack, step->depth, &ended))
                ;
        return hides_leave(p, stack, step);
}

int prune_new(Prune **ret, const Strv *patterns) {
        _cleanup_(prune_freep) Prune *p = calloc(1, sizeof(*p));
        int r = p ? name_set_new(&p->names, patterns) : -ENOMEM;

        if (r < 0)
                return r;
        *ret = TAKE_PTR(p);
        return 0;
}

int prune_new_below(Prune **ret, const Strv *patterns, bool (*is_irq)(const Function *)) {
        int r = prune_new(ret, patterns);

        if (r < 0)
                return r;
        (*ret)->is_below = true;
        (*ret)->is_irq = is_irq;
        for (size_t i = 0; i < patterns->n; i++)
                (*ret)->has_irqs |= streq(patterns->items[i], "irq");
        return 0;
}

Prune *prune_free(Prune *p) {
        if (!p)
                return NULL;
        name_set_free(p->names);
        stacks_done(&p->stacks);
        return mfree(p);
}
