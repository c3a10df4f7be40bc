/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/tracefs/control.h"
#include "scratch.h"

static void expect(const Scratch *s, const char *file, const char *text, const char *value) {
        _cleanup_free_ char *now = NULL;

        ck_assert_int_eq(file_replace(s->fd, file, text, strlen(text), 0600), 0);
        ck_assert_int_eq(control_read(s->fd, file, &now), 0);
        ck_assert_str_eq(now, value);
}

static void expect_text(const Scratch *s, const char *file, const char *text) {
        _cleanup_free_ char *now = NULL;

        ck_assert_int_eq(file_read(s->fd, file, &now, NULL, 4096), 0);
        ck_assert_str_eq(now, text);
}

SCRATCH_TEST(reading_gives_what_can_be_written_back) {
        expect(s, "tracing_on", "1\n", "1");
        expect(s, "trace_clock", "local global [mono] boot\n", "mono");
        expect(s, "trace_clock", "[local] global\n", "local");
        expect(s, "buffer_size_kb", "7 (expanded: 1408)\n", "7 (expanded: 1408)");
        expect(s, "set_ftrace_pid", "no pid\n", "");
        expect(s, "set_ftrace_pid", "", CONTROL_PIDS_ENDED);
        expect(s, "set_ftrace_pid", "12\n812\n", "12\n812");
        expect(s, "set_graph_function", "#### all functions enabled ####\n", "");
        expect(s, "set_graph_function", "", "");
        expect(s, "set_event_pid", "", "");
        expect(s, "enable", "0*\n", "0");
        expect(s, "filter", "none\n", "none");
        expect(s, "filter", "prev_pid > 0\n", "prev_pid > 0");
        expect(s, "filter", "bad >\n    ^\nparse_error: Field not found\n", CONTROL_FILTER_REFUSED);
        expect(s, "set_graph_function", "nf_hook [nf]\nkfree\n", "nf_hook\nkfree");
}

SCRATCH_TEST(commands_in_a_filter_are_not_part_of_it_and_pending_modules_are) {
        expect(s, "set_ftrace_filter",
               "#### all functions enabled ####\nvfs_open:traceoff:unlimited\n", "");
        expect(s, "set_ftrace_filter", "vfs_read\n*:mod:nf_nat\nvfs_open:traceon:count=2\n",
               "vfs_read\n*:mod:nf_nat");
}

TEST(values_that_mean_the_same_are_equal) {
        ck_assert(control_equal("buffer_size_kb", "7 (expanded: 1408)", "1408"));
        ck_assert(!control_equal("buffer_size_kb", "7 (expanded: 1408)", "7"));
        ck_assert(!control_equal("buffer_size_kb", "X", "0"));
        ck_assert(control_equal("tracing_cpumask", "00000003", "3"));
        ck_assert(control_equal("tracing_cpumask", "00000001,00000000", "1,00000000"));
        ck_assert(!control_equal("tracing_cpumask", "1,00000000", "1"));
        ck_assert(control_equal("instances/x/set_graph_notrace", "b\na", "a\nb"));
        ck_assert(!control_equal("set_graph_function", "a\nb", "a"));
        ck_assert(!control_equal("set_graph_function", "", "a"));
        ck_assert(!control_equal("set_ftrace_pid", CONTROL_PIDS_ENDED, ""));
        ck_assert(!control_equal("trace_clock", "mono", "mono_raw"));
}

/* As linux 6.12 kernel/trace/ftrace.c, g_start(), does after the first page. */
SCRATCH_TEST(a_graph_list_of_which_the_kernel_shows_a_page_counts_the_rest) {
        _cleanup_strv_ Strv words = {}, all = {};
        _cleanup_free_ char *text = NULL, *now = NULL, *whole = NULL, *more = NULL, *other = NULL;

        for (unsigned i = 0; i < 300; i++) {
                ck_assert_int_ge(strv_addf(&all, "function_%03u", i), 0);
                ck_assert_int_ge(strv_addf(&words, "function_%03u", i < 200 ? i : i - 200), 0);
        }
        text = strv_join(&words, "\n");
        whole = strv_join(&all, "\n");
        ck_assert_int_ge(text_format(&more, "%s\nfunction_300", whole), 0);
        ck_assert_int_ge(text_format(&other, "another%s", whole + strlen("function_000")), 0);
        ck_assert_int_eq(file_replace(s->fd, "set_graph_function", text, strlen(text), 0600), 0);
        strv_done(&words);
        ck_assert_int_eq(control_read(s->fd, "set_graph_function", &now), 0);
        ck_assert_int_eq(control_read_list(s->fd, "set_graph_function", &words), 0);
        ck_assert_uint_eq(words.n, 201);
        ck_assert_uint_eq(control_n_unshown(&words), 100);
        ck_assert_uint_eq(control_n_unshown(&all), 0);
        ck_assert(control_equal("set_graph_function", now, whole));
        ck_assert(control_equal("set_graph_function", whole, now));
        ck_assert(!control_equal("set_graph_function", now, more));
        ck_assert(!control_equal("set_graph_function", now, other));
        ck_assert_int_eq(file_replace(s->fd, "set_graph_function", whole, strlen(whole), 0600), 0);
        expect_text(s, "set_graph_function", whole);
        strv_done(&words);
        ck_assert_int_eq(control_read_list(s->fd, "set_graph_function", &words), 0);
        ck_assert_uint_eq(words.n, 300);
}

SCRATCH_TEST(a_size_never_expanded_is_restored_as_what_it_expands_to) {
        _cleanup_strv_ Strv skipped = {};

        expect(s, "buffer_size_kb", "8192\n", "8192");
        ck_assert_int_eq(control_restore(s->fd, "buffer_size_kb", "7 (expanded: 1408)", &skipped),
                         0);
        expect_text(s, "buffer_size_kb", "1408\n");
}

SCRATCH_TEST(an_event_filter_is_one_line_and_none_is_0) {
        expect(s, "filter", "none\n", "none");
        ck_assert_int_eq(control_write(s->fd, "filter", "(a > 0) && b ~ \"x y\""), 0);
        expect_text(s, "filter", "(a > 0) && b ~ \"x y\"\n");
        expect(s, "filter", "x\n", "x");
        ck_assert_int_eq(control_restore(s->fd, "filter", "none", NULL), 0);
        expect_text(s, "filter", "0\n");
}

SCRATCH_TEST(a_file_that_is_not_there_is_not_made) {
        char *now;

        ck_assert_int_eq(control_read(s->fd, "tracing_on", &now), -ENOENT);
        ck_assert_int_eq(control_write(s->fd, "tracing_on", "1"), -ENOENT);
        ck_assert_int_eq(control_write(s->fd, "set_graph_function", "kfree"), -ENOENT);
}

SCRATCH_TEST(lists_are_written_one_word_a_line) {
        _cleanup_strv_ Strv words = {};

        expect(s, "set_graph_function", "x\n", "x");
        ck_assert_int_eq(control_write(s->fd, "set_graph_function", "a\nb"), 0);
        expect_text(s, "set_graph_function", "a\nb\n");
        ck_assert_int_eq(strv_split(&words, "c d", " "), 0);
        ck_assert_int_eq(control_append(s->fd, "set_graph_function", &words), 0);
        expect_text(s, "set_graph_function", "a\nb\nc\nd\n");
        ck_assert_int_eq(control_write(s->fd, "set_graph_function", ""), 0);
        expect_text(s, "set_graph_function", "");
}
