/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines in command files, over plain files, in which a line that is taken out shows as what was
 * written for that; and what becomes of the ledger's two files.  All else is test-controller's. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/tracefs/ledger.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static Scratch scratch;
static Tracefs fs;

static void put(const char *path, const char *text) {
        ck_assert_int_eq(file_replace(scratch.fd, path, text, strlen(text), 0600), 0);
}

static void says(const char *path, const char *wanted) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(file_read(scratch.fd, path, &text, NULL, 4096), 0);
        ck_assert_str_eq(text, wanted);
}

static void setup(void) {
        scratch = scratch_new();
        ck_assert_int_eq(mkdirat(scratch.fd, "proc", 0700), 0);
        ck_assert_int_eq(mkdirat(scratch.fd, "proc/sys", 0700), 0);
        ck_assert_int_eq(mkdirat(scratch.fd, "proc/sys/kernel", 0700), 0);
        ck_assert_int_eq(mkdirat(scratch.fd, "proc/sys/kernel/random", 0700), 0);
        put("proc/sys/kernel/random/boot_id", "boot\n");
        put("set_ftrace_filter", "");
        put("dynamic_events", "");
        fs = (Tracefs){ .fd = scratch.fd, .root_fd = scratch.fd };
}

static Ledger *open_ledger(void) {
        Ledger *l = NULL;

        ck_assert_int_eq(ledger_open(&l, scratch.fd, -EBADF, scratch.fd), 0);
        return l;
}

static size_t undo(Ledger *l) {
        _cleanup_strv_ Strv warnings = {};
        size_t n = 0;

        ck_assert_int_eq(ledger_undo(l, &fs, "s", &warnings, &n), 0);
        return n;
}

START_TEST(lines_of_a_dead_daemon_are_taken_out_the_latest_first)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                ck_assert_int_eq(
                        ledger_add(l, "s", LEDGER_LINE, "set_ftrace_filter", "a:traceon:1"), 0);
                ck_assert_int_eq(
                        ledger_add(l, "s", LEDGER_LINE, "set_ftrace_filter", "b:traceoff:1"), 0);
                ck_assert_int_eq(
                        ledger_add(l, "s", LEDGER_LINE, "set_ftrace_filter", "a:traceon:1"), 0);
                ck_assert_uint_eq(ledger_n(l), 2);
                ck_assert_int_eq(ledger_commit(l, ""), 0);
                ledger_free(l);

                l = open_ledger();
                ck_assert_uint_eq(ledger_n(l), 2);
                ck_assert_uint_eq(undo(l), 2);
                says("set_ftrace_filter", "!b:traceoff:1\n!a:traceon:1\n");
                ck_assert_uint_eq(ledger_n(l), 0);
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_dynamic_event_goes_by_its_name)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                ck_assert_int_eq(
                        ledger_add(l, "s", LEDGER_LINE, "dynamic_events", "r512:ftraced/x_out f"),
                        0);
                ck_assert_int_eq(ledger_add(l, "s", LEDGER_LINE, "dynamic_events", "s:x u64 lat"),
                                 0);
                ck_assert_uint_eq(undo(l), 2);
                says("dynamic_events", "-:x\n-:ftraced/x_out\n");
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_line_that_is_dropped_stays_where_it_is)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                ck_assert_int_eq(
                        ledger_add(l, "s", LEDGER_LINE, "set_ftrace_filter", "a:traceon:1"), 0);
                ledger_drop_line(l, "s", "set_ftrace_filter", "a:traceon:1");
                ck_assert_uint_eq(undo(l), 0);
                says("set_ftrace_filter", "");
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_line_in_an_instance_that_has_gone_is_no_trouble)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                ck_assert_int_eq(ledger_add(l, "s", LEDGER_LINE, "instances/x/set_ftrace_filter",
                                            "a:traceon:1"),
                                 0);
                (void) undo(l);
                ck_assert_uint_eq(ledger_n(l), 0);
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

/* --- the two files ----------------------------------------------------------------------------- */

static int copy_fd;

static Ledger *open_with_copy(void) {
        Ledger *l = NULL;

        ck_assert_int_eq(ledger_open(&l, scratch.fd, copy_fd, scratch.fd), 0);
        return l;
}

/* A session's ledger, as whoever was killed left it; *@ret_text in both files. */
static void leave_ledger(char **ret_text) {
        Ledger *l;

        setup();
        ck_assert_int_eq(mkdirat(scratch.fd, "copy", 0700), 0);
        copy_fd = dir_open(scratch.fd, "copy");
        l = open_with_copy();
        ck_assert_int_eq(ledger_add(l, "s", LEDGER_INSTANCE, "instances/ftraced-s", NULL), 0);
        ck_assert_int_eq(ledger_add(l, "", LEDGER_FILE, "set_graph_function", "tcp_sendmsg"), 0);
        ck_assert_int_eq(ledger_commit(l, "/sys/kernel/tracing"), 0);
        ledger_free(l);
        ck_assert_int_eq(file_read(scratch.fd, "ledger", ret_text, NULL, 4096), 0);
}

