/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "causes/chance.h"
#include "unit.h"

#define N_UNITS 120
#define N_FIRST 30
#define N_THINGS 20

static uint64_t random_state;

static double draw(void) {
        random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (double) (random_state >> 33) / (double) (UINT64_C(1) << 31);
}

/* The first units are the first group. */
typedef struct Table {
        float values[N_UNITS * N_THINGS];
        bool is_first[N_UNITS];
        double p[N_THINGS];
} Table;

static void fill(Table *t, uint64_t seed) {
        random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
        for (size_t i = 0; i < N_UNITS; i++) {
                double common = draw();

                t->is_first[i] = i < N_FIRST;
                /* Half of the things have something to do with each other. */
                for (size_t k = 0; k < N_THINGS; k++)
                        t->values[i * N_THINGS + k] =
                                (float) (draw() * draw() + (k % 2 == 0 ? common : 0));
        }
}

static void run(Table *t, const uint32_t *in_time) {
        ck_assert_int_eq(chance_test(t->p, t->values, t->is_first, in_time, N_UNITS, N_THINGS), 0);
}

static double least_p(const Table *t) {
        double least = 1;

        for (size_t k = 0; k < N_THINGS; k++)
                least = MIN(least, t->p[k]);
        return least;
}

/* That one alone. */
static void only_the_fourth_differs(const Table *t) {
        for (size_t k = 0; k < N_THINGS; k++)
                if (k == 3)
                        ck_assert_double_le(t->p[k], 0.001);
                else
                        ck_assert_double_gt(t->p[k], 0.05);
}

TEST(what_differs_is_told_from_what_does_not) {
        Table t;

        fill(&t, 1);
        for (size_t i = 0; i < N_FIRST; i++)
                t.values[i * N_THINGS + 3] += 1;
        run(&t, NULL);
        only_the_fourth_differs(&t);
}

TEST(less_is_a_difference_as_well_and_the_greater_group_may_be_the_first) {
        Table t;

        fill(&t, 2);
        for (size_t i = 0; i < N_UNITS; i++) {
                t.is_first[i] = !t.is_first[i];
                t.values[i * N_THINGS + 5] -= i < N_FIRST ? 1 : 0;
        }
        run(&t, NULL);
        ck_assert_double_le(t.p[5], 0.001);
        ck_assert_double_gt(t.p[4], 0.05);
}

/* Of 400 tables two or so have a p below 0.005; 12 would be a chance of less than one in a million. */
TEST(among_many_things_chance_is_not_taken_for_a_difference) {
        unsigned n_wrong = 0;

        for (uint64_t seed = 0; seed < 400; seed += UNIT_EVERY) {
                Table t;

                fill(&t, 100 + seed);
                run(&t, NULL);
                n_wrong += least_p(&t) < 0.005;
        }
        ck_assert_uint_lt(n_wrong, 12);
}

TEST(what_is_the_same_everywhere_does_not_differ) {
        Table t;

        fill(&t, 3);
        for (size_t i = 0; i < N_UNITS; i++)
                t.values[i * N_THINGS] = 1e9F;
        run(&t, NULL);
        ck_assert_double_eq(t.p[0], 1);
}

TEST(an_empty_group_differs_in_nothing) {
        Table t;

        fill(&t, 4);
        memset(t.is_first, 0, sizeof(t.is_first));
        run(&t, NULL);
        for (size_t k = 0; k < N_THINGS; k++)
                ck_assert_double_eq(t.p[k], 1);
        ck_assert_int_eq(chance_test(t.p, t.values, t.is_first, NULL, 0, N_THINGS), 0);
        ck_assert_double_eq(t.p[0], 1);
}

/* Each unit is much like the one before it, so that of 120 hardly a tenth says something of its own. */
static void fill_slowly(Table *t, uint64_t seed) {
        double last[N_THINGS] = {};

        fill(t, seed);
        for (size_t warm_up = 0; warm_up < 2; warm_up++)
                for (size_t i = 0; i < N_UNITS; i++)
                        for (size_t k = 0; k < N_THINGS; k++) {
                                last[k] = 0.8 * last[k] + draw() - 0.5;
                                t->values[i * N_THINGS + k] = (float) last[k];
                        }
}

TEST(what_is_slow_to_change_does_not_differ_for_being_so) {
        unsigned n_wrong = 0, n_wrong_else = 0;
        uint32_t in_time[N_UNITS];

        for (size_t i = 0; i < N_UNITS; i++)
                in_time[i] = (uint32_t) i;
        for (uint64_t seed = 0; seed < 200; seed += UNIT_EVERY) {
                Table t, same;

                fill_slowly(&t, 1000 + seed);
                for (size_t i = 0; i < N_UNITS; i++)
                        t.is_first[i] = i < N_UNITS / 2;
                same = t;
                run(&t, in_time);
                run(&same, NULL);
                n_wrong += least_p(&t) < 0.005;
                n_wrong_else += least_p(&same) < 0.005;
        }
        ck_assert_uint_le(n_wrong, 6);
        ck_assert_uint_gt(n_wrong_else, 100 / UNIT_EVERY);
}

TEST(what_differs_in_a_stretch_is_told_where_units_are_in_time) {
        uint32_t in_time[N_UNITS];
        Table t;

        /* The stretch is in the middle: a place in time is no place in the table. */
        for (size_t i = 0; i < N_UNITS; i++)
                in_time[i] = (uint32_t) ((i + N_UNITS / 2) % N_UNITS);
        fill(&t, 5);
        for (size_t i = 0; i < N_FIRST; i++)
                t.values[i * N_THINGS + 3] += 1;
        run(&t, in_time);
        only_the_fourth_differs(&t);
}
