/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/overhead.h"
#include "step-builder.h"
#include "unit.h"

static const Function schedule = { .label = "schedule",
                                   .n_name = sizeof("schedule") - 1,
                                   .n_label = sizeof("schedule") - 1 };

/* 20 calls of 10 us each that have two calls below them, of 230 ns each for the tracer, and beside
 * these one that waits for @wait_ns. */
static Overhead after_trees(uint64_t wait_ns) {
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
        return overhead_of(f);
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
                Overhead awake = after_trees(0), asleep = after_trees(1000000);

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

/* @steps, @n_times. */
static Overhead after(const Step *steps, size_t n, size_t n_times) {
        _cleanup_(pairing_freep) Pairing *p = NULL;
        _cleanup_(floor_freep) Floor *f = NULL;

        ck_assert_int_eq(pairing_new(&p), 0);
        ck_assert_int_eq(floor_new(&f, p), 0);
        for (size_t i = 0; i < n_times * n; i++)
                ck_assert_int_eq(pairing_step(p, &steps[i % n]), 0);
        ck_assert_int_eq(pairing_finish(p), 0);
        return overhead_of(f);
}

START_TEST(what_was_cut_off_is_shown_too)
        {
                Step steps[] = { step_leaf(&step_root, 0, 1000), step_enter(&step_root, 0),
                                 step_leaf(&step_child, 1, 5000) };
                Overhead o = after(steps, ELEMENTSOF(steps), 1);

                ck_assert_uint_eq(o.shown.total_ns, 6000);
                ck_assert_str_eq(described(&o),
                                 "Shown 6.00 us in 2 outermost calls, of which 1 was cut off.");
        }
END_TEST

START_TEST(not_all_of_it_is_what_tracing_costs)
        {
                Step steps[] = { step_enter(&step_root, 0), step_leaf(&step_child, 1, 100),
                                 step_leave(&step_root, 0, 200) };
                Overhead o = after(steps, ELEMENTSOF(steps), FLOOR_SAMPLES_MIN);

                ck_assert(!o.has_cost);
                ck_assert_str_eq(described(&o), "Shown 0.200 us a call of root; too little to tell "
                                                "what of it tracing costs.");
        }
END_TEST

START_TEST(nothing_is_said_of_no_calls)
        {
                const Overhead none = {};

                ck_assert_str_eq(described(&none), "");
        }
END_TEST

UNIT_SUITE("overhead", nothing_is_said_of_no_calls, what_is_waited_is_no_part_of_what_tracing_costs,
           what_was_cut_off_is_shown_too, not_all_of_it_is_what_tracing_costs)
