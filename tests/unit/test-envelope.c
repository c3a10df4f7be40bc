/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One trace, put into whatever texts come in, is the same trace when it is read. */

#include "import/text-private.h"
#include "text-file.h"

#define N_STEPS 4

/* What every text below is of. */
static const struct {
        StepKind kind;
        const char *label;
        int32_t depth;
        uint64_t duration_ns;
} steps[N_STEPS] = {
        { STEP_ENTER, "a", 0, 0 },
        { STEP_LEAF, "b [m]", 1, 890 },
        { STEP_LEAF, "c", 1, 12500 },
        { STEP_LEAVE, "a", 0, 15270 },
};

static const char *const plain[N_STEPS] = {
        " 3)               |  a() {",
        " 3)   0.890 us    |    b [m]();",
        " 3) + 12.500 us   |    c(); /* ret=0x0 */",
        " 3) + 15.270 us   |  }",
};

static void expect_steps(const char *what, const char *text) {
        _cleanup_(text_trace_freep) TextTrace *t = NULL;
        int fd = fd_of_text(text, strlen(text));
        Step s;

        ck_assert_msg(text_trace_take_fd(&t, fd, 1) == 0, "%s: no trace in: %s", what, text);
        for (size_t i = 0; i < N_STEPS; i++) {
                ck_assert_msg(text_trace_next(t, &s) == 1, "%s: step %zu of: %s", what, i, text);
                ck_assert_msg(s.kind == steps[i].kind && s.depth == steps[i].depth && s.cpu == 3 &&
                                      streq(s.function->label, steps[i].label),
                              "%s: step %zu of: %s", what, i, text);
                if (s.kind != STEP_ENTER)
                        ck_assert_uint_eq(step_duration_ns(&s), steps[i].duration_ns);
        }
        ck_assert_int_eq(text_trace_next(t, &s), 0);
        ck_assert_msg(text_trace_count(t)->n_remarks[TEXT_DAMAGED] == 0, "%s: damage in: %s", what,
                      text);
        ck_assert_msg(text_trace_count(t)->n_remarks[TEXT_NOT_TRACE] == 0, "%s: talk in: %s", what,
                      text);
}

/* Each line with @before and @behind; the caller frees it. */
static char *wrap(const char *text, const char *before, const char *behind) {
        _cleanup_buf_ Buf out = BUF_INIT;

        while (*text) {
                const char *end = strchrnul(text, '\n');

                buf_adds(&out, before);
                buf_add(&out, text, (size_t) (end - text));
                buf_adds(&out, behind);
                buf_adds(&out, "\n");
                text = *end ? end + 1 : end;
        }
        return TEXT_OF(out);
}

static char *encode(const char *text, const char *const pairs[][2], size_t n_pairs) {
        _cleanup_buf_ Buf out = BUF_INIT;

        while (*text) {
                size_t i = 0;

                while (i < n_pairs && !startswith(text, pairs[i][0]))
                        i++;
                buf_add(&out, i < n_pairs ? pairs[i][1] : text,
                        i < n_pairs ? strlen(pairs[i][1]) : 1);
                text += i < n_pairs ? strlen(pairs[i][0]) : 1;
        }
        return TEXT_OF(out);
}

static char *plain_text(void) {
        char *text;

        ck_assert_int_gt(
                asprintf(&text, "%s\n%s\n%s\n%s\n", plain[0], plain[1], plain[2], plain[3]), 0);
        return text;
}

