/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plain files stand for tracefs: inotify tells of them as it does of the kernel's. */

#include "base/io.h"
#include "daemon/watch/tamper.h"
#include "scratch.h"

#define PROBE "ftraced_af63f54c86021707_f0"

static const struct {
        const char *file, *text;
} controls[] = {
        { "tracing_on", "1\n" },
        { "current_tracer", "function_graph\n" },
        { "trace_clock", "local global [mono]\n" },
        { "trace", "" },
        { "buffer_size_kb", "1408\n" },
        { "set_ftrace_filter", "#### all functions enabled ####\n" },
        { "set_ftrace_pid", "no pid\n" },
        { "set_ftrace_notrace_pid", "no pid\n" },
        { "set_graph_function", "udp_sendmsg\n" },
        { "max_graph_depth", "0\n" },
        { "events/sched/sched_switch/enable", "1\n" },
        { "events/sched/sched_switch/filter", "prev_pid > 1\n" },
        { "events/ftraced/" PROBE "/enable", "1\n" },
        { "events/ftraced/" PROBE "/filter", "none\n" },
        { "ftrace_enabled", "1\n" },
};

typedef struct Fixture {
        Scratch scratch;
        char ftrace_enabled[PATH_MAX + 32];
        sd_event *event;
        Tamper *tamper;
        Strv said; /* "began filter_changed", ... */
        Strv roots, events, probes;
        uint64_t n_own_closes; /* of set_graph_function */
        const char *hooked;    /* get_hooks() */
        bool is_held_up;
} Fixture;

static void on_report(const TamperReport *report, void *userdata) {
        static const char *const kinds[] = {
                [TAMPER_BEGAN] = "began",     [TAMPER_ENDED] = "ended",
                [TAMPER_FLICKED] = "flicked", [TAMPER_EMPTIED] = "emptied",
                [TAMPER_NOTED] = "noted",
        };
        Fixture *f = userdata;
        char text[128];

        (void) snprintf(text, sizeof(text), "%s %s%s", kinds[report->kind],
                        report->kind == TAMPER_NOTED ? "it" : gap_cause_names[report->cause],
                        report->is_late ? " late" : "");
        ck_assert_int_eq(strv_add(&f->said, text), 0);
        ck_assert_int_eq(report->sentence == NULL, report->kind == TAMPER_ENDED);
}

static const Fixture *fixture_of(const Tracer *t) {
        return (const Fixture *) (const void *) t;
}

static int get_roots(const Tracer *t, Strv *ret, Strv *ret_gone) {
        const Fixture *f = fixture_of(t);

        return strv_copy(ret, &f->roots);
}

static const char *get_hooks(const Tracer *t, const char *file) {
        const Fixture *f = fixture_of(t);

        return streq(file, "set_ftrace_filter") ? f->hooked : NULL;
}

static uint64_t count_own_closes(const Tracer *t) {
        const Fixture *f = fixture_of(t);

        return f->n_own_closes;
}

static bool is_held_up(const Tracer *t) {
        const Fixture *f = fixture_of(t);

        return f->is_held_up;
}

/* As a shell does: opened, cut, written, closed. */
static void put(Fixture *f, const char *file, const char *text) {
        int fd = openat(f->scratch.fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t) strlen(text));
        (void) close(fd);
}

static void fixture_init(Fixture *f) {
        *f = (Fixture){ .scratch = SCRATCH };
        ck_assert_int_eq(dir_make(f->scratch.fd, "events", 0700), 0);
        ck_assert_int_eq(dir_make(f->scratch.fd, "events/sched", 0700), 0);
        ck_assert_int_eq(dir_make(f->scratch.fd, "events/sched/sched_switch", 0700), 0);
        ck_assert_int_eq(dir_make(f->scratch.fd, "events/ftraced", 0700), 0);
        ck_assert_int_eq(dir_make(f->scratch.fd, "events/ftraced/" PROBE, 0700), 0);
        ck_assert_int_eq(strv_add(&f->events, "sched:sched_switch:prev_pid > 1"), 0);
        ck_assert_int_eq(strv_add(&f->probes, "ftraced:" PROBE ":udp_sendmsg"), 0);
        for (size_t i = 0; i < ELEMENTSOF(controls); i++)
                put(f, controls[i].file, controls[i].text);
        (void) snprintf(f->ftrace_enabled, sizeof(f->ftrace_enabled), "%.4000s/ftrace_enabled",
                        f->scratch.path);
        ck_assert_int_eq(strv_add(&f->roots, "udp_sendmsg"), 0);
        ck_assert_int_ge(sd_event_new(&f->event), 0);
        ck_assert_int_eq(
                tamper_new(&f->tamper, &(TamperConfig){ .event = f->event,
                                                        .tracefs = f->scratch.path,
                                                        .tracefs_fd = f->scratch.fd,
                                                        .dir = "",
                                                        .clock = "mono",
                                                        .ftrace_enabled = f->ftrace_enabled,
                                                        .events = &f->events,
                                                        .probes = &f->probes,
                                                        .get_roots = get_roots,
                                                        .get_hooks = get_hooks,
                                                        .count_own_closes = count_own_closes,
                                                        .is_held_up = is_held_up,
                                                        .handler = on_report,
                                                        .tracer = (const Tracer *) (const void *) f,
                                                        .userdata = f }),
                0);
}

