/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/buf.h"
#include "text-file.h"

static void expect_step(TextTrace *t, StepKind kind, const char *label, int32_t depth,
                        uint64_t duration_ns) {
        Step s = next(t);

        ck_assert_int_eq(s.kind, kind);
        ck_assert_str_eq(s.function->label, label);
        ck_assert_int_eq(s.depth, depth);
        if (kind != STEP_ENTER)
                ck_assert_uint_eq(step_duration_ns(&s), duration_ns);
}

START_TEST(a_bare_brace_is_its_calls_return)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)               |  a() {\n"
                                      " 0)   0.100 us    |    b();\n"
                                      " 0)   1.500 us    |  }\n");

                expect_step(t, STEP_ENTER, "a", 0, 0);
                expect_step(t, STEP_LEAF, "b", 1, 100);
                expect_step(t, STEP_LEAVE, "a", 0, 1500);
                expect_end(t);
                ck_assert_uint_eq(text_trace_count(t)->n_roots, 1);
                ck_assert_int_eq(text_trace_count(t)->max_depth, 1);
                ck_assert_uint_eq(text_trace_n_functions(t), 2);
        }
END_TEST

/* What brace matching gets wrong: b's record comes after an interrupt that b does not contain. */
START_TEST(an_interrupt_before_a_late_return_is_a_sibling)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)               |  a() {\n"
                                      " 0)               |    b() {\n"
                                      " 0)               |    irq() {\n"
                                      " 0)   0.141 us    |      c();\n"
                                      " 0)   0.465 us    |    }\n"
                                      " 0)   0.035 us    |    } /* b */\n"
                                      " 0)   1.462 us    |  }\n");

                expect_step(t, STEP_ENTER, "a", 0, 0);
                expect_step(t, STEP_ENTER, "b", 1, 0);
                expect_step(t, STEP_ENTER, "irq", 1, 0);
                expect_step(t, STEP_LEAF, "c", 2, 141);
                expect_step(t, STEP_LEAVE, "irq", 1, 465);
                expect_step(t, STEP_LEAVE, "b", 1, 35);
                expect_step(t, STEP_LEAVE, "a", 0, 1462);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_SIBLING), 1);
                ck_assert_uint_eq(n_remarks(t, TEXT_TIME_IMPOSSIBLE), 0);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 0);
        }
END_TEST

START_TEST(times_follow_from_durations)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)               |  a() {\n"
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
END_TEST

START_TEST(times_of_longer_calls_than_there_are_stay_in_order)
        {
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
END_TEST

START_TEST(a_change_of_tasks_names_the_one_before)
        {
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
END_TEST

START_TEST(a_task_that_migrates_keeps_its_calls)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)     cat-1      |               |  a() {\n"
                                      " 1)     bash-2     |               |  b() {\n"
                                      " 1)     cat-1      |   1.000 us    |  }\n"
                                      " 0)     bash-2     |   2.000 us    |  }\n");

                expect_step(t, STEP_ENTER, "a", 0, 0);
                expect_step(t, STEP_ENTER, "b", 0, 0);
                expect_step(t, STEP_LEAVE, "a", 0, 1000);
                expect_step(t, STEP_LEAVE, "b", 0, 2000);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 0);
        }
END_TEST

START_TEST(the_idle_tasks_of_two_cpus_are_two)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)    <idle>-0    |               |  a() {\n"
                                      " 1)    <idle>-0    |               |  b() {\n"
                                      " 0)    <idle>-0    |   1.000 us    |  }\n"
                                      " 1)    <idle>-0    |   2.000 us    |  }\n");

                expect_step(t, STEP_ENTER, "a", 0, 0);
                expect_step(t, STEP_ENTER, "b", 0, 0);
                expect_step(t, STEP_LEAVE, "a", 0, 1000);
                expect_step(t, STEP_LEAVE, "b", 0, 2000);
        }
END_TEST

/* It has its parent's name, and none of the calls that were open in the parent. */
START_TEST(a_child_that_was_forked_has_calls_of_its_own)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)     sh-10      |               |  kernel_clone() {\n"
                                      " 0)     sh-11      |               |  schedule_tail() {\n"
                                      " 0)     sh-11      |   0.100 us    |    finish();\n"
                                      " 0)     sh-10      |   9.000 us    |  }\n"
                                      " 0)     sh-11      |   1.000 us    |  }\n");

                expect_step(t, STEP_ENTER, "kernel_clone", 0, 0);
                expect_step(t, STEP_ENTER, "schedule_tail", 0, 0);
                expect_step(t, STEP_LEAF, "finish", 1, 100);
                expect_step(t, STEP_LEAVE, "kernel_clone", 0, 9000);
                expect_step(t, STEP_LEAVE, "schedule_tail", 0, 1000);
                expect_end(t);
                ck_assert_uint_eq(text_trace_count(t)->n_roots, 2);
                ck_assert_uint_eq(n_remarks(t, TEXT_RETURN_UNMATCHED), 0);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 0);
        }
