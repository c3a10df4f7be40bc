/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A call is put down when it ends; when nothing of its task is open any more, what was put down is
 * sorted by beginnings, which makes callers precede what they call, and then by trees, since a call
 * whose end was lost is a caller still when its siblings have come and gone:
 *
 *      1 root                  1 root         0 ... 100
 *      2   child       ->      2   child      3 ...  40
 *      4   irq                 3     below    5 ...  20
 *      3     below             4   irq       40 ...  60
 *
 * From then on nesting is a matter of places in an array, whatever times say: a span's parent is one
 * of the spans before it that are still open.  Times are made to fit.  They are the return record's
 * clock readings, moved by as much as the outermost call's entry has another time.  What is cut has
 * only the times of entries, and ends when its next sibling begins unless it called something later;
 * of an end without a beginning the end is what counts.
 * Where readings do not nest (the kernel moves those of callers that sleep, with nosleep-time) callers
 * are stretched, and what begins before its elder sibling has ended waits for that.
 *
 * Source: linux 6.1 kernel/trace/fgraph.c, ftrace_graph_probe_sched_switch().
 */

#include "base/unit.h"
#include "export/spans.h"

#define SURE_NS NSEC_PER_MSEC /* what comes between a reading and its record is shorter */

typedef struct Pending {
        int64_t key; /* step_task_key() */
        Span *spans;
        size_t n, n_room;
        uint64_t last_ns; /* end of the last span that was passed on */
        bool is_known;    /* some were */
} Pending;

