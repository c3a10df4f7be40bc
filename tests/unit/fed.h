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

/* A test of Fed, which each program makes of what it tests by its fed(). */
#define _cleanup_fed_ _cleanup_(fed_done)
#define FED_TEST(name, ...) TEST_WITH(name, (Fed * f), _cleanup_fed_ Fed f = fed(__VA_ARGS__), &f)

/* All at 1 s. */
#define FEED(p, ...)                                                                               \
        feed_all((p), (const Step[]){ __VA_ARGS__ },                                               \
                 sizeof((const Step[]){ __VA_ARGS__ }) / sizeof(Step))
static inline void feed_all(Pairing *p, const Step *steps, size_t n) {
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(pairing_step(p, &steps[i]), 0);
}
