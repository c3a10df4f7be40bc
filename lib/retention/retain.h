/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Retain: which sessions have to go
 *
 * A pure function: sizes, times and limits in, a verdict for each session out.  What must stay is
 * never chosen, whatever the limits, nor is what was told as kept less than min_age_ns ago; of the
 * others those that were kept first go first.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RetainItem {
        uint64_t n_bytes; /* on disk */
        uint64_t
                kept_ns; /* CLOCK_REALTIME: when it was told as kept; in the future: not too old, nor young */
        bool is_live;   /* it has not ended: it stays, and is not counted as a session */
        bool must_stay; /* pinned, being read, or holds what is not ours */
} RetainItem;

/* 0: no limit. */
typedef struct RetainLimits {
        uint64_t max_use_bytes;   /* of all sessions together, those that must stay included */
        uint64_t keep_free_bytes; /* on the file system */
        uint64_t max_age_ns;      /* since it was kept */
        uint64_t max_sessions;    /* that have ended, those that must stay included */
        uint64_t min_age_ns;      /* younger ones stay; no more than max_age_ns counts */
        bool keep_newest;         /* the one that was kept last stays, except for its age */
} RetainLimits;

typedef enum RetainVerdict {
        RETAIN_KEEP,
        RETAIN_TOO_OLD,
        RETAIN_TOO_MANY,
        RETAIN_OVER_USE,
        RETAIN_OVER_FREE,
        _RETAIN_VERDICT_N,
} RetainVerdict;

/*
 * retain_decide()
 * @ret:        a verdict for each of @items
 * @now_ns:     on the clock of kept_ns
 * @free_bytes: on the file system now; removing is taken to add what an item has on disk
 *
 * Return: 0 or -ENOMEM.
 */
int retain_decide(RetainVerdict *ret, const RetainItem *items, size_t n, const RetainLimits *limits,
                  uint64_t now_ns, uint64_t free_bytes);
/* Until when an item stays in any case, and when it is too old; UINT64_MAX: never. */
uint64_t retain_stays_until(const RetainItem *item, const RetainLimits *limits, uint64_t now_ns);
uint64_t retain_goes_at(const RetainItem *item, const RetainLimits *limits, uint64_t now_ns);
/*
 * retain_next() - which one goes first, now or when there is need
 *
 * Of those with a verdict other than RETAIN_KEEP if there are any, @verdicts being those that
 * there would be without min_age_ns; else of all that may ever go.
 * Return: its index; @n: none.
 */
size_t retain_next(const RetainItem *items, const RetainVerdict *verdicts, size_t n,
                   const RetainLimits *limits);

#define RETAIN_FLOOR_BYTES (1ULL << 20) /* free: less is too little to begin with anything */
/* Whether there is no room for another recording, once all are gone that may: the disk is full, or less
 * is free than has to be and all together take more than they may. */
bool retain_is_full(const RetainLimits *limits, uint64_t used_bytes, uint64_t free_bytes);
