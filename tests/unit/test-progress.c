/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/terminal/terminal.h"
#include "unit.h"

TEST(a_share_is_drawn_as_wide_as_there_is_room) {
        static const struct {
                const char *what;
                uint64_t done, total;
                size_t columns;
                const char *expected;
        } cases[] = {
                { "Verifying", 5, 10, 79, "Verifying: 50 % [###############...............]" },
                { "Verifying", 5, 10, 30, "Verifying: 50 % [#####......]" },
                { "Verifying", 5, 10, 20, "Verifying: 50 %" },
                { "Verifying", 5, 10, 6, "Verify" },
                { "x", 11, 10, 10, "x: 100 %" },
                { "x", UINT64_MAX, UINT64_MAX, 10, "x: 100 %" },
                { "x", 1234567, 0, 79, "x: 1,234,567" },
        };
        char text[PROGRESS_TEXT_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(progress_format(text, cases[i].what, cases[i].done, cases[i].total,
                                                 cases[i].columns),
                                 cases[i].expected);
}
