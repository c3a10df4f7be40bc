/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "text-file.h"

/* A text, the steps that it becomes, "+f 0" and "-f 0 1000" with depth and duration, and what is remarked. */
static const struct {
        const char *says, *text, *steps, *remarks;
        uint64_t n_roots;
} traces[] = {
        { "a bare brace is its call's return",
          " 0)               |  a() {\n"
          " 0)   0.100 us    |    b();\n"
          " 0)   1.500 us    |  }\n",
          "+a 0, b 1 100, -a 0 1500", "", 1 },
        /* What brace matching gets wrong: b's record comes after an interrupt that b does not contain. */
        { "an interrupt before a late return is a sibling",
          " 0)               |  a() {\n"
          " 0)               |    b() {\n"
          " 0)               |    irq() {\n"
          " 0)   0.141 us    |      c();\n"
          " 0)   0.465 us    |    }\n"
          " 0)   0.035 us    |    } /* b */\n"
          " 0)   1.462 us    |  }\n",
          "+a 0, +b 1, +irq 1, c 2 141, -irq 1 465, -b 1 35, -a 0 1462",
          "call before a late return 1, ", 1 },
        { "a task that migrates keeps its calls",
          " 0)     cat-1      |               |  a() {\n"
          " 1)     bash-2     |               |  b() {\n"
          " 1)     cat-1      |   1.000 us    |  }\n"
          " 0)     bash-2     |   2.000 us    |  }\n",
          "+a 0, +b 0, -a 0 1000, -b 0 2000", "", 2 },
        { "the idle tasks of two CPUs are two",
          " 0)    <idle>-0    |               |  a() {\n"
          " 1)    <idle>-0    |               |  b() {\n"
          " 0)    <idle>-0    |   1.000 us    |  }\n"
          " 1)    <idle>-0    |   2.000 us    |  }\n",
          "+a 0, +b 0, -a 0 1000, -b 0 2000", "", 2 },
        /* It has its parent's name, and none of the calls that were open in the parent. */
        { "a child that was forked has calls of its own",
          " 0)     sh-10      |               |  kernel_clone() {\n"
          " 0)     sh-11      |               |  schedule_tail() {\n"
          " 0)     sh-11      |   0.100 us    |    finish();\n"
          " 0)     sh-10      |   9.000 us    |  }\n"
          " 0)     sh-11      |   1.000 us    |  }\n",
          "+kernel_clone 0, +schedule_tail 0, finish 1 100, -kernel_clone 0 9000, "
          "-schedule_tail 0 1000",
          "", 2 },
        /* The function that is jumped to returns for both, at one moment. */
        { "a tail call ends with its caller",
          "    1.000000 |   0)               |  a() {\n"
          "    1.000001 |   0)               |    b() {\n"
          "    1.000002 |   0)   0.500 us    |      c();\n"
          "    1.000005 |   0)   4.000 us    |    }\n"
          "    1.000005 |   0)   5.000 us    |  }\n"
          "    1.000006 |   0)   0.500 us    |  d();\n",
          "+a 0, +b 1, c 2 500, -b 1 4000, -a 0 5000, d 0 500", "", 2 },
        { "calls without durations are calls",
          " 0) a() {\n 0)   b();\n 0)   c() {\n 0)   }\n 0) }\n",
          "+a 0, b 1 0, +c 1, -c 1 0, -a 0 0", "", 1 },
        { "recursion is told apart by depth",
          " 0)               |  a() {\n"
          " 0)               |    a() {\n"
          " 0)   1.000 us    |    } /* a */\n"
          " 0)   3.000 us    |  } /* a */\n",
          "+a 0, +a 1, -a 1 1000, -a 0 3000", "", 1 },
        { "what the ends cut off is counted",
          " 0)   5.000 us    |      } /* c */\n"
          " 0)   9.000 us    |    }\n"
          " 0)               |    b() {\n"
          " 0)               |      c() {\n",
          "-c 2 5000, -? 1 9000, +b 1, +c 2",
          "return of a call before the beginning 2, cut off 2, ", 1 },
        { "what is missing after a loss is remarked",
          " 0)               |  a() {\n"
          " 0)               |    b() {\n"
          "CPU:0 [LOST 12 EVENTS]\n"
          " 0)   0.010 us    |      } /* c */\n"
          " 0)   9.000 us    |  }\n"
          " 0)               |  a() {\n"
          " 0)   0.010 us    |      d();\n"
          " 0)   0.005 us    |  }\n",
          "+a 0, +b 1, lost 12, -c 2 10, -a 0 9000, +a 0, d 2 10, -a 0 5",
          "return without its call 1, call without its return 1, level missing above a call 1, "
          "shorter than what it called 1, loss 1, ",
          2 },
        { "threads of an indented text have their own times",
          "     0 a(1): -> f\n     5 a(1):  -> g\n     0 b(2): -> f\n     9 a(1):  <- g\n"
          "     3 b(2): <- f\n    12 a(1): <- f\n     0 a(1): -> f\n     1 a(1): <- f\n",
          "+f 0, +g 1, +f 0, -g 1 4000, -f 0 3000, -f 0 12000, +f 0, -f 0 1000", "", 3 },
        /* thread_indent() counts to -1 there, and calls below stand one level too high from then on. */
        { "an unmatched return does not spoil what follows",
          "     0 a(1): <- x\n     7 a(1): -> f\n     0 a(1): -> g\n     2 a(1): <- g\n"
          "     0 a(1): <- f\n",
          "-x 0 0, +f 0, +g 1, -g 1 2000, -f 0 2000", /* at least */
          "return of a call before the beginning 1, ", 1 },
        { "a text that is not indented is nested by its arrows",
          "0 ftp(7223): -> sys_socketcall\n10 ftp(7223): -> sys_socket\n"
          "90 ftp(7223): <- sys_socket\n100 ftp(7223): <- sys_socketcall\n",
          "+sys_socketcall 0, +sys_socket 1, -sys_socket 1 80000, -sys_socketcall 0 100000", "",
          1 },
};

