/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Changes of what is hooked, and when they were made, as session.json has them. */

#include "base/cleanup.h"
#include "meta/hook-change.h"
#include "meta/own-work.h"
#include "unit.h"

START_TEST(of_too_many_the_oldest_go)
        {
                HookChanges h = {};

                for (uint64_t i = 0; i < HOOK_CHANGES_MAX + 3; i++)
                        ck_assert_int_eq(
                                hook_changes_add(
                                        &h, &(HookChange){ .trace_ns = i, .reason = HOOK_SPARED }),
                                0);
                ck_assert_uint_eq(h.n, HOOK_CHANGES_MAX);
                ck_assert_uint_eq(h.items[0].trace_ns, 3);
                ck_assert_uint_eq(h.items[h.n - 1].trace_ns, HOOK_CHANGES_MAX + 2);
                free(h.items);
        }
END_TEST

START_TEST(each_reason_is_told)
        {
                for (HookReason r = 0; r < _HOOK_REASON_N; r++)
                        ck_assert_ptr_nonnull(hook_reason_text(r));
        }
END_TEST

START_TEST(windows_of_our_own_work_that_touch_are_one)
        {
                OwnWorks w = {};

                ck_assert_int_eq(own_works_add(&w, 10, 20), 0);
                ck_assert_int_eq(own_works_add(&w, 15, 30), 0);
                ck_assert_int_eq(own_works_add(&w, 30, 31), 0);
                ck_assert_int_eq(own_works_add(&w, 40, 35), 0); /* the clock was set back */
                ck_assert_uint_eq(w.n, 2);
                ck_assert_uint_eq(w.items[0].to_ns, 31);
                ck_assert_uint_eq(w.items[1].from_ns, 40);
                ck_assert_uint_eq(w.items[1].to_ns, 40);
                free(w.items);
        }
END_TEST

START_TEST(too_many_windows_of_our_own_work_still_hold_every_moment)
        {
                OwnWorks w = {};

                for (uint64_t i = 0; i <= OWN_WORKS_MAX; i++)
                        ck_assert_int_eq(own_works_add(&w, i * 100, i * 100 + (i == 7 ? 99 : 10)),
                                         0);
                ck_assert_uint_eq(w.n, OWN_WORKS_MAX);
                ck_assert_uint_eq(w.items[7].from_ns, 700);
                ck_assert_uint_eq(w.items[7].to_ns, 810);
                ck_assert_uint_eq(w.items[OWN_WORKS_MAX - 1].from_ns, OWN_WORKS_MAX * 100);
                free(w.items);
        }
END_TEST

UNIT_SUITE("hook-change", windows_of_our_own_work_that_touch_are_one,
           too_many_windows_of_our_own_work_still_hold_every_moment, of_too_many_the_oldest_go,
           each_reason_is_told)
