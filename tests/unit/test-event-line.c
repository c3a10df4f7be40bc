/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "import/text-private.h"
#include "unit.h"

static TextLine parse(const char *text) {
        TextLine l;

        event_line_parse(&l, text, strlen(text));
        return l;
}

static void expect_text(const char *s, uint32_t n, const char *expected) {
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert_mem_eq(s, expected, n);
}

TEST(a_line_has_time_task_depth_and_call) {
        TextLine l = parse("      udp-client-188   [001]    40.610785: funcgraph_entry:      "
                           "! 129.316 us |      irq_enter_rcu();");

        ck_assert_int_eq(l.kind, LINE_LEAF);
        expect_text(l.task.comm, l.task.n_comm, "udp-client");
        ck_assert_int_eq(l.task.pid, 188);
        ck_assert_uint_eq(l.cpu, 1);
        ck_assert_uint_eq(l.timestamp_ns, 40610785000);
        ck_assert_uint_eq(l.duration_ns, 129316);
        ck_assert_int_eq(l.depth, 2);
        expect_text(l.label, l.n_label, "irq_enter_rcu");
}

/* One call, before which different options put different columns. */
TEST(columns_before_the_event_may_be_any) {
        static const char *const columns[] = {
                "             cat-412   [003] d..2.    10.001234: ",
                "             cat-412   [003] .....    10.001234567: ",
                "             cat-412   (   400) [003] d..2.    10.001234: ",
                "             cat-412   (-------) [003] d..2.    10.001234: ",
                "             cat-412   [003]-0x9    10.001234: ",
                "     cat-412     3d..2.    10.001234: ",
                "     cat-412     3-0x1    10.001234: ",
                "             cat-412   [003] 10001234567: ",
                "             cat-412   [003]    10.001234: (+509)   ",
                "             cat-412   [003]    10.001234:          ",
                "guest.dat:              cat-412   [003]    10.001234: ",
                "                        cat-412   [003]    10.001234: ",
                "cat-412   [003]    10.001234: ",
        };

        for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
                char text[256];
                TextLine l;

                (void) snprintf(text, sizeof(text),
                                "%sfuncgraph_entry:        1.302 us   |    netif_rx();",
                                columns[i]);
                l = parse(text);
                ck_assert_msg(l.kind == LINE_LEAF, "%s", text);
                expect_text(l.task.comm, l.task.n_comm, "cat");
                ck_assert_int_eq(l.task.pid, 412);
                ck_assert_uint_eq(l.cpu, 3);
                ck_assert_uint_eq(l.timestamp_ns / 1000, 10001234);
                ck_assert_uint_eq(l.duration_ns, 1302);
                ck_assert_int_eq(l.depth, 1);
        }
}

TEST(a_task_may_be_called_anything) {
        TextLine l = parse("         kworker/0:1-9 [000]-31    [002]    10.001234: "
                           "funcgraph_exit:       + 10.385 us  |  }");

        ck_assert_int_eq(l.kind, LINE_CLOSE);
        ck_assert_int_eq(l.task.pid, 31);
        ck_assert_uint_eq(l.cpu, 2);
        l = parse("          <idle>-0     [000] d..1.     1.000001: funcgraph_entry:        "
                  "           |  f() {");
        ck_assert_int_eq(l.kind, LINE_OPEN);
        expect_text(l.task.comm, l.task.n_comm, "<idle>");
}

#define PLACE "     cat-412   [003]    10.001234: "
#define ENTRY PLACE "funcgraph_entry:                   |  "
#define LEAF PLACE "funcgraph_entry:        1.302 us   |  "
#define EXIT PLACE "funcgraph_exit:         1.302 us   |  "

TEST(what_stands_behind_a_call_is_understood) {
        TextLine l = parse(ENTRY "f(a=1, b=\"x\") {");

        expect_text(l.said.args, l.said.n_args, "a=1, b=\"x\"");
        l = parse(ENTRY "f() { (0)");
        ck_assert_int_eq(l.kind, LINE_OPEN);
        l = parse(ENTRY "f(a=1) /* <-g */ {");
        ck_assert_int_eq(l.kind, LINE_OPEN);
        expect_text(l.said.args, l.said.n_args, "a=1");
        expect_text(l.said.note, l.said.n_note, " <-g");
        l = parse(LEAF "f(); (12) /* <-g */ (ret=0xffffffff81000000)");
        ck_assert_int_eq(l.kind, LINE_LEAF);
        ck_assert(l.has_retval);
        ck_assert_uint_eq(l.retval, 0xffffffff81000000);
        expect_text(l.said.note, l.said.n_note, " <-g");
        l = parse(EXIT "} /* f */ (3) (ret=-11)");
        ck_assert_int_eq(l.kind, LINE_CLOSE);
        expect_text(l.label, l.n_label, "f");
        ck_assert_uint_eq(l.retval, (uint64_t) -11);
        l = parse(EXIT "} (ret=0x0)");
        ck_assert_ptr_null(l.label);
        ck_assert(l.has_retval);
        ck_assert_int_eq(parse(ENTRY ") {").kind, LINE_OPEN);
}