static void add_step(Buf *out, const Step *s) {
        buf_adds(out, out->n_data > 0 ? ", " : "");
        if (s->kind == STEP_LOST) {
                buf_printf(out, "lost %llu", (unsigned long long) s->n_lost);
                return;
        }
        buf_printf(out, "%s%s %d",
                   s->kind == STEP_ENTER   ? "+"
                   : s->kind == STEP_LEAVE ? "-"
                                           : "",
                   s->function->label, s->depth);
        if (s->kind != STEP_ENTER)
                buf_printf(out, " %llu", (unsigned long long) step_duration_ns(s));
}

/* What is left of @t becomes these steps. */
static void expect_steps(TextTrace *t, const char *says, const char *steps) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *text = NULL;
        Step s;

        while (text_trace_next(t, &s) > 0)
                add_step(&out, &s);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        ck_assert_msg(streq(text, steps), "%s: %s", says, text);
}

TEST(lines_become_steps) {
        for (size_t i = 0; i < ELEMENTSOF(traces); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(traces[i].text);
                _cleanup_buf_ Buf out = BUF_INIT;
                _cleanup_free_ char *remarks = NULL;

                expect_steps(t, traces[i].says, traces[i].steps);
                for (TextRemark k = 0; k < TEXT_N_REMARKS; k++)
                        if (n_remarks(t, k) > 0)
                                buf_printf(&out, "%s %llu, ", text_remark_name(k),
                                           (unsigned long long) n_remarks(t, k));
                if (text_trace_count(t)->n_cut_calls > 0)
                        buf_printf(&out, "cut off %llu, ",
                                   (unsigned long long) text_trace_count(t)->n_cut_calls);
                ck_assert_int_eq(buf_take_string(&out, &remarks), 0);
                ck_assert_msg(streq(remarks, traces[i].remarks), "%s: %s", traces[i].says, remarks);
                ck_assert_msg(text_trace_count(t)->n_roots == traces[i].n_roots, "%s",
                              traces[i].says);
        }
}

TEST(times_follow_from_durations) {
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(" 0)               |  a() {\n"
                                                                 " 0)   0.100 us    |    b();\n"
                                                                 " 0)   0.200 us    |    c();\n"
                                                                 " 0)   1.500 us    |  }\n"
                                                                 " 0)   0.300 us    |  d();\n");

        ck_assert_uint_eq(next(t).timestamp_ns, 0);
        ck_assert_uint_eq(next(t).timestamp_ns, 0);
        ck_assert_uint_eq(next(t).timestamp_ns, 100);
        ck_assert_uint_eq(next(t).rettime, 1500);
        ck_assert_uint_eq(next(t).timestamp_ns, 1500);
}