static const struct {
        const char *before, *behind;
} wraps[] = {
        { "", "" },
        { "", "\r" },
        { "", "  " },
        { "> ", "" },
        { ">", "" },
        { "> >> ", "" },
        { ">>> > ", "" },
        { "| ", "" },
        { "    ", "" },
        { "            ", "" },
        { "\t", "" },
        { "> \t", "" },
        { "PZ> ", "" },
        { "- ", "" },
        { "+", "" },
        { " * ", "" },
        { "// ", "" },
        { "12: ", "" },
        { "    12\t", "" },
        { "[  210.412454] ", "" },
        { "[12210.412454] ", "" },
        { "<4>[  210.412454] ", "" },
        { "<6>", "" },
        { "[  210.412454][ T1234] ", "" },
        { "[  210.412454][    C3] ", "" },
        { "[Tue Nov 22 18:30:01 2026] ", "" },
        { "[Nov22 18:30] ", "" },
        { "[  +0.000003] ", "" },
        { "[  210.412454 <    0.000012>] ", "" },
        { "[Tue Nov 22 18:30:01 2026 <    0.000012>] ", "" },
        { "[  210.412454 <    0.000012 >] host kernel: ", "" },
        { "1795372201.123456 host kernel: ", "" },
        { "Tue 2026-11-22 18:30:01 UTC host kernel: ", "" },
        { "Nov 22 18:30:01 host kern.warn kernel: [  210.412454] ", "" },
        { "Tue Nov 22 18:30:01 2026 kern.warn kernel: [  210.412454] ", "" },
        { "kern  :warn  : [  210.412454] ", "" },
        { "kern  :warn  : [Tue Nov 22 18:30:01 2026] ", "" },
        { "Nov 22 18:30:01 host kernel: ", "" },
        { "Nov  2 18:30:01 host kernel: [  210.412454] ", "" },
        { "Nov 22 18:30:01.123456 host.example kernel[1]: ", "" },
        { "2026-11-22T18:30:01.123456+00:00 host kernel: [  210.412454] ", "" },
        { "2026-11-22T18:30:01.1234567Z ", "" },
        { "2026-11-22 18:30:01,123 ", "" },
        { "[2026-11-22 18:30:01.123] ", "" },
        { "18:30:01.123 ", "" },
        { "kernel: ", "" },
        { "host kernel: ", "" },
        { "6,1234,210412454,-;", "" },
        { "\033[32m", "\033[0m" },
        { "^[[32m", "^[[0m^M" },
        { "\033[32m[  210.412454] \033[0m", "" },
        { "\xef\xbb\xbf", "" },
};

TEST(a_text_is_what_it_was_before_it_was_wrapped) {
        _cleanup_free_ char *text = plain_text();

        for (size_t i = 0; i < ELEMENTSOF(wraps); i++) {
                _cleanup_free_ char *wrapped = wrap(text, wraps[i].before, wraps[i].behind);

                expect_steps(wraps[i].before, wrapped);
        }
}

/* A log that was quoted, a quotation that was logged. */
TEST(envelopes_are_put_into_envelopes) {
        static const char *const outer[] = { "> ", "    ", "[  210.412454] ", "\t",
                                             "Nov 22 18:30:01 host kernel: " };
        _cleanup_free_ char *text = plain_text();

        for (size_t i = 0; i < ELEMENTSOF(wraps); i++)
                for (size_t k = 0; k < ELEMENTSOF(outer); k++) {
                        _cleanup_free_ char *inner = wrap(text, wraps[i].before, wraps[i].behind);
                        _cleanup_free_ char *wrapped = wrap(inner, outer[k], "\r");

                        expect_steps(wraps[i].before, wrapped);
                }
}

TEST(signs_of_other_alphabets_are_read_as_ascii) {
        static const char *const nbsp[][2] = { { " ", "\xc2\xa0" }, { "|", "\xe2\x94\x82" } };
        static const char *const micro[][2] = { { "u", "\xc2\xb5" } };
        static const char *const before[] = { "", "> ", ">> > ", "[  210.412454] " };

        for (size_t k = 0; k < ELEMENTSOF(before); k++) {
                _cleanup_free_ char *text = plain_text();
                _cleanup_free_ char *wrapped = wrap(text, before[k], "");
                _cleanup_free_ char *blanks = encode(wrapped, nbsp, 2);
                _cleanup_free_ char *units = encode(wrapped, micro, 1);

                expect_steps("no-break", blanks);
                expect_steps("micro", units);
        }
}