END_TEST

/* The function that is jumped to returns for both, at one moment. */
START_TEST(a_tail_call_ends_with_its_caller)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text("    1.000000 |   0)               |  a() {\n"
                                      "    1.000001 |   0)               |    b() {\n"
                                      "    1.000002 |   0)   0.500 us    |      c();\n"
                                      "    1.000005 |   0)   4.000 us    |    }\n"
                                      "    1.000005 |   0)   5.000 us    |  }\n"
                                      "    1.000006 |   0)   0.500 us    |  d();\n");
                Step b, a;

                for (int i = 0; i < 3; i++)
                        (void) next(t);
                b = next(t);
                ck_assert_str_eq(b.function->label, "b");
                a = next(t);
                ck_assert_str_eq(a.function->label, "a");
                ck_assert_uint_eq(a.timestamp_ns, b.timestamp_ns);
                expect_step(t, STEP_LEAF, "d", 0, 500);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_TIME_IMPOSSIBLE), 0);
        }
END_TEST

START_TEST(cpus_of_two_and_three_digits_have_one_column)
        {
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
                        expect_step(t, STEP_LEAVE, "a", 0, 1000);
                        expect_end(t);
                        ck_assert_uint_eq(text_trace_layout(t)->columns.n_cpu_digits, 2 + i);
                        ck_assert_uint_eq(n_remarks(t, TEXT_COLUMNS_CHANGED), 0);
                }
        }
END_TEST

START_TEST(calls_without_durations_are_calls)
        {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(" 0) a() {\n"
                                                                         " 0)   b();\n"
                                                                         " 0)   c() {\n"
                                                                         " 0)   }\n"
                                                                         " 0) }\n");

                expect_step(t, STEP_ENTER, "a", 0, 0);
                expect_step(t, STEP_LEAF, "b", 1, 0);
                expect_step(t, STEP_ENTER, "c", 1, 0);
                expect_step(t, STEP_LEAVE, "c", 1, 0);
                expect_step(t, STEP_LEAVE, "a", 0, 0);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_TIME_IMPOSSIBLE), 0);
        }
END_TEST

START_TEST(recursion_is_told_apart_by_depth)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)               |  a() {\n"
                                      " 0)               |    a() {\n"
                                      " 0)   1.000 us    |    } /* a */\n"
                                      " 0)   3.000 us    |  } /* a */\n");

                for (int i = 0; i < 2; i++)
                        (void) next(t);
                expect_step(t, STEP_LEAVE, "a", 1, 1000);
                expect_step(t, STEP_LEAVE, "a", 0, 3000);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_RETURN_UNMATCHED), 0);
        }
END_TEST

START_TEST(what_the_ends_cut_off_is_counted)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)   5.000 us    |      } /* c */\n"
                                      " 0)   9.000 us    |    }\n"
                                      " 0)               |    b() {\n"
                                      " 0)               |      c() {\n");

                expect_step(t, STEP_LEAVE, "c", 2, 5000);
                expect_step(t, STEP_LEAVE, "?", 1, 9000);
                expect_step(t, STEP_ENTER, "b", 1, 0);
                expect_step(t, STEP_ENTER, "c", 2, 0);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_RETURN_CUT), 2);
                ck_assert_uint_eq(text_trace_count(t)->n_cut_calls, 2);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 0);
        }
END_TEST

START_TEST(what_is_missing_after_a_loss_is_remarked)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)               |  a() {\n"
                                      " 0)               |    b() {\n"
                                      "CPU:0 [LOST 12 EVENTS]\n"
                                      " 0)   0.010 us    |      } /* c */\n"
                                      " 0)   9.000 us    |  }\n"
                                      " 0)               |  a() {\n"
                                      " 0)   0.010 us    |      d();\n"
                                      " 0)   0.005 us    |  }\n");
                Step s;

                (void) next(t);
                (void) next(t);
                s = next(t);
                ck_assert_int_eq(s.kind, STEP_LOST);
                ck_assert_uint_eq(s.n_lost, 12);
                while (text_trace_next(t, &s) > 0)
                        ;
                ck_assert_uint_eq(text_trace_count(t)->n_lost, 12);
                ck_assert_uint_eq(n_remarks(t, TEXT_RETURN_UNMATCHED), 1);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 1);
                ck_assert_uint_eq(n_remarks(t, TEXT_LEVEL_MISSING), 1);
                ck_assert_uint_eq(n_remarks(t, TEXT_TIME_IMPOSSIBLE), 1);
        }
