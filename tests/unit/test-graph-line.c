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
        if (!expected)
                return;
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert_mem_eq(s, expected, n);
}

/* What is said of a line here is checked. */
typedef struct Case {
        const char *text;
        const GraphColumns *expected;
        TextLineKind kind;
        const char *label, *args, *comm, *next_comm, *event;
        uint64_t duration_ns, number;
        int64_t retval; /* 0: none */
        int32_t depth, pid, next_pid;
        uint32_t cpu;
} Case;

static const Case calls[] = {
        { " 7)               |  f() {", NULL, LINE_OPEN, "f", .cpu = 7 },
        { " 7)   0.082 us    |    f();", &usual, LINE_LEAF, "f", .cpu = 7, .depth = 1,
          .duration_ns = 82 },
        { " 7) + 11.922 us   |      }", &usual, LINE_CLOSE, .cpu = 7, .depth = 2,
          .duration_ns = 11922 },
        /* Every column is optional. */
        { " 1) do_sys_open() {", NULL, LINE_OPEN, "do_sys_open", .cpu = 1 },
        { "# 1348.772 us |  f();", NULL, LINE_LEAF, "f", .duration_ns = 1348772 },
        { "  f() {", &bare, LINE_OPEN, "f", .depth = 1 },
        { "  f() {", NULL, LINE_NONE },
        { "  f() {", &usual, LINE_NONE },
        /* Durations of any size fill seven columns. */
        { " 0)   0.000 us    |  f();", &usual, LINE_LEAF, "f", .duration_ns = 0 },
        { " 0)   10.000 us   |  f();", &usual, LINE_LEAF, "f", .duration_ns = 10000 },
        { " 0) * 10084.89 us |  f();", &usual, LINE_LEAF, "f", .duration_ns = 10084890 },
        { " 0) @ 123456.7 us |  f();", &usual, LINE_LEAF, "f", .duration_ns = 123456700 },
        { " 0) $ 1234567 us  |  f();", &usual, LINE_LEAF, "f", .duration_ns = 1234567000 },
        { " 0) $ 123456789 us |  f();", &usual, LINE_LEAF, "f", .duration_ns = 123456789000 },
        { " 0)   1.302 ms    |  f();", &usual, LINE_LEAF, "f", .duration_ns = 1302000 },
        { " 0)   2.5 s       |  f();", &usual, LINE_LEAF, "f", .duration_ns = 2500000000 },
        /* A comm may hold anything. */
        { "  3) a | b) -123456 |   1.302 us    |  f();", NULL, LINE_LEAF, "f", .cpu = 3,
          .comm = "a | b) ", .pid = 123456, .duration_ns = 1302 },
        { "  3)    [x]-1-7     |               |    g() {", NULL, LINE_OPEN, "g", .cpu = 3,
          .comm = "[x]-1", .pid = 7, .depth = 1 },
        { " 0)  myprogram-42    |   1.302 us    |  f();", NULL, LINE_LEAF, "f", .comm = "myprogram",
          .pid = 42, .duration_ns = 1302 },
        /* Modules, suffixes and arguments are not mixed up. */
        { " 0)               |  validate_xmit_skb.isra.92.part.93() {", &usual, LINE_OPEN,
          "validate_xmit_skb.isra.92.part.93" },
        { " 0)   0.1 us      |  ovl_open [overlay](inode=0x1, file=(struct)[0x0]);", &usual,
          LINE_LEAF, "ovl_open [overlay]", "inode=0x1, file=(struct)[0x0]", .duration_ns = 100 },
        /* Comments behind calls are names and values. */
        { " 0)   0.035 us    |    } /* get_unique_tuple [nf_nat] */", &usual, LINE_CLOSE,
          "get_unique_tuple [nf_nat]", .depth = 1, .duration_ns = 35 },
        { " 0)   0.035 us    |  } /* f = -11 */", &usual, LINE_CLOSE, "f", .retval = -11,
          .duration_ns = 35 },
        { " 0)   0.035 us    |  } /* f [m] ret=0x40 */", &usual, LINE_CLOSE, "f [m]",
          .retval = 0x40, .duration_ns = 35 },
        { " 0)   0.035 us    |  f(); /* <-g+0x1/0x2 ret=0xffff888003d5c000 */", &usual, LINE_LEAF,
          "f", .retval = (int64_t) 0xffff888003d5c000, .duration_ns = 35 },
        { " 0)               |  f() { /* <-g+0x1/0x2 */", &usual, LINE_OPEN, "f" },
};

static const Case others[] = {
        { "CPU:1 [LOST 13147 EVENTS]", &usual, LINE_LOST, .cpu = 1, .number = 13147 },
        { "CPU:1 [LOST EVENTS]", &usual, LINE_LOST, .cpu = 1 },
        { " 0)    cat-123    =>    bash-9    ", &usual, LINE_SWITCH, .comm = "cat", .pid = 123,
          .next_comm = "bash", .next_pid = 9 },
        { " 0)  => need-156   =>   a => b-9  ", &usual, LINE_SWITCH, .comm = "=> need", .pid = 156,
          .next_comm = "a => b", .next_pid = 9 },
        { " ------------------------------------------", &usual, LINE_RULE },
        { "", &usual, LINE_EMPTY },
        { "  7)   ==========> |", &usual, LINE_IRQ_IN, .cpu = 7 },
        { "  7)   <========== |", &usual, LINE_IRQ_OUT, .cpu = 7 },
        { " (Overruns: 3)", &usual, LINE_OVERRUNS, .number = 3 },
        { "# tracer: function_graph", NULL, LINE_HEADING },
        { "##### CPU 1 buffer started ####", &usual, LINE_STARTED, .cpu = 1 },
        { " 0)               |      /* sched_switch: a | b */", &usual, LINE_EVENT,
          .event = "sched_switch: a | b", .depth = 2 },
};

