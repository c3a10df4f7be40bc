/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a text has lost on its way does not make other calls of it. */

#include "base/buf.h"
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
