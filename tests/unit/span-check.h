/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What lib/analyze/pairing.h promises of where calls are placed. */

#include "analyze/pairing.h"

#define SPAN_CHECK_DEPTH 1100

typedef struct SpanCheck {
        const Function *open[SPAN_CHECK_DEPTH];
        size_t n_open;
        uint64_t last_ns;
} SpanCheck;

static inline bool span_check(SpanCheck *c, const Frame *span, uint64_t at_ns, bool begins) {
        if (at_ns < c->last_ns || at_ns > PAIRING_END_NS)
                return false;
        c->last_ns = at_ns;
        if (!begins)
                return c->n_open > 0 && c->open[--c->n_open] == span->function &&
                       span->is_root == (c->n_open == 0);
        if (span->is_root != (c->n_open == 0) || c->n_open == SPAN_CHECK_DEPTH)
                return false;
        c->open[c->n_open++] = span->function;
        return true;
}