END_TEST

START_TEST(markers_of_interrupts_belong_to_the_call_beside_them)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)   ==========> |\n"
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
END_TEST

START_TEST(talk_is_skipped_and_damage_named)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text("# ./funcgraph a\n"
                                      "Tracing \"a\"... Ctrl-C to end.\n"
                                      " 0)   0.010 us    |  a();\n"
                                      " 0)   0.0x0 us    |  a();\n"
                                      " 0)   0.010 us    |  a();\n"
                                      "^C\n"
                                      "Ending tracing...\n"
                                      " 0)   0.010 us");
                const TextNote *notes;
                size_t n;

                expect_step(t, STEP_LEAF, "a", 0, 10);
                expect_step(t, STEP_LEAF, "a", 0, 10);
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_NOT_TRACE), 4);
                ck_assert_uint_eq(n_remarks(t, TEXT_DAMAGED), 2);
                notes = text_trace_notes(t, &n);
                ck_assert_uint_eq(n, 6);
                ck_assert_uint_eq(notes[2].line, 4);
                ck_assert_str_eq(notes[2].text, "its duration is not a number");
                ck_assert_uint_eq(notes[5].line, 8);
                ck_assert_str_eq(notes[5].text, "the text ends in the middle of it");
        }
END_TEST

START_TEST(damage_is_the_end_for_who_wants_that)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text(" 0)   0.010 us    |  a();\n"
                                      " 0)   0.0x0 us    |  a();\n");
                Step s;

                text_trace_keep_going(t, false);
                (void) next(t);
                ck_assert_int_eq(text_trace_next(t, &s), TEXT_TRACE_E_DAMAGED);
        }
END_TEST

START_TEST(a_file_without_a_trace_is_refused)
        {
                static const char zeros[300000];
                static const struct {
                        const char *text;
                        size_t n;
                } cases[] = { { "", 0 },
                              { "hello\nworld\n", 12 },
                              { zeros, sizeof(zeros) },
                              { " 0)   0.0", 9 } };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_(text_trace_freep) TextTrace *t = NULL;

                        ck_assert_int_eq(
                                text_trace_take_fd(&t, fd_of_text(cases[i].text, cases[i].n), 1),
                                TEXT_TRACE_E_FOREIGN);
                        ck_assert_ptr_nonnull(t);
                }
        }
END_TEST

START_TEST(threads_of_an_indented_text_have_their_own_times)
        {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text("     0 a(1): -> f\n"
                                                                         "     5 a(1):  -> g\n"
                                                                         "     0 b(2): -> f\n"
                                                                         "     9 a(1):  <- g\n"
                                                                         "     3 b(2): <- f\n"
                                                                         "    12 a(1): <- f\n"
                                                                         "     0 a(1): -> f\n"
                                                                         "     1 a(1): <- f\n");

                expect_step(t, STEP_ENTER, "f", 0, 0);
                expect_step(t, STEP_ENTER, "g", 1, 0);
                expect_step(t, STEP_ENTER, "f", 0, 0);
                expect_step(t, STEP_LEAVE, "g", 1, 4000);
                expect_step(t, STEP_LEAVE, "f", 0, 3000);
                expect_step(t, STEP_LEAVE, "f", 0, 12000);
                ck_assert_uint_eq(next(t).timestamp_ns, 12000);
                expect_step(t, STEP_LEAVE, "f", 0, 1000);
                ck_assert_uint_eq(text_trace_count(t)->n_roots, 3);
        }
END_TEST

/* thread_indent() counts to -1 there, and calls below stand one level too high from then on. */
START_TEST(an_unmatched_return_does_not_spoil_what_follows)
        {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text("     0 a(1): <- x\n"
                                                                         "     7 a(1): -> f\n"
                                                                         "     0 a(1): -> g\n"
                                                                         "     2 a(1): <- g\n"
                                                                         "     0 a(1): <- f\n");

                expect_step(t, STEP_LEAVE, "x", 0, 0);
                expect_step(t, STEP_ENTER, "f", 0, 0);
                expect_step(t, STEP_ENTER, "g", 1, 0);
                expect_step(t, STEP_LEAVE, "g", 1, 2000);
                expect_step(t, STEP_LEAVE, "f", 0, 2000); /* at least */
                expect_end(t);
                ck_assert_uint_eq(n_remarks(t, TEXT_RETURN_CUT), 1);
                ck_assert_uint_eq(n_remarks(t, TEXT_CALL_UNMATCHED), 0);
        }
