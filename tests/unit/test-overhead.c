/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/overhead.h"
#include "step-builder.h"
#include "unit.h"

static const Function schedule = { .label = "schedule",
                                   .n_name = sizeof("schedule") - 1,
                                   .n_label = sizeof("schedule") - 1 };

/* 20 calls of 10 us each that have two calls below them, of 230 ns each for the tracer, and beside
 * these one that waits for @wait_ns. */
static Overhead after_trees(uint64_t wait_ns, uint64_t inner_low_ns, uint64_t inner_ns) {
        _cleanup_(pairing_freep) Pairing *p = NULL;
        _cleanup_(floor_freep) Floor *f = NULL;

        ck_assert_int_eq(pairing_new(&p), 0);
        ck_assert_int_eq(floor_new(&f, p), 0);
        for (size_t i = 0; i < 20; i++) {
                const Step steps[] = {
                        step_enter(&step_root, 0),
                        step_enter(&step_child, 1),
                        step_leaf(&step_module, 2, 30),
                        step_leave(&step_child, 1, 230),
                        step_leaf(&schedule, 1, wait_ns),
                        step_leave(&step_root, 0, 10000 + wait_ns),
                };
                size_t n_left_out = wait_ns > 0 ? SIZE_MAX : 4;

                for (size_t k = 0; k < ELEMENTSOF(steps); k++)
                        if (k != n_left_out)
                                ck_assert_int_eq(pairing_step(p, &steps[k]), 0);
        }
        ck_assert_int_eq(pairing_finish(p), 0);
        return overhead_of(f, inner_low_ns, inner_ns);
}

static const char *described(const Overhead *o) {
        static char text[256];
        _cleanup_buf_ Buf out = BUF_INIT;

        overhead_describe(o, &out);
        (void) snprintf(text, sizeof(text), "%.*s", (int) out.n_data, out.n_data ? out.data : "");
        return text;
}

START_TEST(what_is_waited_is_no_part_of_what_tracing_costs)
        {
                Overhead awake = after_trees(0, 0, 0), asleep = after_trees(1000000, 0, 0);

                ck_assert(awake.has_cost && asleep.has_cost);
                ck_assert_str_eq(described(&awake),
                                 "Shown 10.0 us a call of root; about 9.51 us of it real, 5 % "
                                 "is what tracing costs.");
                ck_assert_uint_eq(asleep.shown.blocked_ns, 20 * 1000000);
                /* One more call below costs 230 ns more, of the same 10 us. */
                ck_assert(asleep.high_percent > awake.high_percent);
                ck_assert(asleep.high_percent < 2 * awake.high_percent);
                ck_assert_str_eq(described(&asleep),
                                 "Shown 1.01 ms a call of root, 1.00 ms of it waiting; about "
                                 "9.28 us of the rest is real, 7 % is what tracing costs.");
        }
END_TEST

START_TEST(what_was_measured_is_told_beside_what_was_recorded)
        {
                Overhead o = after_trees(0, 220, 240);

                ck_assert_str_eq(
                        described(&o),
                        "Shown 10.0 us a call of root; about 9.49 to 9.53 us of it "
                        "real, 5 % is what tracing costs. A call adds 0.23 us as recorded, "
                        "0.22 to 0.24 us as measured when it was armed.");
        }
END_TEST

START_TEST(nothing_is_said_of_no_calls)
        {
                const Overhead none = {};

                ck_assert_str_eq(described(&none), "");
        }
END_TEST

UNIT_MAIN("overhead", nothing_is_said_of_no_calls, what_is_waited_is_no_part_of_what_tracing_costs,
          what_was_measured_is_told_beside_what_was_recorded)