/* The first damage of @text, or what it is instead of a trace; nothing of it is read as if it were whole. */
static void expect_refusal(const char *text, const char *name) {
        _cleanup_(text_trace_freep) TextTrace *t = NULL;
        int r = text_trace_take_fd(&t, fd_of_text(text, strlen(text)), 1);
        const ForeignText *foreign;
        const TextNote *notes;
        uint64_t line;
        bool found;
        size_t n;
        Step s;

        while (r == 0 && text_trace_next(t, &s) > 0)
                ;
        notes = text_trace_notes(t, &n);
        found = false;
        for (size_t i = 0; i < n; i++)
                found |= notes[i].remark == TEXT_DAMAGED && strstr(notes[i].text, name);
        ck_assert_msg(found, "%s is not said to be %s", text, name);
        if (r != TEXT_TRACE_E_FOREIGN)
                return;
        foreign = text_trace_foreign(t, &line);
        if (!streq(name, "broken"))
                ck_assert_msg(foreign && streq(foreign->name, name), "%s: not all %s", text, name);
}

TEST(encoded_texts_are_refused_by_their_name) {
        static const char *const html[][2] = {
                { "<", "&lt;" }, { ">", "&gt;" }, { "|", "&#124;" }, { " ", "&nbsp;" }
        };
        static const char *const qp[][2] = { { "=", "=3D" }, { " ", "=20" } };
        static const char *const qp_nbsp[][2] = { { "=", "=3D" }, { " ", "=C2=A0" } };
        static const char *const before[] = { "", "> ", ">> > ", "[  210.412454] " };

        for (size_t k = 0; k < ELEMENTSOF(before); k++) {
                _cleanup_free_ char *text = plain_text();
                _cleanup_free_ char *wrapped = wrap(text, before[k], "");
                _cleanup_free_ char *a = encode(wrapped, html, 4);
                _cleanup_free_ char *b = encode(wrapped, qp, 2);
                _cleanup_free_ char *c = encode(wrapped, qp_nbsp, 2);

                expect_refusal(a, "HTML");
                expect_refusal(b, "quoted-printable");
                expect_refusal(c, "quoted-printable");
        }
        /* Some lines of a text that is otherwise as it was. */
        expect_refusal(" 3)   0.890 us    |  a(); /* ret=3D0x7 */\n", "quoted-printable");
        expect_refusal(" 3)   0.890 us    |  a(x=3D1);\n", "quoted-printable");
        expect_refusal(" 3)   0.890 us    |  a();\n"
                       " 3)    &lt;idle&gt;-0    |   0.811 us    |    b();\n",
                       "HTML");
        expect_refusal("<pre> 3)   0.890 us    |  a();\n 3)   1.000 us    |  b();</pre>\n", "HTML");
}

TEST(broken_lines_are_said_to_be) {
        static const char *const texts[] = {
                /* by a mailer, at a blank; quoted again by the next one */
                " 3)               |  a() {\n 3)   0.890 us    |    b\n[m]();\n",
                " 3) + 12.500 us   |    c(); /*\nret=0x0 */\n 3) + 15.270 us   |  }\n",
                "> 3)               |  a() {\n> 3)   0.890 us    |    b\n> [m]();\n",
                /* by a terminal, anywhere */
                " 3)               |  a() {\n 3)   0.890 us    |    b [m](\n);\n",
                ">>     cat-412 [001] 10.000001: funcgraph_entry:         \n>> |  f() {\n"
                ">>     cat-412 [001] 10.000002: funcgraph_entry: 1.302 us |   g();\n",
                "     0 ftp(7223): -> f\n    10 ftp(7223):  ->\ng\n",
                "     0 ftp(7223): -> a_function_with_a_name_tha\nt_is_long\n"
                "     9 ftp(7223): <- a_function_with_a_name_tha\nt_is_long\n"
                "     0 ftp(7223): -> f\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                expect_refusal(texts[i], "broken");
}

/* A browser, or a mailer, makes one blank of many: braces tell what blanks do not. */
TEST(calls_nest_by_their_braces_where_blanks_are_lost) {
        expect_steps("one blank", "3) | a() {\n3) 0.890 us | b [m]();\n"
                                  "3) + 12.500 us | c(); /* ret=0x0 */\n"
                                  "3) + 15.270 us | }\n");
        expect_steps("some lines", " 3)               |  a() {\n 3)   0.890 us    | b [m]();\n"
                                   " 3) + 12.500 us   |    c();\n"
                                   " 3) + 15.270 us   | }\n");
}

TEST(a_dump_in_a_log_is_read_with_what_is_around_it) {
        static const char text[] =
                "[  210.412001] BUG: kernel NULL pointer dereference, address: 0\n"
                "[  210.412002] Dumping ftrace buffer:\n"
                "[  210.412003] ---------------------------------\n"
                "[  210.412004] CPU:3 [LOST 13 EVENTS]\n"
                "[  210.412004]  3)               |  a() {\n"
                "[  210.412005]  3)   0.890 us    |    b [m]();\n"
                "[  210.412006]  ------------------------------------------\n"
                "[  210.412006]  3)    cat-123     =>     bash-9    \n"
                "[  210.412006]  ------------------------------------------\n"
                "[  210.412006] \n"
                "[  210.412006]  3)   0.890 us    |    c();\n"
                "[  210.412007] ---------------------------------\n"
                "[  210.412008] Modules linked in:\n";
        _cleanup_(text_trace_freep) TextTrace *t = trace_of_text(text);
        unsigned n = 0;
        Step s;

        while (text_trace_next(t, &s) > 0) {
                ck_assert_uint_eq(s.cpu, 3);
                n++;
        }
        ck_assert_uint_eq(n, 5); /* a loss, three calls, and who ran */
        ck_assert_int_eq(s.pid, 9);
        ck_assert_uint_eq(text_trace_count(t)->n_switches, 1);
        ck_assert_uint_eq(text_trace_count(t)->n_lost, 13);
        ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_DAMAGED], 0);
        ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_NOT_TRACE], 5);
}