END_TEST

START_TEST(a_text_that_is_not_indented_is_nested_by_its_arrows)
        {
                _cleanup_(text_trace_freep) TextTrace *t =
                        trace_of_text("0 ftp(7223): -> sys_socketcall\n"
                                      "10 ftp(7223): -> sys_socket\n"
                                      "90 ftp(7223): <- sys_socket\n"
                                      "100 ftp(7223): <- sys_socketcall\n");

                expect_step(t, STEP_ENTER, "sys_socketcall", 0, 0);
                expect_step(t, STEP_ENTER, "sys_socket", 1, 0);
                expect_step(t, STEP_LEAVE, "sys_socket", 1, 80000);
                expect_step(t, STEP_LEAVE, "sys_socketcall", 0, 100000);
                expect_end(t);
                ck_assert_uint_eq(text_trace_count(t)->n_roots, 1);
        }
END_TEST

/* Whichever thread has calls inside calls, and however late. */
START_TEST(blanks_may_be_lost_of_an_indented_text)
        {
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
                        expect_step(t, STEP_ENTER, "sys_socketcall", 0, 0);
                        expect_step(t, STEP_ENTER, "sys_socket", 1, 0);
                        expect_step(t, STEP_ENTER, "x", 0, 0);
                        expect_step(t, STEP_LEAVE, "x", 0, 5000);
                        expect_step(t, STEP_LEAVE, "sys_socket", 1, 80000);
                        expect_step(t, STEP_LEAVE, "sys_socketcall", 0, 100000);
                        expect_end(t);
                }
        }
END_TEST

START_TEST(events_and_losses_of_trace_cmd_stay_where_they_are)
        {
                _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(
                        "cpus=2\n"
                        "     a-1     [000]    1.000001: funcgraph_entry:                   |  f() "
                        "{\n"
                        "     a-1     [000]    1.000002: sched_wakeup:         b:2 [120]\n"
                        "CPU:0 [12 EVENTS DROPPED]\n"
                        "     a-1     [000]    1.000009: funcgraph_exit:         7.001 us   |  "
                        "}\n");
                Step s;

                expect_step(t, STEP_ENTER, "f", 0, 0);
                s = next(t);
                ck_assert_int_eq(s.kind, STEP_OTHER);
                ck_assert_str_eq(s.text, "sched_wakeup: b:2 [120]");
                ck_assert_uint_eq(s.timestamp_ns, 1000002000);
                s = next(t);
                ck_assert_int_eq(s.kind, STEP_LOST);
                ck_assert_uint_eq(s.n_lost, 12);
                expect_step(t, STEP_LEAVE, "f", 0, 7001);
                expect_end(t);
                ck_assert_int_eq(text_trace_layout(t)->kind, TEXT_EVENTS);
        }
END_TEST

UNIT_SUITE("text-trace", a_text_that_is_not_indented_is_nested_by_its_arrows,
           blanks_may_be_lost_of_an_indented_text,
           events_and_losses_of_trace_cmd_stay_where_they_are,
           a_child_that_was_forked_has_calls_of_its_own, a_tail_call_ends_with_its_caller,
           cpus_of_two_and_three_digits_have_one_column, calls_without_durations_are_calls,
           a_bare_brace_is_its_calls_return, an_interrupt_before_a_late_return_is_a_sibling,
           times_follow_from_durations, times_of_longer_calls_than_there_are_stay_in_order,
           a_change_of_tasks_names_the_one_before, a_task_that_migrates_keeps_its_calls,
           the_idle_tasks_of_two_cpus_are_two, recursion_is_told_apart_by_depth,
           what_the_ends_cut_off_is_counted, what_is_missing_after_a_loss_is_remarked,
           markers_of_interrupts_belong_to_the_call_beside_them, talk_is_skipped_and_damage_named,
           damage_is_the_end_for_who_wants_that, a_file_without_a_trace_is_refused,
           threads_of_an_indented_text_have_their_own_times,
           an_unmatched_return_does_not_spoil_what_follows)
