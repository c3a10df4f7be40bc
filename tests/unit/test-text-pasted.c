/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a text has lost on its way does not make other calls of it. */

#include "text-file.h"

/* "0:a{ 1:b 890; 0:}a 900; " of the first trace; the caller frees it. */
static char *calls_of(const char *text, TextTrace **ret) {
        _cleanup_buf_ Buf out = BUF_INIT;
        TextTrace *t = NULL;
        char *calls;
        Step s;

        if (text_trace_take_fd(&t, fd_of_text(text, strlen(text)), 1) == 0) {
                text_trace_keep_going(t, true);
                while (text_trace_next(t, &s) > 0) {
                        if (!s.function)
                                continue;
                        buf_printf(&out, "%d:%s%s", (int) s.depth, s.kind == STEP_LEAVE ? "}" : "",
                                   s.function->label);
                        if (s.kind == STEP_ENTER)
                                buf_adds(&out, "{ ");
                        else
                                buf_printf(&out, " %llu; ",
                                           (unsigned long long) step_duration_ns(&s));
                }
        } else
                buf_adds(&out, "no trace");
        ck_assert_int_eq(buf_take_string(&out, &calls), 0);
        *ret = t;
        return calls;
}

static void expect_calls(const char *text, TextKind kind, const char *expected) {
        _cleanup_free_ char *calls = NULL;
        TextTrace *t;

        calls = calls_of(text, &t);
        ck_assert_msg(streq(calls, expected), "%s is: %s\nand not: %s", text, calls, expected);
        ck_assert_int_eq(text_trace_layout(t)->kind, kind);
        ck_assert_uint_eq(text_trace_count(t)->n_traces, 1);
        text_trace_free(t);
}

TEST(a_report_without_its_blanks_is_no_other_tracers) {
        expect_calls("cat-412 [001] 10.000001: funcgraph_entry: | f() {\n"
                     "cat-412 [001] 10.000002: funcgraph_entry: | g() {\n"
                     "cat-412 [001] 10.000003: funcgraph_entry: 1.302 us | h();\n"
                     "cat-412 [001] 10.000005: funcgraph_exit: 3.100 us | }\n"
                     "cat-412 [001] 10.000006: funcgraph_entry: + 12.302 us | i();\n"
                     "cat-412 [001] 10.000020: funcgraph_exit: + 19.000 us | } /* f */\n",
                     TEXT_EVENTS, "0:f{ 1:g{ 2:h 1302; 1:}g 3100; 1:i 12302; 0:}f 19000; ");
        expect_calls("cat-412 [001] 10.000001: funcgraph_entry: --> f (0)\n"
                     "cat-412 [001] 10.000002: funcgraph_exit: <-- f (0) "
                     "(start: a105 end: a106) over: 0\n",
                     TEXT_EVENTS, "0:f 1; ");
}

/* Behind it no line of the trace follows. */
TEST(a_word_behind_the_longest_line_is_no_part_of_it) {
        expect_calls("     0 client(16140): -> a_function_with_a_name_that_is_long\n"
                     "    10 client(16140): <- a_function_with_a_name_that_is_long\n"
                     "Thanks\n",
                     TEXT_INDENT,
                     "0:a_function_with_a_name_that_is_long{ "
                     "0:}a_function_with_a_name_that_is_long 10000; ");
}

