/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A call is put down when it ends; when nothing of its task is open any more, what was put down is
 * sorted by beginnings, which makes callers precede what they call:
 *
 *      1 root                  1 root         0 ... 100
 *      2   child       ->      2   child      3 ...  40
 *      3   irq                 3   irq       40 ...  60
 *
 * Times are the return record's clock readings, moved by as much as the outermost call's entry has
 * another time.  What is cut has only the times of entries.  Where readings do not nest (the kernel
 * moves those of callers that sleep, with nosleep-time) callers are stretched.
 *
 * Source: linux 6.1 kernel/trace/fgraph.c, ftrace_graph_probe_sched_switch().
 */

#include "export/spans.h"

typedef struct Pending {
        int64_t key; /* step_task_key() */
        Span *spans;
        size_t n, n_room;
        uint64_t last_ns; /* end of the last span that was passed on */
} Pending;

typedef struct Place {
        uint64_t end_ns;   /* of its last child so far */
        uint64_t shift_ns; /* how much later it was put */
} Place;

struct Spans {
        SpansListener listener;
        void *userdata;
        Pending *tasks;
        size_t n_tasks, n_tasks_room;
        size_t *slots; /* index of a task + 1, by key; four times n_tasks_room */
        Place *places; /* of the spans that are laid out */
        size_t n_places_room;
};

static size_t *slot_of(const Spans *s, int64_t key) {
        size_t n = s->n_tasks_room * 4;
        size_t i = (size_t) ((uint64_t) key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n - 1);

        while (s->slots[i] && s->tasks[s->slots[i] - 1].key != key)
                i = (i + 1) & (n - 1);
        return &s->slots[i];
}

