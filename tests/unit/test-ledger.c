/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines in command files, over plain files, in which a line that is taken out shows as what was
 * written for that; and what becomes of the ledger's file.  All else is test-controller's. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/tracefs/plan.h"
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

        ck_assert_int_eq(ledger_open(&l, scratch.fd, &fs), 0);
        return l;
}

static size_t undo(Ledger *l) {
        _cleanup_strv_ Strv warnings = {};
        size_t n = 0;

        ck_assert_int_eq(ledger_undo(l, "s", &warnings, &n), 0);
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
                ck_assert_uint_eq(l->n, 2);
                ck_assert_int_eq(ledger_commit(l), 0);
                ledger_free(l);

                l = open_ledger();
                ck_assert_uint_eq(l->n, 2);
                ck_assert_uint_eq(undo(l), 2);
                says("set_ftrace_filter", "!b:traceoff:1\n!a:traceon:1\n");
                ck_assert_uint_eq(l->n, 0);
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

START_TEST(what_is_refused_is_not_undone_unless_it_was_ours_before)
        {
                _cleanup_free_ char *text = NULL;
                _cleanup_plan_ Plan p = {};
                const char *file;
                Ledger *l;

                setup();
                l = open_ledger();
                p = PLAN_INIT(l, "s");
                ck_assert_int_eq(plan_put_line(&p, "none/trigger", "traceon:1"), -ENOENT);
                ck_assert_int_eq(mkdirat(scratch.fd, "theirs", 0700), 0);
                ck_assert_int_eq(plan_make_dir(&p, "theirs", &file), -EEXIST);
                ck_assert_uint_eq(l->n, 0);
                ck_assert_int_eq(faccessat(scratch.fd, "ledger", F_OK, 0), -1);

                ck_assert_int_eq(ledger_add(l, "s", LEDGER_LINE, "none/trigger", "traceon:1"), 0);
                ck_assert_int_eq(ledger_add(l, "s", LEDGER_INSTANCE, "theirs", NULL), 0);
                ck_assert_int_eq(plan_put_line(&p, "none/trigger", "traceon:1"), -ENOENT);
                plan_done(&p);
                p = PLAN_INIT(l, "s");
                ck_assert_int_eq(plan_make_dir(&p, "theirs", &file), -EEXIST);
                ck_assert_uint_eq(l->n, 2);
                ck_assert_int_ge(file_read(scratch.fd, "ledger", &text, NULL, 4096), 0);
                ck_assert_ptr_nonnull(strstr(text, "none/trigger"));
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
                ck_assert_uint_eq(l->n, 0);
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

/* --- the file ---------------------------------------------------------------------------------- */

/* A session's ledger, as whoever was killed left it. */
static void leave_ledger(char **ret_text) {
        Ledger *l;

        setup();
        l = open_ledger();
        ck_assert_int_eq(ledger_add(l, "s", LEDGER_INSTANCE, "instances/ftraced-s", NULL), 0);
        ck_assert_int_eq(ledger_add(l, "", LEDGER_FILE, "set_graph_function", "tcp_sendmsg"), 0);
        ck_assert_int_eq(ledger_commit(l), 0);
        ledger_free(l);
        ck_assert_int_eq(file_read(scratch.fd, "ledger", ret_text, NULL, 4096), 0);
}

/* It lists nothing, and the file is kept apart if it @is_bad. */
static void lists_nothing(bool is_bad) {
        _cleanup_free_ char *path = NULL;
        Ledger *l = open_ledger();

        ck_assert_uint_eq(l->n, 0);
        path = ledger_bad_path(l);
        ck_assert_int_eq(path != NULL, is_bad);
        ck_assert_int_lt(faccessat(scratch.fd, "ledger", F_OK, AT_SYMLINK_NOFOLLOW), 0);
        ledger_free(l);
}

START_TEST(the_next_daemon_finds_what_was_committed)
        {
                _cleanup_free_ char *text = NULL;
                Ledger *l;

                leave_ledger(&text);
                l = open_ledger();
                ck_assert_uint_eq(l->n, 2);
                ck_assert_str_eq(l->records[0].file, "instances/ftraced-s");
                ck_assert_str_eq(l->records[1].old, "tcp_sendmsg");
                ck_assert_int_eq(ledger_commit(l), 0);
                says("ledger", text);
                ledger_drop_all(l, "s");
                ledger_drop_all(l, "");
                ck_assert_int_eq(ledger_commit(l), 0);
                ck_assert_int_lt(faccessat(scratch.fd, "ledger", F_OK, 0), 0);
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_file_that_was_cut_is_kept_apart_as_a_whole)
        {
                _cleanup_free_ char *text = NULL;

                leave_ledger(&text);
                for (size_t n = 0; n < strlen(text) - 1; n++) {
                        ck_assert_int_eq(file_replace(scratch.fd, "ledger", text, n, 0600), 0);
                        lists_nothing(true);
                        ck_assert_int_eq(unlinkat(scratch.fd, "ledger.bad", 0), 0);
                }
                scratch_done(&scratch);
        }
END_TEST

START_TEST(whatever_is_in_its_place_is_kept_apart_unless_it_is_of_another_boot)
        {
                static const struct {
                        const char *text;
                        bool is_bad;
                } files[] = {
                        { "{ \"version\": 99, \"boot_id\": \"boot\", \"records\": [] }", true },
                        { "{ \"version\": 1, \"boot_id\": \"boot\", \"records\": [ 1 ] }", true },
                        { "no ledger", true },
                        { "{ \"version\": 1, \"boot_id\": \"other\", \"records\": [ 1 ] }", false },
                        { "{ \"version\": 1, \"boot_id\": \"boot\", \"records\": [] }", false },
                };

                setup();
                for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                        put("ledger", files[i].text);
                        lists_nothing(files[i].is_bad);
                        (void) unlinkat(scratch.fd, "ledger.bad", 0);
                }
                ck_assert_int_eq(symlinkat("/dev/zero", scratch.fd, "ledger"), 0);
                lists_nothing(true);
                ck_assert_int_eq(mkfifoat(scratch.fd, "ledger", 0600), 0);
                lists_nothing(true);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger.bad", 0), 0);
                ck_assert_int_eq(mkdirat(scratch.fd, "ledger", 0700), 0);
                ck_assert_int_eq(mkdirat(scratch.fd, "ledger/full", 0700), 0);
                lists_nothing(true);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_file_that_somebody_removes_is_missed)
        {
                _cleanup_free_ char *text = NULL;
                Ledger *l;

                leave_ledger(&text);
                l = open_ledger();
                ck_assert(!ledger_is_lost(l));
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger", 0), 0);
                ck_assert(ledger_is_lost(l));
                ck_assert_int_eq(ledger_commit(l), 0);
                ck_assert(!ledger_is_lost(l));
                ledger_free(l);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(without_a_place_for_it_nothing_can_be_changed)
        {
                _cleanup_free_ char *where = NULL;
                Ledger *l = NULL;

                setup();
                ck_assert_int_eq(setenv("FTRACED_LEDGERS", "/nowhere", 1), 0);
                ck_assert_int_eq(ledger_open(&l, -EACCES, &fs), 0);
                ck_assert_int_eq(ledger_commit(l), 0);
                ck_assert_int_eq(ledger_add(l, "s", LEDGER_INSTANCE, "instances/x", NULL), 0);
                ck_assert_int_eq(ledger_commit(l), -EACCES);
                where = ledger_failed_where(l, -EACCES);
                ck_assert_str_eq(where, "/nowhere");
                ledger_free(l);
                (void) unsetenv("FTRACED_LEDGERS");
                scratch_done(&scratch);
        }
END_TEST

UNIT_SUITE("ledger", lines_of_a_dead_daemon_are_taken_out_the_latest_first,
           a_dynamic_event_goes_by_its_name, a_line_that_is_dropped_stays_where_it_is,
           what_is_refused_is_not_undone_unless_it_was_ours_before,
           a_line_in_an_instance_that_has_gone_is_no_trouble,
           the_next_daemon_finds_what_was_committed, a_file_that_was_cut_is_kept_apart_as_a_whole,
           whatever_is_in_its_place_is_kept_apart_unless_it_is_of_another_boot,
           a_file_that_somebody_removes_is_missed, without_a_place_for_it_nothing_can_be_changed)
