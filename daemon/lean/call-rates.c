/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list that is sorted by name, so that what was counted twice can be compared. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/name.h"
#include "daemon/lean/call-rates.h"
#include "daemon/lean/learner.h"

static int compare_names(const void *a, const void *b) {
        return strcmp(((const CallRate *) a)->name, ((const CallRate *) b)->name);
}

/* Several addresses may have one name. */
static void sort(CallRates *r) {
        size_t kept = 0;

        if (r->n == 0)
                return;
        qsort(r->items, r->n, sizeof(*r->items), compare_names);
        for (size_t i = 0; i < r->n; i++)
                if (kept > 0 && streq(r->items[kept - 1].name, r->items[i].name)) {
                        r->items[kept - 1].n += r->items[i].n;
                        free(r->items[i].name);
                } else
                        r->items[kept++] = r->items[i];
        r->n = kept;
}

void call_rates_done(CallRates *r) {
        for (size_t i = 0; i < r->n; i++)
                free(r->items[i].name);
        free(r->items);
        *r = (CallRates){};
}

int call_rates_add(CallRates *r, const char *name, uint64_t n) {
        if (!ARRAY_GROW(r->items, r->n))
                return -ENOMEM;
        r->items[r->n] = (CallRate){ strdup(name), n };
        if (!r->items[r->n].name)
                return -ENOMEM;
        r->n++;
        return 0;
}

int call_rates_read(CallRates *ret, const char *counts) {
        _cleanup_call_rates_ CallRates all = {};
        char caller[256];
        LearnerLine line;
        int r;

        while ((r = learner_next(&counts, &line)) == 0) {
                while ((r = learner_next_caller(&counts, caller)) == 0)
                        ;
                if (r != LEARNER_E_END)
                        break;
                if (line.n_calls == 0 || !function_name_is_valid(line.name))
                        continue;
                r = call_rates_add(&all, line.name, MIN(line.n_calls, UINT64_C(1) << 40));
                if (r < 0)
                        return r;
        }
        if (r != LEARNER_E_END)
                return CALL_RATES_E_INVALID;
        sort(&all);
        *ret = TAKE(all, (CallRates){});
        return 0;
}

uint64_t call_rates_get(const CallRates *r, const char *name) {
        CallRate key = { .name = (char *) name };
        const CallRate *c =
                r->n > 0 ? bsearch(&key, r->items, r->n, sizeof(key), compare_names) : NULL;

        return c ? c->n : 0;
}

void call_rates_subtract(CallRates *all, const CallRates *own) {
        for (size_t i = 0; i < all->n; i++)
                all->items[i].n -= MIN(all->items[i].n, call_rates_get(own, all->items[i].name));
}

double call_rates_cost_ppm(double n, uint64_t window_ns, uint64_t hook_ns) {
        return n * (double) hook_ns / (double) MAX(window_ns, UINT64_C(1)) * 1e6;
}