/* Where tail -c, or a window's edge, has cut. */
TEST(a_torn_first_line_is_no_trace_of_its_own) {
        static const struct {
                TextKind kind;
                const char *line, *behind, *calls;
        } texts[] = {
                { TEXT_GRAPH, "10.000001 |   0)   1.000 us    |  a();\n",
                  "  5410.000002 |   0)   1.000 us    |  b();\n"
                  "  5410.000004 |   0)   2.000 us    |  c();\n",
                  "0:b 1000; 0:c 2000; " },
                { TEXT_GRAPH, "  5410.000001 |   1)  cat-412  |   1.000 us    |  a();\n",
                  "  5410.000002 |   0)  cat-411  |   1.000 us    |  b();\n"
                  "  5410.000004 |   0)  cat-411  |   2.000 us    |  c();\n",
                  "0:b 1000; 0:c 2000; " },
                { TEXT_EVENTS, "cat-412 [001] 10.01: funcgraph_entry: 1.000 us |  a();\n",
                  "cat-412 [001] 10.02: funcgraph_entry: 1.000 us |  b();\n"
                  "cat-412 [001] 10.03: funcgraph_entry: 2.000 us |  c();\n",
                  "0:b 1000; 0:c 2000; " },
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                for (const char *p = texts[i].line + 1; *p; p++) {
                        _cleanup_free_ char *text = NULL, *calls = NULL;
                        const char *rest;
                        TextTrace *t;

                        ck_assert(asprintf(&text, "%s%s", p, texts[i].behind) > 0);
                        calls = calls_of(text, &t);
                        rest = strstr(calls, texts[i].calls);
                        ck_assert_msg(rest && streq(rest, texts[i].calls), "%s is: %s", text,
                                      calls);
                        ck_assert_int_eq(text_trace_layout(t)->kind, texts[i].kind);
                        ck_assert_uint_eq(text_trace_count(t)->n_traces, 1);
                        text_trace_free(t);
                }
}

/* Whatever somebody has put there, and in whatever language: nobody knows what it stands for. */
TEST(what_stands_amid_a_trace_cuts_what_is_open) {
        static const char *const gaps[] = {
                "```\n\nand at the end of another one:\n\n```\n",
                "[...]\n",
                "...\n",
                "\xe2\x80\xa6\n",
                "\xef\xbc\x88\xe4\xb8\xad\xe7\x95\xa5\xef\xbc\x89\n",
                "-- schnipp --\n",
                "~~~\n",
                "#\n",
                "    ^^^ this is slow\n",
                " 0)   ...\n",
                " 0)               |      [...]\n",
                " 0)               |      /* ... */\n",
                "\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(gaps); i++) {
                _cleanup_free_ char *text = NULL, *calls = NULL;
                TextTrace *t;

                ck_assert(asprintf(&text,
                                   " 0)               |  f_a() {\n"
                                   " 0)               |    f_b() {\n"
                                   " 0)   1.000 us    |      f_c();\n"
                                   "%s"
                                   " 0)   5.000 us    |      f_d();\n"
                                   " 0)   7.000 us    |    } /* f_b */\n"
                                   " 0) + 20.000 us   |  }\n",
                                   gaps[i]) > 0);
                calls = calls_of(text, &t);
                ck_assert_msg(streq(calls, "0:f_a{ 1:f_b{ 2:f_c 1000; "
                                           "2:f_d 5000; 1:}f_b 7000; 0:}? 20000; "),
                              "%s is: %s", text, calls);
                ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_GAP], 1);
                ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_RETURN_CUT], 2);
                ck_assert_uint_eq(text_trace_count(t)->n_cut_calls, 2);
                text_trace_free(t);
        }
}

TEST(a_gap_is_a_step_that_cuts_all) {
        TextTrace *t = trace_of_text("     0 a(1): -> f\n"
                                     "(mehr)\n"
                                     "    10 a(1): <- f\n"
                                     "(Ende)\n");
        Step s;

        ck_assert_int_eq(text_trace_next(t, &s), 1);
        ck_assert(s.kind == STEP_ENTER && !step_cuts_all(&s));
        ck_assert_int_eq(text_trace_next(t, &s), 1);
        ck_assert(step_cuts_all(&s));
        ck_assert_int_eq(text_trace_next(t, &s), 1);
        ck_assert(s.kind == STEP_LEAVE && s.said->untimed);
        ck_assert_int_eq(text_trace_next(t, &s), 0);
        text_trace_free(t);
}

TEST(what_is_double_spaced_has_no_gaps) {
        TextTrace *t;
        _cleanup_free_ char *calls = calls_of(" 0)               |  f() {\n\n"
                                              " 0)   1.000 us    |    g();\n\n"
                                              " 0)   3.000 us    |  }\n\n",
                                              &t);

        ck_assert_str_eq(calls, "0:f{ 1:g 1000; 0:}f 3000; ");
        ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_GAP], 0);
        text_trace_free(t);
}

/* "0) f() {" is an item of a list, and Markdown counts on. */
TEST(cpus_that_are_a_lists_numbers_are_none) {
        static const char list[] = "2)               |  f() {\n"
                                   "3)               |    g() {\n"
                                   "4)   1.000 us    |      h();\n"
                                   "5)   2.000 us    |    }\n"
                                   "6)   4.000 us    |    i();\n"
                                   "7) + 10.000 us   |  }\n";
        TextTrace *t = trace_of_text(list);
        Step s;

        while (text_trace_next(t, &s) > 0)
                ck_assert_uint_eq(s.cpu, 2);
        ck_assert_ptr_nonnull(text_trace_envelope(t));
        text_trace_free(t);
        expect_calls(list, TEXT_GRAPH, "0:f{ 1:g{ 2:h 1000; 1:}g 2000; 1:i 4000; 0:}f 10000; ");

        /* CPUs that happen to follow each other do other things. */
        t = trace_of_text(" 0)   1.000 us    |  f();\n"
                          " 1)   1.000 us    |    g();\n"
                          " 2)   1.000 us    |  f();\n"
                          " 3)   1.000 us    |      h();\n");
        for (uint32_t cpu = 0; text_trace_next(t, &s) > 0; cpu++)
                ck_assert_uint_eq(s.cpu, cpu);
        text_trace_free(t);
}

