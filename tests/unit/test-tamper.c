/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plain files stand for tracefs. */

#include "daemon/watch/tamper.h"
#include "scratch.h"

static const struct {
        const char *file, *text;
} controls[] = {
        { "tracing_on", "1\n" },
        { "current_tracer", "function_graph\n" },
        { "trace_clock", "local global [mono]\n" },
        { "set_ftrace_filter", "#### all functions enabled ####\n" },
        { "set_ftrace_pid", "no pid\n" },
        { "set_ftrace_notrace_pid", "no pid\n" },
        { "set_graph_function", "udp_sendmsg\n" },
        { "set_graph_notrace", "nft_do_chain [nf_tables]\nkfree\n" },
        { "max_graph_depth", "0\n" },
        { "ftrace_enabled", "1\n" },
};

typedef struct Fixture {
        Scratch scratch;
        char ftrace_enabled[PATH_MAX + 32];
        Tamper tamper;
        uint64_t at_ns;
        Strv said; /* "filter_changed since 3", "filter_changed is over", ... */
        Strv roots;
        const char *hooked; /* get_hooks() */
        bool is_busy;       /* get_roots() */
} Fixture;

static void on_report(GapCause cause, uint64_t since_ns, const char *sentence, void *userdata) {
        Fixture *f = userdata;

        if (sentence)
                ck_assert_int_eq(strv_addf(&f->said, "%s since %u", gap_causes[cause][0],
                                           (unsigned) since_ns),
                                 0);
        else
                ck_assert_int_eq(strv_addf(&f->said, "%s is over", gap_causes[cause][0]), 0);
}

static const Fixture *fixture_of(const Tracer *t) {
        return (const Fixture *) (const void *) t;
}

static int get_roots(const Tracer *t, Strv *ret, Strv *ret_gone) {
        const Fixture *f = fixture_of(t);

        return f->is_busy ? -EBUSY : strv_copy(ret, &f->roots);
}

static const char *get_hooks(const Tracer *t, const char *file) {
        const Fixture *f = fixture_of(t);

        return streq(file, "set_ftrace_filter") ? f->hooked : NULL;
}

static void put(Fixture *f, const char *file, const char *text) {
        ck_assert_int_eq(file_replace(f->scratch.fd, file, text, strlen(text), 0600), 0);
}

static void watch(Fixture *f) {
        f->tamper = (Tamper){ .tracefs = f->scratch.path,
                              .tracefs_fd = f->scratch.fd,
                              .dir = "",
                              .clock = "mono",
                              .ftrace_enabled = f->ftrace_enabled,
                              .get_roots = get_roots,
                              .get_hooks = get_hooks,
                              .handler = on_report,
                              .tracer = (const Tracer *) (const void *) f,
                              .userdata = f };
        ck_assert_int_eq(tamper_begin(&f->tamper, f->at_ns), 0);
}

static void fixture_init(Fixture *f) {
        *f = (Fixture){ .scratch = SCRATCH };
        for (size_t i = 0; i < ELEMENTSOF(controls); i++)
                put(f, controls[i].file, controls[i].text);
        (void) snprintf(f->ftrace_enabled, sizeof(f->ftrace_enabled), "%.4000s/ftrace_enabled",
                        f->scratch.path);
        ck_assert_int_eq(strv_add(&f->roots, "udp_sendmsg"), 0);
        watch(f);
}

static void fixture_done(Fixture *f) {
        tamper_end(&f->tamper);
        strv_done(&f->said);
        strv_done(&f->roots);
        scratch_done(&f->scratch);
}

#define CASE(f)                                                                                    \
        _cleanup_(fixture_done) Fixture f;                                                         \
        fixture_init(&f)
#define CASE_TEST(name) TEST_WITH(name, (Fixture * f), CASE(f), &f)

static void look(Fixture *f, bool is_last, const char *expected) {
        _cleanup_free_ char *text = NULL;

        tamper_look(&f->tamper, ++f->at_ns, is_last);
        text = strv_join(&f->said, ", ");
        ck_assert_str_eq(text, expected);
        strv_done(&f->said);
}

/* What the next look says; the first is at 1. */
static void expect(Fixture *f, const char *expected) {
        look(f, false, expected);
}

static void change(Fixture *f, const char *file, const char *text, const char *expected) {
        put(f, file, text);
        expect(f, expected);
}

CASE_TEST(what_is_as_it_was_says_nothing) {
        expect(f, "");
        put(f, "max_graph_depth", "0\n");
        change(f, "current_tracer", "function_graph\n", "");
        look(f, true, "");
}

CASE_TEST(a_change_begins_behind_the_last_look_that_found_all_well_and_ends_once) {
        change(f, "tracing_on", "0\n", "tracing_off since 0");
        expect(f, "");
        change(f, "tracing_on", "1\n", "tracing_off is over");
        expect(f, "");
        change(f, "tracing_on", "0\n", "tracing_off since 4");
}

