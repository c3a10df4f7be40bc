/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A filter may pass an event on much later, but in the order in which they came: what was seen of who wakes waits in
 * a queue, the last that was asked for, too, since several may ask.
 */

#include "analyze/whole.h"
#include "base/array.h"

typedef struct Seen {
        uint64_t timestamp_ns;
        uint32_t cpu;
        Waker waker;
} Seen;

struct Whole {
        Pairing *all;
        Seen *seen;
        size_t n, n_room, begin; /* what is before @begin has been asked for */
};

int whole_new(Whole **ret) {
        _cleanup_(whole_freep) Whole *w = calloc(1, sizeof(*w));
        int r = w ? pairing_new(&w->all) : -ENOMEM;

        if (r < 0)
                return r;
        w->all->keeps_cuts = true;
        *ret = TAKE_PTR(w);
        return 0;
}

int whole_see(void *whole, const Step *step) {
        Whole *w = whole;

        if (step->kind != STEP_OTHER || sched_parse(step).kind != SCHED_WAKING)
                return pairing_step(w->all, step);
        if (w->begin > 0 && w->begin >= w->n - w->begin) {
                w->n -= w->begin;
                memmove(w->seen, w->seen + w->begin, w->n * sizeof(*w->seen));
                w->begin = 0;
        }
        if (!ARRAY_ROOM(w->seen, w->n_room, w->n + 1))
                return -ENOMEM;
        w->seen[w->n++] = (Seen){ .timestamp_ns = step->timestamp_ns,
                                  .cpu = step->cpu,
                                  .waker = pairing_waker(w->all, step) };
        return pairing_step(w->all, step);
}

static bool waker_of(void *whole, const Step *step, Waker *ret) {
        Whole *w = whole;

        for (; w->begin < w->n && w->seen[w->begin].timestamp_ns <= step->timestamp_ns;
             w->begin++) {
                const Seen *s = &w->seen[w->begin];

                if (s->timestamp_ns < step->timestamp_ns || s->cpu != step->cpu)
                        continue;
                *ret = s->waker;
                return true;
        }
        return false;
}

void whole_tell(Whole *w, Pairing *pairing) {
        pairing->all = w->all;
        pairing->waker = waker_of;
        pairing->waker_userdata = w;
}

Whole *whole_free(Whole *w) {
        if (!w)
                return NULL;
        pairing_free(w->all);
        free(w->seen);
        return mfree(w);
}
