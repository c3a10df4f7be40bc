/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whose a control file is by now, over plain files whose times are set by hand: as tracefs has them,
 * which a write leaves alone. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/tracefs/ledger.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static Scratch scratch;
static Tracefs fs;
static time_t now_s;

/* A new time: whoever wrote it had truncated it. */
static void truncated(const char *path, const char *text) {
        struct timespec times[2] = { { .tv_sec = now_s + 1 }, { .tv_sec = now_s + 1 } };

        now_s++;
        ck_assert_int_eq(file_replace(scratch.fd, path, text, strlen(text), 0600), 0);
        ck_assert_int_eq(utimensat(scratch.fd, path, times, 0), 0);
}

/* The old one. */
static void written(const char *path, const char *text) {
        struct stat st;

        ck_assert_int_eq(fstatat(scratch.fd, path, &st, 0), 0);
        ck_assert_int_eq(file_replace(scratch.fd, path, text, strlen(text), 0600), 0);
        ck_assert_int_eq(
                utimensat(scratch.fd, path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0), 0);
}

static void setup(void) {
        static const char *const dirs[] = { "proc", "proc/sys", "proc/sys/kernel",
                                            "proc/sys/kernel/random", "instances" };

        scratch = scratch_new();
        now_s = 1000;
        for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
                ck_assert_int_eq(mkdirat(scratch.fd, dirs[i], 0700), 0);
        truncated("proc/sys/kernel/random/boot_id", "boot\n");
        truncated("current_tracer", "nop\n");
        truncated("set_ftrace_filter", "#### all functions enabled ####\n");
        truncated("set_graph_function", "#### all functions enabled ####\n");
        truncated("set_ftrace_pid", "no pid\n");
        truncated("max_graph_depth", "0\n");
        fs = (Tracefs){ .fd = scratch.fd, .root_fd = scratch.fd, .marks_writers = true };
}

static void expect(const char *path, const char *wanted) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(file_read(scratch.fd, path, &text, NULL, 4096), 0);
        ck_assert_str_eq(text, wanted);
}

static Ledger *open_ledger(void) {
        Ledger *l = NULL;

        ck_assert_int_eq(ledger_open(&l, scratch.fd, &fs), 0);
        return l;
}

/* What a session does to a file, and that the next daemon finds in its ledger. */
static void change(Ledger **l, LedgerKind kind, const char *path, const char *old,
                   const char *new) {
        char line[64];

        ck_assert_int_eq(ledger_claim(*l, LEDGER_SHARED, kind, path, old, new), 0);
        (void) snprintf(line, sizeof(line), "%s\n", new);
        truncated(path, line);
        ledger_mark(*l);
        ck_assert_int_eq(ledger_commit(*l), 0);
        ledger_free(*l);
        *l = open_ledger();
}

static size_t undo(Ledger *l) {
        _cleanup_strv_ Strv warnings = {};

        ck_assert_int_eq(ledger_undo(l, LEDGER_SHARED, &warnings, NULL), 0);
        ck_assert_uint_eq(l->n, 0);
        return warnings.n;
}

static void finish(Ledger *l) {
        ledger_free(l);
        scratch_done(&scratch);
}

START_TEST(what_nobody_has_written_is_put_back)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "max_graph_depth", "4", "0");
                change(&l, LEDGER_TRACER, "current_tracer", "function", "nop");
                ck_assert_uint_eq(undo(l), 0);
                expect("max_graph_depth", "4\n");
                expect("current_tracer", "function\n");
                finish(l);
        }
END_TEST

START_TEST(a_reset_to_what_is_there_anyway_stays)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "max_graph_depth", "4", "0");
                change(&l, LEDGER_TRACER, "current_tracer", "function", "nop");
                truncated("max_graph_depth", "0\n");
                truncated("current_tracer", "nop\n");
                ck_assert_uint_eq(undo(l), 2);
                expect("max_graph_depth", "0\n");
                expect("current_tracer", "nop\n");
                finish(l);
        }
END_TEST

