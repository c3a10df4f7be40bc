/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Page slow: the slowest calls in HTML, each with its tree, and their spans as JSON
 *
 * The spans are what a timeline is drawn from (page.js):
 *
 * First the slowest, then the usual ones that these are compared with:
 *
 *      [{"title": "1. udp_sendmsg, 90.2 ms", "ns": 90183881, "left": 12,
 *        "names": ["udp_sendmsg", ...], "spans": [begin, length, level, name, kind, ...]}, ...]
 *
 * Times are nanoseconds since the call's beginning; what kind is, PAGE_SPAN_* say.  Text is fit to stand
 * in an HTML script.
 */

#include "causes/outliers.h"
#include "base/buf.h"

enum {
        PAGE_SPAN_CALL,
        PAGE_SPAN_IRQ,  /* an interrupt, or below one */
        PAGE_SPAN_WAIT, /* off the CPU, or mostly */
        PAGE_SPAN_CUT,  /* its end was not recorded */
};

typedef struct PageSlow {
        Buf *out;
        const Outliers *outliers; /* finished, with spans */
        uint64_t begin_ns;        /* of the recording */
        bool is_timeless;
        size_t max_nodes; /* of each tree */
} PageSlow;

/* Both: 0 or -ENOMEM. */
int page_slow_write(const PageSlow *p);
int page_slow_write_spans(const PageSlow *p);
