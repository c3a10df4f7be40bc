/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * They go in the order in which they were kept.  Sums are wider than what they add up, for sizes come
 * from a disk that anybody may have written.
 */

#include "retention/retain.h"

typedef unsigned __int128 Sum;

static bool may_go(const RetainItem *item) {
        return !item->is_live && item->keep == KEEP_NOT;
}

/* Of equal times the one that comes first goes first. */
static int by_age(const void *a, const void *b, void *userdata) {
        const RetainItem *items = userdata;
        size_t i = *(const size_t *) a, k = *(const size_t *) b;

        return CMP(items[i].kept_ns, items[k].kept_ns) ?: CMP(i, k);
}

static size_t find_newest(const RetainItem *items, size_t n) {
        size_t newest = n;

        for (size_t i = 0; i < n; i++)
                if (may_go(&items[i]) && (newest == n || items[i].kept_ns >= items[newest].kept_ns))
                        newest = i;
        return newest;
}

uint64_t retain_stays_until(const RetainItem *item, const RetainLimits *l, uint64_t now_ns) {
        uint64_t min_age_ns = l->max_age_ns > 0 ? MIN(l->min_age_ns, l->max_age_ns) : l->min_age_ns;

        if (!may_go(item))
                return UINT64_MAX;
        /* By a clock that was wrong: it could not go until the clock shows that once more. */
        return item->kept_ns > now_ns ? now_ns : add_capped(item->kept_ns, min_age_ns);
}

uint64_t retain_goes_at(const RetainItem *item, const RetainLimits *l, uint64_t now_ns) {
        return may_go(item) && l->max_age_ns > 0
                       ? add_capped(MIN(item->kept_ns, now_ns), l->max_age_ns)
                       : UINT64_MAX;
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

int retain_decide(RetainItem *items, size_t n, const RetainLimits *limits, uint64_t now_ns,
                  uint64_t free_bytes) {
        _cleanup_free_ size_t *order = calloc(n + 1, sizeof(*order));
        size_t newest = limits->keep_newest ? find_newest(items, n) : n;
        Sum used = 0, sum_free = free_bytes;
        uint64_t n_left = 0;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                order[i] = i;
                items[i].verdict = RETAIN_KEEP;
                if (retain_goes_at(&items[i], limits, now_ns) < now_ns) {
                        items[i].verdict = RETAIN_TOO_OLD;
                        sum_free += items[i].n_bytes;
                } else {
                        used += items[i].n_bytes;
                        n_left += !items[i].is_live;
                }
        }
        if (n > 1)
                qsort_r(order, n, sizeof(*order), by_age, items);
        for (size_t k = 0; k < n; k++) {
                RetainVerdict verdict = judge_rest(limits, used, sum_free, n_left);
                size_t i = order[k];

                if (verdict == RETAIN_KEEP)
                        break;
                if (!may_go(&items[i]) || items[i].verdict != RETAIN_KEEP || i == newest ||
                    retain_stays_until(&items[i], limits, now_ns) > now_ns)
                        continue;
                items[i].verdict = verdict;
                used -= items[i].n_bytes;
                sum_free += items[i].n_bytes;
                n_left--;
        }
        return 0;
}

size_t retain_next(const RetainItem *items, size_t n, const RetainLimits *limits) {
        size_t newest = limits->keep_newest && limits->max_age_ns == 0 ? find_newest(items, n) : n,
               next = n;

        for (size_t i = 0; i < n; i++) {
                bool goes = items[i].verdict != RETAIN_KEEP, next_goes;

                if (!may_go(&items[i]) || (i == newest && !goes))
                        continue;
                next_goes = next < n && items[next].verdict != RETAIN_KEEP;
                if (next == n || goes > next_goes ||
                    (goes == next_goes && items[i].kept_ns < items[next].kept_ns))
                        next = i;
        }
        return next;
}

bool retain_is_full(const RetainLimits *l, uint64_t used_bytes, uint64_t free_bytes) {
        return free_bytes < RETAIN_FLOOR_BYTES ||
               (l->max_use_bytes > 0 && used_bytes > l->max_use_bytes &&
                free_bytes < l->keep_free_bytes);
}