START_TEST(a_tracer_whose_owner_was_at_its_other_files_stays_off)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_TRACER, "current_tracer", "function", "nop");
                written("current_tracer", "nop\n"); /* as trace-cmd does */
                truncated("set_ftrace_pid", "no pid\n");
                ck_assert_uint_eq(undo(l), 1);
                expect("current_tracer", "nop\n");
                finish(l);
        }
END_TEST

START_TEST(a_tracer_without_the_filters_that_it_had_stays_off)
        {
                Ledger *l;

                setup();
                truncated("set_graph_function", "vfs_write\n");
                l = open_ledger();
                change(&l, LEDGER_TRACER, "current_tracer", "function_graph", "nop");
                written("set_graph_function", "#### all functions enabled ####\n");
                ck_assert_uint_eq(undo(l), 1);
                expect("current_tracer", "nop\n");
                finish(l);
        }
END_TEST

START_TEST(what_others_wrote_since_an_undo_that_failed_is_what_the_next_session_finds)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "set_graph_function", "", "udp_sendmsg");
                truncated("set_graph_function", "vfs_write\n");
                change(&l, LEDGER_FILE, "set_graph_function", "vfs_write", "udp_sendmsg");
                ck_assert_uint_eq(undo(l), 0);
                expect("set_graph_function", "vfs_write\n");
                finish(l);
        }
END_TEST

START_TEST(what_an_undo_that_failed_left_is_not_what_was_before)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "max_graph_depth", "4", "2");
                change(&l, LEDGER_FILE, "max_graph_depth", "2", "3");
                ck_assert_uint_eq(undo(l), 0);
                expect("max_graph_depth", "4\n");
                finish(l);
        }
END_TEST

START_TEST(a_claim_without_a_write_loses_nothing)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "max_graph_depth", "4", "2");
                ck_assert_int_eq(
                        ledger_claim(l, LEDGER_SHARED, LEDGER_FILE, "max_graph_depth", "2", "3"),
                        0);
                ck_assert_uint_eq(undo(l), 0);
                expect("max_graph_depth", "4\n");
                finish(l);
        }
END_TEST

START_TEST(what_others_add_to_a_list_stays_beside_what_was_there)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "set_graph_function", "kfree", "udp_sendmsg");
                written("set_graph_function", "udp_sendmsg\nvfs_read\n");
                ck_assert_uint_eq(undo(l), 0);
                expect("set_graph_function", "kfree\nvfs_read\n");
                finish(l);
        }
END_TEST

START_TEST(a_value_that_only_we_want_is_ours_whoever_wrote_it)
        {
                Ledger *l;

                setup();
                l = open_ledger();
                change(&l, LEDGER_FILE, "set_graph_function", "kfree", "udp_sendmsg");
                truncated("set_graph_function", "udp_sendmsg\n");
                ck_assert_uint_eq(undo(l), 0);
                expect("set_graph_function", "kfree\n");
                finish(l);
        }
END_TEST

START_TEST(a_root_that_went_with_its_module_is_nobodys)
        {
                Ledger *l;

                for (int marks = 0; marks < 2; marks++) {
                        setup();
                        fs.marks_writers = marks;
                        l = open_ledger();
                        change(&l, LEDGER_FILE, "set_graph_function", "kfree", "dummy_dev_init");
                        truncated("set_graph_function", "0xffffffffc0692034\n");
                        ck_assert_uint_eq(undo(l), 0);
                        expect("set_graph_function", "kfree\n");
                        finish(l);
                }
        }
END_TEST

UNIT_SUITE("put-back", what_nobody_has_written_is_put_back, a_reset_to_what_is_there_anyway_stays,
           a_tracer_whose_owner_was_at_its_other_files_stays_off,
           a_tracer_without_the_filters_that_it_had_stays_off,
           what_others_wrote_since_an_undo_that_failed_is_what_the_next_session_finds,
           what_an_undo_that_failed_left_is_not_what_was_before,
           a_claim_without_a_write_loses_nothing,
           what_others_add_to_a_list_stays_beside_what_was_there,
           a_value_that_only_we_want_is_ours_whoever_wrote_it,
           a_root_that_went_with_its_module_is_nobodys)
