/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Texts that have several traces. */

#include "text-file.h"

static const char *const two_traces[] = {
        /* a heading, other columns, a time that goes back, also of another CPU, another kind of text, a
         * banner, the columns' names alone, a command behind a prompt, a tracer's last word */
        " 0)   1.000 us    |  a();\n# tracer: function_graph\n#\n 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\n  1.000001 |   0)   2.000 us    |  b();\n",
        "  9.000001 |   0)   1.000 us    |  a();\n  1.000001 |   0)   2.000 us    |  b();\n",
        "     0 x(1): -> a\n     1 x(1): <- a\n 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\nTracing \"b\"... Ctrl-C to end.\n 0)   2.000 us    |  b();\n",
        "  9.000001 |   0)   1.000 us    |  a();\n  1.000001 |   1)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\n# CPU  DURATION                  FUNCTION CALLS\n"
        " 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\n# cat trace\n 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\n[root@h ~]# ./funcgraph -d 1 b\n 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\nh:/sys # /usr/bin/cat trace_pipe\n 0)   2.000 us    |  b();\n",
        " 0)   1.000 us    |  a();\n\xe2\x9d\xaf sudo perf ftrace -G b\n 0)   2.000 us    |  "
        "b();\n",
        " 0)   1.000 us    |  a();\nEnding tracing...\n 0)   2.000 us    |  b();\n",
        "> 0)   1.000 us    |  a();\n> $ trace-cmd report\n> 0)   2.000 us    |  b();\n",
        "     0 x(1): <- a\n# stap b.stp\n     0 x(1): <- b\n",
};

TEST(traces_of_one_text_are_told_apart) {
        for (size_t i = 0; i < ELEMENTSOF(two_traces); i++)
                for (uint64_t nth = 1; nth <= 3; nth++) {
                        _cleanup_(text_trace_freep) TextTrace *t = NULL;
                        int fd = fd_of_text(two_traces[i], strlen(two_traces[i]));
                        int r = text_trace_take_fd(&t, fd, nth);
                        Step s;

                        ck_assert_int_eq(r, nth == 3 ? TEXT_TRACE_E_FEWER : 0);
                        if (nth < 3) {
                                s = next(t);
                                ck_assert_str_eq(s.function->label, nth == 1 ? "a" : "b");
                        }
                        while (text_trace_next(t, &s) > 0)
                                ck_assert_str_eq(s.function->label, nth == 1 ? "a" : "?");
                        ck_assert_uint_eq(text_trace_count(t)->n_traces, 2);
                        ck_assert_uint_eq(n_remarks(t, TEXT_ANOTHER), 1);
                }
}

TEST(all_traces_are_read_one_behind_the_other) {
        for (size_t i = 0; i < ELEMENTSOF(two_traces); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;
                int fd = fd_of_text(two_traces[i], strlen(two_traces[i]));
                unsigned n = 0;
                Step s;

                ck_assert_int_eq(text_trace_take_fd(&t, fd, TEXT_TRACE_ALL), 0);
                while (text_trace_next(t, &s) > 0)
                        n += s.kind != STEP_ENTER && !step_cuts_all(&s);
                ck_assert_uint_eq(n, 2);
                ck_assert_uint_eq(text_trace_count(t)->n_elsewhere, 0);
        }
}

TEST(times_of_all_traces_follow_each_other) {
        static const char text[] = "  900.000001 |   0)               |  a() {\n"
                                   "    1.000001 |   0)   2.000 us    |  b();\n# cat trace\n"
                                   " 0)   3.000 us    |  c();\n# cat trace\n"
                                   "72385.000001 |   0)               |  d() {\n";
        static const uint64_t since_ns[] = { 0, 0, 2000, 5000 };

        for (int keep = 0; keep < 2; keep++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;
                uint64_t begin_ns = 0;

                ck_assert_int_eq(
                        text_trace_take_fd(&t, fd_of_text(text, sizeof(text) - 1), TEXT_TRACE_ALL),
                        0);
                text_trace_keep_times(t, keep);
                for (size_t i = 0; i < ELEMENTSOF(since_ns); i++) {
                        Step s = next(t);

                        ck_assert(i == 0 || s.kind == STEP_LOST);
                        if (step_cuts_all(&s))
                                s = next(t);
                        begin_ns = i == 0 ? s.timestamp_ns : begin_ns;
                        if (!keep)
                                ck_assert_uint_eq(s.timestamp_ns - begin_ns, since_ns[i]);
                        else if (i == 3)
                                ck_assert_uint_eq(s.timestamp_ns, 72385000001000);
                        if (s.kind == STEP_LEAF)
                                ck_assert_uint_eq(step_duration_ns(&s), i == 1 ? 2000 : 3000);
                }
        }
}

