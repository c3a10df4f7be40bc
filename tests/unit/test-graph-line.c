/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "import/text-private.h"
#include "unit.h"

static const GraphColumns usual = { .cpu = true, .duration = true, .n_cpu_digits = 1 };
static const GraphColumns bare = {};

static TextLine parse(const char *text, const GraphColumns *expected) {
        TextLine l;

        graph_line_parse(&l, text, strlen(text), expected);
        return l;
}

static void expect_text(const char *s, uint32_t n, const char *expected) {
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert_mem_eq(s, expected, n);
}

START_TEST(calls_returns_and_leaves_are_told_apart)
        {
                TextLine l = parse(" 7)               |  udp_sendmsg() {", NULL);

                ck_assert_int_eq(l.kind, LINE_OPEN);
                ck_assert_uint_eq(l.cpu, 7);
                ck_assert_int_eq(l.depth, 0);
                ck_assert(!l.has_duration);
                expect_text(l.label, l.n_label, "udp_sendmsg");
                l = parse(" 7)   0.082 us    |    sock_tx_timestamp();", &usual);
                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert_int_eq(l.depth, 1);
                ck_assert_uint_eq(l.duration_ns, 82);
                l = parse(" 7) + 11.922 us   |      }", &usual);
                ck_assert_int_eq(l.kind, LINE_CLOSE);
                ck_assert_int_eq(l.depth, 2);
                ck_assert_uint_eq(l.duration_ns, 11922);
                ck_assert_int_eq(l.said.mark, '+');
                ck_assert_int_eq(l.said.closing, CLOSING_PLAIN);
        }
END_TEST

START_TEST(every_column_is_optional)
        {
                TextLine l = parse(" 7238523.638008 |   0)    cat-123     |  d..1. |   1.302 us    "
                                   "|  f();",
                                   NULL);

                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert(l.columns.abstime && l.columns.cpu && l.columns.proc &&
                          l.columns.latency && l.columns.duration);
                ck_assert_uint_eq(l.timestamp_ns, UINT64_C(7238523638008000));
                ck_assert_uint_eq(l.columns.n_cpu_digits, 1);
                ck_assert_int_eq(l.task.pid, 123);
                expect_text(l.task.comm, l.task.n_comm, "cat");
                expect_text(l.said.latency, l.said.n_latency, "d..1.");
                l = parse(" 1) do_sys_open() {", NULL);
                ck_assert_int_eq(l.kind, LINE_OPEN);
                ck_assert(!l.columns.duration && l.said.untimed);
                ck_assert_int_eq(parse("# 1348.772 us |  f();", NULL).kind, LINE_LEAF);
                ck_assert_int_eq(parse("  f() {", &bare).kind, LINE_OPEN);
                ck_assert_int_eq(parse("  f() {", NULL).kind, LINE_NONE);
                ck_assert_int_eq(parse("  f() {", &usual).kind, LINE_NONE);
        }
END_TEST

START_TEST(durations_of_any_size_fill_seven_columns)
        {
                static const struct {
                        const char *text;
                        uint64_t ns;
                } cases[] = {
                        { " 0)   0.000 us    |  f();", 0 },
                        { " 0)   10.000 us   |  f();", 10000 },
                        { " 0) # 1348.772 us |  f();", 1348772 },
                        { " 0) * 10084.89 us |  f();", 10084890 },
                        { " 0) @ 123456.7 us |  f();", 123456700 },
                        { " 0) $ 1234567 us  |  f();", 1234567000 },
                        { " 0) $ 123456789 us |  f();", 123456789000 },
                        { " 0)   1.302 ms    |  f();", 1302000 },
                        { " 0)   2.5 s       |  f();", 2500000000 },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        TextLine l = parse(cases[i].text, &usual);

                        ck_assert_int_eq(l.kind, LINE_LEAF);
                        ck_assert_uint_eq(l.duration_ns, cases[i].ns);
                }
        }
END_TEST

START_TEST(a_comm_may_hold_anything)
        {
                TextLine l = parse("  3) a | b) -123456 |   1.302 us    |  f();", NULL);

                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert_int_eq(l.task.pid, 123456);
                expect_text(l.task.comm, l.task.n_comm, "a | b) ");
                l = parse("  3)    [x]-1-7     |               |    g() {", NULL);
                ck_assert_int_eq(l.kind, LINE_OPEN);
                expect_text(l.task.comm, l.task.n_comm, "[x]-1");
                ck_assert_int_eq(l.depth, 1);
                l = parse(" 0)  myprogram-42    |   1.302 us    |  f();", NULL);
                ck_assert_int_eq(l.kind, LINE_LEAF);
                expect_text(l.task.comm, l.task.n_comm, "myprogram");
                l = parse(" 0)  &lt;idle&gt;-0    =>    cat-12", NULL);
                ck_assert_int_ne(l.kind, LINE_SWITCH);
        }
