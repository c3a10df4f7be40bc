/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines in command files, over plain files, in which a line that is taken out shows as what was
 * written for that.  All else of the ledger is test-controller's. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/ledger.h"
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

        ck_assert_int_eq(ledger_open(&l, scratch.fd, scratch.fd), 0);
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

UNIT_MAIN("ledger", lines_of_a_dead_daemon_are_taken_out_the_latest_first,
          a_dynamic_event_goes_by_its_name, a_line_that_is_dropped_stays_where_it_is,
          a_line_in_an_instance_that_has_gone_is_no_trouble)
