/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "unit.h"
#include "wire/refusal.h"

TEST(every_kind_has_a_name_that_leads_back_to_it) {
        for (int i = 0; i < _REFUSAL_N; i++) {
                ck_assert_ptr_nonnull(refusal_error_name(i));
                ck_assert_int_eq(refusal_from_error_name(refusal_error_name(i)), i);
                ck_assert_int_gt(refusal_exit_status(i), 0);
        }
        ck_assert_int_eq(refusal_from_error_name("org.ftraced.Nonsense"), -EINVAL);
}

TEST(exit_statuses_are_the_documented_ones) {
        ck_assert_int_eq(refusal_exit_status(REFUSAL_SESSION_NOT_FOUND), 3);
        ck_assert_int_eq(refusal_exit_status(REFUSAL_PERMISSION_DENIED), 4);
        ck_assert_int_eq(refusal_exit_status(REFUSAL_BUSY), 5);
        ck_assert_int_eq(refusal_exit_status(REFUSAL_TOO_MANY_FUNCTIONS), 7);
        ck_assert_int_eq(refusal_exit_status(REFUSAL_NOT_SUPPORTED), 77);
}

TEST(a_later_refusal_replaces_an_earlier_one) {
        _cleanup_refusal_ Refusal r = {};

        ck_assert_int_eq(refusal_set(&r, REFUSAL_BUSY, json_pack("{s:s}", "holder", "boot"),
                                     "held by %s", "boot"),
                         REFUSED);
        ck_assert_str_eq(refusal_message(&r), "held by boot");
        ck_assert_str_eq(json_string_value(json_object_get(r.parameters, "holder")), "boot");

        ck_assert_int_eq(refusal_set(&r, REFUSAL_NO_MEMORY, NULL, "only %i left", 7), REFUSED);
        ck_assert_int_eq(r.kind, REFUSAL_NO_MEMORY);
        ck_assert_str_eq(refusal_message(&r), "only 7 left");
        ck_assert_uint_eq(json_object_size(r.parameters), 1);
}

TEST(an_empty_refusal_has_a_message) {
        _cleanup_refusal_ Refusal r = { .kind = REFUSAL_PERMISSION_DENIED };

        ck_assert_str_eq(refusal_message(&r), "permission denied");
        refusal_done(&r);
        refusal_done(&r);
}

TEST(text_that_is_not_utf8_is_still_told) {
        _cleanup_refusal_ Refusal r = {};

        ck_assert_int_eq(refusal_set(&r, REFUSAL_SYSTEM_ERROR, NULL, "file \xff\xfe gone"),
                         REFUSED);
        ck_assert_str_eq(refusal_message(&r), "file ?? gone");
}