TEST(blanks_at_the_end_of_a_line_mean_nothing) {
        static const struct {
                const char *text;
                TextLineKind kind;
        } lines[] = {
                { "cat-412 [003] 10.001234: funcgraph_entry: 1.000 us |  f();   ", LINE_LEAF },
                { "cat-412 [003] 10.001234: funcgraph_entry:          |  f() { \t", LINE_OPEN },
                { "cat-412 [003] 10.001234: funcgraph_exit:  1.000 us |  }  ", LINE_CLOSE },
                { "cat-412 [003] 10.001234: funcgraph_exit:  1.000 us |  } /* f */  ", LINE_CLOSE },
                { "CPU:1 [12 EVENTS DROPPED]  ", LINE_LOST },
                { "cpus=2      ", LINE_HEADING },
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++)
                ck_assert_msg(parse(lines[i].text).kind == lines[i].kind, "%s", lines[i].text);
}

TEST(calls_in_words_are_calls) {
        TextLine l = parse(PLACE "funcgraph_entry:      --> irq_enter_rcu (2)");

        ck_assert_int_eq(l.kind, LINE_OPEN);
        ck_assert_int_eq(l.depth, 2);
        expect_text(l.label, l.n_label, "irq_enter_rcu");
        l = parse(PLACE "funcgraph_exit:       <-- irq_enter_rcu (2) (start: a105  end: "
                        "a106) over: 2");
        ck_assert_int_eq(l.kind, LINE_CLOSE);
        ck_assert_uint_eq(l.duration_ns, 1);
        l = parse(PLACE "funcgraph_entry:       func=f depth=1 args=ARRAY[]");
        ck_assert_int_eq(l.kind, LINE_OPEN);
        ck_assert_int_eq(l.depth, 1);
        l = parse(PLACE "funcgraph_exit:        func=f overrun=0 calltime=a105 rettime=a205 "
                        "depth=3 retval=0x2a");
        ck_assert_int_eq(l.kind, LINE_CLOSE);
        ck_assert_uint_eq(l.duration_ns, 256);
        ck_assert_int_eq(l.depth, 3);
        ck_assert_uint_eq(l.retval, 42);
}

TEST(losses_headings_and_other_events_are_told_apart) {
        TextLine l = parse("CPU:1 [12 EVENTS DROPPED]");

        ck_assert_int_eq(l.kind, LINE_LOST);
        ck_assert_uint_eq(l.cpu, 1);
        ck_assert_uint_eq(l.number, 12);
        l = parse("guest.dat: CPU:3 [EVENTS DROPPED]");
        ck_assert_int_eq(l.kind, LINE_LOST);
        ck_assert_uint_eq(l.number, 0);
        ck_assert_uint_eq(parse("cpus=16").number, 16);
        ck_assert_int_eq(parse("version = 7").kind, LINE_HEADING);
        ck_assert_int_eq(parse("CPU 3 is empty").kind, LINE_HEADING);
        l = parse(PLACE "sched_switch:         prev_comm=cat");
        ck_assert_int_eq(l.kind, LINE_EVENT);
        expect_text(l.text, l.n_text, "sched_switch:         prev_comm=cat");
        ck_assert_int_eq(parse(" => f (ffffffff81234567)").kind, LINE_EMPTY);
        ck_assert_int_eq(parse("f <-g").kind, LINE_NONE);
        ck_assert_int_eq(parse(" 0)   1.302 us    |  f();").kind, LINE_NONE);
}

TEST(a_call_that_is_not_whole_is_damaged) {
        static const char *const texts[] = {
                PLACE "funcgraph_entry:                   |  ",
                PLACE "funcgraph_entry:                   |  f",
                PLACE "funcgraph_entry:                   |  f();",
                PLACE "funcgraph_entry:                   |   f() {",
                PLACE "funcgraph_entry:        1.302 us   |  f() {",
                PLACE "funcgraph_entry:        1.3x2 us   |  f();",
                PLACE "funcgraph_exit:                    |  }",
                PLACE "funcgraph_exit:         1.302 us   |  } f",
                PLACE "funcgraph_entry:      --> f",
                PLACE "funcgraph_exit:       <-- f (2)",
                PLACE "funcgraph_exit:        func=f depth=1",
                PLACE "funcgraph_entry:      ",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                TextLine l = parse(texts[i]);

                ck_assert_msg(l.kind == LINE_DAMAGED && l.problem, "%s", texts[i]);
        }
}
