/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/release.h"
#include "unit.h"

START_TEST(numbers_are_compared_as_numbers)
        {
                ck_assert_int_eq(release_compare("6.1.0-56-amd64", 6, 11), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("6.9", 6, 19), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("5.19.0", 6, 1), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("6.11.0-rc1", 6, 11), RELEASE_SINCE);
                ck_assert_int_eq(release_compare("6.12.117+deb12-amd64", 6, 11), RELEASE_SINCE);
                ck_assert_int_eq(release_compare("7.2.13+deb14-amd64", 6, 19), RELEASE_SINCE);
        }
END_TEST

START_TEST(what_is_no_release_is_neither_before_nor_since)
        {
                static const char *const none[] = { NULL, "", "6", "linux 6.1", ".1" };

                for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
                        ck_assert_int_eq(release_compare(none[i], 6, 1), RELEASE_UNKNOWN);
        }
END_TEST

UNIT_SUITE("release", numbers_are_compared_as_numbers,
           what_is_no_release_is_neither_before_nor_since)
