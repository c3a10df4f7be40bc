/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A doubly linked list of copies, and for each task a stack of those of its calls that are open:
 *
 *      list    enter a? - enter b? - leaf c - leave d
 *      task    [ a, b ]                                 by depth
 *
 * A short call is unlinked, so that what stays is open or long enough.  Durations are the kernel's
 * own (without the time slept, if it was told so), so a call counts as long by the time that has
 * passed only if the list has become long meanwhile.
 */

#include "base/grow.h"
#include "calls/reorder.h"
#include "calls/step-copy.h"

#define LENGTH_MAX 65536

typedef struct Held Held;
struct Held {
        Held *next, *previous;
        Step *step;     /* behind this */
        bool is_open;   /* not known how long yet */
        bool is_handed; /* taken out of the list, and its return is not there yet */
};

typedef struct HoldTask {
        Held **open; /* by depth; NULL: none */
        size_t n_open;
} HoldTask;

struct Reorder {
        uint64_t min_ns, now_ns;
        Held *first, *last;
        size_t n_held;
        HoldTask *tasks;
        size_t n_tasks;
        Held *handed; /* what reorder_pop() gave last, if nobody needs it any more */
        bool is_finished;
};

int reorder_new(Reorder **ret, uint64_t min_ns) {
        Reorder *h = calloc(1, sizeof(*h));

        if (!h)
                return -ENOMEM;
        h->min_ns = min_ns;
        *ret = h;
        return 0;
}

static void unlink_held(Reorder *h, Held *e) {
        *(e->previous ? &e->previous->next : &h->first) = e->next;
        *(e->next ? &e->next->previous : &h->last) = e->previous;
        h->n_held--;
}

static Held *append(Reorder *h, const Step *step) {
        Step *copy;
        Held *e = step_copy(step, sizeof(*e), &copy);

        if (!e)
                return NULL;
        *e = (Held){ .previous = h->last, .step = copy };
        *(h->last ? &h->last->next : &h->first) = e;
        h->last = e;
        h->n_held++;
        return e;
}

/* NULL without memory. */
static HoldTask *get_task(Reorder *h, size_t task) {
        return ARRAY_REACH(h->tasks, h->n_tasks, task) ? &h->tasks[task] : NULL;
}

/* Where the call of a task at a depth is; room is made.  NULL without memory. */
static Held **open_at(Reorder *h, size_t task, int32_t depth) {
        HoldTask *t = get_task(h, task);

        return t && ARRAY_REACH(t->open, t->n_open, depth) ? &t->open[depth] : NULL;
}

/* A call whose return will not come any more: what is known of it is how long it was open. */
static void give_up(Reorder *h, Held **open) {
        Held *e = TAKE_PTR(*open);

        if (!e)
                return;
        if (e->is_handed)
                free(e);
        else if (h->now_ns - e->step->timestamp_ns >= h->min_ns)
                e->is_open = false;
        else {
                unlink_held(h, e);
                free(e);
        }
}

static int push_enter(Reorder *h, Held **open, const Step *step) {
        give_up(h, open);
        *open = append(h, step);
        if (!*open)
                return -ENOMEM;
        (*open)->is_open = true;
        return 0;
}

static int push_leave(Reorder *h, Held **open, const Step *step) {
        bool is_long = step_duration_ns(step) >= h->min_ns;
        Held *e = *open;

        if (!e || e->step->function != step->function)
                return is_long && !append(h, step) ? -ENOMEM : 0;
        *open = NULL;
        if (e->is_handed) {
                is_long = true; /* its beginning was shown */
                free(e);
        } else if (is_long)
                e->is_open = false;
        else {
                unlink_held(h, e);
                free(e);
        }
        return is_long && !append(h, step) ? -ENOMEM : 0;
}

int reorder_push(Reorder *h, size_t task, const Step *step) {
        Held **open;

        h->now_ns = step->timestamp_ns;
        switch (step->kind) {
        case STEP_LEAF:
                return step_duration_ns(step) >= h->min_ns && !append(h, step) ? -ENOMEM : 0;
        case STEP_LOST:
        case STEP_TASK:
                return append(h, step) ? 0 : -ENOMEM;
        case STEP_OTHER: /* no call */
                return 0;
        default:
                open = open_at(h, task, step->depth);
                if (!open)
                        return -ENOMEM;
                return step->kind == STEP_ENTER ? push_enter(h, open, step)
                                                : push_leave(h, open, step);
        }
}

int reorder_swap_tasks(Reorder *h, size_t a, size_t b) {
        if (!get_task(h, MAX(a, b)))
                return -ENOMEM;
        SWAP(h->tasks[a], h->tasks[b]);
        return 0;
}

void reorder_finish(Reorder *h) {
        h->is_finished = true;
        for (size_t i = 0; i < h->n_tasks; i++)
                for (size_t k = 0; k < h->tasks[i].n_open; k++)
                        give_up(h, &h->tasks[i].open[k]);
}

bool reorder_pop(Reorder *h, Step *ret) {
        Held *e = h->first;

        free(TAKE_PTR(h->handed));
        if (!e)
                return false;
        if (e->is_open) {
                if (h->n_held < LENGTH_MAX || h->now_ns - e->step->timestamp_ns < h->min_ns)
                        return false;
                e->is_handed = true;
        }
        unlink_held(h, e);
        *ret = *e->step;
        if (!e->is_handed)
                h->handed = e;
        return true;
}

Reorder *reorder_free(Reorder *h) {
        if (!h)
                return NULL;
        for (size_t i = 0; i < h->n_tasks; i++) {
                for (size_t k = 0; k < h->tasks[i].n_open; k++)
                        if (h->tasks[i].open[k] && h->tasks[i].open[k]->is_handed)
                                free(h->tasks[i].open[k]);
                free(h->tasks[i].open);
        }
        while (h->first) {
                Held *e = h->first;

                h->first = e->next;
                free(e);
        }
        free(h->handed);
        free(h->tasks);
        free(h);
        return NULL;
}
