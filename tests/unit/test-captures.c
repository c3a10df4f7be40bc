/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/unit.h"
#include "meta/captures.h"
#include "tests/unit/unit.h"

#define S NSEC_PER_SEC
#define NOW (1000000 * S)

START_TEST(without_caps_there_is_no_wait)
        {
                Captures c = {};

                for (uint64_t i = 0; i < 2 * CAPTURES_MAX_A_DAY; i++)
                        captures_note(&c, NOW + i);
                ck_assert_uint_eq(captures_wait(&c, &(CaptureCaps){}, NOW + 3000), 0);
                ck_assert_uint_eq(c.n, 2 * CAPTURES_MAX_A_DAY);
                ck_assert_uint_eq(c.n_times, CAPTURES_MAX_A_DAY);
        }
END_TEST

START_TEST(after_the_last_there_is_none)
        {
                CaptureCaps caps = { .max = 2 };
                Captures c = {};

                captures_note(&c, NOW);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW), 0);
                captures_note(&c, NOW);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + 2 * CAPTURES_DAY_NS), UINT64_MAX);
        }
END_TEST

START_TEST(the_gap_is_from_the_last_one)
        {
                CaptureCaps caps = { .min_gap_ns = 10 * S };
                Captures c = {};

                ck_assert_uint_eq(captures_wait(&c, &caps, NOW), 0);
                captures_note(&c, NOW - 60 * S);
                captures_note(&c, NOW);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + 4 * S), 6 * S);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + 10 * S), 0);
        }
END_TEST

START_TEST(a_day_is_any_24_hours)
        {
                CaptureCaps caps = { .max_a_day = 2 };
                Captures c = {};

                captures_note(&c, NOW);
                captures_note(&c, NOW + 3600 * S);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + 7200 * S),
                                  CAPTURES_DAY_NS - 7200 * S);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + CAPTURES_DAY_NS), 0);
                captures_note(&c, NOW + CAPTURES_DAY_NS);
                ck_assert_uint_eq(c.n_times, 2);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW + CAPTURES_DAY_NS), 3600 * S);
        }
END_TEST

START_TEST(a_clock_that_is_set_back_does_not_shut_it_for_longer)
        {
                CaptureCaps caps = { .min_gap_ns = 10 * S };
                Captures c = {};

                captures_note(&c, NOW);
                ck_assert_uint_eq(captures_wait(&c, &caps, NOW - 5000 * S), 10 * S);
        }
END_TEST

START_TEST(what_is_written_is_read)
        {
                Captures c = { .n_triggers = 2 }, back = {};
                json_t *o;

                c.triggers[1] = (TriggerCount){ 3, 40, NOW };
                captures_note(&c, NOW);
                captures_note(&c, NOW + 1);
                o = captures_to_json(&c);
                ck_assert_int_eq(captures_from_json(&back, o), 0);
                ck_assert_mem_eq(&c, &back, sizeof(c));
                json_decref(o);
        }
END_TEST

START_TEST(what_is_no_captures_is_refused)
        {
                static const char *const bad[] = {
                        "[]",
                        "{\"n\": -1, \"times_ns\": [], \"triggers\": []}",
                        "{\"n\": 1, \"times_ns\": [\"x\"], \"triggers\": []}",
                        "{\"n\": 1, \"times_ns\": [], \"triggers\": [1]}",
                        "{\"n\": 1, \"times_ns\": [], \"triggers\": [{},{},{},{},{},{},{},{},{}]}",
                };

                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                        json_t *o = json_loads(bad[i], 0, NULL);
                        Captures c;

                        ck_assert_int_eq(captures_from_json(&c, o), CAPTURES_E_INVALID);
                        json_decref(o);
                }
        }
END_TEST

UNIT_SUITE("captures", without_caps_there_is_no_wait, after_the_last_there_is_none,
           the_gap_is_from_the_last_one, a_day_is_any_24_hours,
           a_clock_that_is_set_back_does_not_shut_it_for_longer, what_is_written_is_read,
           what_is_no_captures_is_refused)
