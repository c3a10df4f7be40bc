/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "retention/retain.h"
#include "unit.h"

#define N_MAX 24

TEST(the_oldest_go_first_and_no_more_than_needed) {
        RetainItem items[] = { { 10, 300, false, false },
                               { 10, 100, false, false },
                               { 10, 200, false, false } };

        retain_decide(items, 3, &(RetainLimits){ .max_use_bytes = 20 }, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
        ck_assert_int_eq(items[1].verdict, RETAIN_OVER_USE);
        ck_assert_int_eq(items[2].verdict, RETAIN_KEEP);
        retain_decide(items, 3, &(RetainLimits){ .keep_free_bytes = 15 }, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
        ck_assert_int_eq(items[2].verdict, RETAIN_OVER_FREE);
        retain_decide(items, 3, &(RetainLimits){ .max_sessions = 1 }, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
        ck_assert_int_eq(items[2].verdict, RETAIN_TOO_MANY);
        retain_decide(items, 3, &(RetainLimits){ .max_age_ns = 700 }, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
        ck_assert_int_eq(items[1].verdict, RETAIN_TOO_OLD);
        ck_assert_int_eq(items[2].verdict, RETAIN_TOO_OLD);
}

TEST(what_must_stay_stays_whatever_the_limits) {
        RetainItem items[] = { { 10, 100, true, false }, { 10, 200, false, true } };
        RetainLimits all = { 1, UINT64_MAX, 1, 1, 0, false };

        retain_decide(items, 2, &all, UINT64_MAX, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
        ck_assert_int_eq(items[1].verdict, RETAIN_KEEP);
}

TEST(the_newest_goes_only_for_its_age) {
        RetainItem items[] = { { 10, 100, false, false }, { 10, 200, false, false } };
        RetainLimits small = { .max_use_bytes = 1, .keep_newest = true },
                     old = { .max_age_ns = 1, .keep_newest = true };

        retain_decide(items, 2, &small, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_OVER_USE);
        ck_assert_int_eq(items[1].verdict, RETAIN_KEEP);
        retain_decide(items, 2, &old, 1000, 0);
        ck_assert_int_eq(items[1].verdict, RETAIN_TOO_OLD);
}

TEST(a_clock_that_was_set_back_makes_nothing_old) {
        RetainItem item = { 10, 5000, false, false };

        retain_decide(&item, 1, &(RetainLimits){ .max_age_ns = 1 }, 1000, 0);
        ck_assert_int_eq(item.verdict, RETAIN_KEEP);
}

TEST(what_was_told_as_kept_stays_for_a_while_whatever_room_is_wanted) {
        RetainItem items[] = { { 10, 100, false, false }, { 10, 900, false, false } };
        RetainLimits l = { .max_use_bytes = 1, .keep_free_bytes = UINT64_MAX, .min_age_ns = 200 };

        retain_decide(items, 2, &l, 1000, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_OVER_USE);
        ck_assert_int_eq(items[1].verdict, RETAIN_KEEP);
        ck_assert_uint_eq(retain_stays_until(&items[1], &l, 1000), 1100);
        retain_decide(items, 2, &l, 1099, 0);
        ck_assert_int_eq(items[1].verdict, RETAIN_KEEP);
        retain_decide(items, 2, &l, 1100, 0);
        ck_assert_int_eq(items[1].verdict, RETAIN_OVER_USE);
        l.min_age_ns = INT64_MAX;
        retain_decide(items, 2, &l, UINT64_MAX / 4, 0);
        ck_assert_int_eq(items[0].verdict, RETAIN_KEEP);
}

TEST(an_age_that_is_too_old_is_not_too_young) {
        RetainItem item = { 10, 100, false, false };
        RetainLimits l = { .max_age_ns = 50, .min_age_ns = 1000 };

        retain_decide(&item, 1, &l, 151, 0);
        ck_assert_int_eq(item.verdict, RETAIN_TOO_OLD);
        ck_assert_uint_eq(retain_stays_until(&item, &l, 151), 150);
        ck_assert_uint_eq(retain_goes_at(&item, &l, 151), 150);
}

TEST(the_next_one_is_the_one_that_was_kept_first_of_those_that_have_to) {
        RetainItem items[] = { { 10, 300, false, false },
                               { 10, 100, false, true },
                               { 10, 200, false, false },
                               { 10, 50, true, false } };
        RetainLimits l = { .keep_newest = true };

        ck_assert_uint_eq(retain_next(items, 4, &l), 2);
        items[0].verdict = RETAIN_OVER_USE;
        ck_assert_uint_eq(retain_next(items, 4, &l), 0);
        items[0].verdict = RETAIN_KEEP;
        items[2].keep = KEEP_PINNED; /* what is left is the newest */
        ck_assert_uint_eq(retain_next(items, 4, &l), 4);
        l.max_age_ns = 1;
        ck_assert_uint_eq(retain_next(items, 4, &l), 0);
        ck_assert_uint_eq(retain_next(items, 0, &l), 0);
}

TEST(a_store_is_full_when_its_disk_is_or_when_it_is_to_blame) {
        RetainLimits l = { .max_use_bytes = 10, .keep_free_bytes = 100ULL << 20 };

        ck_assert(retain_is_full(&l, 0, RETAIN_FLOOR_BYTES - 1));
        ck_assert(!retain_is_full(&l, 10, RETAIN_FLOOR_BYTES));
        ck_assert(retain_is_full(&l, 11, RETAIN_FLOOR_BYTES));
        ck_assert(!retain_is_full(&l, 11, 100ULL << 20));
        ck_assert(!retain_is_full(&(RetainLimits){}, 11, RETAIN_FLOOR_BYTES));
}

/* Sizes and times of all magnitudes, many of them equal. */
static uint64_t any(void) {
        uint64_t n = (uint64_t) random() << 32 | (uint64_t) random();

        return random() % 4 ? n >> (random() % 64) : (uint64_t) random() % 4;
}

static bool may_go(const RetainItem *i) {
        return !i->is_live && i->keep == KEEP_NOT;
}

/* It was kept long enough ago, or nobody knows when. */
static bool has_stayed(const RetainItem *i, const RetainLimits *l, uint64_t now) {
        uint64_t age = now > i->kept_ns ? now - i->kept_ns : 0;
        bool is_old = l->max_age_ns > 0 && age >= l->max_age_ns;

        return is_old || age >= l->min_age_ns || i->kept_ns > now;
}

static uint64_t add(uint64_t a, uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What is true of every answer. */
static void check(const RetainItem *items, size_t n, const RetainLimits *l, uint64_t now,
                  uint64_t free_bytes) {
        uint64_t used = 0, n_ended = 0, newest_gone = 0;
        size_t n_left = 0;

        for (size_t i = 0; i < n; i++) {
                uint64_t age = now > items[i].kept_ns ? now - items[i].kept_ns : 0;

                if (items[i].verdict != RETAIN_KEEP) {
                        ck_assert(may_go(&items[i]));
                        ck_assert(has_stayed(&items[i], l, now));
                        free_bytes = add(free_bytes, items[i].n_bytes);
                        if (items[i].verdict != RETAIN_TOO_OLD && items[i].kept_ns <= now)
                                newest_gone = MAX(newest_gone, items[i].kept_ns);
                        continue;
                }
                used = add(used, items[i].n_bytes);
                n_ended += !items[i].is_live;
                n_left += may_go(&items[i]) && has_stayed(&items[i], l, now);
                if (may_go(&items[i]) && l->max_age_ns > 0)
                        ck_assert_uint_le(age, l->max_age_ns);
        }
        /* Nothing that may go is older than what went. */
        for (size_t i = 0; i < n; i++)
                if (items[i].verdict == RETAIN_KEEP && may_go(&items[i]))
                        ck_assert_uint_ge(items[i].kept_ns, newest_gone);
        /* The limits are kept, or nothing is left that may go, but for the newest. */
        if (n_left > (l->keep_newest ? 1 : 0)) {
                if (l->max_use_bytes > 0)
                        ck_assert_uint_le(used, l->max_use_bytes);
                if (l->keep_free_bytes > 0)
                        ck_assert_uint_ge(free_bytes, l->keep_free_bytes);
                if (l->max_sessions > 0)
                        ck_assert_uint_le(n_ended, l->max_sessions);
        }
}

TEST(every_answer_keeps_the_rules) {
        unsigned seed = unit_seed();

        srandom(seed);
        for (int round = 0; round < 20000; round++) {
                RetainItem items[N_MAX];
                RetainLimits l = { random() % 2 ? any() : 0, random() % 2 ? any() : 0,
                                   random() % 2 ? any() : 0, random() % 2 ? any() % N_MAX : 0,
                                   random() % 2 ? any() : 0, random() % 2 };
                uint64_t now = any(), free_bytes = any();
                size_t n = (size_t) random() % N_MAX, n_rest = 0;
                RetainItem rest[N_MAX];

                for (size_t i = 0; i < n; i++)
                        items[i] =
                                (RetainItem){ any(), any(), random() % 8 == 0, random() % 4 == 0 };
                retain_decide(items, n, &l, now, free_bytes);
                check(items, n, &l, now, free_bytes);

                /* Once they are gone nothing more has to go. */
                for (size_t i = 0; i < n; i++)
                        if (items[i].verdict == RETAIN_KEEP)
                                rest[n_rest++] = items[i];
                        else
                                free_bytes = add(free_bytes, items[i].n_bytes);
                retain_decide(rest, n_rest, &l, now, free_bytes);
                for (size_t i = 0; i < n_rest; i++)
                        ck_assert_int_eq(rest[i].verdict, RETAIN_KEEP);
        }
}