/* The first one has an open call, of which nothing in the second one can be the end. */
TEST(no_call_ends_in_another_trace) {
        static const char *const texts[] = {
                /* at the depth of the open one; behind a gap, below it; a duration that does
                         * not reach back; without durations */
                "  100.000001 |   0)               |  a() {\n"
                "72385.000001 |   0)               |  c() {\n",
                "  100.000001 |   0)               |  a() {\n[...]\n"
                "72385.000001 |   0)   0.289 us    |    c();\n",
                "  100.000001 |   0)               |  a() {\n"
                "72385.000001 |   0)   0.289 us    |  }\n",
                "  100.000001 |   0)     sh-1       | a() {\nAnd then:\n"
                "72385.000001 |   0)     sh-1       | c() {\n",
                "    sh-1     [000]   100.000001: funcgraph_entry:                   |  "
                "a() {\n[...]\n"
                "    sh-1     [000] 72385.000001: funcgraph_entry:                   |  c() {\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(texts[i]);
                Step s = next(t);

                ck_assert_str_eq(s.function->label, "a");
                expect_end(t);
                ck_assert_uint_eq(text_trace_count(t)->n_traces, 2);
        }
}

/* A sleep inside a call, and one between calls; comments that are no commands; an event in a call;
 * an end that is missing in what was printed as a whole. */
TEST(a_long_time_does_not_make_two_traces) {
        static const char *const texts[] = {
                "  100.000001 |   0)               |  a() {\n"
                "72385.000001 |   0)   0.289 us    |    c();\n"
                "72385.000002 |   0) $ 72285000000 us  |  }\n",
                "  100.000001 |   0)               |  a() {\n[...]\n"
                "72385.000001 |   0) $ 72285000000 us  |  }\n",
                "  100.000001 |   0)   0.289 us    |  a();\n[...]\n"
                "72385.000001 |   0)               |  c() {\n",
                "  100.000001 |   0)               |  a() {\n"
                "72385.000001 |   0)               |  /* sched_switch: prev_pid=1 */\n"
                "72385.000002 |   0) $ 72285000000 us  |  }\n",
                "# tracer: function_graph\n#\n"
                "  100.000001 |   0)     sh-1       |               |  a() {\n"
                "72385.000001 |   1)     sh-1       |   0.289 us    |  c();\n",
                "  100.000001 |   0)   0.289 us    |  a();\n# this cat is slow\n"
                "  100.000002 |   0)               |  c() {\n",
                " 0)   0.289 us    |  a();\n$ perf is a tool\n# head of the list\n"
                " 0)   0.289 us    |  a();\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(texts[i]);
                Step s;

                while (text_trace_next(t, &s) > 0)
                        ;
                ck_assert_uint_eq(text_trace_count(t)->n_traces, 1);
        }
}

/* Clocks of two CPUs differ a little, and a comm that looks like a column is in one line. */
TEST(one_trace_stays_one) {
        _cleanup_(text_trace_freep) TextTrace *t =
                trace_of_text("  9.000009 |   0)   1.000 us    |  a();\n"
                              "  9.000005 |   1)   1.000 us    |  a();\n"
                              "  9.000008 |   0)   1.000 us    |  a();\n"
                              " 0)   1.000 us    |  a();\n"
                              "  9.000010 |   0)   1.000 us    |  a();\n");
        Step s;

        while (text_trace_next(t, &s) > 0)
                ;
        ck_assert_uint_eq(text_trace_count(t)->n_traces, 1);
        ck_assert_uint_eq(n_remarks(t, TEXT_COLUMNS_CHANGED), 1);
}
