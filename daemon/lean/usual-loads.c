/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One text, made of the file: a load after the other, of each its functions, sorted by name. */

#include <errno.h>
#include <stdlib.h>

#include "base/unit.h"
#include "daemon/lean/usual-loads.h"

static const char loads[] =
#include "daemon/lean/loads-text.h"
        ;

/* Up to the next load.  A rate is what the function's hook costs, in millionths of the load's time. */
static int read_load(const char **text, CallRates *ret) {
        int r = 0;

        while (r >= 0 && **text && !startswith(*text, "load ")) {
                _cleanup_free_ char *name = strndup(*text, strcspn(*text, " "));

                if (!name)
                        return -ENOMEM;
                *text += strlen(name);
                r = call_rates_add(ret, name, strtoul(*text, (char **) text, 10));
                *text += **text == '\n';
        }
        return r;
}

int usual_loads_thin(const Ranks *ranks, const Strv *roots, uint64_t budget_ppm, Strv *ret) {
        int r = 0;

        for (const char *s = loads; r >= 0 && startswith(s, "load ");) {
                _cleanup_call_rates_ CallRates rates = {};
                bool is_roots = false;

                s += strcspn(s, "\n") + 1;
                r = read_load(&s, &rates);
                for (size_t i = 0; i < roots->n; i++)
                        is_roots = is_roots || call_rates_get(&rates, roots->items[i]) > 0;
                if (r >= 0 && !is_roots)
                        r = thinning_choose(ranks,
                                            &(Load){ .rates = rates,
                                                     .window_ns = UINT64_C(1000000),
                                                     .hook_ns = 1 },
                                            budget_ppm, ret);
        }
        return r;
}
