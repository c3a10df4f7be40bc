/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sessions are few, so that the oldest one left is looked for again each time.  Sums are wider than
 * what they add up, for sizes come from a disk that anybody may have written.
 */

#include "base/cleanup.h"
#include "store/retain.h"

typedef unsigned __int128 Sum;

static bool may_go(const RetainItem *item) {
        return !item->is_live && !item->must_stay;
}

/* Of those that may go and do not yet, the one that ended first; @n if there is none. */
static size_t find_oldest(const RetainItem *items, const RetainVerdict *verdicts, size_t n,
                          size_t except) {
        size_t oldest = n;

        for (size_t i = 0; i < n; i++)
                if (may_go(&items[i]) && verdicts[i] == RETAIN_KEEP && i != except &&
                    (oldest == n || items[i].ended_ns < items[oldest].ended_ns))
                        oldest = i;
        return oldest;
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

void retain_decide(RetainVerdict *ret, const RetainItem *items, size_t n,
                   const RetainLimits *limits, uint64_t now_ns, uint64_t free_bytes) {
        size_t newest = limits->keep_newest ? find_newest(items, n) : n;
        Sum used = 0, sum_free = free_bytes;
        uint64_t n_left = 0;

        for (size_t i = 0; i < n; i++) {
                uint64_t age_ns = now_ns > items[i].ended_ns ? now_ns - items[i].ended_ns : 0;

                ret[i] = RETAIN_KEEP;
                if (may_go(&items[i]) && limits->max_age_ns > 0 && age_ns > limits->max_age_ns) {
                        ret[i] = RETAIN_TOO_OLD;
                        sum_free += items[i].n_bytes;
                } else {
                        used += items[i].n_bytes;
                        n_left += !items[i].is_live;
                }
        }
        for (;;) {
                RetainVerdict verdict = judge_rest(limits, used, sum_free, n_left);
                size_t oldest;

                if (verdict == RETAIN_KEEP)
                        return;
                oldest = find_oldest(items, ret, n, newest);
                if (oldest == n)
                        return;
                ret[oldest] = verdict;
                used -= items[oldest].n_bytes;
                sum_free += items[oldest].n_bytes;
                n_left--;
        }
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
