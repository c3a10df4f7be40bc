/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "daemon/server/quota.h"
#include "tests/unit/unit.h"

#define LIMITS                                                                                     \
        { .max_connections = 10, .max_connections_per_user = 3, .max_calls_per_user = 2 }

static const Peer root = { .uid = 0, .right = PEER_ALL },
                  alice = { .uid = 1, .right = PEER_MEMBER },
                  bob = { .uid = 2, .right = PEER_MEMBER }, carol = { .uid = 3 };

/* @n connections more have a place like that. */
static void take(Quota *q, const Peer *peer, size_t n, int place) {
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(quota_add_connection(q, peer, 0), place);
}

START_TEST(one_user_does_not_take_the_places_of_others)
        {
                Quota q = { .limits = LIMITS };

                take(&q, &alice, 3, 0);
                take(&q, &alice, QUOTA_SHORT_PER_USER, QUOTA_E_SHORT);
                take(&q, &alice, 1, QUOTA_E_FULL);
                ck_assert(quota_is_full(&q, &alice));
                take(&q, &bob, 3, 0);
                /* Three are root's, however many come; who may nothing has no others. */
                take(&q, &carol, 1, 0);
                take(&q, &carol, 1, QUOTA_E_FULL);
                ck_assert(!quota_is_full(&q, &carol));
                take(&q, &root, 3, 0);
                ck_assert_uint_eq(q.n_connections, 10);
                quota_remove_connection(&q, &alice, false);
                quota_remove_connection(&q, &root, false);
                take(&q, &root, 1, 0);
                quota_done(&q);
        }
END_TEST

START_TEST(who_has_all_that_he_may_has_places_for_short_calls)
        {
                Quota q = { .limits = LIMITS };

                take(&q, &root, 3, 0);
                take(&q, &root, QUOTA_SHORT_PER_USER, QUOTA_E_SHORT);
                take(&q, &root, 1, QUOTA_E_FULL);
                quota_remove_connection(&q, &root, true);
                take(&q, &root, 1, QUOTA_E_SHORT);
                quota_remove_connection(&q, &root, false);
                take(&q, &root, 1, 0);
                quota_done(&q);
        }
END_TEST

START_TEST(who_comes_when_others_have_taken_all_places_is_served)
        {
                Quota q = { .limits = LIMITS };
                Peer one = { .uid = 100, .right = PEER_MEMBER };

                take(&q, &alice, 3, 0);
                take(&q, &bob, 3, 0);
                take(&q, &carol, 1, 0);
                for (size_t n = 0; n < QUOTA_SHORT; n += QUOTA_SHORT_PER_USER) {
                        one.uid++;
                        take(&q, &one, QUOTA_SHORT_PER_USER, QUOTA_E_SHORT);
                        take(&q, &one, 1, QUOTA_E_FULL);
                }
                /* However many there are, there is an end to it; and root is still served. */
                one.uid++;
                take(&q, &one, 1, QUOTA_E_FULL);
                take(&q, &root, 3, 0);
                take(&q, &root, QUOTA_SHORT_PER_USER, QUOTA_E_SHORT);
                one.uid--;
                quota_remove_connection(&q, &one, true);
                one.uid++;
                take(&q, &one, 1, QUOTA_E_SHORT);
                quota_done(&q);
        }
END_TEST

START_TEST(what_calls_hold_is_bounded_for_each_user_and_for_all)
        {
                const size_t most = QUOTA_BYTES_PER_USER + QUOTA_FREE_BYTES;
                size_t a = 0, b = 0, roots = 0, others[QUOTA_BYTES / QUOTA_BYTES_PER_USER] = {};
                Quota q = { .limits = LIMITS };
                Peer one = { .uid = 100, .right = PEER_MEMBER };

                q.limits.max_connections = 100;
                take(&q, &alice, 2, 0);
                take(&q, &root, 1, 0);
                ck_assert(quota_hold(&q, &alice, &a, QUOTA_FREE_BYTES));
                ck_assert_uint_eq(q.n_bytes, 0);
                ck_assert(quota_hold(&q, &alice, &a, most));
                ck_assert(!quota_hold(&q, &alice, &a, most + 1));
                ck_assert(!quota_hold(&q, &alice, &b, QUOTA_FREE_BYTES + 1));
                ck_assert(quota_hold(&q, &alice, &b, QUOTA_FREE_BYTES));
                ck_assert(quota_hold(&q, &alice, &a, most - 1));
                ck_assert(quota_hold(&q, &alice, &b, QUOTA_FREE_BYTES + 1));
                for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                        one.uid++;
                        take(&q, &one, 1, 0);
                        ck_assert(quota_hold(&q, &one, &others[i], most) ==
                                  (i + 1 < ELEMENTSOF(others)));
                }
                ck_assert_uint_eq(q.n_bytes, QUOTA_BYTES);
                ck_assert(quota_hold(&q, &root, &roots, 10 * most));
                ck_assert(quota_hold(&q, &alice, &a, 0));
                ck_assert(quota_hold(&q, &alice, &b, 0));
                ck_assert(quota_hold(&q, &one, &others[ELEMENTSOF(others) - 1], most));
                quota_done(&q);
        }
