/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/watch/watch.h"
#include "tests/unit/unit.h"

#define SEC NSEC_PER_SEC

/* A session of 1,000 events, 100,000 bytes and half a CPU a second at most. */
static Guard guard_of(void) {
        const Spec spec = { .max_event_rate = 1000,
                            .max_write_rate = 100000,
                            .max_cpu_ppm = 500000 };
        Guard g;

        guard_init(&g, &spec, &(GuardSample){ .at_ns = 100 * SEC });
        return g;
}

/* Looks after each of the steps until the end, with this rate of one kind; when it passed a limit,
 * since guard_of()'s beginning, 0 if it never did. */
static uint64_t passes_after(Guard *g, SessionLimit kind, uint64_t rate, uint64_t step_ns,
                             uint64_t end_ns, GuardVerdict *v) {
        GuardSample now = g->samples[(g->n_samples - 1) % GUARD_SAMPLES];

        while (now.at_ns < 100 * SEC + end_ns) {
                now.at_ns += step_ns;
                now.totals[kind] += rate * step_ns / SEC;
                if (guard_look(g, &now, v) == GUARD_E_PASSED)
                        return now.at_ns - 100 * SEC;
        }
        return 0;
}

TEST(at_its_limit_a_session_goes_on) {
        GuardVerdict v;

        for (SessionLimit k = SESSION_LIMIT_NONE + 1; k < _SESSION_LIMIT_N; k++) {
                Guard g = guard_of();

                ck_assert_uint_eq(passes_after(&g, k, g.limits[k], 4 * SEC, 600 * SEC, &v), 0);
                ck_assert_uint_eq(passes_after(&g, k, g.limits[k], SEC / 10, 1200 * SEC, &v), 0);
        }
}

TEST(above_it_for_the_whole_window_it_ends) {
        GuardVerdict v;

        for (SessionLimit k = SESSION_LIMIT_NONE + 1; k < _SESSION_LIMIT_N; k++) {
                Guard g = guard_of();

                ck_assert_uint_eq(passes_after(&g, k, g.limits[k] * 2, 4 * SEC, 600 * SEC, &v),
                                  12 * SEC);
                ck_assert_int_eq(v.kind, k);
                ck_assert_uint_eq(v.rate, g.limits[k] * 2);
                ck_assert_uint_eq(v.limit, g.limits[k]);
                ck_assert_uint_eq(v.window_ns, 12 * SEC);
        }
}

TEST(a_flood_ends_it_in_half_a_second_and_otherwise_the_window_is_kept) {
        Guard g = guard_of(), flooded = guard_of();
        GuardVerdict v;

        ck_assert_uint_eq(passes_after(&g, SESSION_LIMIT_EVENT_RATE, 2000, SEC / 10, 600 * SEC, &v), 10 * SEC);
        ck_assert_uint_eq(v.window_ns, 10 * SEC);
        ck_assert_uint_eq(passes_after(&flooded, SESSION_LIMIT_WRITE_RATE, 500000, SEC / 10, 600 * SEC, &v),
                          SEC / 2);
        ck_assert_uint_eq(v.limit, 400000);
        ck_assert_int_eq(v.kind, SESSION_LIMIT_WRITE_RATE);
}

TEST(a_burst_shorter_than_its_window_ends_nothing) {
        GuardVerdict v;
        Guard g = guard_of();

        /* 0.4 s of 100 times the limit in 40 s of nothing, seen only afterwards */
        ck_assert_uint_eq(passes_after(&g, SESSION_LIMIT_EVENT_RATE, 0, 4 * SEC, 40 * SEC, &v), 0);
        ck_assert_uint_eq(passes_after(&g, SESSION_LIMIT_EVENT_RATE, 3 * 1000, SEC / 4, 42 * SEC, &v), 0);
        ck_assert_uint_eq(passes_after(&g, SESSION_LIMIT_EVENT_RATE, 0, 4 * SEC, 80 * SEC, &v), 0);
}

TEST(after_quiet_times_the_window_is_not_diluted) {
        GuardVerdict v;
        Guard g = guard_of();
        uint64_t at;

        ck_assert_uint_eq(passes_after(&g, SESSION_LIMIT_EVENT_RATE, 0, 4 * SEC, 4000 * SEC, &v), 0);
        at = passes_after(&g, SESSION_LIMIT_EVENT_RATE, 2000, SEC / 2, 4100 * SEC, &v);
        ck_assert_uint_ge(at, 4005 * SEC);
        ck_assert_uint_le(at, 4010 * SEC);
}

TEST(counters_that_go_backwards_end_nothing) {
        Guard g = guard_of();
        GuardVerdict v;
        GuardSample now = { .at_ns = 101 * SEC, .totals = { 1000, 1000, 1000 } };

        ck_assert_int_eq(guard_look(&g, &now, &v), 0);
        now = (GuardSample){ .at_ns = 102 * SEC };
        ck_assert_int_eq(guard_look(&g, &now, &v), 0);
}

TEST(no_limit_is_never_passed) {
        const Spec spec = { .max_event_rate = SPEC_UNLIMITED };
        GuardVerdict v;
        Guard g;

        guard_init(&g, &spec, &(GuardSample){ .at_ns = 100 * SEC });
        for (SessionLimit k = SESSION_LIMIT_NONE + 1; k < _SESSION_LIMIT_N; k++)
                ck_assert_uint_eq(passes_after(&g, k, UINT64_C(1) << 40, SEC, 200 * SEC, &v), 0);
        ck_assert_uint_eq(guard_look_bytes(&g), UINT64_MAX);
}

TEST(the_next_look_is_due_before_a_flood_has_lasted) {
        Guard g = guard_of();

        /* 1,000 events of 16 bytes and more, four times that a second, half a second */
        ck_assert_uint_eq(guard_look_bytes(&g), 1000 * 16 * 4 / 2);
        g.limits[SESSION_LIMIT_EVENT_RATE] = 0;
        ck_assert_uint_eq(guard_look_bytes(&g), 100000 * 4 / 2);
        g.limits[SESSION_LIMIT_WRITE_RATE] = 1;
        ck_assert_uint_gt(guard_look_bytes(&g), 0);
}

TEST(a_verdict_names_the_rate_the_limit_and_the_way_out) {
        static const struct {
                GuardVerdict verdict;
                const char *text;
        } cases[] = {
                { { SESSION_LIMIT_EVENT_RATE, 1203441, 1000000, 10 * SEC },
                  "1,203,441 events a second over 10 s, more than the 1,000,000 of "
                  "MaxEventRate=; name fewer functions, or raise --set=MaxEventRate=" },
                { { SESSION_LIMIT_WRITE_RATE, 512 << 20, 256 << 20, SEC / 2 },
                  "512M stored a second over 500 ms, more than the 256M of MaxWriteRate=; "
                  "name fewer functions, or raise --set=MaxWriteRate=" },
                { { SESSION_LIMIT_CPU, 723000, 500000, 12 * SEC },
                  "72.3 % of a CPU for storing over 12 s, more than the 50.0 % of MaxCPU=; "
                  "name fewer functions, or raise --set=MaxCPU=" },
        };
        char text[GUARD_TEXT_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(guard_sentence(text, &cases[i].verdict), cases[i].text);
}
