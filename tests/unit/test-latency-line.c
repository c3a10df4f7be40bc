/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "import/text-private.h"
#include "unit.h"

static const GraphColumns duration = { .duration = true };

static TextLine parse(const char *text, const GraphColumns *expected) {
        TextLine l;

        graph_line_parse(&l, text, strlen(text), expected);
        return l;
}

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
                l = parse("  4 us |  }", &duration);
                ck_assert_uint_eq(l.duration_ns, 4000);
        }
END_TEST

UNIT_SUITE("latency-line", a_latency_tracers_lines_are_known)
