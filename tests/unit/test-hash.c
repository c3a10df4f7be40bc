/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/hash.h"
#include "unit.h"

#define N 5000
#define HASH_TEST(name) TEST_WITH(name, (Hash * h), _cleanup_(hash_done) Hash h = {}, &h)

static uint64_t key_of(uint64_t i) {
        return i * 4096;
}

HASH_TEST(what_was_added_is_found_however_it_grew) {
        for (uint64_t i = 0; i < N; i++) {
                ck_assert_int_eq(hash_add(h, key_of(i), i + 1), 0);
                ck_assert_uint_le(h->n, h->n_slots / 2);
        }
        ck_assert_uint_eq(h->n, N);
        for (uint64_t i = 0; i < N; i++) {
                ck_assert_uint_eq(hash_get(h, key_of(i)), i + 1);
                ck_assert_uint_eq(hash_get(h, key_of(i) + 1), 0);
        }
}

/* There may be one for each of many functions. */
HASH_TEST(a_few_take_little) {
        for (uint64_t i = 0; i < 8; i++)
                ck_assert_int_eq(hash_add(h, key_of(i), i + 1), 0);
        ck_assert_uint_le(h->n_slots * sizeof(*h->slots), 512);
}

HASH_TEST(an_empty_one_has_nothing) {
        const HashSlot *slot;

        ck_assert_uint_eq(hash_get(h, 0), 0);
        ck_assert_ptr_null(hash_get_ptr(h, 1));
        hash_each (slot, h, 0)
                ck_abort_msg("nothing was added");
        hash_clear(h);
}

HASH_TEST(any_key_may_be_used) {
        ck_assert_int_eq(hash_add(h, 0, 7), 0);
        ck_assert_int_eq(hash_add(h, UINT64_MAX, UINT64_MAX), 0);
        ck_assert_int_eq(hash_add_ptr(h, hash_key(h), h), 0);
        ck_assert_uint_eq(hash_get(h, 0), 7);
        ck_assert_uint_eq(hash_get(h, UINT64_MAX), UINT64_MAX);
        ck_assert_ptr_eq(hash_get_ptr(h, hash_key(h)), h);
}

/* Keys that all begin at the same slot of so many. */
static uint64_t colliding(uint64_t i) {
        /* The inverse of the multiplier makes of what is below the slot's bits what the key is. */
        return i * UINT64_C(0xf1de83e19937733d);
}

HASH_TEST(keys_of_one_slot_are_told_apart) {
        size_t first = 0;

        for (uint64_t i = 1; i <= N; i++)
                ck_assert_int_eq(hash_add(h, colliding(i), i), 0);
        for (uint64_t i = 1; i <= N; i++) {
                ck_assert_uint_eq(hash_get(h, colliding(i)), i);
                first += h->slots[i - 1].value != 0;
        }
        ck_assert_uint_eq(first, N); /* or they did not collide */
        ck_assert_uint_eq(hash_get(h, colliding(N + 1)), 0);
}

HASH_TEST(values_of_one_key_stay_in_order) {
        const HashSlot *slot;
        uint64_t n = 0;

        for (uint64_t i = 1; i <= N; i++) {
                ck_assert_int_eq(hash_add(h, UINT64_MAX, i), 0);
                ck_assert_int_eq(hash_add(h, i, i), 0);
        }
        hash_each (slot, h, UINT64_MAX)
                ck_assert_uint_eq(slot->value, ++n);
        ck_assert_uint_eq(n, N);
        ck_assert_uint_eq(hash_get(h, UINT64_MAX), 1);
        ck_assert_uint_eq(hash_get(h, N), N);
}

HASH_TEST(setting_replaces) {
        ck_assert_int_eq(hash_set(h, 5, 1), 0);
        ck_assert_int_eq(hash_set(h, 5, 2), 0);
        ck_assert_uint_eq(h->n, 1);
        ck_assert_uint_eq(hash_get(h, 5), 2);
}

HASH_TEST(clearing_keeps_the_room) {
        size_t n_slots;

        ck_assert_int_eq(hash_reserve(h, N), 0);
        n_slots = h->n_slots;
        for (uint64_t i = 0; i < N; i++)
                ck_assert_int_eq(hash_add(h, i, 1), 0);
        ck_assert_uint_eq(h->n_slots, n_slots);
        hash_clear(h);
        ck_assert_uint_eq(h->n, 0);
        ck_assert_uint_eq(h->n_slots, n_slots);
        ck_assert_uint_eq(hash_get(h, 3), 0);
}

HASH_TEST(more_than_memory_can_hold_is_refused) {
        ck_assert_int_eq(hash_add(h, 1, 2), 0);
        ck_assert_int_eq(hash_reserve(h, SIZE_MAX), -ENOMEM);
        ck_assert_int_eq(hash_reserve(h, SIZE_MAX / 2 + 1), -ENOMEM);
        ck_assert_int_eq(hash_reserve(h, SIZE_MAX / 4 / sizeof(HashSlot) + 1), -ENOMEM);
        ck_assert_uint_eq(h->n, 1);
        ck_assert_uint_eq(hash_get(h, 1), 2);
}
