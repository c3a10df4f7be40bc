/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two sorted lists: by name, to compare what was counted twice, and by calls, to begin with the worst. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name.h"
#include "daemon/lean/call-rates.h"
#include "daemon/lean/learner.h"

static int compare_names(const void *a, const void *b) {
        return strcmp(((const CallRate *) a)->name, ((const CallRate *) b)->name);
}

static int compare_calls(const void *a, const void *b) {
        const CallRate *x = *(const CallRate *const *) a, *y = *(const CallRate *const *) b;

        return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
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

int call_rates_read(CallRates *ret, const char *counts) {
        _cleanup_call_rates_ CallRates all = {};
        char name[256], caller[256];
        uint64_t n;
        int r;

        while ((r = learner_next(&counts, 1, name, &n)) == 0) {
                while ((r = learner_next_caller(&counts, caller)) == 0)
                        ;
                if (r != LEARNER_E_END)
                        break;
                if (n == 0 || !function_name_is_valid(name))
                        continue;
                if (!ARRAY_GROW(all.items, all.n))
                        return -ENOMEM;
                all.items[all.n] = (CallRate){ strdup(name), MIN(n, UINT64_C(1) << 40) };
                if (!all.items[all.n].name)
                        return -ENOMEM;
                all.n++;
        }
        if (r != LEARNER_E_END)
                return CALL_RATES_E_INVALID;
        sort(&all);
        *ret = TAKE(all, (CallRates){});
        return 0;
}

void call_rates_subtract(CallRates *all, const CallRates *own) {
        for (size_t i = 0; own->n > 0 && i < all->n; i++) {
                const CallRate *o = bsearch(&all->items[i], own->items, own->n, sizeof(*own->items),
                                            compare_names);

                if (o)
                        all->items[i].n -= MIN(all->items[i].n, o->n);
        }
}

double call_rates_cost_ppm(double n, uint64_t window_ns, uint64_t hook_ns) {
        return n * (double) hook_ns / (double) MAX(window_ns, UINT64_C(1)) * 1e6;
}

int call_rates_find_hot(const CallRates *r, uint64_t window_ns, uint64_t hook_ns,
                        uint64_t budget_ppm, const Strv *keep, Strv *ret, uint32_t **ret_ppm) {
        _cleanup_free_ const CallRate **worst = calloc(r->n + 1, sizeof(*worst));
        _cleanup_free_ uint32_t *ppm = calloc(r->n + 1, sizeof(*ppm));
        double sum = 0;
        size_t n = 0, n_hot = 0;

        if (!worst || !ppm)
                return -ENOMEM;
        for (size_t i = 0; i < r->n; i++)
                if (!strv_contains(keep, r->items[i].name)) {
                        worst[n++] = &r->items[i];
                        sum += (double) r->items[i].n;
                }
        qsort(worst, n, sizeof(*worst), compare_calls);
        for (; n_hot < n && call_rates_cost_ppm(sum, window_ns, hook_ns) > (double) budget_ppm;
             n_hot++) {
                int k = strv_add(ret, worst[n_hot]->name);

                if (k < 0)
                        return k;
                ppm[n_hot] = (uint32_t) MIN(
                        call_rates_cost_ppm((double) worst[n_hot]->n, window_ns, hook_ns),
                        (double) UINT32_MAX);
                sum -= (double) worst[n_hot]->n;
        }
        *ret_ppm = TAKE_PTR(ppm);
        return 0;
}
