/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Changes of what is hooked, as session.json has them. */

#include "base/cleanup.h"
#include "meta/hook-change.h"
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

UNIT_SUITE("hook-change", of_too_many_the_oldest_go, each_reason_is_told)
