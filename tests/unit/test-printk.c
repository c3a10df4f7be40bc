/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/event-text.h"
#include "unit.h"

static const char formats[] = "0xffffffff82a1c0d8 : \"x is %d\\n\"\n"
                              "0xffffffff82a1c0e0 : \"say \\\"%s\\\"\\\\\"\n"
                              "no line of it\n"
                              "0xffffffff82a1c000 : \"\"\n"
                              "0xffffffff82a1c0f0 : \"cut";

TEST(formats_are_found_by_their_address) {
        _cleanup_(printk_done) Printk p = {}, none = {};

        ck_assert_int_eq(printk_init(&p, formats), 0);
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c0d8)), "x is %d\n");
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c0e0)), "say \"%s\"\\");
        ck_assert_str_eq(printk_find(&p, UINT64_C(0xffffffff82a1c000)), "");
        ck_assert_ptr_null(printk_find(&p, UINT64_C(0xffffffff82a1c0f0)));
        ck_assert_int_eq(printk_init(&none, NULL), 0);
        ck_assert_ptr_null(printk_find(&none, 0));
}
