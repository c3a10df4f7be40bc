/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/record/reader.h"
#include "tests/unit/unit.h"

#define GOAL (1U << 20)
#define MAX_MS 4000

START_TEST(a_steady_stream_is_fetched_when_the_goal_is_reached)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);

                /* 4 MiB a second */
                ck_assert_uint_eq(backoff_next(&p, 4 * GOAL, 1000), 250);
                ck_assert_uint_eq(backoff_next(&p, GOAL, 250), 250);
                ck_assert_uint_eq(backoff_next(&p, GOAL / 2, 125), 250);
        }
END_TEST

START_TEST(a_faster_stream_is_followed_at_once)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);

                ck_assert_uint_eq(backoff_next(&p, GOAL, 1000), 1000);
                ck_assert_uint_eq(backoff_next(&p, 100 * GOAL, 1000), 10);
        }
END_TEST

START_TEST(a_slower_stream_is_followed_by_doubling)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);

                ck_assert_uint_eq(backoff_next(&p, GOAL, 10), 10);
                ck_assert_uint_eq(backoff_next(&p, 1, 10), 20);
                ck_assert_uint_eq(backoff_next(&p, 0, 20), 40);
        }
END_TEST

START_TEST(silence_ends_at_the_longest_wait)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);
                unsigned n = 0;

                (void) backoff_next(&p, GOAL, 1);
                while (backoff_next(&p, 0, 1) < MAX_MS)
                        ck_assert_uint_lt(n++, 20);
                ck_assert_uint_eq(backoff_next(&p, 0, MAX_MS), MAX_MS);
        }
END_TEST

START_TEST(a_wake_up_by_the_kernel_shortens_the_wait)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);

                backoff_wake(&p);
                ck_assert_uint_eq(backoff_next(&p, 2 * GOAL, 3600 * 1000), BACKOFF_FIRST_MS);
        }
END_TEST

START_TEST(no_rate_makes_it_spin_or_overflow)
        {
                Backoff p = BACKOFF_INIT(GOAL, MAX_MS);

                ck_assert_uint_eq(backoff_next(&p, UINT64_MAX, 0), BACKOFF_MIN_MS);
                ck_assert_uint_eq(backoff_next(&p, UINT64_MAX, UINT64_MAX), 2 * BACKOFF_MIN_MS);
                p = BACKOFF_INIT(UINT64_MAX, MAX_MS);
                ck_assert_uint_eq(backoff_next(&p, 1, UINT64_MAX), MAX_MS);
                p = BACKOFF_INIT(0, MAX_MS);
                ck_assert_uint_eq(backoff_next(&p, 1, 1), BACKOFF_MIN_MS);
        }
END_TEST

START_TEST(a_small_recording_is_fetched_in_small_parts)
        {
                ck_assert_uint_eq(backoff_percent(8 << 20, 0), 25);
                ck_assert_uint_eq(backoff_percent(8 << 20, 1 << 30), 25);
                ck_assert_uint_eq(backoff_percent(8 << 20, 8 << 20), 12);
                ck_assert_uint_eq(backoff_percent(8 << 20, 1), 1);
                ck_assert_uint_eq(backoff_percent(0, UINT64_MAX), 25);
                ck_assert_uint_eq(backoff_goal(8 << 20, 0), (8U << 20) / 200 * 25);
                ck_assert_uint_le(backoff_goal(8 << 20, 1 << 20), 1 << 16);
        }
END_TEST

UNIT_SUITE("backoff", a_steady_stream_is_fetched_when_the_goal_is_reached,
           a_faster_stream_is_followed_at_once, a_slower_stream_is_followed_by_doubling,
           silence_ends_at_the_longest_wait, a_wake_up_by_the_kernel_shortens_the_wait,
           no_rate_makes_it_spin_or_overflow, a_small_recording_is_fetched_in_small_parts)