TEST(times_of_longer_calls_than_there_are_stay_in_order) {
        static const char *const texts[] = {
                " 0) 9000000000000000 us |  a();\n"
                " 0) 9000000000000000 us |  a();\n"
                " 0) 9000000000000000 us |  a();\n"
                " 0)                     |  b() {\n"
                " 0) 9000000000000000 us |  }\n"
                " 0)   0.300 us          |  c();\n",
                "# cat trace\n 0) 9000000000000000 us |  a();\n"
                "# cat trace\n 0) 9000000000000000 us |  a();\n"
                "# cat trace\n 0) 9000000000000000 us |  a();\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;
                int fd = fd_of_text(texts[i], strlen(texts[i]));
                uint64_t last_ns = 0;
                Step s;

                ck_assert_int_eq(text_trace_take_fd(&t, fd, TEXT_TRACE_ALL), 0);
                while (text_trace_next(t, &s) > 0) {
                        ck_assert_uint_ge(s.timestamp_ns, last_ns);
                        ck_assert_uint_le(s.timestamp_ns, INT64_MAX);
                        last_ns = s.timestamp_ns;
                }
                ck_assert_uint_gt(last_ns, INT64_MAX / 4);
        }
}

TEST(a_change_of_tasks_names_the_one_before) {
        _cleanup_(text_trace_freep) TextTrace *t =
                trace_of_text(" 1)               |  a() {\n"
                              " ------------------------------------------\n"
                              " 1)    cat-123     =>     bash-9    \n"
                              " ------------------------------------------\n"
                              "\n"
                              " 1)   0.100 us    |  b();\n"
                              " ------------------------------------------\n"
                              " 1)     bash-9     =>    cat-123    \n"
                              " ------------------------------------------\n"
                              "\n"
                              " 1)   1.000 us    |  }\n");
        Step s = next(t);

        ck_assert_int_eq(s.pid, STEP_PID_UNKNOWN(1));
        s = next(t);
        ck_assert_int_eq(s.kind, STEP_TASK);
        ck_assert_int_eq(s.pid, 123);
        ck_assert_str_eq(s.comm, "cat");
        s = next(t);
        ck_assert_int_eq(s.pid, 9);
        ck_assert_str_eq(s.comm, "bash");
        s = next(t);
        ck_assert_int_eq(s.kind, STEP_LEAVE);
        ck_assert_int_eq(s.pid, 123);
        ck_assert_str_eq(s.function->label, "a");
        expect_end(t);
        ck_assert_uint_eq(text_trace_count(t)->n_switches, 2);
        ck_assert_uint_eq(text_trace_count(t)->n_switch_lines, 8);
        ck_assert_uint_eq(n_remarks(t, TEXT_NOT_TRACE), 0);
}

TEST(cpus_of_two_and_three_digits_have_one_column) {
        static const char *const texts[] = { "  7)               |  a() {\n"
                                             " 15)   0.100 us    |  b();\n"
                                             "  7)   1.000 us    |  }\n",
                                             "   7)               |  a() {\n"
                                             " 127)   0.100 us    |  b();\n"
                                             "   7)   1.000 us    |  }\n" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(texts[i]);
                Step s = next(t);

                ck_assert_uint_eq(s.cpu, 7);
                s = next(t);
                ck_assert_uint_eq(s.cpu, i == 0 ? 15 : 127);
                expect_steps(t, texts[i], "-a 0 1000");
                ck_assert_uint_eq(text_trace_layout(t)->columns.n_cpu_digits, 2 + i);
                ck_assert_uint_eq(n_remarks(t, TEXT_COLUMNS_CHANGED), 0);
        }
}

TEST(markers_of_interrupts_belong_to_the_call_beside_them) {
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(" 0)   ==========> |\n"
                                                                 " 0)               |  irq() {\n"
                                                                 " 0)   0.010 us    |    a();\n"
                                                                 " 0)   1.000 us    |  }\n"
                                                                 " 0)   <========== |\n"
                                                                 " 0)   0.010 us    |  b();\n");
        Step s = next(t);

        ck_assert(s.said->irq_begin);
        s = next(t);
        ck_assert(!s.said->irq_begin && !s.said->irq_end);
        s = next(t);
        ck_assert(s.said->irq_end);
        s = next(t);
        ck_assert(!s.said->irq_end);
        ck_assert_uint_eq(text_trace_count(t)->n_markers, 2);
}

