/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What lib/export/spans.h promises of the spans that a listener gets. */

#include "export/spans.h"

/* @last_ns: when the task's outermost span before these has ended; of the last of these, then. */
static inline bool span_check(const Span *spans, size_t n, uint64_t *last_ns) {
        for (size_t i = 0; i < n; i++) {
                const Span *span = &spans[i];
                const Span *parent = span->i_parent == SIZE_MAX ? NULL : &spans[span->i_parent];

                if (span->start_ns > span->end_ns || span->end_ns > SPANS_END_NS)
                        return false;
                if (!parent) {
                        if (span->start_ns < *last_ns)
                                return false;
                        *last_ns = span->end_ns;
                        continue;
                }
                if (span->i_parent >= i || span->start_ns < parent->start_ns ||
                    span->end_ns > parent->end_ns)
                        return false;
                /* What lies between has ended. */
                for (size_t open = i - 1; open != span->i_parent; open = spans[open].i_parent)
                        if (open == SIZE_MAX || spans[open].end_ns > span->start_ns)
                                return false;
        }
        return true;
}