END_TEST

START_TEST(modules_suffixes_and_arguments_are_not_mixed_up)
        {
                TextLine l =
                        parse(" 0)               |  validate_xmit_skb.isra.92.part.93() {", &usual);

                expect_text(l.label, l.n_label, "validate_xmit_skb.isra.92.part.93");
                l = parse(" 0)   0.1 us      |  ovl_open [overlay](inode=0x1, file=(struct)[0x0]);",
                          &usual);
                ck_assert_int_eq(l.kind, LINE_LEAF);
                expect_text(l.label, l.n_label, "ovl_open [overlay]");
                expect_text(l.label, l.n_name, "ovl_open");
                expect_text(l.said.args, l.said.n_args, "inode=0x1, file=(struct)[0x0]");
        }
END_TEST

START_TEST(comments_behind_calls_are_names_and_values)
        {
                TextLine l =
                        parse(" 0)   0.035 us    |    } /* get_unique_tuple [nf_nat] */", &usual);

                ck_assert_int_eq(l.said.closing, CLOSING_NAMED);
                expect_text(l.label, l.n_label, "get_unique_tuple [nf_nat]");
                ck_assert_uint_eq(l.said.n_note, 0);
                l = parse(" 0)   0.035 us    |  } /* f = -11 */", &usual);
                expect_text(l.label, l.n_label, "f");
                ck_assert(l.has_retval);
                ck_assert_int_eq((int64_t) l.retval, -11);
                l = parse(" 0)   0.035 us    |  } /* f [m] ret=0x40 */", &usual);
                expect_text(l.label, l.n_label, "f [m]");
                ck_assert(l.has_retval);
                ck_assert_uint_eq(l.retval, 0x40);
                l = parse(" 0)   0.035 us    |  f(); /* <-g+0x1/0x2 ret=0xffff888003d5c000 */",
                          &usual);
                ck_assert_int_eq(l.kind, LINE_LEAF);
                ck_assert(l.has_retval);
                ck_assert_uint_eq(l.retval, UINT64_C(0xffff888003d5c000));
                l = parse(" 0)               |  f() { /* <-g+0x1/0x2 */", &usual);
                ck_assert_int_eq(l.kind, LINE_OPEN);
                ck_assert(!l.has_retval);
        }
END_TEST

START_TEST(lines_about_other_things_are_known)
        {
                TextLine l = parse("CPU:1 [LOST 13147 EVENTS]", &usual);

                ck_assert_int_eq(l.kind, LINE_LOST);
                ck_assert_uint_eq(l.cpu, 1);
                ck_assert_uint_eq(l.number, 13147);
                l = parse("CPU:1 [LOST EVENTS]", &usual);
                ck_assert_int_eq(l.kind, LINE_LOST);
                ck_assert_uint_eq(l.number, 0);
                l = parse(" 0)    cat-123    =>    bash-9    ", &usual);
                ck_assert_int_eq(l.kind, LINE_SWITCH);
                ck_assert_int_eq(l.task.pid, 123);
                ck_assert_int_eq(l.next.pid, 9);
                expect_text(l.next.comm, l.next.n_comm, "bash");
                l = parse(" 0)  => need-156   =>   a => b-9  ", &usual);
                ck_assert_int_eq(l.task.pid, 156);
                expect_text(l.task.comm, l.task.n_comm, "=> need");
                expect_text(l.next.comm, l.next.n_comm, "a => b");
                ck_assert_int_eq(parse(" ------------------------------------------", &usual).kind,
                                 LINE_RULE);
                ck_assert_int_eq(parse("", &usual).kind, LINE_EMPTY);
                ck_assert_int_eq(parse("  7)   ==========> |", &usual).kind, LINE_IRQ_IN);
                ck_assert_int_eq(parse("  7)   <========== |", &usual).kind, LINE_IRQ_OUT);
                ck_assert_int_eq(parse(" (Overruns: 3)", &usual).kind, LINE_OVERRUNS);
                ck_assert_int_eq(parse("# tracer: function_graph", NULL).kind, LINE_HEADING);
                ck_assert_int_eq(parse("##### CPU 1 buffer started ####", &usual).kind,
                                 LINE_STARTED);
                l = parse(" 0)               |      /* sched_switch: a | b */", &usual);
                ck_assert_int_eq(l.kind, LINE_EVENT);
                expect_text(l.text, l.n_text, "sched_switch: a | b");
        }
END_TEST