TEST(talk_is_skipped_and_damage_named) {
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text("# ./funcgraph a\n"
                                                                 "Tracing \"a\"... Ctrl-C to end.\n"
                                                                 " 0)   0.010 us    |  a();\n"
                                                                 " 0)   0.0x0 us    |  a();\n"
                                                                 " 0)   0.010 us    |  a();\n"
                                                                 "^C\n"
                                                                 "Ending tracing...\n"
                                                                 " 0)   0.010 us");
        const TextNote *notes;
        size_t n;

        expect_steps(t, "talk", "a 0 10, a 0 10");
        ck_assert_uint_eq(n_remarks(t, TEXT_NOT_TRACE), 4);
        ck_assert_uint_eq(n_remarks(t, TEXT_DAMAGED), 2);
        notes = text_trace_notes(t, &n);
        ck_assert_uint_eq(n, 6);
        ck_assert_uint_eq(notes[2].line, 4);
        ck_assert_str_eq(notes[2].text, "its duration is not a number");
        ck_assert_uint_eq(notes[5].line, 8);
        ck_assert_str_eq(notes[5].text, "the text ends in the middle of it");
}

TEST(damage_is_the_end_for_who_wants_that) {
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(" 0)   0.010 us    |  a();\n"
                                                                 " 0)   0.0x0 us    |  a();\n");
        Step s;

        text_trace_keep_going(t, false);
        (void) next(t);
        ck_assert_int_eq(text_trace_next(t, &s), TEXT_TRACE_E_DAMAGED);
}

TEST(a_file_without_a_trace_is_refused) {
        static const char zeros[300000];
        static const struct {
                const char *text;
                size_t n;
        } cases[] = {
                { "", 0 }, { "hello\nworld\n", 12 }, { zeros, sizeof(zeros) }, { " 0)   0.0", 9 }
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;

                ck_assert_int_eq(text_trace_take_fd(&t, fd_of_text(cases[i].text, cases[i].n), 1),
                                 TEXT_TRACE_E_FOREIGN);
                ck_assert_ptr_nonnull(t);
        }
}

/* Whichever thread has calls inside calls, and however late. */
TEST(blanks_may_be_lost_of_an_indented_text) {
        static const char *const blanks[] = { " ", "" };

        for (size_t i = 0; i < ELEMENTSOF(blanks); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;
                _cleanup_buf_ Buf text = BUF_INIT;
                _cleanup_free_ char *s = NULL;
                const char *b = blanks[i];

                for (int k = 0; k < 300; k++)
                        buf_printf(&text, "0 sh(1):%s-> x\n5 sh(1):%s<- x\n", b, b);
                buf_printf(&text,
                           "0 ftp(7223):%s-> sys_socketcall\n10 ftp(7223):%s-> sys_socket\n"
                           "0 sh(1):%s-> x\n5 sh(1):%s<- x\n90 ftp(7223):%s<- sys_socket\n"
                           "100 ftp(7223):%s<- sys_socketcall\n",
                           b, b, b, b, b, b);
                ck_assert_int_eq(buf_take_string(&text, &s), 0);
                t = trace_of_text(s);
                for (int k = 0; k < 600; k++)
                        (void) next(t);
                expect_steps(t, "blanks",
                             "+sys_socketcall 0, +sys_socket 1, +x 0, -x 0 5000, "
                             "-sys_socket 1 80000, -sys_socketcall 0 100000");
        }
}

TEST(events_and_losses_of_trace_cmd_stay_where_they_are) {
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(
                "cpus=2\n"
                "     a-1     [000]    1.000001: funcgraph_entry:                   |  f() {\n"
                "     a-1     [000]    1.000002: sched_wakeup:         b:2 [120]\n"
                "CPU:0 [12 EVENTS DROPPED]\n"
                "     a-1     [000]    1.000009: funcgraph_exit:         7.001 us   |  }\n");
        Step s;

        ck_assert_int_eq(next(t).kind, STEP_ENTER);
        s = next(t);
        ck_assert_int_eq(s.kind, STEP_OTHER);
        ck_assert_str_eq(s.text, "sched_wakeup: b:2 [120]");
        ck_assert_uint_eq(s.timestamp_ns, 1000002000);
        expect_steps(t, "the rest", "lost 12, -f 0 7001");
        ck_assert_int_eq(text_trace_layout(t)->kind, TEXT_EVENTS);
}
