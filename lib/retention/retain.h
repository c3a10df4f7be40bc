/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Retain: which sessions have to go
 *
 * A pure function: sizes, times and limits in, a verdict for each session out.  What must stay is
 * never chosen, whatever the limits, nor is what was told as kept less than min_age_ns ago; of the
 * others those that were kept first go first.
 */

#include "retention/keep.h"

typedef enum RetainVerdict {
        RETAIN_KEEP,
        RETAIN_TOO_OLD,
        RETAIN_TOO_MANY,
        RETAIN_OVER_USE,
        RETAIN_OVER_FREE,
        _RETAIN_VERDICT_N,
} RetainVerdict;

typedef struct RetainItem {
        uint64_t n_bytes; /* on disk */
        uint64_t
                kept_ns; /* CLOCK_REALTIME: when it was told as kept; in the future: not too old, nor young */
        bool is_live; /* it has not ended: it stays, and is not counted as a session */
        Keep keep;    /* what else it has to stay for */
        RetainVerdict verdict;
        /* What follows is vacuum.c's. */
        char *name;
        char *foreign;         /* with KEEP_FOREIGN */
        uint64_t growth_bytes; /* of a live one: what it may still take; 0: nobody knows */
        bool is_looked_at;     /* keep is known, not only whether it is pinned */
        uint64_t stays_ns;  /* until then nothing but a request removes it; 0: that has gone by */
        bool is_age_unsure; /* it would be too old, but for boot_clock_was_set() */
        int error;          /* -errno: it had to go and could not; 0 with a verdict: it went */
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

/*
 * retain_decide() - a verdict for each of @items
 * @now_ns:     on the clock of kept_ns
 * @free_bytes: on the file system now; removing is taken to add what an item has on disk
 *
 * Return: 0 or -ENOMEM.
 */
int retain_decide(RetainItem *items, size_t n, const RetainLimits *limits, uint64_t now_ns,
                  uint64_t free_bytes);
/* Until when an item stays in any case, and when it is too old; UINT64_MAX: never. */
uint64_t retain_stays_until(const RetainItem *item, const RetainLimits *limits, uint64_t now_ns);
uint64_t retain_goes_at(const RetainItem *item, const RetainLimits *limits, uint64_t now_ns);
/*
 * retain_next() - which one goes first, now or when there is need
 *
 * Of those with a verdict other than RETAIN_KEEP if there are any, verdicts being those that there
 * would be without min_age_ns; else of all that may ever go.
 * Return: its index; @n: none.
 */
size_t retain_next(const RetainItem *items, size_t n, const RetainLimits *limits);

#define RETAIN_FLOOR_BYTES (1ULL << 20) /* free: less is too little to begin with anything */
/* True if there is no room for another recording, once all are gone that may: the disk is full, or less
 * is free than has to be and all together take more than they may. */
bool retain_is_full(const RetainLimits *limits, uint64_t used_bytes, uint64_t free_bytes);