/* What is no trace does not become one by being unwrapped. */
TEST(prose_lists_and_code_are_no_trace) {
        static const char *const texts[] = {
                "> 1) first item\n> 2) second\n",
                "- 1) do this; then that\n| a | b |\n|---|---|\n| 0.1 us | 2 |\n",
                "#\n# a comment\n#\nint f() {\n        g();\n}\n",
                "[  210.412454] Modules linked in: a(E) b\n[  210.412455]  ? f+0x1/0x2\n",
                "Nov 22 18:30:01 host sshd[12]: Accepted\n",
                "It took 100 us:\n100 us: f();\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_(text_trace_freep) TextTrace *t = NULL;
                int r = text_trace_take_fd(&t, fd_of_text(texts[i], strlen(texts[i])), 1);

                ck_assert_msg(r == TEXT_TRACE_E_FOREIGN, "%s", texts[i]);
                ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_DAMAGED], 0);
        }
}

/* Of each other kind one text: spelled leaves, and what is nested by arrows alone, need a look at the
 * next lines. */
static const char *const others[] = {
        "cpus=4\n     cat-412     [001]    10.000001: funcgraph_entry:                   |  f() {\n"
        "     cat-412     [001]    10.000002: funcgraph_entry:        1.302 us   |    g();\n"
        "     cat-412     [001]    10.000004: funcgraph_exit:         3.100 us   |  }\n",
        "     cat-412     [001]    10.000001: funcgraph_entry:      --> f (0)\n"
        "     cat-412     [001]    10.000002: funcgraph_entry:      --> g (1)\n"
        "     cat-412     [001]    10.000004: funcgraph_exit:       <-- g (1) (start: 10  end: 18) "
        "over: 0\n"
        "     cat-412     [001]    10.000005: funcgraph_exit:       <-- f (0) (start: 1  end: 20) "
        "over: 0\n",
        "     0 ftp(7223): -> f\n    10 ftp(7223):  -> g\n    90 ftp(7223):  <- g\n"
        "   100 ftp(7223): <- f\n",
        "     0 ftp(7223): -> f\n    10 ftp(7223): -> g\n    90 ftp(7223): <- g\n"
        "   100 ftp(7223): <- f\n",
};

static TextTrace *open_text(const char *text) {
        TextTrace *t = NULL;
        int fd = fd_of_text(text, strlen(text));

        ck_assert_msg(text_trace_take_fd(&t, fd, 1) == 0, "no trace in: %s", text);
        return t;
}