TEST(each_file_has_its_cause) {
        static const struct {
                const char *file, *wrong, *right, *cause;
        } cases[] = {
                { "current_tracer", "nop\n", "function_graph\n", "tracer_off" },
                { "trace_clock", "[local] global mono\n", "local global [mono]\n",
                  "clock_changed" },
                { "set_ftrace_pid", "17\n", "no pid\n", "filter_changed" },
                { "set_ftrace_notrace_pid", "17\n", "no pid\n", "filter_changed" },
                { "set_ftrace_filter", "kfree\n", "#### all functions enabled ####\n",
                  "filter_changed" },
                { "max_graph_depth", "3\n", "0\n", "filter_changed" },
                { "ftrace_enabled", "0\n", "1\n", "ftrace_off" },
        };
        CASE(f);
        char text[64];

        expect(&f, "");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                put(&f, cases[i].file, cases[i].wrong);
                (void) snprintf(text, sizeof(text), "%s since %u", cases[i].cause,
                                (unsigned) f.at_ns);
                expect(&f, text);
                put(&f, cases[i].file, cases[i].right);
                (void) snprintf(text, sizeof(text), "%s is over", cases[i].cause);
                expect(&f, text);
        }
}

CASE_TEST(one_cause_of_two_files_ends_with_the_second) {
        put(f, "max_graph_depth", "3\n");
        change(f, "set_ftrace_pid", "17\n", "filter_changed since 0, filter_changed since 0");
        change(f, "max_graph_depth", "0\n", "");
        change(f, "set_ftrace_pid", "no pid\n", "filter_changed is over");
}

CASE_TEST(a_list_of_processes_changes_as_they_come_and_go) {
        tamper_end(&f->tamper);
        put(f, "set_ftrace_pid", "17\n");
        watch(f);
        put(f, "set_ftrace_pid", "17\n18\n");
        change(f, "set_ftrace_notrace_pid", "19\n", "");
}

CASE_TEST(roots_of_other_sessions_are_no_tampering) {
        ck_assert_int_eq(strv_add(&f->roots, "tcp_sendmsg"), 0);
        change(f, "set_graph_function", "tcp_sendmsg\nudp_sendmsg\n", "");
        put(f, "set_graph_function", "#### all functions enabled ####\n");
        f->is_busy = true;
        expect(f, "");
        f->is_busy = false;
        expect(f, "filter_changed since 1");
        change(f, "set_graph_function", "udp_sendmsg\ntcp_sendmsg\n", "filter_changed is over");
        /* A root whose module has gone leaves its address. */
        change(f, "set_graph_function", "udp_sendmsg\n0xffffffffc05250a0\n", "");
}

CASE_TEST(a_module_that_goes_with_what_is_not_traced_is_no_tampering) {
        change(f, "set_graph_notrace", "0xffffffffc05250a0\nkfree\n", "");
        change(f, "set_graph_notrace", "0xffffffffc05250a0\nkfree\nkmalloc\n",
               "filter_changed since 1");
        change(f, "set_graph_notrace", "nft_do_chain [nf_tables]\nkfree\n",
               "filter_changed is over");
        change(f, "set_graph_notrace", "kfree\n", "filter_changed since 3");
}

CASE_TEST(while_we_write_what_is_hooked_all_else_is_watched) {
        expect(f, "");
        tamper_hold_hooks(&f->tamper);
        put(f, "set_ftrace_filter", "udp_sendmsg\n");
        change(f, "tracing_on", "0\n", "tracing_off since 1");
        put(f, "set_ftrace_filter", "udp_sendmsg\nip_make_skb\n");
        put(f, "tracing_on", "1\n");
        tamper_release_hooks(&f->tamper, f->at_ns);
        expect(f, "tracing_off is over");
        change(f, "set_ftrace_filter", "udp_sendmsg\n", "filter_changed since 3");
        tamper_hold_hooks(&f->tamper);
        tamper_release_hooks(&f->tamper, f->at_ns);
        expect(f, "filter_changed is over");
}

CASE_TEST(what_is_known_of_a_list_need_not_be_read) {
        f->hooked = "udp_sendmsg\nip_make_skb";
        change(f, "set_ftrace_filter", "ip_make_skb\n", "");
        expect(f, "filter_changed since 0");
        change(f, "set_ftrace_filter", "ip_make_skb\nudp_sendmsg\n", "filter_changed is over");
}

CASE_TEST(a_long_list_is_compared_at_the_end) {
        char hooked[100000];

        for (size_t i = 0; i + 5 < sizeof(hooked); i += 5)
                (void) snprintf(hooked + i, 6, "%04zu\n", i / 5 % 10000);
        f->hooked = hooked;
        change(f, "set_ftrace_filter", "udp_sendmsg\n", "");
        expect(f, "");
        look(f, true, "filter_changed since 0");
}
