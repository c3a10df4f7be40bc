/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "import/text-private.h"
#include "unit.h"

static TextLine parse(const char *text) {
        TextLine l;

        indent_line_parse(&l, text, strlen(text));
        return l;
}

static void expect_text(const char *s, uint32_t n, const char *expected) {
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert_mem_eq(s, expected, n);
}

TEST(a_line_has_time_task_depth_and_function) {
        TextLine l = parse("   117 client(16140):      -> udp_sendmsg");

        ck_assert_int_eq(l.kind, LINE_OPEN);
        ck_assert_uint_eq(l.timestamp_ns, 117000);
        expect_text(l.task.comm, l.task.n_comm, "client");
        ck_assert_int_eq(l.task.pid, 16140);
        ck_assert_int_eq(l.depth, 5);
        expect_text(l.label, l.n_label, "udp_sendmsg");
        l = parse("0 server(16139): -> __x64_sys_socket");
        ck_assert_int_eq(l.depth, 0);
        ck_assert_int_eq(parse("2521806 s(1): <- f").kind, LINE_CLOSE);
}

TEST(an_arrow_without_blanks_is_understood) {
        TextLine l = parse("    12 a(1):  ->f sk=0x1");

        ck_assert_int_eq(l.kind, LINE_OPEN);
        ck_assert_int_eq(l.depth, 2);
        expect_text(l.label, l.n_label, "f");
        expect_text(l.said.args, l.said.n_args, " sk=0x1");
}

TEST(a_comm_may_hold_anything_here) {
        TextLine l = parse("     3 a (b): -> c(77):  <- g");

        ck_assert_int_eq(l.kind, LINE_CLOSE);
        ck_assert_int_eq(l.task.pid, 77);
        ck_assert_int_eq(l.depth, 1);
        expect_text(l.task.comm, l.task.n_comm, "a (b): -> c");
}

TEST(other_lines_are_no_part_of_a_trace) {
        ck_assert_int_eq(parse("").kind, LINE_NONE);
        ck_assert_int_eq(parse("WARNING: missing unwind data").kind, LINE_NONE);
        ck_assert_int_eq(parse("   117 client(16140): udp_sendmsg").kind, LINE_NONE);
}

TEST(damaged_lines_say_why) {
        static const char *const lines[] = {
                "  x17 client(1):  -> f",
                "   117 client(1x):  -> f",
                "   117 (1):  -> f",
                "   117 client(1):  -> ",
                "   117 client(99999999):  -> f",
                "99999999999999999999 client(1): -> f",
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                TextLine l = parse(lines[i]);

                ck_assert_int_eq(l.kind, LINE_DAMAGED);
                ck_assert_ptr_nonnull(l.problem);
        }
}
