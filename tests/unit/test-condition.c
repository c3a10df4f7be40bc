/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "meta/gap.h"
#include "tests/unit/unit.h"

START_TEST(what_lasts_keeps_its_beginning_and_takes_the_newest_reason)
        {
                Conditions c = {};

                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 100, "full"), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 200, "full"), 0);
                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 300, "over quota"), 1);
                ck_assert_uint_eq(c.n, 1);
                ck_assert_uint_eq(conditions_find(&c, GAP_NO_SPACE)->since_ns, 100);
                ck_assert_str_eq(conditions_find(&c, GAP_NO_SPACE)->reason, "over quota");
                conditions_done(&c);
        }
END_TEST

START_TEST(what_is_over_is_gone_and_the_others_stay)
        {
                Conditions c = {};

                ck_assert(!conditions_clear(&c, GAP_NO_SPACE));
                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 1, "a"), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_TRACING_OFF, 2, "b"), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_DISK_FAILED, 3, "c"), 1);
                ck_assert(conditions_clear(&c, GAP_TRACING_OFF));
                ck_assert(!conditions_clear(&c, GAP_TRACING_OFF));
                ck_assert_ptr_null(conditions_find(&c, GAP_TRACING_OFF));
                ck_assert_str_eq(conditions_find(&c, GAP_NO_SPACE)->reason, "a");
                ck_assert_str_eq(conditions_find(&c, GAP_DISK_FAILED)->reason, "c");
                conditions_done(&c);
        }
END_TEST

START_TEST(what_is_written_is_what_is_read)
        {
                Conditions c = {}, again = {};
                json_t *list;

                ck_assert_int_eq(conditions_set(&c, GAP_NO_SPACE, 7, "a \"word\""), 1);
                ck_assert_int_eq(conditions_set(&c, GAP_DISK_FAILED, 8, "b"), 1);
                list = json_list_new(&condition_table, &c);
                ck_assert_int_eq(json_list_read(&again, &condition_table, list), 0);
                ck_assert_uint_eq(again.n, 2);
                ck_assert_uint_eq(conditions_find(&again, GAP_NO_SPACE)->since_ns, 7);
                ck_assert_str_eq(conditions_find(&again, GAP_NO_SPACE)->reason, "a \"word\"");
                ck_assert_str_eq(conditions_find(&again, GAP_DISK_FAILED)->reason, "b");
                json_decref(list);
                conditions_done(&c);
                conditions_done(&again);
        }
END_TEST

START_TEST(what_is_not_such_a_list_is_refused)
        {
                static const char *const texts[] = {
                        "{}",
                        "[1]",
                        "[{}]",
                        "[{\"cause\":\"nobody\",\"since_ns\":1,\"reason\":\"a\"}]",
                        "[{\"cause\":\"no_space\",\"since_ns\":-1,\"reason\":\"a\"}]",
                        "[{\"cause\":\"no_space\",\"since_ns\":1,\"reason\":2}]",
                        ("[{\"cause\":\"no_space\",\"since_ns\":1,\"reason\":\"a\"},"
                         "{\"cause\":\"no_space\",\"since_ns\":2,\"reason\":\"b\"}]"),
                };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        json_t *list = json_loads(texts[i], 0, NULL);
                        Conditions c = {};

                        ck_assert_ptr_nonnull(list);
                        ck_assert_msg(json_list_read(&c, &condition_table, list) ==
                                              JSON_FIELD_E_INVALID,
                                      "%s", texts[i]);
                        json_decref(list);
                        conditions_done(&c);
                }
        }
END_TEST

UNIT_SUITE("condition", what_lasts_keeps_its_beginning_and_takes_the_newest_reason,
           what_is_over_is_gone_and_the_others_stay, what_is_written_is_what_is_read,
           what_is_not_such_a_list_is_refused)
