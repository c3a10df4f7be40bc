/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/schedule/schedule.h"
#include "scratch.h"

static void make_root(const Scratch *root) {
        static const char *const below[] = { "etc", "etc/systemd", "etc/systemd/system",
                                             "etc/systemd/system/timers.target.wants" };

        for (size_t i = 0; i < ELEMENTSOF(below); i++)
                ck_assert_int_eq(mkdirat(root->fd, below[i], 0755), 0);
}

TEST(a_word_is_quoted_as_systemd_reads_it) {
        static const struct {
                const char *word, *quoted;
        } cases[] = {
                { "udp_*[ab]?", "udp_*[ab]?" },
                { "--depth=3", "--depth=3" },
                { "", "\"\"" },
                { "a b", "\"a b\"" },
                { "100%", "\"100%%\"" },
                { "$HOME", "\"$$HOME\"" },
                { "a\"b\\c", "\"a\\\"b\\\\c\"" },
                { "a\nb\x7f", "\"a\\x0ab\\x7f\"" },
                { "a;b", "\"a;b\"" },
                { "b'c", "\"b'c\"" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *quoted = schedule_quote(cases[i].word);

                ck_assert_str_eq(quoted, cases[i].quoted);
        }
}

TEST(what_is_somebody_elses_stays_and_a_profile_whose_timer_is_enabled_is_a_schedule) {
        _cleanup_schedule_ Schedule s = { .calendar = strdup("daily") }, enabled = {};
        _cleanup_scratch_ Scratch root = SCRATCH;
        _cleanup_strv_ Strv names = {};

        make_root(&root);
        ck_assert_int_eq(strv_add(&s.command, "/bin/true"), 0);
        ck_assert_int_eq(schedule_write(root.path, "x", &s), 0);
        ck_assert_int_eq(file_replace(root.fd,
                                      "etc/systemd/system/ftraced-capture@x.timer.d/mine.conf", "",
                                      0, 0644),
                         0);
        ck_assert_int_eq(schedule_erase(root.path, "x"), 0);
        ck_assert_int_eq(faccessat(root.fd,
                                   "etc/systemd/system/ftraced-capture@x.timer.d/mine.conf", F_OK,
                                   0),
                         0);
        ck_assert_int_eq(symlinkat("/nowhere", root.fd,
                                   "etc/systemd/system/timers.target.wants/"
                                   "ftraced-capture@udp-send.timer"),
                         0);
        ck_assert_int_eq(schedule_list(&names, root.path), 0);
        ck_assert_str_eq(names.items[0], "udp-send");
        ck_assert_int_eq(schedule_read(&enabled, root.path, "udp-send"), 0);
        ck_assert_ptr_null(enabled.calendar);
}

TEST(a_name_leaves_room_for_a_number) {
        ck_assert(schedule_name_is_valid("a234567890123456789012345678901234567890123456"));
        ck_assert(!schedule_name_is_valid("a23456789012345678901234567890123456789012345678"));
        ck_assert(!schedule_name_is_valid("../x"));
        ck_assert(!schedule_name_is_valid(""));
}

TEST(the_next_time_is_read_without_its_day_of_the_week) {
        _cleanup_free_ char *next = schedule_read_next(
                "  Original form: 02:00\nNormalized form: *-*-* 02:00:00\n"
                "    Next elapse: Mon 2026-11-23 02:00:00 UTC\n       From now: 1 day\n");

        ck_assert_str_eq(next, "2026-11-23 02:00:00 UTC");
        ck_assert_ptr_null(schedule_read_next("    Next elapse: never\n"));
        ck_assert_ptr_null(schedule_read_next("    Next elapse: Mon \n"));
        ck_assert_ptr_null(schedule_read_next(""));
}

TEST(the_log_counts_what_was_recorded_and_keeps_the_newest) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_capture_log_ CaptureLog l = {}, again = {};
        _cleanup_scratch_ Scratch scratch = SCRATCH;
        const char *dir = scratch.path;
        ck_assert_int_eq(setenv("STATE_DIRECTORY", dir, 1), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        free(m->name);
        m->name = strdup("x-7");
        free(m->id);
        m->id = strdup("0123456789abcdef");
        ck_assert_int_eq(capture_log_open(&l, "x"), 0);
        ck_assert_ptr_null(capture_log_last(&l));
        ck_assert_int_eq(l.next, 1);
        ck_assert_int_eq(capture_log_add(&l, 5, "skipped", "no room"), 0);
        ck_assert_int_eq(capture_log_set(&l, 6, m), 0);
        m->state = SESSION_SEALED;
        ck_assert_int_eq(capture_log_set(&l, 6, m), 0);
        ck_assert_int_eq(capture_log_save(&l), 0);
        ck_assert_int_eq(capture_log_open(&again, "x"), 0);
        ck_assert_int_eq(again.next, 8);
        ck_assert_uint_eq(json_array_size(again.captures), 2);
        ck_assert_str_eq(json_string_value(json_object_get(capture_log_last(&again), "result")),
                         "sealed");
        ck_assert_uint_eq(capture_log_count(&again, 0), 1);
        ck_assert_uint_eq(capture_log_count(&again, 7), 0);
        for (unsigned i = 0; i < CAPTURE_LOG_MAX; i++)
                ck_assert_int_eq(capture_log_add(&again, 8, "skipped", ""), 0);
        ck_assert_uint_eq(json_array_size(again.captures), CAPTURE_LOG_MAX);
        ck_assert_int_eq(capture_log_erase("x"), 0);
}

TEST(what_records_is_not_kept_yet) {
        json_auto_t *captures = json_pack("[{s:s}, {s:s}, {s:s}, {s:s}]", "id", "a", "id", "b",
                                          "id", "c", "id", "gone"),
                    *sessions = json_pack("[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]", "id", "a",
                                          "state", "sealed", "id", "b", "state", "failed", "id",
                                          "c", "state", "draining");

        ck_assert_uint_eq(capture_count_kept(captures, sessions), 2);
        json_object_set_new(json_array_get(sessions, 2), "state", json_string("sealed"));
        ck_assert_uint_eq(capture_count_kept(captures, sessions), 3);
}

TEST(a_damaged_log_is_begun_anew) {
        static const char *const texts[] = { "",
                                             "{",
                                             "[]",
                                             "{\"version\":1}",
                                             "{\"version\":2,\"captures\":[]}",
                                             "{\"version\":1,\"captures\":[5]}" };
        _cleanup_scratch_ Scratch scratch = SCRATCH;
        const char *dir = scratch.path;
        char path[PATH_MAX + 16];
        ck_assert_int_eq(setenv("STATE_DIRECTORY", dir, 1), 0);
        (void) snprintf(path, sizeof(path), "%s/x.json", dir);
        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                _cleanup_capture_log_ CaptureLog l = {};

                ck_assert_int_eq(file_replace(AT_FDCWD, path, texts[i], strlen(texts[i]), 0644), 0);
                ck_assert_int_eq(capture_log_open(&l, "x"), 0);
                ck_assert_uint_eq(json_array_size(l.captures), 0);
        }
}
