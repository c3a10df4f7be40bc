/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "import/text-line.h"
#include "unit.h"

static TextLine parse_below(const char *heading, const char *text) {
        static const UftraceFields none = {};
        TextLine h, l;

        uftrace_line_parse(&h, heading, strlen(heading), &none);
        ck_assert_int_eq(h.kind, LINE_HEADING);
        uftrace_line_parse(&l, text, strlen(text), &h.fields);
        return l;
}

static TextLine parse(const char *text) {
        static const UftraceFields none = {};
        TextLine l;

        uftrace_line_parse(&l, text, strlen(text), &none);
        return l;
}

static void expect_text(const char *s, uint32_t n, const char *expected) {
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert_mem_eq(s, expected, n);
}

START_TEST(a_line_has_duration_thread_depth_and_call)
        {
                TextLine l = parse("   1.302 us [  4422] |   netif_rx();");

                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert_int_eq(l.task.pid, 4422);
                ck_assert_int_eq(l.depth, 1);
                ck_assert_uint_eq(l.duration_ns, 1302);
                expect_text(l.label, l.n_label, "netif_rx");
                l = parse("            [  4422] | main() {");
                ck_assert_int_eq(l.kind, LINE_OPEN);
                ck_assert_int_eq(l.depth, 0);
                l = parse("  10.380 ms [  4422] |   } /* pthread_join */");
                ck_assert_int_eq(l.kind, LINE_CLOSE);
                ck_assert_uint_eq(l.duration_ns, 10380000);
                expect_text(l.label, l.n_label, "pthread_join");
                ck_assert_uint_eq(parse("   2.100  s [ 1] | }").duration_ns, 2100000000);
                ck_assert_uint_eq(parse("   1.500  m [ 1] | }").duration_ns, 90000000000);
        }
END_TEST

START_TEST(fields_are_those_of_the_heading)
        {
                TextLine l = parse_below("# DURATION     TID      ADDRESS        TIMESTAMP      "
                                         "TIMEDELTA   ELAPSED  "
                                         "      TASK NAME      MODULE NAME   FUNCTION",
                                         "   1.302 us [  4422] 55767711b1f8     1220.654986771  "
                                         " 0.040 us  41.800 ms "
                                         "              a                a |         c();");

                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert_uint_eq(l.duration_ns, 1302);
                ck_assert_uint_eq(l.timestamp_ns, 1220654986771);
                l = parse_below("#  ELAPSED   DURATION    TID     FUNCTION",
                                "  42.645 us   0.236 us [ 6126] |     strdup();");
                ck_assert_uint_eq(l.duration_ns, 236);
                l = parse_below("# DURATION   FUNCTION", "   1.302 us | f();");
                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert(!l.has_task);
        }
END_TEST

START_TEST(arguments_may_hold_anything)
        {
                TextLine l = parse("   1.302 us [ 1] | f(\"a) = 1; {\", ')', g(2)) = \"x;\";");

                ck_assert_int_eq(l.kind, LINE_LEAF);
                expect_text(l.said.args, l.said.n_args, "\"a) = 1; {\", ')', g(2)");
                expect_text(l.said.note, l.said.n_note, " = \"x;\"");
                l = parse("            [ 1] | std::fn<a, b>::operator()(1) { /* a.c:3 */");
                ck_assert_int_eq(l.kind, LINE_OPEN);
                expect_text(l.label, l.n_label, "std::fn<a, b>::operator()");
                l = parse("   1.302 us [ 1] | } = -2; /* f */");
                ck_assert_int_eq(l.kind, LINE_CLOSE);
                expect_text(l.said.note, l.said.n_note, " = -2");
                expect_text(l.label, l.n_label, "f");
        }
END_TEST

START_TEST(events_losses_and_empty_lines_are_told_apart)
        {
                TextLine l = parse("            [ 1] |     /* linux:sched-out */");

                ck_assert_int_eq(l.kind, LINE_EVENT);
                expect_text(l.text, l.n_text, "linux:sched-out");
                l = parse("            [ 1] |     /* LOST 12 records!! */");
                ck_assert_int_eq(l.kind, LINE_LOST);
                ck_assert_uint_eq(l.number, 12);
                ck_assert_int_eq(parse("            [ 1] |").kind, LINE_EMPTY);
                ck_assert_int_eq(parse("# CPU  DURATION                  FUNCTION CALLS").kind,
                                 LINE_NONE);
                ck_assert_int_eq(parse(" 0)   1.302 us    |  f();").kind, LINE_NONE);
                ck_assert_int_eq(parse("| a | table |").kind, LINE_NONE);
        }
END_TEST

START_TEST(a_call_that_is_not_whole_is_damaged)
        {
                static const char *const texts[] = {
                        "   1.302 us [ 1] | f(",      "   1.302 us [ 1] | f()",
                        "   1.302 us [ 1] | f(\"a);", "   1.302 us [ 1] |  f();",
                        "   1.302 us [ 1] | } f",     "   1.302 us [ 1] | f() = 1",
                };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                        ck_assert_msg(parse(texts[i]).kind == LINE_DAMAGED, "%s", texts[i]);
        }
END_TEST

UNIT_SUITE("uftrace-line", a_line_has_duration_thread_depth_and_call,
           fields_are_those_of_the_heading, arguments_may_hold_anything,
           events_losses_and_empty_lines_are_told_apart, a_call_that_is_not_whole_is_damaged)
