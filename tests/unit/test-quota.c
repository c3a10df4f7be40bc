/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/server/server-private.h"
#include "tests/unit/unit.h"

#define LIMITS                                                                                     \
        { .max_connections = 10, .max_connections_per_user = 3, .max_calls_per_user = 2 }

static const Peer root = { .uid = 0, .right = PEER_ALL },
                  alice = { .uid = 1, .right = PEER_MEMBER },
                  bob = { .uid = 2, .right = PEER_MEMBER }, carol = { .uid = 3 };

/* @n connections more have a place. */
static void take(Quota *q, const Peer *peer, size_t n) {
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(quota_add_connection(q, peer), 0);
}

TEST(one_user_does_not_take_the_places_of_others) {
        Quota q = LIMITS;

        take(&q, &alice, 3);
        ck_assert_int_eq(quota_add_connection(&q, &alice), QUOTA_E_FULL);
        ck_assert(quota_is_full(&q, &alice));
        take(&q, &bob, 3);
        /* Three are root's, however many come. */
        take(&q, &carol, 1);
        ck_assert_int_eq(quota_add_connection(&q, &carol), QUOTA_E_FULL);
        ck_assert(!quota_is_full(&q, &carol));
        take(&q, &root, 3);
        ck_assert_uint_eq(q.n_connections, 10);
        for (int i = 0; i < 3; i++)
                quota_remove_connection(&q, &alice);
        quota_remove_connection(&q, &root);
        take(&q, &alice, 1);
        take(&q, &root, 1);
        quota_done(&q);
}

TEST(what_calls_hold_is_bounded_for_each_user_and_for_all) {
        const size_t most = QUOTA_BYTES_PER_USER + QUOTA_FREE_BYTES;
        size_t a = 0, b = 0, roots = 0, others[QUOTA_BYTES / QUOTA_BYTES_PER_USER] = {};
        Quota q = LIMITS;
        Peer one = { .uid = 100, .right = PEER_MEMBER };

        q.max_connections = 100;
        take(&q, &alice, 2);
        take(&q, &root, 1);
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
                take(&q, &one, 1);
                ck_assert(quota_hold(&q, &one, &others[i], most) == (i + 1 < ELEMENTSOF(others)));
        }
        ck_assert_uint_eq(q.n_bytes, QUOTA_BYTES);
        ck_assert(quota_hold(&q, &root, &roots, 10 * most));
        ck_assert(quota_hold(&q, &alice, &a, 0));
        ck_assert(quota_hold(&q, &alice, &b, 0));
        ck_assert(quota_hold(&q, &one, &others[ELEMENTSOF(others) - 1], most));
        quota_done(&q);
}

TEST(calls_that_wait_are_counted_for_all_of_a_users_connections) {
        Quota q = LIMITS;

        ck_assert_int_eq(quota_add_connection(&q, &alice), 0);
        ck_assert_int_eq(quota_add_connection(&q, &root), 0);
        ck_assert(quota_add_call(&q, &alice));
        ck_assert(quota_add_call(&q, &alice));
        ck_assert(!quota_add_call(&q, &alice));
        quota_remove_call(&q, &alice);
        ck_assert(quota_add_call(&q, &alice));
        for (int i = 0; i < 100; i++)
                ck_assert(quota_add_call(&q, &root));
        quota_done(&q);
}
