/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Patterns are tried once for each function; what they said is kept. */

#include <fnmatch.h>

#include "calls/name-set.h"

enum { NOT_MEANT = 1, MEANT };

bool name_set_patterns_match(const Strv *patterns, const char *name) {
        for (size_t i = 0; i < patterns->n; i++)
                if (fnmatch(patterns->items[i], name, 0) == 0)
                        return true;
        return false;
}

static bool is_meant(const NameSet *s, const Function *f) {
        char name[512], *dot;
        size_t n = MIN((size_t) f->n_name, sizeof(name) - 1);

        memcpy(name, f->label, n);
        name[n] = 0;
        if (name_set_patterns_match(s->patterns, name) || (s->also && s->also(f)))
                return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        return name_set_patterns_match(s->patterns, name);
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

/* A frame's `user` is whether what it calls is hidden: because it is itself, or because its function is one of the
 * patterns'.  The two kinds differ in the frame that begins it; a return follows its call. */

/* 1, 0, -ENOMEM */
static int begins(Prune *p, const Step *step) {
        if (p->names.also && step->said && step->said->irq_begin)
                return 1;
        return name_set_has(&p->names, step->function);
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
        if (_unlikely_(step_cuts_all(step)))
                stacks_done(&p->stacks);
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

void prune_done(Prune *p) {
        name_set_done(&p->names);
        stacks_done(&p->stacks);
}
