/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found by a hash of all that tells them apart. */

#include "base/array.h"
#include "causes/waits.h"

struct Waits {
        WaitsRow **rows;
        size_t n_rows;
        Hash by_hash; /* the rows */
};

bool waits_is_scheduler(const Function *function) {
        static const char *const names[] = { "schedule", "__schedule", "io_schedule",
                                             "preempt_schedule", "__cond_resched" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (startswith(function->label, names[i]))
                        return true;
        return false;
}

const Function *waits_function(const CallWait *wait) {
        const Frame *f = wait->frame;

        while (f > wait->stack->frames && waits_is_scheduler(f->function))
                f--;
        return f->function;
}

static WaitsRow *row_of(Waits *s, const Function *function, const SchedWait *w) {
        const HashSlot *slot;
        WaitsRow *row;
        uint64_t hash = hash_mix(hash_key(function)) << 2;

        hash ^= (uint64_t) (w->woken_ns > 0) << 1 ^ (w->state == 'R');
        if (w->woken_ns > 0)
                hash = hash_mix(hash ^ hash_key(w->waker.function));
        if (w->woken_ns > 0 && !w->waker.is_irq)
                hash = hash_bytes(hash, w->waker.comm, strlen(w->waker.comm));
        hash_each (slot, &s->by_hash, hash) {
                const Waker *a, *b = &w->waker;

                row = (void *) (uintptr_t) slot->value;
                a = &row->waker;
                if (row->function == function && row->is_woken == (w->woken_ns > 0) &&
                    row->is_forced == (w->state == 'R') &&
                    (!row->is_woken || (a->function == b->function && a->is_irq == b->is_irq &&
                                        (b->is_irq || streq(a->comm, b->comm)))))
                        return row;
        }
        if (!ARRAY_GROW(s->rows, s->n_rows))
                return NULL;
        row = NEW(WaitsRow, .function = function, .waker = w->waker, .is_woken = w->woken_ns > 0,
                  .is_forced = w->state == 'R');
        if (!row || hash_add_ptr(&s->by_hash, hash, row) < 0)
                return mfree(row);
        return s->rows[s->n_rows++] = row;
}

static int note(void *userdata, const CallWait *wait) {
        const SchedWait *w = wait->wait;
        WaitsRow *row = row_of(userdata, waits_function(wait), w);
        int r;

        if (!row)
                return -ENOMEM;
        if (row->waker.pid != w->waker.pid)
                row->waker.pid = -1;
        r = quantiles_add(&row->away, w->back_ns - w->left_ns);
        if (r >= 0 && w->woken_ns > 0)
                r = quantiles_add(&row->latency, w->back_ns - MIN(w->back_ns, w->woken_ns));
        return r;
}

static int compare(const void *a, const void *b) {
        const WaitsRow *x = *(WaitsRow *const *) a, *y = *(WaitsRow *const *) b;

        return CMP(y->away.sum, x->away.sum) ?: strcmp(x->function->label, y->function->label);
}

const WaitsRow *const *waits_rows(Waits *s, size_t *ret_n) {
        SORT(s->rows, s->n_rows, compare);
        *ret_n = s->n_rows;
        return (const WaitsRow *const *) s->rows;
}

int waits_new(Waits **ret, Pairing *pairing) {
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        pairing_set_wait(pairing, note, *ret);
        return 0;
}

Waits *waits_free(Waits *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_rows; i++) {
                quantiles_done(&s->rows[i]->away);
                quantiles_done(&s->rows[i]->latency);
                free(s->rows[i]);
        }
        free(s->rows);
        hash_done(&s->by_hash);
        return mfree(s);
}
