/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames of a task in one array, their depths never descending.  Tasks in an
 * array, found through a hash of indices; the last step's task is asked first.
 * When the array is full, tasks that have nothing open are forgotten.
 */

#include "calls/stacks.h"

#define N_TASKS_FIRST 64
#define N_TASKS_LIVELY 65536 /* below this nothing is forgotten */

struct Stacks {
        Stack *tasks;
        size_t n_tasks, n_room;
        uint32_t *slots; /* index + 1; 0: free */
        size_t n_slots;  /* a power of two, at least twice n_room */
        size_t i_last;
};

static size_t find_slot(const Stacks *s, int64_t key) {
        size_t i =
                (size_t) (((uint64_t) key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->n_slots - 1);

        while (s->slots[i] && s->tasks[s->slots[i] - 1].key != key)
                i = (i + 1) & (s->n_slots - 1);
        return i;
}

static void stack_done(Stack *s) {
        free(s->frames);
        free(s->orphans);
}

static void forget_idle(Stacks *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->n_tasks; i++)
                if (s->tasks[i].n > 0)
                        s->tasks[n++] = s->tasks[i];
                else
                        stack_done(&s->tasks[i]);
        s->n_tasks = n;
}

static int make_room(Stacks *s) {
        size_t n_room = s->n_room ? s->n_room * 2 : N_TASKS_FIRST;
        uint32_t *slots;
        Stack *tasks;

        if (s->n_tasks >= N_TASKS_LIVELY)
                forget_idle(s);
        if (s->n_tasks * 2 <= s->n_room && s->n_room > 0)
                n_room = s->n_room; /* that was enough */
        slots = calloc(n_room * 4, sizeof(*slots));
        tasks = slots ? realloc(s->tasks, n_room * sizeof(*tasks)) : NULL;
        if (!tasks) {
                free(slots);
                return -ENOMEM;
        }
        free(s->slots);
        s->tasks = tasks;
        s->slots = slots;
        s->n_slots = n_room * 4;
        s->n_room = n_room;
        for (size_t i = 0; i < s->n_tasks; i++)
                s->slots[find_slot(s, s->tasks[i].key)] = (uint32_t) i + 1;
        return 0;
}

Stack *stacks_get(Stacks *s, const Step *step) {
        int64_t key = step_task_key(step);
        size_t i;

        if (_likely_(s->i_last < s->n_tasks && s->tasks[s->i_last].key == key))
                return &s->tasks[s->i_last];
        i = find_slot(s, key);
        if (!s->slots[i]) {
                if (s->n_tasks == s->n_room) {
                        if (make_room(s) < 0)
                                return NULL;
                        i = find_slot(s, key);
                }
                s->tasks[s->n_tasks] = (Stack){ .key = key, .floor = INT32_MAX, .pid = step->pid };
                s->slots[i] = (uint32_t) ++s->n_tasks;
        }
        s->i_last = s->slots[i] - 1;
        return &s->tasks[s->i_last];
}

Stack *stacks_find(Stacks *s, const Step *step) {
        size_t i = find_slot(s, step_task_key(step));

        return s->slots[i] ? &s->tasks[s->slots[i] - 1] : NULL;
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

size_t stacks_n(const Stacks *s) {
        return s->n_tasks;
}

Stack *stacks_at(Stacks *s, size_t i) {
        return &s->tasks[i];
}

int stacks_new(Stacks **ret) {
        _cleanup_(stacks_freep) Stacks *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        r = make_room(s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

Stacks *stacks_free(Stacks *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_tasks; i++)
                stack_done(&s->tasks[i]);
        free(s->tasks);
        free(s->slots);
        free(s);
        return NULL;
}

bool stack_pop_deeper(Stack *s, int32_t depth, Frame *ret) {
        if (s->n == 0 || s->frames[s->n - 1].depth <= depth)
                return false;
        *ret = s->frames[--s->n];
        return true;
}

bool stack_pop_before_call(Stack *s, int32_t depth, Frame *ret) {
        Frame *oldest;

        if (stack_pop_deeper(s, depth, ret))
                return true;
        if (s->n < STACK_SIBLINGS_MAX || s->frames[s->n - STACK_SIBLINGS_MAX].depth != depth)
                return false;
        oldest = &s->frames[s->n - STACK_SIBLINGS_MAX];
        *ret = *oldest;
        stack_remove(s, oldest);
        return true;
}

Frame *stack_push(Stack *s, const Function *function, int32_t depth) {
        if (s->n == s->n_room) {
                uint32_t n = s->n_room ? s->n_room * 2 : 16;
                Frame *p = realloc(s->frames, n * sizeof(*p));

                if (!p)
                        return NULL;
                s->frames = p;
                s->n_room = n;
        }
        s->frames[s->n] = (Frame){ .function = function, .depth = depth };
        return &s->frames[s->n++];
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

int stack_orphan(Stack *s, int32_t depth, uint64_t duration_ns) {
        Orphans *last = s->n_orphans > 0 ? &s->orphans[s->n_orphans - 1] : NULL;

        if (last && last->depth == depth) {
                last->duration_ns += duration_ns;
                return 0;
        }
        if (s->n_orphans == s->n_orphans_room) {
                uint32_t n = s->n_orphans_room ? s->n_orphans_room * 2 : 4;
                Orphans *p = realloc(s->orphans, n * sizeof(*p));

                if (!p)
                        return -ENOMEM;
                s->orphans = p;
                s->n_orphans_room = n;
        }
        s->orphans[s->n_orphans++] = (Orphans){ .depth = depth, .duration_ns = duration_ns };
        return 0;
}

uint64_t stack_adopt(Stack *s, int32_t depth) {
        uint64_t sum_ns = 0;

        while (s->n_orphans > 0 && s->orphans[s->n_orphans - 1].depth > depth)
                sum_ns += s->orphans[--s->n_orphans].duration_ns;
        return sum_ns;
}

void stack_remove(Stack *s, Frame *frame) {
        size_t i = (size_t) (frame - s->frames);

        memmove(frame, frame + 1, (s->n - i - 1) * sizeof(*frame));
        s->n--;
}
