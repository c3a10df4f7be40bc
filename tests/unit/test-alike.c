/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/alike.h"
#include "unit.h"

static bool are_alike(const char *a, const char *b) {
        Function f = { .label = a, .n_label = (uint32_t) strlen(a) };
        Function g = { .label = b, .n_label = (uint32_t) strlen(b) };
        Alike x, y;

        f.n_name = (uint32_t) strcspn(a, " ");
        g.n_name = (uint32_t) strcspn(b, " ");
        x = alike_of(&f);
        y = alike_of(&g);
        if (alike_equal(&x, &y))
                ck_assert_uint_eq(alike_hash(&x), alike_hash(&y));
        return alike_equal(&x, &y);
}

START_TEST(clones_are_their_function)
        {
                ck_assert(are_alike("skb_clone.part.50", "skb_clone"));
                ck_assert(are_alike("validate_xmit_skb.isra.92.part.93", "validate_xmit_skb.cold"));
                ck_assert(are_alike("ttwu_do_activate.constprop.93", "ttwu_do_activate"));
                ck_assert(!are_alike("skb_clone", "skb_clone_sk"));
        }
END_TEST

START_TEST(system_calls_are_alike_in_every_era)
        {
                ck_assert(are_alike("SyS_write", "__x64_sys_write"));
                ck_assert(are_alike("__arm64_sys_write", "ksys_write"));
                ck_assert(are_alike("sys_write", "__se_sys_write"));
                ck_assert(!are_alike("SyS_write", "__x64_sys_writev"));
                ck_assert(!are_alike("write", "SyS_write"));
                ck_assert(are_alike("sys_", "sys_"));
        }
END_TEST

START_TEST(a_module_may_have_become_part_of_the_kernel)
        { ck_assert(are_alike("nf_hook_slow [nf_conntrack]", "nf_hook_slow")); }
END_TEST

UNIT_MAIN("alike", clones_are_their_function, system_calls_are_alike_in_every_era,
          a_module_may_have_become_part_of_the_kernel)
