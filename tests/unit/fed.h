/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A pairing that is fed with steps made by hand, for the tests of its sinks. */

#include "analyze/pairing.h"
#include "step-builder.h"
#include "unit.h"

static inline Pairing *fed_pairing(void) {
        Pairing *p;

        ck_assert_int_eq(pairing_new(&p), 0);
        return p;
}

static inline void feed_at(Pairing *p, Step s, uint64_t at_ns) {
        s.timestamp_ns = at_ns;
        ck_assert_int_eq(pairing_step(p, &s), 0);
}

/* All at 1 s. */
#define FEED(p, ...)                                                                               \
        feed_all((p), (const Step[]){ __VA_ARGS__ },                                               \
                 sizeof((const Step[]){ __VA_ARGS__ }) / sizeof(Step))
static inline void feed_all(Pairing *p, const Step *steps, size_t n) {
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(pairing_step(p, &steps[i]), 0);
}
