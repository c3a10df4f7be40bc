/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All names are compared, which a limit on the errors makes quick: most are left after some letters. */

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/typo.h"
#include "daemon/admission/suggest.h"

/* The fewest errors first, then the longest common beginning. */
static size_t unlikeness(const char *a, const char *b, size_t limit) {
        size_t d = typo_distance(a, b, limit), n_common = 0;

        while (a[n_common] && a[n_common] == b[n_common])
                n_common++;
        return d > limit ? SIZE_MAX : (d + 1) * 1024 - MIN(n_common, (size_t) 1023);
}

int suggest_names(const char *const *names, size_t n_names, const char *name, Strv *ret) {
        struct {
                const char *name;
                size_t unlikeness;
        } best[SUGGESTIONS_MAX] = {};
        size_t n = 0, limit = typo_limit(name);
        int r;

        for (size_t i = 0; i < n_names; i++) {
                size_t u = unlikeness(name, names[i], limit), at = n;

                if (u == SIZE_MAX)
                        continue;
                while (at > 0 && best[at - 1].unlikeness > u)
                        at--;
                if (at == SUGGESTIONS_MAX)
                        continue;
                n = MIN(n + 1, (size_t) SUGGESTIONS_MAX);
                for (size_t k = n - 1; k > at; k--)
                        best[k] = best[k - 1];
                best[at].name = names[i];
                best[at].unlikeness = u;
        }
        for (size_t i = 0; i < n; i++) {
                r = strv_add(ret, best[i].name);
                if (r < 0)
                        return r;
        }
        return 0;
}
