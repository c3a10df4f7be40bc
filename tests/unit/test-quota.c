/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "daemon/quota.h"
#include "tests/unit/unit.h"

#define LIMITS                                                                                     \
        { .max_connections = 10, .max_connections_per_user = 3, .max_calls_per_user = 2 }

static const Peer root = { .uid = 0, .right = PEER_ALL },
                  alice = { .uid = 1, .right = PEER_MEMBER },
                  bob = { .uid = 2, .right = PEER_MEMBER }, carol = { .uid = 3 };

START_TEST(one_user_does_not_take_the_places_of_others)
        {
                Quota q = { .limits = LIMITS };

                for (int i = 0; i < 3; i++)
                        ck_assert_int_eq(quota_add_connection(&q, &alice, 0), 0);
                ck_assert_int_eq(quota_add_connection(&q, &alice, 0), QUOTA_E_FULL);
                for (int i = 0; i < 3; i++)
                        ck_assert_int_eq(quota_add_connection(&q, &bob, 0), 0);
                /* Three are root's, however many come. */
                ck_assert_int_eq(quota_add_connection(&q, &carol, 0), 0);
                ck_assert_int_eq(quota_add_connection(&q, &carol, 0), QUOTA_E_FULL);
                for (int i = 0; i < 3; i++)
                        ck_assert_int_eq(quota_add_connection(&q, &root, 0), 0);
                ck_assert_int_eq(quota_add_connection(&q, &root, 0), QUOTA_E_FULL);
                ck_assert_uint_eq(q.n_connections, 10);
                quota_remove_connection(&q, &alice);
                quota_remove_connection(&q, &root);
                ck_assert_int_eq(quota_add_connection(&q, &root, 0), 0);
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

                quota_remove_connection(&q, &alice);
                ck_assert_int_eq(quota_add_connection(&q, &bob, 60000), 0);
                ck_assert_int_eq(quota_add_connection(&q, &alice, 60000), 0);
                ck_assert_uint_eq(quota_rests_until(&q, &alice), 120000);
                quota_remove_connection(&q, &alice);
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

UNIT_MAIN("quota", one_user_does_not_take_the_places_of_others,
          calls_that_wait_are_counted_for_all_of_a_users_connections,
          who_had_the_loop_rests_three_times_as_long_also_after_hanging_up,
          many_small_calls_are_charged_like_a_long_one)