static void fixture_done(Fixture *f) {
        f->tamper = tamper_free(f->tamper);
        f->event = sd_event_unref(f->event);
        strv_done(&f->said);
        strv_done(&f->roots);
        strv_done(&f->events);
        strv_done(&f->probes);
        scratch_done(&f->scratch);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

/* What has been said by the time the loop has nothing more to do, or has put it off a few times. */
static void expect(Fixture *f, const char *expected) {
        _cleanup_free_ char *text = NULL;
        unsigned n = 0;

        while (sd_event_run(f->event, 400000) > 0 && (!f->is_held_up || n < 5))
                n++;
        text = strv_join(&f->said, ", ");
        ck_assert_str_eq(text, expected);
        strv_done(&f->said);
}

/* What has been heard of is looked at, and not more. */
static void run_once(Fixture *f) {
        while (sd_event_run(f->event, 1000) > 0)
                ;
}

START_TEST(what_is_as_it_was_says_nothing)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                expect(&f, "");
                put(&f, "max_graph_depth", "0\n");
                put(&f, "current_tracer", "function_graph\n");
                tamper_poll(f.tamper);
                expect(&f, "");
        }
END_TEST

START_TEST(a_switch_that_is_written_and_says_what_it_did_may_have_said_something_else)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "tracing_on", "1\n");
                expect(&f, "flicked tracing_off");
                put(&f, "ftrace_enabled", "1\n");
                expect(&f, "flicked ftrace_off");
        }
END_TEST

/* Whoever looks first is held up by the kernel, and sees it when it is on again. */
START_TEST(a_look_in_the_middle_does_not_hide_off_and_on)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "max_graph_depth", "0\n");
                run_once(&f);
                put(&f, "max_graph_depth", "0\n");
                expect(&f, "flicked filter_changed");
        }
END_TEST

START_TEST(one_writer_who_changes_and_puts_back_without_closing_is_told)
        {
                _cleanup_fixture_ Fixture f;
                int fd;

                fixture_init(&f);
                fd = openat(f.scratch.fd, "max_graph_depth", O_WRONLY | O_CLOEXEC);
                ck_assert_int_ge(fd, 0);
                for (unsigned i = 0; i < 3; i++) {
                        ck_assert_int_eq(pwrite(fd, "0", 1, 0), 1);
                        run_once(&f);
                }
                (void) close(fd);
                expect(&f, "flicked filter_changed");
        }
END_TEST

START_TEST(what_happens_just_before_the_end_is_told)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "ftrace_enabled", "0\n");
                put(&f, "ftrace_enabled", "1\n");
                run_once(&f);
                tamper_poll(f.tamper);
                ck_assert(!tamper_is_settled(f.tamper));
                tamper_settle(f.tamper);
                ck_assert(tamper_is_settled(f.tamper));
                expect(&f, "flicked ftrace_off");
        }
END_TEST

START_TEST(roots_that_are_changed_and_put_back_are_told_and_our_own_changes_are_not)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "set_graph_function", "tcp_sendmsg\n");
                put(&f, "set_graph_function", "udp_sendmsg\n");
                expect(&f, "flicked filter_changed");
                f.n_own_closes += 2; /* of a session that came and went */
                put(&f, "set_graph_function", "udp_sendmsg\ntcp_sendmsg\n");
                put(&f, "set_graph_function", "udp_sendmsg\n");
                expect(&f, "");
                put(&f, "set_graph_function", "tcp_sendmsg\n");
                put(&f, "set_graph_function", "udp_sendmsg\n");
                expect(&f, "flicked filter_changed");
        }
END_TEST

START_TEST(an_event_that_is_switched_off_or_filtered_otherwise_is_told)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "events/sched/sched_switch/enable", "0\n");
                expect(&f, "began filter_changed");
                put(&f, "events/sched/sched_switch/enable", "1\n");
                expect(&f, "ended filter_changed");
                put(&f, "events/sched/sched_switch/filter", "none\n");
                expect(&f, "began filter_changed");
                put(&f, "events/sched/sched_switch/filter", "prev_pid > 1\n");
                expect(&f, "ended filter_changed");
        }