static int grow_tasks(Spans *s) {
        size_t n = s->n_tasks_room ? s->n_tasks_room * 2 : 16;
        Pending *tasks = realloc(s->tasks, n * sizeof(*tasks));
        size_t *slots;

        if (!tasks)
                return -ENOMEM;
        s->tasks = tasks;
        slots = calloc(n * 4, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(s->slots);
        s->slots = slots;
        s->n_tasks_room = n;
        for (size_t i = 0; i < s->n_tasks; i++)
                *slot_of(s, s->tasks[i].key) = i + 1;
        return 0;
}

static Pending *pending_of(Spans *s, int64_t key) {
        size_t *slot = s->n_tasks_room ? slot_of(s, key) : NULL;

        if (slot && *slot)
                return &s->tasks[*slot - 1];
        if (s->n_tasks == s->n_tasks_room) {
                if (grow_tasks(s) < 0)
                        return NULL;
                slot = slot_of(s, key);
        }
        s->tasks[s->n_tasks++] = (Pending){ .key = key };
        *slot = s->n_tasks;
        return &s->tasks[s->n_tasks - 1];
}

static int compare(const void *a, const void *b) {
        const Span *x = a, *y = b;

        return (x->number > y->number) - (x->number < y->number);
}

static size_t find_parent(const Span *spans, size_t n, uint64_t number) {
        const Span *found = NULL;

        if (number != 0)
                found = bsearch(&(Span){ .number = number }, spans, n, sizeof(*spans), compare);
        return found ? (size_t) (found - spans) : SIZE_MAX;
}

/* How much later the trace clock is than the local one, in the tree that begins at @i. */
static uint64_t find_offset(const Pending *p, size_t i) {
        size_t begin = i;

        do {
                if (p->spans[i].has_calltime)
                        return p->spans[i].start_ns - p->spans[i].calltime_ns;
                i++;
        } while (i < p->n && p->spans[i].i_parent >= begin && p->spans[i].i_parent != SIZE_MAX);
        return 0;
}

/* Callers contain what they call. */
static void stretch_callers(Pending *p) {
        for (size_t i = p->n; i-- > 0;)
                if (p->spans[i].i_parent != SIZE_MAX) {
                        Span *span = &p->spans[i], *parent = &p->spans[span->i_parent];

                        parent->start_ns = MIN(parent->start_ns, span->start_ns);
                        parent->end_ns = MAX(parent->end_ns, span->end_ns);
                }
}

/* An interrupt between a call's end and its record may be recorded as if the call had made it
 * (linux 6.11 and later kernel/trace/fgraph.c, __ftrace_return_to_handler()). */
static void leave_ended_callers(Pending *p) {
        for (size_t i = 0; i < p->n; i++) {
                Span *span = &p->spans[i];

                while (span->has_calltime && span->i_parent != SIZE_MAX &&
                       p->spans[span->i_parent].has_calltime &&
                       p->spans[span->i_parent].i_parent != SIZE_MAX &&
                       span->start_ns > p->spans[span->i_parent].end_ns)
                        span->i_parent = p->spans[span->i_parent].i_parent;
        }
}

static int lay_out(Spans *s, Pending *p) {
        uint64_t offset_ns = 0;

        if (s->n_places_room < p->n) {
                Place *places = realloc(s->places, p->n * sizeof(*places));

                if (!places)
                        return -ENOMEM;
                s->places = places;
                s->n_places_room = p->n;
        }
        for (size_t i = 0; i < p->n; i++)
                p->spans[i].i_parent = find_parent(p->spans, i, p->spans[i].parent);
        for (size_t i = 0; i < p->n; i++) {
                Span *span = &p->spans[i];

                if (span->i_parent == SIZE_MAX)
                        offset_ns = find_offset(p, i);
                if (span->has_calltime) {
                        uint64_t duration_ns = span->end_ns - span->start_ns;

                        span->start_ns = span->calltime_ns + offset_ns;
                        span->end_ns = span->start_ns + duration_ns;
                }
        }
        leave_ended_callers(p);
        stretch_callers(p);
        /* Siblings follow each other; one that must wait takes along what it calls. */
        for (size_t i = 0; i < p->n; i++) {
                Span *span = &p->spans[i];
                Place *parent = span->i_parent == SIZE_MAX ? NULL : &s->places[span->i_parent];
                uint64_t *last_ns = parent ? &parent->end_ns : &p->last_ns;
                uint64_t shift_ns = parent ? parent->shift_ns : 0;

                if (span->start_ns + shift_ns < *last_ns)
                        shift_ns = *last_ns - span->start_ns;
                span->start_ns += shift_ns;
                span->end_ns += shift_ns;
                s->places[i] = (Place){ .end_ns = span->start_ns, .shift_ns = shift_ns };
                *last_ns = span->end_ns;
        }
        stretch_callers(p);
        for (size_t i = 0; i < p->n; i++)
                p->last_ns = MAX(p->last_ns, p->spans[i].end_ns);
        return 0;
}

static int pass_on(Spans *s, Pending *p, const Stack *stack) {
        SpansTask task = { .comm = stack->comm,
                           .pid = stack->pid,
                           .cpu = p->spans[0].cpu,
                           .index = (size_t) (p - s->tasks) };
        int r;

        qsort(p->spans, p->n, sizeof(*p->spans), compare);
        r = lay_out(s, p);
        if (r >= 0)
                r = s->listener(s->userdata, &task, p->spans, p->n);
        p->n = 0;
        return r;
}

static Span span_of(const Call *call) {
        const Frame *f = call->frame;
        const Step *step = call->step;
        bool is_ended = step && (step->kind == STEP_LEAF || step->kind == STEP_LEAVE) &&
                        step->function == f->function && step->depth == f->depth;

        uint64_t duration_ns = call->duration_ns;

        /* A Pairing lengthens it by what was recorded below although it had ended. */
        if (is_ended && step_duration_ns(step) < duration_ns)
                duration_ns = step_duration_ns(step);
        return (Span){
                .function = f->function,
                .number = f->number,
                .parent = f->parent,
                .has_calltime = is_ended,
                .calltime_ns = is_ended ? step->calltime : 0,
                .start_ns = f->start_ns,
                .end_ns = f->start_ns + duration_ns,
                .cpu = step ? step->cpu : 0,
                .has_cpu = step,
                .is_cut = call->is_cut,
                .begins_irq = f->role == ROLE_IRQ,
                .has_retval = is_ended && step->has_retval,
                .retval = is_ended ? (int64_t) step->retval : 0,
        };
}

static int grow_pending(Pending *p, size_t n_more) {
        size_t n = MAX(p->n_room * 2, p->n + n_more + 64);
        Span *spans;

        if (p->n + n_more <= p->n_room)
                return 0;
        spans = realloc(p->spans, n * sizeof(*spans));
        if (!spans)
                return -ENOMEM;
        p->spans = spans;
        p->n_room = n;
        return 0;
}

int spans_call(Spans *s, const Call *call) {
        Pending *p = pending_of(s, call->stack->key);

        if (!p || grow_pending(p, 1) < 0)
                return -ENOMEM;
        p->spans[p->n++] = span_of(call);
        return call->is_root && call->stack->n == 0 ? pass_on(s, p, call->stack) : 0;
}

int spans_name_task(Spans *s, const Step *step) {
        Pending *from, *to = pending_of(s, step_task_key(step));

        /* The second may move the first. */
        from = to ? pending_of(s, STEP_PID_UNKNOWN(step->cpu)) : NULL;
        to = from ? pending_of(s, step_task_key(step)) : NULL;
        if (!to || grow_pending(to, from->n) < 0)
                return -ENOMEM;
        if (from->n > 0)
                memcpy(to->spans + to->n, from->spans, from->n * sizeof(*from->spans));
        to->n += from->n;
        from->n = 0;
        return 0;
}

int spans_walk(const Span *spans, size_t n, SpansVisitor visitor, void *userdata) {
        size_t open = SIZE_MAX;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                for (; open != spans[i].i_parent && r >= 0; open = spans[open].i_parent)
                        r = visitor(userdata, &spans[open], false);
                if (r >= 0)
                        r = visitor(userdata, &spans[i], true);
                open = i;
        }
        for (; open != SIZE_MAX && r >= 0; open = spans[open].i_parent)
                r = visitor(userdata, &spans[open], false);
        return r;
}

int spans_new(Spans **ret, SpansListener listener, void *userdata) {
        Spans *s = malloc(sizeof(*s));

        if (!s)
                return -ENOMEM;
        *s = (Spans){ .listener = listener, .userdata = userdata };
        *ret = s;
        return 0;
}

Spans *spans_free(Spans *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_tasks; i++)
                free(s->tasks[i].spans);
        free(s->tasks);
        free(s->slots);
        free(s->places);
        free(s);
        return NULL;
}
