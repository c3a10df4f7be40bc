/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Retain: which sessions have to go
 *
 * A pure function: sizes, times and limits in, a verdict for each session out.  What must stay is
 * never chosen, whatever the limits; of the others those that ended first go first.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RetainItem {
        uint64_t n_bytes;  /* on disk */
        uint64_t ended_ns; /* CLOCK_REALTIME; in the future: now */
        bool is_live;      /* it has not ended: it stays, and is not counted as a session */
        bool must_stay;    /* pinned, being read, or holds what is not ours */
} RetainItem;

/* 0: no limit. */
typedef struct RetainLimits {
        uint64_t max_use_bytes;   /* of all sessions together, those that must stay included */
        uint64_t keep_free_bytes; /* on the file system */
        uint64_t max_age_ns;      /* since it ended */
        uint64_t max_sessions;    /* that have ended, those that must stay included */
        bool keep_newest;         /* the one that ended last stays, except for its age */
} RetainLimits;

typedef enum RetainVerdict {
        RETAIN_KEEP,
        RETAIN_TOO_OLD,
        RETAIN_TOO_MANY,
        RETAIN_OVER_USE,
        RETAIN_OVER_FREE,
} RetainVerdict;

/*
 * retain_decide()
 * @ret:        a verdict for each of @items
 * @free_bytes: on the file system now; removing is taken to add what an item has on disk
 *
 * Return: 0 or -ENOMEM.
 */
int retain_decide(RetainVerdict *ret, const RetainItem *items, size_t n, const RetainLimits *limits,
                  uint64_t now_ns, uint64_t free_bytes);
const char *retain_verdict_text(RetainVerdict v); /* "older than allowed" */
