/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "meta/gone.h"
#include "unit.h"

START_TEST(what_is_gone_says_what_to_use_and_a_word_has_its_kind)
        {
                ck_assert_str_eq(gone_instead(GONE_VERB, "learn"),
                                 "what is recorded teaches by itself");
                ck_assert_ptr_nonnull(
                        strstr(gone_instead(GONE_KEY, "MaxDurationSec"), "Duration="));
                ck_assert_ptr_null(gone_instead(GONE_OPTION, "learn"));
                ck_assert_str_eq(gone_instead(GONE_OPTION, "--max-cpu"),
                                 "\"--set=MaxCPU=PERCENT\"");
                ck_assert_ptr_null(gone_instead(GONE_VERB, "report"));
        }
END_TEST

UNIT_SUITE("gone", what_is_gone_says_what_to_use_and_a_word_has_its_kind)