TEST(a_comment_names_what_is_open_or_nothing) {
        static const struct {
                const char *note, *calls;
        } texts[] = {
                { "", "0:f{ 1:g 1000; 0:}f 9000; " },
                { "   /* note */", "0:f{ 1:g 1000; 0:}f 9000; " },
                { " /* note */", "0:f{ 1:g 1000; 0:}f 9000; " },
                { " /* this is slow */", "0:f{ 1:g 1000; 0:}f 9000; " },
                { "  /*slow*/", "0:f{ 1:g 1000; 0:}f 9000; " },
                { "   <-- note", "0:f{ 1:g 1000; 0:}f 9000; " },
        };
        _cleanup_free_ char *other = NULL;
        TextTrace *t;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_free_ char *text = NULL;

                ck_assert(asprintf(&text,
                                   " 0)               |  f() {%s\n"
                                   " 0)   1.000 us    |    g();%s\n"
                                   " 0)   9.000 us    |  }%s\n",
                                   texts[i].note, texts[i].note, texts[i].note) > 0);
                expect_calls(text, TEXT_GRAPH, texts[i].calls);
        }
        /* The kernel's names are believed. */
        other = calls_of(" 0)               |  f() {\n"
                         " 0)   1.000 us    |    g();\n"
                         " 0)   9.000 us    |  } /* h */\n",
                         &t);
        ck_assert_str_eq(other, "0:f{ 1:g 1000; 0:}h 9000; ");
        text_trace_free(t);
}

TEST(a_tasks_column_may_be_changed) {
        static const char *const tasks[] = {
                " myprogram-42    ", "  kworker/u16:3+events_unbound-4242  ",
                " cat-<pid>    ",    "  cat-XXXX     ",
                " ping-123    ",
        };

        for (size_t i = 0; i < ELEMENTSOF(tasks); i++) {
                _cleanup_free_ char *text = NULL;

                ck_assert(asprintf(&text,
                                   " 0) %s|               |  f() {\n"
                                   " 0) %s|   1.250 us    |    g();\n"
                                   " 0) %s|   4.500 us    |  }\n",
                                   tasks[i], tasks[i], tasks[i]) > 0);
                expect_calls(text, TEXT_GRAPH, "0:f{ 1:g 1250; 0:}f 4500; ");
        }
        /* Of two names on one CPU none is the other's. */
        expect_calls(" 0)  cat-XXXX     |               |  f() {\n"
                     " 0)  dog-XXXX     |   1.250 us    |  g();\n"
                     " 0)  cat-XXXX     |   1.250 us    |    h();\n"
                     " 0)  cat-XXXX     |   4.500 us    |  }\n",
                     TEXT_GRAPH, "0:f{ 0:g 1250; 1:h 1250; 0:}f 4500; ");
}

TEST(where_a_blank_is_missing_braces_tell_the_depth) {
        expect_calls(" 0)               | f() {\n"
                     " 0)   1.000 us    |   g();\n"
                     " 0)               |   h() {\n"
                     " 0)   0.500 us    |     i();\n"
                     " 0)   1.500 us    |   }\n"
                     " 0)   9.000 us    | }\n",
                     TEXT_GRAPH, "0:f{ 1:g 1000; 1:h{ 2:i 500; 1:}h 1500; 0:}f 9000; ");
}

/* It is not cut off by the text's end: another call shows that it is over. */
TEST(a_call_whose_return_is_left_out_lacks_it) {
        TextTrace *t;
        _cleanup_free_ char *calls =
                calls_of("a-1 [000] 1.000000: funcgraph_entry:            |  f() {\n"
                         "a-1 [000] 2.000000: funcgraph_entry:            |  g() {\n"
                         "a-1 [000] 3.000000: funcgraph_entry:   1.000 us |    h();\n"
                         "a-1 [000] 3.000010: funcgraph_exit:  ! 1000010.000 us |  }\n",
                         &t);

        ck_assert_str_eq(calls, "0:f{ 0:g{ 1:h 1000; 0:}g 1000010000; ");
        ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_CALL_UNMATCHED], 1);
        ck_assert_uint_eq(text_trace_count(t)->n_cut_calls, 0);
        text_trace_free(t);
}
