/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * They go in the order in which they ended.  Sums are wider than what they add up, for sizes come
 * from a disk that anybody may have written.
 */

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/retain.h"

typedef unsigned __int128 Sum;

static bool may_go(const RetainItem *item) {
        return !item->is_live && !item->must_stay;
}

/* Of equal times the one that comes first goes first. */
static int by_end(const void *a, const void *b, void *userdata) {
        const RetainItem *items = userdata;
        size_t i = *(const size_t *) a, k = *(const size_t *) b;

        if (items[i].ended_ns != items[k].ended_ns)
                return items[i].ended_ns < items[k].ended_ns ? -1 : 1;
        return i < k ? -1 : 1;
}

static size_t find_newest(const RetainItem *items, size_t n) {
        size_t newest = n;

        for (size_t i = 0; i < n; i++)
                if (may_go(&items[i]) &&
                    (newest == n || items[i].ended_ns >= items[newest].ended_ns))
                        newest = i;
        return newest;
}

static RetainVerdict judge_rest(const RetainLimits *l, Sum used, Sum free_bytes,
                                uint64_t n_sessions) {
        if (l->max_sessions > 0 && n_sessions > l->max_sessions)
                return RETAIN_TOO_MANY;
        if (l->max_use_bytes > 0 && used > l->max_use_bytes)
                return RETAIN_OVER_USE;
        if (l->keep_free_bytes > 0 && free_bytes < l->keep_free_bytes)
                return RETAIN_OVER_FREE;
        return RETAIN_KEEP;
}

int retain_decide(RetainVerdict *ret, const RetainItem *items, size_t n, const RetainLimits *limits,
                  uint64_t now_ns, uint64_t free_bytes) {
        _cleanup_free_ size_t *order = calloc(n + 1, sizeof(*order));
        size_t newest = limits->keep_newest ? find_newest(items, n) : n;
        Sum used = 0, sum_free = free_bytes;
        uint64_t n_left = 0;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                uint64_t age_ns = now_ns > items[i].ended_ns ? now_ns - items[i].ended_ns : 0;

                order[i] = i;
                ret[i] = RETAIN_KEEP;
                if (may_go(&items[i]) && limits->max_age_ns > 0 && age_ns > limits->max_age_ns) {
                        ret[i] = RETAIN_TOO_OLD;
                        sum_free += items[i].n_bytes;
                } else {
                        used += items[i].n_bytes;
                        n_left += !items[i].is_live;
                }
        }
        if (n > 1)
                qsort_r(order, n, sizeof(*order), by_end, (void *) items);
        for (size_t k = 0; k < n; k++) {
                RetainVerdict verdict = judge_rest(limits, used, sum_free, n_left);
                size_t i = order[k];

                if (verdict == RETAIN_KEEP)
                        break;
                if (!may_go(&items[i]) || ret[i] != RETAIN_KEEP || i == newest)
                        continue;
                ret[i] = verdict;
                used -= items[i].n_bytes;
                sum_free += items[i].n_bytes;
                n_left--;
        }
        return 0;
}

const char *retain_verdict_text(RetainVerdict v) {
        static const char *const texts[] = {
                [RETAIN_KEEP] = "kept",
                [RETAIN_TOO_OLD] = "it ended too long ago",
                [RETAIN_TOO_MANY] = "there are too many",
                [RETAIN_OVER_USE] = "all together take too much",
                [RETAIN_OVER_FREE] = "too little is free",
        };

        return texts[v];
}