END_TEST

START_TEST(a_probe_of_values_that_is_switched_off_filtered_or_removed_is_told)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                expect(&f, "");
                put(&f, "events/ftraced/" PROBE "/enable", "0\n");
                expect(&f, "began filter_changed");
                put(&f, "events/ftraced/" PROBE "/enable", "1\n");
                expect(&f, "ended filter_changed");
                put(&f, "events/ftraced/" PROBE "/filter", "ret < 0\n");
                expect(&f, "began filter_changed");
                put(&f, "events/ftraced/" PROBE "/filter", "none\n");
                expect(&f, "ended filter_changed");
                put(&f, "events/ftraced/" PROBE "/enable", "0\n");
                expect(&f, "began filter_changed");
                ck_assert_int_eq(unlinkat(f.scratch.fd, "events/ftraced/" PROBE "/enable", 0), 0);
                tamper_poll(f.tamper);
                expect(&f, ""); /* and is not over */
                ck_assert_int_eq(unlinkat(f.scratch.fd, "events/ftraced/" PROBE "/filter", 0), 0);
                tamper_poll(f.tamper);
                expect(&f, "began filter_changed late");
        }
END_TEST

START_TEST(a_trigger_at_an_event_is_no_change_of_it)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "events/sched/sched_switch/enable", "1*\n");
                tamper_poll(f.tamper);
                expect(&f, "");
        }
END_TEST

START_TEST(a_change_begins_and_ends_once)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "tracing_on", "0\n");
                expect(&f, "began tracing_off");
                put(&f, "tracing_on", "0\n");
                tamper_poll(f.tamper);
                expect(&f, "");
                put(&f, "tracing_on", "1\n");
                expect(&f, "ended tracing_off");
        }
END_TEST

START_TEST(off_and_on_again_between_two_looks_is_not_missed)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "tracing_on", "0\n");
                put(&f, "tracing_on", "1\n");
                expect(&f, "flicked tracing_off");
        }
END_TEST

START_TEST(one_cause_of_two_files_ends_with_the_second)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "max_graph_depth", "3\n");
                put(&f, "set_ftrace_pid", "17\n");
                expect(&f, "began filter_changed, began filter_changed");
                put(&f, "max_graph_depth", "0\n");
                expect(&f, "");
                put(&f, "set_ftrace_pid", "no pid\n");
                expect(&f, "ended filter_changed");
                put(&f, "set_ftrace_notrace_pid", "17\n");
                expect(&f, "began filter_changed");
                put(&f, "set_ftrace_notrace_pid", "no pid\n");
                expect(&f, "ended filter_changed");
        }
END_TEST

START_TEST(roots_of_other_sessions_are_no_tampering)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                ck_assert_int_eq(strv_add(&f.roots, "tcp_sendmsg"), 0);
                put(&f, "set_graph_function", "tcp_sendmsg\nudp_sendmsg\n");
                expect(&f, "");
                put(&f, "set_graph_function", "#### all functions enabled ####\n");
                expect(&f, "began filter_changed");
                put(&f, "set_graph_function", "udp_sendmsg\ntcp_sendmsg\n");
                expect(&f, "ended filter_changed");
                /* A root whose module has gone leaves its address. */
                put(&f, "set_graph_function", "udp_sendmsg\n0xffffffffc05250a0\n");
                expect(&f, "");
        }
END_TEST

START_TEST(whatever_is_written_to_trace_or_its_clock_empties_the_buffer)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "trace", "");
                expect(&f, "emptied cleared");
                put(&f, "trace_clock", "local global [mono]\n");
                expect(&f, "emptied cleared");
                put(&f, "trace_clock", "[local] global mono\n");
                expect(&f, "emptied cleared, began clock_changed");
        }
END_TEST

START_TEST(a_change_that_loses_nothing_is_noted)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "buffer_size_kb", "64\n");
                expect(&f, "noted it");
        }
END_TEST

START_TEST(a_sysctl_is_heard_of_like_a_file_of_tracefs)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                put(&f, "ftrace_enabled", "0\n");
                expect(&f, "began ftrace_off");
                put(&f, "ftrace_enabled", "1\n");
                expect(&f, "ended ftrace_off");
                put(&f, "ftrace_enabled", "0\n");
                put(&f, "ftrace_enabled", "1\n");
                expect(&f, "flicked ftrace_off");
        }
END_TEST

