/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A Pairing places calls within their trees.  Of two trees of a task the later one may begin before the
 * former one has ended, where times are guessed or clocks differ: then it is moved as a whole.
 *
 * A task is found by its key when a tree begins.  What is open stays where it began, even if the task
 * gets its name meanwhile.
 */

#include "base/array.h"
#include "base/hash.h"
#include "export/spans.h"

typedef struct Task {
        int64_t key; /* step_task_key() */
        int32_t pid;
        uint64_t last_ns;  /* end of its last tree */
        uint64_t shift_ns; /* how much later the open tree was put */
} Task;

struct Spans {
        SpansListener listener;
        void *userdata;
        Task *tasks;
        size_t n_tasks;
        Hash numbers; /* index of a task + 1, by key */
};

/* Its number, from 1; 0 without memory. */
static uint32_t number_of(Spans *s, const Stack *stack) {
        uint64_t key = (uint64_t) stack->key, number = hash_get(&s->numbers, key);

        if (number > 0)
                return (uint32_t) number;
        if (!ARRAY_GROW(s->tasks, s->n_tasks) || hash_add(&s->numbers, key, s->n_tasks + 1) < 0)
                return 0;
        s->tasks[s->n_tasks++] = (Task){ .key = stack->key, .pid = stack->pid };
        return (uint32_t) s->n_tasks;
}

static uint64_t add_ns(uint64_t a, uint64_t b) {
        return b > SPANS_END_NS || a > SPANS_END_NS - b ? SPANS_END_NS : a + b;
}

static int pass_on(Spans *s, Task *t, const Stack *stack, const Frame *frame, const Call *call) {
        SpansTask task = { .comm = stack->comm,
                           .pid = t->pid,
                           .cpu = frame->cpu,
                           .index = (size_t) (t - s->tasks) };
        uint64_t at_ns = add_ns(call ? frame->end_ns : frame->begin_ns, t->shift_ns);

        if (call && frame->is_root)
                t->last_ns = at_ns;
        return s->listener(s->userdata, &task, frame, at_ns, call);
}

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Spans *s = userdata;
        Task *t;

        frame->user = caller ? caller->user : number_of(s, stack);
        if (frame->user == 0)
                return -ENOMEM;
        t = &s->tasks[frame->user - 1];
        if (!caller)
                t->shift_ns = t->last_ns - MIN(t->last_ns, frame->begin_ns);
        return pass_on(s, t, stack, frame, NULL);
}

static int end(void *userdata, const Call *call) {
        Spans *s = userdata;

        return pass_on(s, &s->tasks[call->frame->user - 1], call->stack, call->frame, call);
}

int spans_new(Spans **ret, Pairing *pairing, SpansListener listener, void *userdata) {
        Spans *s = NEW(Spans, .listener = listener, .userdata = userdata);

        if (!s)
                return -ENOMEM;
        pairing_add_sink(pairing, begin, end, s);
        pairing->places = true;
        *ret = s;
        return 0;
}

Spans *spans_free(Spans *s) {
        if (!s)
                return NULL;
        free(s->tasks);
        hash_done(&s->numbers);
        return mfree(s);
}
