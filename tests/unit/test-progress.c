/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/terminal/progress.h"
#include "unit.h"

START_TEST(a_share_is_drawn_as_wide_as_there_is_room)
        {
                char text[PROGRESS_TEXT_MAX];

                ck_assert_str_eq(progress_format(text, "Verifying", 5, 10, 79),
                                 "Verifying: 50 % [###############...............]");
                ck_assert_str_eq(progress_format(text, "Verifying", 5, 10, 30),
                                 "Verifying: 50 % [#####......]");
                ck_assert_str_eq(progress_format(text, "Verifying", 5, 10, 20), "Verifying: 50 %");
                ck_assert_str_eq(progress_format(text, "Verifying", 5, 10, 6), "Verify");
        }
END_TEST

START_TEST(more_than_all_is_all)
        {
                char text[PROGRESS_TEXT_MAX];

                ck_assert_str_eq(progress_format(text, "x", 11, 10, 10), "x: 100 %");
                ck_assert_str_eq(progress_format(text, "x", UINT64_MAX, UINT64_MAX, 10),
                                 "x: 100 %");
        }
END_TEST

START_TEST(without_a_total_it_counts)
        {
                char text[PROGRESS_TEXT_MAX];

                ck_assert_str_eq(progress_format(text, "x", 1234567, 0, 79), "x: 1,234,567");
        }
END_TEST

UNIT_SUITE("progress", a_share_is_drawn_as_wide_as_there_is_room, more_than_all_is_all,
           without_a_total_it_counts)
