/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames of a task in one array, their depths never descending.  Tasks in an
 * array; the last step's is asked first.
 * When the array is full, tasks that have nothing open, and no data, are forgotten.
 */

#include "calls/stacks.h"

#define N_TASKS_LIVELY 65536 /* below this nothing is forgotten */

static void forget_idle(Stacks *s) {
        size_t n = 0;

        hash_clear(&s->by_key);
        for (size_t i = 0; i < s->n; i++)
                if (s->items[i].n > 0 || s->items[i].data ||
                    trace_context_is_set(&s->items[i].context)) {
                        s->items[n++] = s->items[i];
                        (void) hash_add(&s->by_key, (uint64_t) s->items[i].key, n); /* has room */
                } else
                        free(s->items[i].frames);
        s->n = n;
}

static Stack *add(Stacks *s, int64_t key, int32_t pid) {
        if (s->n == s->n_room) {
                if (s->n >= N_TASKS_LIVELY)
                        forget_idle(s);
                if (s->n >= s->n_room / 2 && !ARRAY_ROOM(s->items, s->n_room, s->n_room + 1))
                        return NULL;
        }
        if (hash_add(&s->by_key, (uint64_t) key, s->n + 1) < 0)
                return NULL;
        s->i_last = s->n++;
        s->items[s->i_last] = (Stack){ .key = key, .floor = INT32_MAX, .pid = pid };
        return &s->items[s->i_last];
}

_cold_ Stack *stacks_look_up(Stacks *s, const Step *step) {
        int64_t key = step_task_key(step);
        uint64_t i = hash_get(&s->by_key, (uint64_t) key);

        if (i == 0)
                return add(s, key, step->pid);
        s->i_last = i - 1;
        return &s->items[s->i_last];
}

void *stacks_data(Stacks *s, const Step *step, size_t n) {
        Stack *stack = stacks_get(s, step);

        if (stack && !stack->data)
                stack->data = calloc(1, n);
        return stack ? stack->data : NULL;
}

Stack *stacks_find(const Stacks *s, const Step *step) {
        uint64_t i = hash_get(&s->by_key, (uint64_t) step_task_key(step));

        return i > 0 ? &s->items[i - 1] : NULL;
}

int stacks_name_task(Stacks *s, const Step *step) {
        const Step nameless = { .cpu = step->cpu, .pid = STEP_PID_UNKNOWN(step->cpu) };
        Stack *from, *to = stacks_get(s, step);
        int64_t key;

        if (!to)
                return -ENOMEM;
        key = to->key;
        from = stacks_get(s, &nameless);
        /* The second may have moved the first, or, having nothing open, forgotten it. */
        to = from ? stacks_get(s, step) : NULL;
        from = to ? stacks_get(s, &nameless) : NULL;
        if (!from || from == to)
                return -ENOMEM;
        SWAP(*from, *to);
        from->key = to->key;
        from->pid = to->pid;
        to->key = key;
        to->pid = step->pid;
        return 0;
}

void stacks_done(Stacks *s) {
        for (size_t i = 0; i < s->n; i++) {
                free(s->items[i].frames);
                free(s->items[i].data);
        }
        free(s->items);
        hash_done(&s->by_key);
        *s = (Stacks){};
}

Frame *stack_pop_or_sibling(Stack *s, int32_t depth) {
        Frame *deeper = stack_pop_deeper(s, depth), *oldest, popped;

        if (deeper)
                return deeper;
        if (s->n < STACK_SIBLINGS_MAX || s->frames[s->n - STACK_SIBLINGS_MAX].depth != depth)
                return NULL;
        oldest = &s->frames[s->n - STACK_SIBLINGS_MAX];
        popped = *oldest;
        stack_remove(s, oldest);
        s->frames[s->n] = popped;
        return &s->frames[s->n];
}

Frame *stack_push(Stack *s, const Function *function, int32_t depth) {
        Frame *frame = stack_next(s);

        if (!frame)
                return NULL;
        *frame = (Frame){ .function = function, .depth = depth };
        s->n++;
        return frame;
}

Frame *stack_find(Stack *s, int32_t depth, const Function *function) {
        for (uint32_t i = s->n; i > 0 && s->frames[i - 1].depth == depth; i--)
                if (!function || s->frames[i - 1].function == function)
                        return &s->frames[i - 1];
        return NULL;
}

Frame *stack_caller(Stack *s, int32_t depth) {
        uint32_t i = s->n;

        while (i > 0 && s->frames[i - 1].depth >= depth)
                i--;
        return i > 0 ? &s->frames[i - 1] : NULL;
}

void stack_remove(Stack *s, Frame *frame) {
        size_t i = (size_t) (frame - s->frames);

        memmove(frame, frame + 1, (s->n - i - 1) * sizeof(*frame));
        s->n--;
}
