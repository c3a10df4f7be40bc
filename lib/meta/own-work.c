/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A list with a bound that forgets no moment: of too many windows two become one. */

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "meta/own-work.h"

static const JsonField fields[] = {
        JSON_FIELD(OwnWork, from_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
        JSON_FIELD(OwnWork, to_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
};

static bool is_next(const void *items, size_t i) {
        const OwnWork *w = items;

        return w[i].to_ns >= w[i].from_ns && (i == 0 || w[i].from_ns > w[i - 1].to_ns);
}

const JsonTable own_work_table =
        JSON_TABLE(OwnWork, fields, .n_max = OWN_WORKS_MAX, .fits = is_next);

static void join_nearest(OwnWorks *w) {
        size_t nearest = 1;

        for (size_t i = 2; i < w->n; i++)
                if (w->items[i].from_ns - w->items[i - 1].to_ns <
                    w->items[nearest].from_ns - w->items[nearest - 1].to_ns)
                        nearest = i;
        w->items[nearest - 1].to_ns = w->items[nearest].to_ns;
        memmove(w->items + nearest, w->items + nearest + 1, (--w->n - nearest) * sizeof(*w->items));
}

int own_works_add(OwnWorks *w, uint64_t from_ns, uint64_t to_ns) {
        OwnWork *last;

        for (; w->n > 0 && from_ns <= (last = &w->items[w->n - 1])->to_ns; w->n--) {
                from_ns = MIN(from_ns, last->from_ns);
                to_ns = MAX(to_ns, last->to_ns);
        }
        if (w->n == OWN_WORKS_MAX)
                join_nearest(w);
        if (!ARRAY_GROW(w->items, w->n))
                return -ENOMEM;
        w->items[w->n++] = (OwnWork){ from_ns, MAX(from_ns, to_ns) };
        return 0;
}

bool own_works_overlap(const OwnWorks *w, uint64_t from_ns, uint64_t to_ns) {
        size_t first = 0, end = w->n;

        while (first < end) {
                size_t middle = first + (end - first) / 2;

                if (w->items[middle].to_ns < from_ns)
                        first = middle + 1;
                else
                        end = middle;
        }
        return first < w->n && w->items[first].from_ns <= to_ns;
}