START_TEST(while_we_write_what_is_hooked_all_else_is_watched)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                tamper_hold_hooks(f.tamper);
                put(&f, "set_ftrace_filter", "udp_sendmsg\n");
                put(&f, "tracing_on", "0\n");
                put(&f, "tracing_on", "1\n");
                expect(&f, "flicked tracing_off");
                put(&f, "set_ftrace_filter", "udp_sendmsg\nip_make_skb\n");
                tamper_release_hooks(f.tamper);
                expect(&f, "");
                put(&f, "set_ftrace_filter", "udp_sendmsg\n");
                expect(&f, "began filter_changed");
                tamper_hold_hooks(f.tamper);
                tamper_release_hooks(f.tamper);
                expect(&f, "ended filter_changed");
        }
END_TEST

START_TEST(what_is_known_of_a_list_need_not_be_read)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                f.hooked = "udp_sendmsg\nip_make_skb";
                tamper_hold_hooks(f.tamper);
                put(&f, "set_ftrace_filter", "ip_make_skb\n");
                tamper_release_hooks(f.tamper);
                put(&f, "set_ftrace_filter", "ip_make_skb\nudp_sendmsg\n");
                expect(&f, "");
                put(&f, "set_ftrace_filter", "ip_make_skb\n");
                expect(&f, "began filter_changed");
                put(&f, "set_ftrace_filter", "udp_sendmsg\nip_make_skb\n");
                expect(&f, "ended filter_changed");
        }
END_TEST

/* As through another mount of procfs, whose inodes are others. */
START_TEST(what_inotify_does_not_tell_is_polled)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                expect(&f, "");
                ck_assert_int_eq(unlinkat(f.scratch.fd, "ftrace_enabled", 0), 0);
                put(&f, "ftrace_enabled", "0\n");
                expect(&f, "");
                tamper_poll(f.tamper);
                expect(&f, "began ftrace_off late");
                put(&f, "ftrace_enabled", "1\n");
                tamper_poll(f.tamper);
                expect(&f, "ended ftrace_off late");
        }
END_TEST

START_TEST(while_a_look_would_wait_for_the_daemon_itself_it_is_put_off_and_then_late)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                expect(&f, "");
                f.is_held_up = true;
                put(&f, "tracing_on", "0\n");
                expect(&f, "");
                f.is_held_up = false;
                expect(&f, "began tracing_off late");
                put(&f, "tracing_on", "1\n");
                expect(&f, "ended tracing_off");
        }
END_TEST

START_TEST(what_was_off_before_anybody_watched_is_found)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                f.tamper = tamper_free(f.tamper);
                put(&f, "tracing_on", "0\n");
                ck_assert_int_eq(
                        tamper_new(&f.tamper,
                                   &(TamperConfig){ .event = f.event,
                                                    .tracefs = f.scratch.path,
                                                    .tracefs_fd = f.scratch.fd,
                                                    .dir = "",
                                                    .clock = "mono",
                                                    .ftrace_enabled = f.ftrace_enabled,
                                                    .events = &f.events,
                                                    .get_roots = get_roots,
                                                    .get_hooks = get_hooks,
                                                    .count_own_closes = count_own_closes,
                                                    .is_held_up = is_held_up,
                                                    .handler = on_report,
                                                    .tracer = (const Tracer *) (const void *) &f,
                                                    .userdata = &f }),
                        0);
                expect(&f, "began tracing_off");
        }
END_TEST

UNIT_SUITE("tamper", what_is_as_it_was_says_nothing, a_change_begins_and_ends_once,
           an_event_that_is_switched_off_or_filtered_otherwise_is_told,
           a_trigger_at_an_event_is_no_change_of_it,
           a_probe_of_values_that_is_switched_off_filtered_or_removed_is_told,
           off_and_on_again_between_two_looks_is_not_missed,
           a_switch_that_is_written_and_says_what_it_did_may_have_said_something_else,
           a_look_in_the_middle_does_not_hide_off_and_on,
           one_writer_who_changes_and_puts_back_without_closing_is_told,
           what_happens_just_before_the_end_is_told,
           roots_that_are_changed_and_put_back_are_told_and_our_own_changes_are_not,
           while_we_write_what_is_hooked_all_else_is_watched,
           what_is_known_of_a_list_need_not_be_read, a_sysctl_is_heard_of_like_a_file_of_tracefs,
           one_cause_of_two_files_ends_with_the_second, roots_of_other_sessions_are_no_tampering,
           whatever_is_written_to_trace_or_its_clock_empties_the_buffer,
           a_change_that_loses_nothing_is_noted, what_inotify_does_not_tell_is_polled,
           while_a_look_would_wait_for_the_daemon_itself_it_is_put_off_and_then_late,
           what_was_off_before_anybody_watched_is_found)
