/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A filter may pass an event on much later, but in the order in which they came: what was seen waits in a queue,
 * the last that was asked for, too, since several may ask. */

#include "analyze/wakers.h"
#include "base/array.h"

typedef struct Seen {
        uint64_t timestamp_ns;
        uint32_t cpu;
        Waker waker;
} Seen;

struct Wakers {
        Pairing *all;
        Seen *seen;
        size_t n, n_room, begin; /* what is before @begin has been asked for */
};

int wakers_new(Wakers **ret) {
        _cleanup_(wakers_freep) Wakers *w = calloc(1, sizeof(*w));
        int r = w ? pairing_new(&w->all) : -ENOMEM;

        if (r < 0)
                return r;
        *ret = TAKE_PTR(w);
        return 0;
}

int wakers_see(void *wakers, const Step *step) {
        Wakers *w = wakers;

        if (step->kind != STEP_OTHER)
                return pairing_step(w->all, step);
        if (sched_parse(step).kind != SCHED_WAKING)
                return 0;
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
        return 0;
}

static bool waker_of(void *wakers, const Step *step, Waker *ret) {
        Wakers *w = wakers;

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

void wakers_tell(Wakers *w, Pairing *pairing) {
        pairing_set_waker(pairing, waker_of, w);
}

Wakers *wakers_free(Wakers *w) {
        if (!w)
                return NULL;
        pairing_free(w->all);
        free(w->seen);
        return mfree(w);
}