static void check(const Case *c) {
        TextLine l = parse(c->text, c->expected);

        ck_assert_msg(l.kind == c->kind, "%s: %d", c->text, l.kind);
        if (l.kind == LINE_NONE)
                return;
        ck_assert_msg(l.duration_ns == c->duration_ns && l.depth == c->depth &&
                              (l.cpu == c->cpu || l.kind == LINE_OVERRUNS) &&
                              l.number == c->number && l.has_retval == (c->retval != 0) &&
                              (int64_t) l.retval == c->retval && l.task.pid == c->pid &&
                              l.next.pid == c->next_pid,
                      "%s", c->text);
        expect_text(l.label, l.n_label, c->label);
        expect_text(l.said.args, l.said.n_args, c->args);
        expect_text(l.task.comm, l.task.n_comm, c->comm);
        expect_text(l.next.comm, l.next.n_comm, c->next_comm);
        expect_text(l.text, l.n_text, c->event);
}

TEST(calls_returns_and_leaves_are_told_apart) {
        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                check(&calls[i]);
}

TEST(lines_about_other_things_are_known) {
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                check(&others[i]);
}

TEST(what_a_line_says_besides_is_kept) {
        TextLine l = parse(" 7238523.638008 |   0)    cat-123     |  d..1. |   1.302 us    "
                           "|  f();",
                           NULL);

        ck_assert(l.columns.abstime && l.columns.cpu && l.columns.proc && l.columns.latency &&
                  l.columns.duration);
        ck_assert_uint_eq(l.timestamp_ns, UINT64_C(7238523638008000));
        ck_assert_uint_eq(l.columns.n_cpu_digits, 1);
        l = parse(" 7) + 11.922 us   |      }", &usual);
        ck_assert_int_eq(l.said.closing, CLOSING_PLAIN);
        l = parse(" 0)   0.035 us    |    } /* get_unique_tuple [nf_nat] */", &usual);
        ck_assert_int_eq(l.said.closing, CLOSING_NAMED);
        ck_assert_uint_eq(l.said.n_note, 0);
        l = parse(" 1) do_sys_open() {", NULL);
        ck_assert(!l.columns.duration && l.said.untimed && !l.has_duration);
        l = parse(" 0)   0.1 us      |  ovl_open [overlay](inode=0x1);", &usual);
        expect_text(l.label, l.n_name, "ovl_open");
        l = parse(" 0)  &lt;idle&gt;-0    =>    cat-12", NULL);
        ck_assert_int_ne(l.kind, LINE_SWITCH);
}

TEST(talk_is_not_taken_for_a_trace) {
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

TEST(damage_is_told_from_talk) {
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

TEST(no_kernel_has_so_many_cpus_or_levels) {
        char text[4096];

        ck_assert_int_ne(parse(" 99999)   0.082 us    |  f();", &usual).kind, LINE_LEAF);
        (void) snprintf(text, sizeof(text), " 0)               |  %*sf() {", 2 * 1024, "");
        ck_assert_int_eq(parse(text, &usual).kind, LINE_DAMAGED);
        (void) snprintf(text, sizeof(text), " 0)               |  %*sf() {", 2 * 1023, "");
        ck_assert_int_eq(parse(text, &usual).kind, LINE_OPEN);
}

TEST(a_duration_of_sixty_four_digits_is_damaged) {
        char text[128];
        TextLine l;

        (void) snprintf(text, sizeof(text), " 7)   1.%064d us    |  f();", 0);
        l = parse(text, &usual);
        ck_assert_int_eq(l.kind, LINE_DAMAGED);
        ck_assert(!l.has_duration);
}

TEST(a_latency_tracers_lines_are_known) {
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
                ck_assert_msg(parse(headings[i], NULL).kind == LINE_HEADING, "%s", headings[i]);
        ck_assert_int_eq(parse("# cat trace | grep - /", NULL).kind, LINE_NONE);
        l = parse("          4 us |   0)   bash-1507    |  d..2 |   1.107 us    |            "
                  "}",
                  NULL);
        ck_assert_int_eq(l.kind, LINE_CLOSE);
        ck_assert_uint_eq(l.timestamp_ns, 4000);
        ck_assert_uint_eq(l.duration_ns, 1107);
        ck_assert_uint_eq(l.cpu, 0);
        ck_assert_int_eq(l.task.pid, 1507);
        ck_assert_int_eq(l.depth, 5);
        l = parse("  4 us |  }", &(GraphColumns){ .duration = true });
        ck_assert_uint_eq(l.duration_ns, 4000);
}