/* What was lost with one of the files the other has, and both have it again. */
static void is_whole_again(const char *text) {
        Ledger *l = open_with_copy();

        ck_assert_uint_eq(ledger_n(l), 2);
        ck_assert_str_eq(ledger_get(l, 0)->file, "instances/ftraced-s");
        ck_assert_str_eq(ledger_get(l, 1)->old, "tcp_sendmsg");
        ck_assert(ledger_is_kept(l));
        ck_assert_int_eq(ledger_commit(l, "/sys/kernel/tracing"), 0);
        ledger_free(l);
        says("ledger", text);
        says("copy/ledger", text);
}

static void forget_all(void) {
        safe_close(copy_fd);
        scratch_done(&scratch);
}

START_TEST(either_file_is_enough_wherever_the_other_was_cut)
        {
                static const char *const files[] = { "ledger", "copy/ledger" };
                _cleanup_free_ char *text = NULL;

                leave_ledger(&text);
                for (size_t i = 0; i < ELEMENTSOF(files); i++)
                        for (size_t n = 0; n < strlen(text); n++) {
                                ck_assert_int_eq(file_replace(scratch.fd, files[i], text, n, 0600),
                                                 0);
                                is_whole_again(text);
                        }
                forget_all();
        }
END_TEST

START_TEST(either_file_is_enough_whatever_is_in_the_place_of_the_other)
        {
                static const char *const texts[] = {
                        "{ \"version\": 99, \"boot_id\": \"boot\", \"records\": [] }",
                        "{ \"version\": 1, \"boot_id\": \"other\", \"records\": [] }",
                        "{ \"version\": 1, \"boot_id\": \"boot\", \"records\": [] }",
                        "no ledger",
                };
                _cleanup_free_ char *text = NULL;
                char zeros[512] = "";

                leave_ledger(&text);
                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        put("ledger", texts[i]);
                        is_whole_again(text);
                        put("copy/ledger", texts[i]);
                        is_whole_again(text);
                }
                ck_assert_int_eq(file_replace(scratch.fd, "ledger", zeros, sizeof(zeros), 0600), 0);
                is_whole_again(text);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                is_whole_again(text);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                ck_assert_int_eq(mkdirat(scratch.fd, "ledger", 0700), 0);
                ck_assert_int_eq(mkdirat(scratch.fd, "ledger/full", 0700), 0);
                is_whole_again(text);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                ck_assert_int_eq(symlinkat("/dev/zero", scratch.fd, "ledger"), 0);
                is_whole_again(text);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                ck_assert_int_eq(mkfifoat(scratch.fd, "ledger", 0600), 0);
                is_whole_again(text);
                forget_all();
        }
END_TEST

START_TEST(with_both_files_lost_there_is_nothing_and_both_are_kept)
        {
                _cleanup_free_ char *text = NULL;
                Ledger *l;

                leave_ledger(&text);
                put("ledger", "{");
                put("copy/ledger", "");
                l = open_with_copy();
                ck_assert_uint_eq(ledger_n(l), 0);
                ledger_free(l);
                says("ledger.bad", "{");
                says("copy/ledger.bad", "");
                ck_assert_int_lt(faccessat(scratch.fd, "ledger", F_OK, 0), 0);
                ck_assert_int_lt(faccessat(scratch.fd, "copy/ledger", F_OK, 0), 0);
                forget_all();
        }
END_TEST

START_TEST(somebodys_hand_in_either_file_is_seen)
        {
                _cleanup_free_ char *text = NULL;
                Ledger *l;

                leave_ledger(&text);
                l = open_with_copy();
                ck_assert(ledger_is_kept(l));
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                ck_assert(!ledger_is_kept(l));
                ck_assert_int_eq(ledger_commit(l, ""), 0);
                ck_assert(ledger_is_kept(l));
                put("copy/ledger", "");
                ck_assert(!ledger_is_kept(l));
                ledger_free(l);
                forget_all();
        }
END_TEST

UNIT_SUITE("ledger", lines_of_a_dead_daemon_are_taken_out_the_latest_first,
           a_dynamic_event_goes_by_its_name, a_line_that_is_dropped_stays_where_it_is,
           a_line_in_an_instance_that_has_gone_is_no_trouble,
           either_file_is_enough_wherever_the_other_was_cut,
           either_file_is_enough_whatever_is_in_the_place_of_the_other,
           with_both_files_lost_there_is_nothing_and_both_are_kept,
           somebodys_hand_in_either_file_is_seen)