/* Of a span, while it is laid out. */
typedef struct Place {
        size_t i_root;      /* the outermost of its callers */
        uint64_t offset_ns; /* of a root: how much later the trace clock is than the local one */
        bool has_offset, is_sure;
        size_t n;          /* it and what is below it */
        size_t i, i_next;  /* where it goes, and its next child */
        uint64_t begin_ns; /* when the first of its children begins, of those that were met */
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

/* Of the spans before the one at @n: SIZE_MAX if it is none of them. */
static size_t find_parent(const Span *spans, size_t n, uint64_t number) {
        const Span *found = NULL;

        if (number != 0)
                found = bsearch(&(Span){ .number = number }, spans, n, sizeof(*spans), compare);
        return found ? (size_t) (found - spans) : SIZE_MAX;
}

static uint64_t add_ns(uint64_t a, uint64_t b) {
        return b > SPANS_END_NS || a > SPANS_END_NS - b ? SPANS_END_NS : a + b;
}

/* Who called whom, and when the trees' local clocks began. */
static void find_callers(Pending *p, Place *places) {
        qsort(p->spans, p->n, sizeof(*p->spans), compare);
        for (size_t i = 0; i < p->n; i++) {
                Span *span = &p->spans[i];
                Place *root;

                span->i_parent = find_parent(p->spans, i, span->parent);
                places[i] = (Place){
                        .i_root = span->i_parent == SIZE_MAX ? i : places[span->i_parent].i_root,
                        .begin_ns = SPANS_END_NS,
                };
                root = &places[places[i].i_root];
                if (span->has_calltime &&
                    (!root->has_offset || (span->is_sure && !root->is_sure))) {
                        root->offset_ns = span->start_ns - span->calltime_ns;
                        root->has_offset = true;
                        root->is_sure = span->is_sure;
                }
        }
}

/* Readings that cannot be are left alone; so are those of an end that is another call's, the ends and
 * beginnings between them having been lost: that call began when its sibling had begun already. */
static void use_clock_readings(Pending *p, Place *places) {
        uint64_t root_begin_ns = SPANS_END_NS;

        for (size_t i = p->n; i-- > 0;) {
                Span *span = &p->spans[i];
                uint64_t start_ns = span->calltime_ns + places[places[i].i_root].offset_ns;
                uint64_t *begin_ns = span->i_parent == SIZE_MAX ? &root_begin_ns
                                                                : &places[span->i_parent].begin_ns;

                span->has_calltime =
                        span->has_calltime &&
                        start_ns <= (span->is_late ? (uint64_t) SPANS_END_NS : *begin_ns);
                if (span->has_calltime) {
                        span->end_ns = add_ns(start_ns, span->end_ns - span->start_ns);
                        span->start_ns = start_ns;
                }
                if (!span->is_late)
                        *begin_ns = MIN(*begin_ns, span->start_ns);
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

/* What is below a span follows it, siblings in the order of their beginnings. */
static void sort_by_trees(Pending *p, Place *places) {
        size_t i_next = 0;

        for (size_t i = p->n; i-- > 0;) {
                places[i].n++;
                if (p->spans[i].i_parent != SIZE_MAX)
                        places[p->spans[i].i_parent].n += places[i].n;
        }
        for (size_t i = 0; i < p->n; i++) {
                Span *span = &p->spans[i];
                size_t *next =
                        span->i_parent == SIZE_MAX ? &i_next : &places[span->i_parent].i_next;

                places[i].i = *next;
                places[i].i_next = *next + 1;
                *next += places[i].n;
                if (span->i_parent != SIZE_MAX)
                        span->i_parent = places[span->i_parent].i;
        }
        for (size_t i = 0; i < p->n; i++)
                while (places[i].i != i) {
                        size_t to = places[i].i;

                        SWAP(p->spans[i], p->spans[to]);
                        SWAP(places[i].i, places[to].i);
                }
}

/* Callers contain what they call, and what is cut makes way for its next sibling.  From the last one
 * on, so that what is below a span and behind it is known when its turn comes. */
static void stretch_callers(Pending *p, Place *places) {
        uint64_t root_begin_ns = SPANS_END_NS;

        for (size_t i = 0; i < p->n; i++)
                places[i].begin_ns = SPANS_END_NS;
        for (size_t i = p->n; i-- > 0;) {
                Span *span = &p->spans[i];
                Place *parent = span->i_parent == SIZE_MAX ? NULL : &places[span->i_parent];
                uint64_t *begin_ns = parent ? &parent->begin_ns : &root_begin_ns;

                span->start_ns = MIN(span->start_ns, places[i].begin_ns);
                if (span->is_cut && !span->has_calltime && *begin_ns < span->end_ns)
                        span->end_ns = MAX(span->start_ns, *begin_ns);
                span->end_ns = MAX(span->end_ns, places[i].end_ns);
                if (parent)
                        parent->end_ns = MAX(parent->end_ns, span->end_ns);
                *begin_ns = MIN(*begin_ns, span->start_ns);
        }
}

/* Siblings follow each other; one that must wait takes along what it calls. */
static void queue_siblings(Pending *p, Place *places) {
        size_t open = SIZE_MAX;

        for (size_t i = 0; i <= p->n; i++) {
                size_t i_parent = i < p->n ? p->spans[i].i_parent : SIZE_MAX;
                uint64_t *last_ns, shift_ns;
                Span *span;

                while (open != i_parent) {
                        span = &p->spans[open];
                        last_ns = span->i_parent == SIZE_MAX ? &p->last_ns
                                                             : &places[span->i_parent].end_ns;
                        span->end_ns = MAX(span->end_ns, places[open].end_ns);
                        *last_ns = span->end_ns;
                        open = span->i_parent;
                }
                if (i == p->n)
                        return;
                span = &p->spans[i];
                last_ns = i_parent == SIZE_MAX ? &p->last_ns : &places[i_parent].end_ns;
                shift_ns = i_parent == SIZE_MAX ? 0 : places[i_parent].shift_ns;
                /* Of an end without a beginning the end is what is known. */
                if (span->is_cut && span->is_late && span->start_ns + shift_ns < *last_ns)
                        span->start_ns = MIN(*last_ns - shift_ns, span->end_ns);
                if (add_ns(span->start_ns, shift_ns) < *last_ns)
                        shift_ns = *last_ns - span->start_ns;
                span->start_ns = add_ns(span->start_ns, shift_ns);
                span->end_ns = add_ns(span->end_ns, shift_ns);
                places[i].end_ns = span->start_ns;
                places[i].shift_ns = shift_ns;
                open = i;
        }
}

static int lay_out(Spans *s, Pending *p) {
        if (s->n_places_room < p->n) {
                Place *places = realloc(s->places, p->n * sizeof(*places));

                if (!places)
                        return -ENOMEM;
                s->places = places;
                s->n_places_room = p->n;
        }
        find_callers(p, s->places);
        use_clock_readings(p, s->places);
        leave_ended_callers(p);
        sort_by_trees(p, s->places);
        stretch_callers(p, s->places);
        queue_siblings(p, s->places);
        return 0;
}

/* Which CPU's the idle or the unknown task of @key is. */
static uint32_t cpu_of_key(int64_t key) {
        return (uint32_t) (key <= INT32_MIN ? INT32_MIN - key : key - STEP_PID_UNKNOWN(0));
}

static int pass_on(Spans *s, Pending *p, const Stack *stack) {
        SpansTask task = { .comm = stack->comm,
                           .pid = stack->pid,
                           .cpu = stack->pid > 0 ? p->spans[0].cpu : cpu_of_key(p->key),
                           .index = (size_t) (p - s->tasks),
                           .is_new = !p->is_known };
        int r = lay_out(s, p);

        if (r >= 0)
                r = s->listener(s->userdata, &task, p->spans, p->n);
        p->n = 0;
        p->is_known = true;
        return r;
}

/* Whether the readings of an end are of the beginning that was seen: records of the two are as far
 * from each other. */
static bool is_sure(const Call *call) {
        const Step *step = call->step;
        uint64_t late_ns;

        if (step->kind == STEP_LEAF || call->is_late)
                return true;
        late_ns = (step->timestamp_ns - step->rettime) - (call->frame->start_ns - step->calltime);
        return late_ns + SURE_NS <= 2 * SURE_NS;
}

static Span span_of(const Call *call) {
        const Frame *f = call->frame;
        const Step *step = call->step;
        bool sure = call->has_end && is_sure(call);
        bool has_readings = sure || (call->has_end && !call->is_cut);
        uint64_t duration_ns = call->is_late ? call->span_ns : call->duration_ns;

        /* A Pairing lengthens it by what was recorded below although it had ended. */
        if (has_readings && step_duration_ns(step) < duration_ns)
                duration_ns = step_duration_ns(step);
        return (Span){
                .function = f->function,
                .number = f->number,
                .parent = f->parent,
                .has_calltime = has_readings,
                .is_sure = sure,
                .is_late = call->is_late,
                .calltime_ns = has_readings ? step->calltime : 0,
                .start_ns = MIN(f->start_ns, SPANS_END_NS),
                .end_ns = add_ns(f->start_ns, duration_ns),
                .cpu = step ? step->cpu : 0,
                .has_cpu = step,
                .is_cut = call->is_cut,
                .begins_irq = f->role == ROLE_IRQ,
                .has_retval = call->has_end && step->has_retval,
                .retval = call->has_end ? (int64_t) step->retval : 0,
        };
}

int spans_call(Spans *s, const Call *call) {
        Pending *p = pending_of(s, call->stack->key);

        if (!p)
                return -ENOMEM;
        if (p->n == p->n_room) {
                size_t n = p->n_room ? p->n_room * 2 : 64;
                Span *spans = realloc(p->spans, n * sizeof(*spans));

                if (!spans)
                        return -ENOMEM;
                p->spans = spans;
                p->n_room = n;
        }
        p->spans[p->n++] = span_of(call);
        return call->is_root && call->stack->n == 0 ? pass_on(s, p, call->stack) : 0;
}

int spans_name_task(Spans *s, const Step *step) {
        Pending *from, *to = pending_of(s, step_task_key(step));

        /* The second may move the first. */
        from = to ? pending_of(s, STEP_PID_UNKNOWN(step->cpu)) : NULL;
        to = from ? pending_of(s, step_task_key(step)) : NULL;
        if (!to)
                return -ENOMEM;
        SWAP(from->spans, to->spans);
        SWAP(from->n, to->n);
        SWAP(from->n_room, to->n_room);
        return 0;
}

int spans_walk(const Span *spans, size_t n, SpansVisitor visitor, void *userdata) {
        size_t open = SIZE_MAX;
        int r = 0;

        for (size_t i = 0; i <= n && r >= 0; i++) {
                size_t i_parent = i < n ? spans[i].i_parent : SIZE_MAX;

                for (; open != SIZE_MAX && open != i_parent && r >= 0; open = spans[open].i_parent)
                        r = visitor(userdata, &spans[open], false);
                if (r < 0 || i == n)
                        break;
                if (open != i_parent)
                        return -EINVAL;
                r = visitor(userdata, &spans[i], true);
                open = i;
        }
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
