/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A frame is hidden if its function is to be left out or its caller is hidden; a
 * return follows its call.  What the patterns say of a function is asked once and
 * kept, by its pointer.
 */

#include <fnmatch.h>

#include "calls/prune.h"
#include "calls/stacks.h"

typedef struct Verdict {
        const Function *function; /* NULL: free */
        bool matches;
} Verdict;

struct Prune {
        const Strv *patterns;
        Stacks *stacks;
        Verdict *verdicts; /* a power of two */
        size_t n_verdicts, n_room;
};

static bool matches_any(const Prune *p, const Function *f) {
        char name[512], *dot;
        size_t n = MIN((size_t) f->n_name, sizeof(name) - 1);

        memcpy(name, f->label, n);
        name[n] = 0;
        for (size_t i = 0; i < p->patterns->n; i++)
                if (fnmatch(p->patterns->items[i], name, 0) == 0)
                        return true;
        dot = strchr(name + (n > 0), '.');
        if (!dot)
                return false;
        *dot = 0;
        for (size_t i = 0; i < p->patterns->n; i++)
                if (fnmatch(p->patterns->items[i], name, 0) == 0)
                        return true;
        return false;
}

static Verdict *find(Verdict *verdicts, size_t n, const Function *f) {
        size_t i = (size_t) (((uintptr_t) f >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n - 1);

        while (verdicts[i].function && verdicts[i].function != f)
                i = (i + 1) & (n - 1);
        return &verdicts[i];
}

/* 1, 0, -ENOMEM */
static int matches(Prune *p, const Function *f) {
        Verdict *v = p->n_room ? find(p->verdicts, p->n_room, f) : NULL;

        if (v && v->function)
                return v->matches;
        if (p->n_verdicts >= p->n_room / 2) {
                size_t n = p->n_room ? p->n_room * 2 : 1024;
                Verdict *bigger = calloc(n, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                for (size_t i = 0; i < p->n_room; i++)
                        if (p->verdicts[i].function)
                                *find(bigger, n, p->verdicts[i].function) = p->verdicts[i];
                free(p->verdicts);
                p->verdicts = bigger;
                p->n_room = n;
                v = find(p->verdicts, n, f);
        }
        *v = (Verdict){ f, matches_any(p, f) };
        p->n_verdicts++;
        return v->matches;
}

static int hides_call(Prune *p, Stack *stack, const Step *step) {
        const Frame *caller = stack_caller(stack, step->depth);
        int hidden = caller && caller->user ? 1 : matches(p, step->function);
        Frame *frame;

        if (hidden < 0 || step->kind == STEP_LEAF)
                return hidden;
        frame = stack_push(stack, step->function, step->depth);
        if (!frame)
                return -ENOMEM;
        frame->user = (uint32_t) hidden;
        return hidden;
}

int prune_hides(Prune *p, const Step *step) {
        Frame *frame, ended;
        Stack *stack;
        int hidden;

        if (step->kind == STEP_TASK)
                return stacks_name_task(p->stacks, step);
        if (step->kind == STEP_LOST)
                return 0;
        stack = stacks_get(p->stacks, step);
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
        frame = stack_find(stack, step->depth, step->function);
        if (!frame) {
                frame = stack_caller(stack, step->depth);
                return frame && frame->user ? 1 : matches(p, step->function);
        }
        hidden = (int) frame->user;
        stack_remove(stack, frame);
        return hidden;
}

int prune_new(Prune **ret, const Strv *patterns) {
        _cleanup_(prune_freep) Prune *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->patterns = patterns;
        r = stacks_new(&p->stacks);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(p);
        return 0;
}

Prune *prune_free(Prune *p) {
        if (!p)
                return NULL;
        stacks_free(p->stacks);
        free(p->verdicts);
        free(p);
        return NULL;
}
