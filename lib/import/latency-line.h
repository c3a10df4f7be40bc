/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Latency line: what a latency tracer, or the option latency-format, prints and the
 * plain format does not
 *
 *      # irqsoff latency trace v1.1.5 on 6.1.0
 *      # --------------------------------------------------------------------
 *      # latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
 *      #    -----------------
 *      #    | task: bash-1507 (uid:0 nice:0 policy:0 rt_prio:0)
 *      #    -----------------
 *      #  => started at: __lock_task_sighand
 *      #  => ended at:   _raw_spin_unlock_irqrestore
 *      #                                       _-----=> irqs-off
 *      #   REL TIME      CPU  TASK/PID       ||||     DURATION                  FUNCTION CALLS
 *               3 us |   0)   bash-1507    |  d..2 |   0.351 us    |              in_task_stack();
 *
 * With display-graph, irqsoff, preemptoff, preemptirqsoff, wakeup and wakeup_rt
 * print the lines of function_graph below such a heading, and before them the time
 * since the latency began.
 *
 * Source: linux 6.1 kernel/trace/trace.c, print_trace_header(), and
 * trace_functions_graph.c, print_graph_rel_time() and __print_graph_headers_flags().
 */

#include "import/scan.h"

/* A heading's line, with its "#". */
bool latency_line_is_heading(const Scan *s);
/* The time before the CPU. */
bool latency_line_take_time(Scan *s, uint64_t *ret_ns);