START_TEST(talk_is_not_taken_for_a_trace)
        {
                static const char *const lines[] = {
                        "Tracing \"udp_sendmsg\"... Ctrl-C to end.",
                        "# ./funcgraph udp_sendmsg",
                        " 1) the first thing",
                        "Ending tracing...",
                        "root@host:~# ",
                        "              | ",
                        "f() {",
                };

                for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                        ck_assert_int_eq(parse(lines[i], NULL).kind, LINE_NONE);
                        if (i != 2)
                                ck_assert_int_eq(parse(lines[i], &usual).kind, LINE_NONE);
                }
        }
END_TEST

START_TEST(damage_is_told_from_talk)
        {
                static const char *const lines[] = {
                        " 7)   0.0x2 us    |    f();", " 7)   0.082 us    |    f();;",
                        " 7)   0.082 us    |   f();",  " 7)               |    udp_send",
                        " 7)               |  ",       " 7)   0.082 us    ",
                        " 7)   0.082 us    |  } /* f", " 7)   99999999999999999999 us |  f();",
                };

                for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                        TextLine l = parse(lines[i], &usual);

                        ck_assert_int_eq(l.kind, LINE_DAMAGED);
                        ck_assert_ptr_nonnull(l.problem);
                }
        }
END_TEST

START_TEST(no_kernel_has_so_many_cpus_or_levels)
        {
                char text[4096];

                ck_assert_int_ne(parse(" 99999)   0.082 us    |  f();", &usual).kind, LINE_LEAF);
                (void) snprintf(text, sizeof(text), " 0)               |  %*sf() {", 2 * 1024, "");
                ck_assert_int_eq(parse(text, &usual).kind, LINE_DAMAGED);
                (void) snprintf(text, sizeof(text), " 0)               |  %*sf() {", 2 * 1023, "");
                ck_assert_int_eq(parse(text, &usual).kind, LINE_OPEN);
        }
END_TEST

START_TEST(a_duration_of_sixty_four_digits_is_damaged)
        {
                char text[128];
                TextLine l;

                (void) snprintf(text, sizeof(text), " 7)   1.%064d us    |  f();", 0);
                l = parse(text, &usual);
                ck_assert_int_eq(l.kind, LINE_DAMAGED);
                ck_assert(!l.has_duration);
        }
END_TEST

START_TEST(a_latency_tracers_lines_are_known)
        {
                static const char *const headings[] = {
                        "# irqsoff latency trace v1.1.5 on 3.8.0-test+",
                        "# --------------------------------------------------------------------",
                        "# latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)",
                        "#    -----------------",
                        "#    | task: ps-6143 (uid:0 nice:0 policy:0 rt_prio:0)",
                        "#  => started at: __lock_task_sighand",
                        "#  => ended at:   _raw_spin_unlock_irqrestore",
                        "#                                       _-----=> irqs-off        ",
                        "#                                      / _----=> need-resched    ",
                        "#                                     ||| / _-=> migrate-disable ",
                        "#                                     |||| /     delay",
                        "#   REL TIME      CPU  TASK/PID       ||||     DURATION                  "
                        "FUNCTION CALLS",
                        "#      |          |     |    |        ||||      |   |                     "
                        "|   |   |   |",
                };
                TextLine l;

                for (size_t i = 0; i < ELEMENTSOF(headings); i++)
                        ck_assert_msg(parse(headings[i], NULL).kind == LINE_HEADING, "%s",
                                      headings[i]);
                ck_assert_int_eq(parse("# cat trace | grep - /", NULL).kind, LINE_NONE);
                l = parse(
                        "          4 us |   0)   bash-1507    |  d..2 |   1.107 us    |            "
                        "}",
                        NULL);
                ck_assert_int_eq(l.kind, LINE_CLOSE);
                ck_assert_uint_eq(l.timestamp_ns, 4000);
                ck_assert_uint_eq(l.duration_ns, 1107);
                ck_assert_uint_eq(l.cpu, 0);
                ck_assert_int_eq(l.task.pid, 1507);
                ck_assert_uint_eq(l.said.n_latency, 4);
                ck_assert_int_eq(l.depth, 5);
                l = parse("  4 us |  }", &(GraphColumns){ .duration = true });
                ck_assert_uint_eq(l.duration_ns, 4000);
        }
END_TEST

UNIT_SUITE("graph-line", a_duration_of_sixty_four_digits_is_damaged,
           calls_returns_and_leaves_are_told_apart, every_column_is_optional,
           durations_of_any_size_fill_seven_columns, a_comm_may_hold_anything,
           modules_suffixes_and_arguments_are_not_mixed_up,
           comments_behind_calls_are_names_and_values, lines_about_other_things_are_known,
           talk_is_not_taken_for_a_trace, damage_is_told_from_talk,
           no_kernel_has_so_many_cpus_or_levels, a_latency_tracers_lines_are_known)
