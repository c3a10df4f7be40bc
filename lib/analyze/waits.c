/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found in a hash of all that tells them apart. */

#include "analyze/waits.h"
#include "base/grow.h"

struct Waits {
        WaitsRow **rows;
        size_t n_rows;
        uint32_t *slots; /* row + 1; a power of two, at most half of them in use */
        size_t n_slots;
};

const Function *waits_function(const CallWait *wait) {
        static const char *const names[] = { "schedule", "__schedule", "io_schedule",
                                             "preempt_schedule", "__cond_resched" };
        const Frame *f = wait->frame;

        for (; f > wait->stack->frames; f--) {
                bool is_scheduler = false;

                for (size_t i = 0; i < ELEMENTSOF(names) && !is_scheduler; i++)
                        is_scheduler = startswith(f->function->label, names[i]) != NULL;
                if (!is_scheduler)
                        break;
        }
        return f->function;
}

static bool is_same(const WaitsRow *row, const Function *function, const SchedWait *w) {
        if (row->function != function || row->is_woken != (w->woken_ns > 0) ||
            row->is_forced != (w->state == 'R'))
                return false;
        return !row->is_woken ||
               (row->waker.function == w->waker.function && row->waker.is_irq == w->waker.is_irq &&
                (w->waker.is_irq || streq(row->waker.comm, w->waker.comm)));
}

static uint64_t hash_of(const Function *function, const SchedWait *w) {
        uint64_t h = (uintptr_t) function >> 4;

        h = h << 2 ^ (uint64_t) (w->woken_ns > 0) << 1 ^ (w->state == 'R');
        if (w->woken_ns > 0) {
                h = (h ^ (uintptr_t) w->waker.function >> 4) * UINT64_C(0x9e3779b97f4a7c15);
                for (const char *p = w->waker.is_irq ? "" : w->waker.comm; *p; p++)
                        h = (h ^ (unsigned char) *p) * UINT64_C(0x100000001b3);
        }
        h *= UINT64_C(0xff51afd7ed558ccd);
        return h ^ h >> 32;
}

/* Of the row that this counts in, or the free one where it would be. */
static uint32_t *find_slot(Waits *s, const Function *function, const SchedWait *w) {
        size_t i = (size_t) hash_of(function, w) & (s->n_slots - 1);

        while (s->slots[i] && !is_same(s->rows[s->slots[i] - 1], function, w))
                i = (i + 1) & (s->n_slots - 1);
        return &s->slots[i];
}

static int grow_slots(Waits *s) {
        size_t n = 64;
        uint32_t *slots;

        while (n / 4 < s->n_rows)
                n *= 2;
        slots = calloc(n, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(s->slots);
        s->slots = slots;
        s->n_slots = n;
        for (size_t i = 0; i < s->n_rows; i++) {
                const WaitsRow *row = s->rows[i];
                const SchedWait w = { .woken_ns = row->is_woken,
                                      .state = row->is_forced ? 'R' : 'S',
                                      .waker = row->waker };

                *find_slot(s, row->function, &w) = (uint32_t) i + 1;
        }
        return 0;
}

static WaitsRow *find(Waits *s, const Function *function, const SchedWait *w) {
        WaitsRow **p, *row;
        uint32_t *slot;

        if (s->n_rows >= s->n_slots / 2 && grow_slots(s) < 0)
                return NULL;
        slot = find_slot(s, function, w);
        if (*slot)
                return s->rows[*slot - 1];
        p = grow_array(s->rows, s->n_rows, sizeof(WaitsRow *));
        if (!p)
                return NULL;
        s->rows = p;
        row = calloc(1, sizeof(*row));
        if (!row)
                return NULL;
        row->function = function;
        row->is_woken = w->woken_ns > 0;
        row->is_forced = w->state == 'R';
        row->waker = w->waker;
        *slot = (uint32_t) s->n_rows + 1;
        return s->rows[s->n_rows++] = row;
}

static int note(void *userdata, const CallWait *wait) {
        const SchedWait *w = wait->wait;
        WaitsRow *row = find(userdata, waits_function(wait), w);
        int r;

        if (!row)
                return -ENOMEM;
        if (row->waker.pid != w->waker.pid)
                row->waker.pid = -1;
        r = spread_add(&row->away, w->back_ns - w->left_ns);
        if (r >= 0 && w->woken_ns > 0)
                r = spread_add(&row->latency, w->back_ns - MIN(w->back_ns, w->woken_ns));
        return r;
}

static int compare(const void *a, const void *b) {
        const WaitsRow *x = *(WaitsRow *const *) a, *y = *(WaitsRow *const *) b;

        if (x->away.sum != y->away.sum)
                return x->away.sum < y->away.sum ? 1 : -1;
        return strcmp(x->function->label, y->function->label);
}

const WaitsRow *const *waits_rows(Waits *s, size_t *ret_n) {
        if (s->n_rows > 0)
                qsort(s->rows, s->n_rows, sizeof(WaitsRow *), compare);
        s->n_slots = 0; /* they are made anew */
        *ret_n = s->n_rows;
        return (const WaitsRow *const *) s->rows;
}

int waits_new(Waits **ret, Pairing *pairing) {
        Waits *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        pairing_set_wait(pairing, note, s);
        *ret = s;
        return 0;
}

Waits *waits_free(Waits *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_rows; i++) {
                spread_done(&s->rows[i]->away);
                spread_done(&s->rows[i]->latency);
                free(s->rows[i]);
        }
        free(s->rows);
        free(s->slots);
        free(s);
        return NULL;
}