END_TEST

START_TEST(calls_that_wait_are_counted_for_all_of_a_users_connections)
        {
                Quota q = { .limits = LIMITS };

                ck_assert_int_eq(quota_add_connection(&q, &alice, 0), 0);
                ck_assert_int_eq(quota_add_connection(&q, &root, 0), 0);
                ck_assert(quota_add_call(&q, &alice));
                ck_assert(quota_add_call(&q, &alice));
                ck_assert(!quota_add_call(&q, &alice));
                quota_remove_call(&q, &alice);
                ck_assert(quota_add_call(&q, &alice));
                for (int i = 0; i < 100; i++)
                        ck_assert(quota_add_call(&q, &root));
                quota_done(&q);
        }
END_TEST

START_TEST(who_had_the_loop_rests_three_times_as_long_also_after_hanging_up)
        {
                Quota q = { .limits = LIMITS };

                ck_assert_int_eq(quota_add_connection(&q, &alice, 0), 0);
                ck_assert_int_eq(quota_add_connection(&q, &root, 0), 0);
                quota_charge(&q, &alice, 1000, 1000 + QUOTA_SHORT_US - 1);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 0);
                quota_charge(&q, &alice, 10000, 30000);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 30000 + 3 * 20000);
                quota_charge(&q, &alice, 40000, 50000);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 90000 + 3 * 10000);
                quota_charge(&q, &root, 10000, 30000);
                ck_assert_uint_eq(quota_rests_until(&q, &root), 0);

                quota_remove_connection(&q, &alice, false);
                ck_assert_int_eq(quota_add_connection(&q, &bob, 60000), 0);
                ck_assert_int_eq(quota_add_connection(&q, &alice, 60000), 0);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 120000);
                quota_remove_connection(&q, &alice, false);
                ck_assert_int_eq(quota_add_connection(&q, &alice, 120000), 0);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 0);
                /* A clock that seems to go back charges nothing. */
                quota_charge(&q, &alice, 30000, 10000);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 0);
                quota_done(&q);
        }
END_TEST

START_TEST(many_small_calls_are_charged_like_a_long_one)
        {
                const uint64_t took = QUOTA_SHORT_US / 4;
                Quota q = { .limits = LIMITS };
                uint64_t at = 1000;

                ck_assert_int_eq(quota_add_connection(&q, &alice, 0), 0);
                for (int i = 0; i < 100; i++) { /* now and then: it rests by itself */
                        quota_charge(&q, &alice, at, at + took);
                        ck_assert_uint_eq(quota_rests_until(&q, &alice), 0);
                        at += took + QUOTA_REST * took;
                }
                at += QUOTA_REST * took;
                for (int i = 0; i < 4;
                     i++, at += took) /* on many connections, one after the other */
                        quota_charge(&q, &alice, at, at + took);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), at + QUOTA_REST * QUOTA_SHORT_US);
                quota_done(&q);
        }
END_TEST

UNIT_SUITE("quota", one_user_does_not_take_the_places_of_others,
           who_has_all_that_he_may_has_places_for_short_calls,
           who_comes_when_others_have_taken_all_places_is_served,
           what_calls_hold_is_bounded_for_each_user_and_for_all,
           calls_that_wait_are_counted_for_all_of_a_users_connections,
           who_had_the_loop_rests_three_times_as_long_also_after_hanging_up,
           many_small_calls_are_charged_like_a_long_one)
