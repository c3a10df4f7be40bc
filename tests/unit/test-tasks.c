/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/names.h"
#include "unit.h"

TEST(names_may_hold_spaces) {
        _cleanup_(tasks_freep) Tasks *t = NULL;

        ck_assert_int_eq(tasks_new(&t, "40 kworker/0:1 [x]\n7 Web Content\n39 a\n"), 0);
        ck_assert_str_eq(tasks_comm(t, 7), "Web Content");
        ck_assert_str_eq(tasks_comm(t, 39), "a");
        ck_assert_str_eq(tasks_comm(t, 40), "kworker/0:1 [x]");
}

TEST(unknown_tasks_have_the_kernels_names) {
        _cleanup_(tasks_freep) Tasks *t = MADE(Tasks, tasks_new, NULL);

        ck_assert_str_eq(tasks_comm(t, 0), "<idle>");
        ck_assert_str_eq(tasks_comm(t, -5), "<XXX>");
        ck_assert_str_eq(tasks_comm(t, 5), "<...>");
}

TEST(of_two_lines_for_a_task_the_last_counts) {
        _cleanup_(tasks_freep) Tasks *t = MADE(Tasks, tasks_new, "5 old\n6 x\n5 new\n");

        ck_assert_str_eq(tasks_comm(t, 5), "new");
}

TEST(bad_lines_are_passed_over) {
        _cleanup_(tasks_freep) Tasks *t = NULL;

        ck_assert_int_eq(tasks_new(&t, "\nx\n5\n99999999999999999999 y\n-3 z\n"
                                       "6 a name that is much too long for a comm\n8 "),
                         0);
        ck_assert_str_eq(tasks_comm(t, 5), "<...>");
        ck_assert_str_eq(tasks_comm(t, -3), "<XXX>");
        ck_assert_str_eq(tasks_comm(t, 6), "a name that is ");
        ck_assert_str_eq(tasks_comm(t, 8), "");
}
