/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The usual table of distances between beginnings, of which three rows are needed at a time. */

#include "base/name.h"
#include "base/typo.h"

#define BEGINNING_MIN 3

size_t typo_distance(const char *a, const char *b, size_t limit) {
        size_t rows[3][FUNCTION_NAME_MAX + 2], n_a = strlen(a), n_b = strlen(b);

        if (n_a > FUNCTION_NAME_MAX || n_b > FUNCTION_NAME_MAX ||
            (n_a > n_b ? n_a - n_b : n_b - n_a) > limit)
                return limit + 1;
        for (size_t j = 0; j <= n_b; j++)
                rows[0][j] = j;
        for (size_t i = 1; i <= n_a; i++) {
                size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], least = i;
                const size_t *above2 = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        size_t d = above[j - 1] + (a[i - 1] != b[j - 1]);

                        d = MIN(d, above[j] + 1);
                        d = MIN(d, row[j - 1] + 1);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d = MIN(d, above2[j - 2] + 1);
                        row[j] = d;
                        least = MIN(least, d);
                }
                if (least > limit)
                        return limit + 1;
        }
        return MIN(rows[n_a % 3][n_b], limit + 1);
}

size_t typo_limit(const char *word) {
        return MAX(strlen(word) / 4, (size_t) 2);
}

const char *typo_nearest(const char *word, const char *const *words, size_t n) {
        size_t best = typo_limit(word) + 1, shortest = SIZE_MAX;
        const char *like = NULL;

        for (size_t i = 0; i < n && strlen(word) >= BEGINNING_MIN; i++)
                if (startswith(words[i], word) && strlen(words[i]) < shortest) {
                        shortest = strlen(words[i]);
                        like = words[i];
                }
        if (like)
                return like;
        for (size_t i = 0; i < n; i++) {
                size_t d = typo_distance(word, words[i], best);

                if (d < best) {
                        best = d;
                        like = words[i];
                }
        }
        return like;
}

/* The fewest errors first, then the longest common beginning.  A limit on the errors makes it quick: most are left
 * after some letters. */
static size_t unlikeness(const char *a, const char *b, size_t limit) {
        size_t d = typo_distance(a, b, limit), n_common = 0;

        while (a[n_common] && a[n_common] == b[n_common])
                n_common++;
        return d > limit ? SIZE_MAX : (d + 1) * 1024 - MIN(n_common, (size_t) 1023);
}

int typo_suggest(const char *const *names, size_t n_names, const char *name, Strv *ret) {
        struct {
                const char *name;
                size_t unlikeness;
        } best[TYPO_SUGGESTIONS_MAX] = {};
        size_t n = 0, limit = typo_limit(name);
        int r = 0;

        for (size_t i = 0; i < n_names; i++) {
                size_t u = unlikeness(name, names[i], limit), at = n;

                if (u == SIZE_MAX)
                        continue;
                while (at > 0 && best[at - 1].unlikeness > u)
                        at--;
                if (at == TYPO_SUGGESTIONS_MAX)
                        continue;
                n = MIN(n + 1, (size_t) TYPO_SUGGESTIONS_MAX);
                for (size_t k = n - 1; k > at; k--)
                        best[k] = best[k - 1];
                best[at].name = names[i];
                best[at].unlikeness = u;
        }
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = strv_add(ret, best[i].name);
        return r;
}