/* The same calls as in @plain are in @wrapped. */
static void expect_same(const char *plain_text, const char *wrapped) {
        _cleanup_(text_trace_freep) TextTrace *a = open_text(plain_text), *b = open_text(wrapped);
        Step s, t;
        int r;

        while ((r = text_trace_next(a, &s)) > 0) {
                ck_assert_msg(text_trace_next(b, &t) > 0, "fewer steps in: %s", wrapped);
                ck_assert_msg(s.kind == t.kind && s.depth == t.depth && s.pid == t.pid &&
                                      s.cpu == t.cpu && streq(s.function->label, t.function->label),
                              "another step in: %s", wrapped);
                if (s.kind != STEP_ENTER)
                        ck_assert_uint_eq(step_duration_ns(&s), step_duration_ns(&t));
        }
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(text_trace_next(b, &t), 0);
        ck_assert_uint_eq(text_trace_count(b)->n_remarks[TEXT_DAMAGED], 0);
}

TEST(every_kind_is_read_out_of_envelopes) {
        static const char *const before[] = {
                "> ",
                ">> ",
                "[  210.412454] ",
                "Nov 22 18:30:01 host kernel: ",
                "> [  210.412454] ",
                "<4>[  210.412454] ",
        };

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                for (size_t k = 0; k < ELEMENTSOF(before); k++) {
                        _cleanup_free_ char *wrapped = wrap(others[i], before[k], "\r");

                        expect_same(others[i], wrapped);
                }
}

TEST(a_blank_that_is_none_hides_no_field) {
        static const char *const blanks[][2] = { { "  ", "\xc2\xa0 " } };

        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                _cleanup_free_ char *nbsp = encode(others[i], blanks, 1);

                expect_same(others[i], nbsp);
        }
}

TEST(thread_indent_is_read_behind_weak_signs_and_logs) {
        static const char *const before[] = {
                "+",
                "# ",
                " * ",
                "| ",
                ": ",
                "12:",
                "    12\t",
                "2026-11-22T10:42:03.1Z ",
                "2026-11-22 10:42:03 ",
                "[pod/x-1/c] ",
        };
        static const char unpadded[] = "0 ftp(7223): -> f\n10 ftp(7223):  -> g\n"
                                       "90 ftp(7223):  <- g\n100 ftp(7223): <- f\n";
        const size_t n_weak = 7;

        for (size_t k = 0; k < ELEMENTSOF(before); k++) {
                _cleanup_free_ char *nested = wrap(others[2], before[k], "");
                _cleanup_free_ char *other = wrap(k < n_weak ? others[3] : unpadded, before[k], "");

                expect_same(others[2], nested);
                expect_same(others[k < n_weak ? 3 : 2], other);
        }
}

TEST(zeros_behind_a_text_are_none_of_it) {
        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                for (size_t n = 0; n < 2; n++) {
                        size_t n_text = strlen(others[i]) - n;
                        char bytes[1024] = {};
                        TextTrace *t;
                        Step s;

                        memcpy(bytes, others[i], n_text);
                        ck_assert_int_eq(text_trace_take_fd(&t, fd_of_text(bytes, n_text + 100), 1),
                                         0);
                        while (text_trace_next(t, &s) > 0)
                                ;
                        ck_assert_uint_eq(text_trace_count(t)->n_remarks[TEXT_DAMAGED], 0);
                        text_trace_free(t);
                }
}

/* Numbers are not guessed: of lines, of tabs; nor are names. */
TEST(what_could_be_two_things_is_damage) {
        static const char *const lines[] = {
                "     5 10 ftp(7223): -> g\n",
                "     5 ftp(7223):\t-> g\n",
                "     5 ftp(7223): -> groot@host:/sys#\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                _cleanup_free_ char *text = NULL;
                TextTrace *t;
                Step s;

                ck_assert(asprintf(&text, "     0 ftp(7223): -> f\n%s     9 ftp(7223): <- f\n",
                                   lines[i]) > 0);
                t = open_text(text);
                text_trace_keep_going(t, true);
                while (text_trace_next(t, &s) > 0)
                        ck_assert_msg(streq(s.function->label, "f"), "%s", text);
                ck_assert_msg(text_trace_count(t)->n_remarks[TEXT_DAMAGED] == 1, "%s", text);
                text_trace_free(t);
        }
}
