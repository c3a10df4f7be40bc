/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/overhead.h"
#include "fed.h"

static const Function schedule = { .label = "schedule", .n_name = 8, .n_label = 8 };

typedef struct Cost {
        Pairing *pairing;
        Floor *floor;
} Cost;

static Cost cost(void) {
        Cost c = { .pairing = fed_pairing() };

        ck_assert_int_eq(floor_new(&c.floor, c.pairing), 0);
        return c;
}

static void cost_done(Cost *c) {
        floor_free(c->floor);
        pairing_free(c->pairing);
}
#define _cleanup_cost_ _cleanup_(cost_done)
#define COST_TEST(name) TEST_WITH(name, (Cost * c), _cleanup_cost_ Cost c = cost(), &c)

/* @n trees: a root that calls a child, that calls a leaf; the child has @self_ns of its own. */
static void feed_trees(Cost *c, size_t n, uint64_t self_ns, uint64_t leaf_ns) {
        for (size_t i = 0; i < n; i++)
                FEED(c->pairing, step_enter(&step_root, 0), step_enter(&step_child, 1),
                     step_leaf(&step_module, 2, leaf_ns),
                     step_leave(&step_child, 1, leaf_ns + self_ns + i),
                     step_leave(&step_root, 0, 10000));
}

COST_TEST(callers_of_one_leaf_tell_the_cost) {
        Overhead o;

        feed_trees(c, FLOOR_SAMPLES_MIN - 1, 200, 30);
        o = overhead_of(c->floor);
        ck_assert(!o.has_cost && !o.is_too_little);
        cost_done(c);
        *c = cost();
        feed_trees(c, 20, 200, 30);
        o = overhead_of(c->floor);
        ck_assert(o.has_cost);
        ck_assert_uint_eq(o.cost.caller_low_ns, 200);
        ck_assert_uint_eq(o.cost.caller_high_ns, 201);
        ck_assert_uint_eq(o.cost.leaf_ns, 30);
        ck_assert_ptr_eq(o.shown.root, &step_root);
        ck_assert_uint_eq(o.shown.n, 20);
        ck_assert_uint_eq(o.shown.total_ns, 200000);
        ck_assert_uint_eq(o.shown.n_below, 40);
        ck_assert_uint_eq(floor_real_ns(&o.cost, 10000, 1, 2, true), 10000 - 2 * 200 - 3 * 30);
        ck_assert_uint_eq(floor_real_ns(&o.cost, 10000, 1, 2, false), 10000 - 2 * 201 - 3 * 30);
        ck_assert_uint_eq(floor_real_ns(&o.cost, 10, 1, 2, false), 0);
        FEED(c->pairing, step_leaf(&step_child, 0, 7));
        ck_assert_ptr_null(overhead_of(c->floor).shown.root); /* of several */
        ck_assert_uint_eq(overhead_of(c->floor).shown.total_ns, 200007);
}

/* @n trees: a root that calls a child that calls a leaf, after @self_ns of its own, and nine leaves. */
static void feed_broad_trees(Cost *c, size_t n, uint64_t self_ns) {
        for (size_t i = 0; i < n; i++) {
                FEED(c->pairing, step_enter(&step_root, 0), step_enter(&step_child, 1),
                     step_leaf(&step_module, 2, 30), step_leave(&step_child, 1, self_ns + 30));
                for (size_t k = 0; k < 9; k++)
                        FEED(c->pairing, step_leaf(&step_module, 1, 30));
                FEED(c->pairing, step_leave(&step_root, 0, 11 * 230));
        }
}

COST_TEST(callers_that_do_something_do_not_make_it_all_the_tracers) {
        Overhead o;

        feed_broad_trees(c, 980, 400);
        feed_broad_trees(c, 20, 150);
        o = overhead_of(c->floor);
        ck_assert(o.has_cost);
        ck_assert_uint_eq(o.cost.caller_low_ns, 150);
        ck_assert_uint_eq(o.cost.caller_high_ns, 150); /* the lowest tenth take 400 */
        ck_assert_uint_eq(o.cost.leaf_ns, 30);
}

COST_TEST(one_of_thousands_is_no_floor) {
        Overhead o;

        feed_trees(c, 1, 3, 1);
        feed_trees(c, 4000, 200, 30);
        o = overhead_of(c->floor);
        ck_assert(o.has_cost);
        ck_assert_uint_ge(o.cost.caller_low_ns, 200);
        ck_assert_uint_eq(o.cost.leaf_ns, 30);
}

/* --- in words --------------------------------------------------------------------------------- */

static void is_described(const Overhead *o, const char *wanted) {
        _cleanup_buf_ Buf out = BUF_INIT;

        overhead_describe(o, &out);
        EXPECT_TEXT(out, wanted);
}

/* 20 calls of 10 us each that have two calls below them, of 230 ns each for the tracer, and beside
 * these one that waits for @wait_ns. */
static Overhead after_trees(uint64_t wait_ns) {
        _cleanup_cost_ Cost c = cost();

        for (size_t i = 0; i < 20; i++) {
                FEED(c.pairing, step_enter(&step_root, 0), step_enter(&step_child, 1),
                     step_leaf(&step_module, 2, 30), step_leave(&step_child, 1, 230));
                if (wait_ns > 0)
                        FEED(c.pairing, step_leaf(&schedule, 1, wait_ns));
                FEED(c.pairing, step_leave(&step_root, 0, 10000 + wait_ns));
        }
        ck_assert_int_eq(pairing_finish(c.pairing), 0);
        return overhead_of(c.floor);
}

TEST(what_is_waited_is_no_part_of_what_tracing_costs) {
        Overhead awake = after_trees(0), asleep = after_trees(1000000);

        ck_assert(awake.has_cost && asleep.has_cost);
        is_described(&awake, "Shown 10.0 us a call of root; without the tracer about "
                             "9.51 us (5 % less).");
        ck_assert_uint_eq(asleep.shown.blocked_ns, 20 * 1000000);
        /* One more call below costs 230 ns more, of the same 10 us. */
        ck_assert(asleep.high_percent > awake.high_percent);
        ck_assert(asleep.high_percent < 2 * awake.high_percent);
        is_described(&asleep, "Shown 1.01 ms a call of root, 1.00 ms of it waiting; without the "
                              "tracer the rest takes about 9.28 us (7 % less).");
}

COST_TEST(what_was_cut_off_or_says_too_little_is_told) {
        Overhead o = {};

        is_described(&o, "");
        FEED(c->pairing, step_leaf(&step_root, 0, 1000), step_enter(&step_root, 0),
             step_leaf(&step_child, 1, 5000));
        ck_assert_int_eq(pairing_finish(c->pairing), 0);
        o = overhead_of(c->floor);
        ck_assert_uint_eq(o.shown.total_ns, 6000);
        is_described(&o, "Shown 6.00 us in 2 outermost calls, of which 1 was cut off.");
        cost_done(c);
        *c = cost();
        for (size_t i = 0; i < FLOOR_SAMPLES_MIN; i++)
                FEED(c->pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 100),
                     step_leave(&step_root, 0, 200));
        o = overhead_of(c->floor);
        ck_assert(!o.has_cost);
        is_described(&o, "Shown 0.200 us a call of root; too short to tell what tracing "
                         "costs.");
}
