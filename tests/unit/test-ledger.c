/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over plain files: lines in command files, of which one that is taken out shows as what was written for that;
 * whose a file is by now, told by times that are set by hand, as tracefs has them; and what becomes of the ledger's
 * own file.  All else is test-controller's. */

#include "daemon/tracefs/plan.h"
#include "tests/unit/scratch.h"

static Scratch scratch;
static Tracefs fs;
static Ledger *l;
static time_t now_s;

static void put(const char *path, const char *text) {
        scratch_write(scratch.fd, path, text, strlen(text));
}

/* A new time: whoever wrote it had truncated it. */
static void truncated(const char *path, const char *text) {
        struct timespec times[2] = { { .tv_sec = now_s + 1 }, { .tv_sec = now_s + 1 } };

        now_s++;
        put(path, text);
        ck_assert_int_eq(utimensat(scratch.fd, path, times, 0), 0);
}

/* The old one. */
static void written(const char *path, const char *text) {
        struct stat st;

        ck_assert_int_eq(fstatat(scratch.fd, path, &st, 0), 0);
        put(path, text);
        ck_assert_int_eq(
                utimensat(scratch.fd, path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0), 0);
}

static void expect(const char *path, const char *wanted) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(file_read(scratch.fd, path, &text, NULL, 4096), 0);
        ck_assert_str_eq(text, wanted);
}

static void setup(void) {
        scratch = scratch_new();
        now_s = 1000;
        ck_assert_int_eq(mkdirat(scratch.fd, "instances", 0700), 0);
        scratch_put(&scratch, "proc/sys/kernel/random/boot_id", "boot\n");
        put("dynamic_events", "");
        put("set_ftrace_filter", "");
        truncated("current_tracer", "nop\n");
        truncated("set_graph_function", "#### all functions enabled ####\n");
        truncated("set_ftrace_pid", "no pid\n");
        truncated("max_graph_depth", "0\n");
        fs = (Tracefs){ .fd = scratch.fd, .root_fd = scratch.fd, .is_real = true };
}

/* As the next daemon does. */
static void reopen(void) {
        l = ledger_free(l);
        ck_assert_int_eq(ledger_open(&l, scratch.fd, &fs), 0);
}

static void finish(void) {
        l = ledger_free(l);
        scratch_done(&scratch);
}

/* One that has a ledger, @l. */
#define CASE_TEST(name)                                                                            \
        static void name##_in(void);                                                               \
        TEST(name) {                                                                               \
                setup();                                                                           \
                reopen();                                                                          \
                name##_in();                                                                       \
                finish();                                                                          \
        }                                                                                          \
        static void name##_in(void)

/* How many records there were; none is left. */
static size_t undo(const char *session, Strv *warnings) {
        size_t n = 0;

        ck_assert_int_eq(ledger_undo(l, session, warnings, &n), 0);
        ck_assert_uint_eq(l->n, 0);
        return n;
}

static size_t undo_lines(void) {
        _cleanup_strv_ Strv warnings = {};

        return undo("s", &warnings);
}

static void add_line(const char *file, const char *line) {
        ck_assert_int_eq(ledger_add(l, "s", LEDGER_LINE, file, line), 0);
}

CASE_TEST(lines_of_a_dead_daemon_are_taken_out_the_latest_first) {
        add_line("set_ftrace_filter", "a:traceon:1");
        add_line("set_ftrace_filter", "b:traceoff:1");
        add_line("set_ftrace_filter", "a:traceon:1");
        ck_assert_uint_eq(l->n, 2);
        ck_assert_int_eq(ledger_commit(l), 0);
        reopen();
        ck_assert_uint_eq(l->n, 2);
        ck_assert_uint_eq(undo_lines(), 2);
        expect("set_ftrace_filter", "!b:traceoff:1\n!a:traceon:1\n");
}

CASE_TEST(a_dynamic_event_goes_by_its_name) {
        add_line("dynamic_events", "r512:ftraced/x_out f");
        add_line("dynamic_events", "s:x u64 lat");
        ck_assert_uint_eq(undo_lines(), 2);
        expect("dynamic_events", "-:x\n-:ftraced/x_out\n");
}

CASE_TEST(a_line_that_is_dropped_stays_where_it_is_and_one_whose_instance_has_gone_is_no_trouble) {
        add_line("set_ftrace_filter", "a:traceon:1");
        ledger_drop(l, "s", "set_ftrace_filter", "a:traceon:1");
        ck_assert_uint_eq(undo_lines(), 0);
        expect("set_ftrace_filter", "");
        add_line("instances/x/set_ftrace_filter", "a:traceon:1");
        (void) undo_lines();
}

/* --- the file ---------------------------------------------------------------------------------- */

/* A session's ledger, as whoever was killed left it. */
static void leave_ledger(char **ret_text) {
        setup();
        reopen();
        ck_assert_int_eq(ledger_add(l, "s", LEDGER_INSTANCE, "instances/ftraced-s", NULL), 0);
        ck_assert_int_eq(ledger_add(l, "", LEDGER_FILE, "set_graph_function", "tcp_sendmsg"), 0);
        ck_assert_int_eq(ledger_commit(l), 0);
        l = ledger_free(l);
        ck_assert_int_eq(file_read(scratch.fd, "ledger", ret_text, NULL, 4096), 0);
}

/* It lists nothing, and the file is kept apart if it @is_bad. */
static void lists_nothing(bool is_bad) {
        _cleanup_free_ char *path = NULL;

        reopen();
        ck_assert_uint_eq(l->n, 0);
        path = ledger_bad_path(l);
        ck_assert_int_eq(path != NULL, is_bad);
        ck_assert_int_lt(faccessat(scratch.fd, "ledger", F_OK, AT_SYMLINK_NOFOLLOW), 0);
        l = ledger_free(l);
}

TEST(the_next_daemon_finds_what_was_committed) {
        _cleanup_free_ char *text = NULL;

        leave_ledger(&text);
        reopen();
        ck_assert_uint_eq(l->n, 2);
        ck_assert_str_eq(l->records[0].file, "instances/ftraced-s");
        ck_assert_str_eq(l->records[1].old, "tcp_sendmsg");
        ck_assert_int_eq(ledger_commit(l), 0);
        expect("ledger", text);
        ledger_drop_all(l, "s");
        ledger_drop_all(l, "");
        ck_assert_int_eq(ledger_commit(l), 0);
        ck_assert_int_lt(faccessat(scratch.fd, "ledger", F_OK, 0), 0);
        finish();
}

TEST(a_file_that_was_cut_is_kept_apart_as_a_whole) {
        _cleanup_free_ char *text = NULL;

        leave_ledger(&text);
        for (size_t n = 0; n < strlen(text) - 1; n++) {
                ck_assert_int_eq(file_replace(scratch.fd, "ledger", text, n, 0600), 0);
                lists_nothing(true);
                ck_assert_int_eq(unlinkat(scratch.fd, "ledger.bad", 0), 0);
        }
        scratch_done(&scratch);
}

TEST(whatever_is_in_its_place_is_kept_apart_unless_it_is_of_another_boot) {
        static const struct {
                const char *text;
                bool is_bad;
        } files[] = {
                { "{ \"version\": 99, \"boot_id\": \"boot\", \"records\": [] }", true },
                { "{ \"version\": 1, \"boot_id\": \"boot\", \"records\": [ 1 ] }", true },
                { "no ledger", true },
                { "[]", true },
                { "{ \"version\": 1, \"boot_id\": \"boot\", \"records\": [ { \"session\": \"a\", "
                  "\"kind\": \"file\", \"file\": \"../root/x\", \"old\": \"\" } ] }",
                  true },
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

/* --- whose a file is by now -------------------------------------------------------------------------- */

/* What a session does to a file, and that the next daemon finds in its ledger. */
static void change(LedgerKind kind, const char *path, const char *old, const char *new) {
        char line[64];

        ck_assert_int_eq(ledger_claim(l, LEDGER_SHARED, kind, path, old, new), 0);
        (void) snprintf(line, sizeof(line), "%s\n", new);
        truncated(path, line);
        ledger_mark(l);
        ck_assert_int_eq(ledger_commit(l), 0);
        reopen();
}

/* Puts all back but for so many files. */
static void undo_but(size_t n_left) {
        _cleanup_strv_ Strv warnings = {};

        (void) undo(LEDGER_SHARED, &warnings);
        ck_assert_uint_eq(warnings.n, n_left);
}

CASE_TEST(what_nobody_has_written_is_put_back) {
        change(LEDGER_FILE, "max_graph_depth", "4", "0");
        change(LEDGER_TRACER, "current_tracer", "function", "nop");
        undo_but(0);
        expect("max_graph_depth", "4\n");
        expect("current_tracer", "function\n");
}

CASE_TEST(a_reset_to_what_is_there_anyway_stays) {
        change(LEDGER_FILE, "max_graph_depth", "4", "0");
        change(LEDGER_TRACER, "current_tracer", "function", "nop");
        truncated("max_graph_depth", "0\n");
        truncated("current_tracer", "nop\n");
        undo_but(2);
        expect("max_graph_depth", "0\n");
        expect("current_tracer", "nop\n");
}

CASE_TEST(a_tracer_whose_owner_was_at_its_other_files_stays_off) {
        change(LEDGER_TRACER, "current_tracer", "function", "nop");
        written("current_tracer", "nop\n"); /* as trace-cmd does */
        truncated("set_ftrace_pid", "no pid\n");
        undo_but(1);
        expect("current_tracer", "nop\n");
}

CASE_TEST(a_tracer_without_the_filters_that_it_had_stays_off) {
        truncated("set_graph_function", "vfs_write\n");
        change(LEDGER_TRACER, "current_tracer", "function_graph", "nop");
        written("set_graph_function", "#### all functions enabled ####\n");
        undo_but(1);
        expect("current_tracer", "nop\n");
}

TEST(a_tracer_of_ours_whose_filters_somebody_cleared_is_switched_off) {
        static const char *const theirs[] = { "", "vfs_write\n" };

        for (size_t i = 0; i < ELEMENTSOF(theirs); i++) {
                setup();
                reopen();
                truncated("tracing_on", "1\n");
                change(LEDGER_FILE, "set_graph_function", "", "udp_sendmsg");
                change(LEDGER_FILE, "set_ftrace_filter", "", "udp_sendmsg");
                change(LEDGER_FILE, "current_tracer", "nop", "function_graph");
                truncated("set_graph_function", theirs[i]);
                truncated("set_ftrace_filter", theirs[i]);
                undo_but(*theirs[i] ? 2 : 0);
                expect("current_tracer", *theirs[i] ? "function_graph\n" : "nop\n");
                finish();
        }
}

CASE_TEST(what_others_wrote_since_an_undo_that_failed_is_what_the_next_session_finds) {
        change(LEDGER_FILE, "set_graph_function", "", "udp_sendmsg");
        truncated("set_graph_function", "vfs_write\n");
        change(LEDGER_FILE, "set_graph_function", "vfs_write", "udp_sendmsg");
        undo_but(0);
        expect("set_graph_function", "vfs_write\n");
}

CASE_TEST(what_an_undo_that_failed_left_is_not_what_was_before) {
        change(LEDGER_FILE, "max_graph_depth", "4", "2");
        change(LEDGER_FILE, "max_graph_depth", "2", "3");
        undo_but(0);
        expect("max_graph_depth", "4\n");
}

CASE_TEST(a_claim_without_a_write_loses_nothing) {
        change(LEDGER_FILE, "max_graph_depth", "4", "2");
        ck_assert_int_eq(ledger_claim(l, LEDGER_SHARED, LEDGER_FILE, "max_graph_depth", "2", "3"),
                         0);
        undo_but(0);
        expect("max_graph_depth", "4\n");
}

CASE_TEST(what_others_add_to_a_list_stays_beside_what_was_there) {
        change(LEDGER_FILE, "set_graph_function", "kfree", "udp_sendmsg");
        written("set_graph_function", "udp_sendmsg\nvfs_read\n");
        undo_but(0);
        expect("set_graph_function", "kfree\nvfs_read\n");
}

CASE_TEST(a_value_that_only_we_want_is_ours_whoever_wrote_it) {
        change(LEDGER_FILE, "set_graph_function", "kfree", "udp_sendmsg");
        truncated("set_graph_function", "udp_sendmsg\n");
        undo_but(0);
        expect("set_graph_function", "kfree\n");
}

TEST(a_root_that_went_with_its_module_is_nobodys) {
        for (int marks = 0; marks < 2; marks++) {
                setup();
                reopen();
                fs.is_real = marks;
                change(LEDGER_FILE, "set_graph_function", "kfree", "dummy_dev_init");
                truncated("set_graph_function", "0xffffffffc0692034\n");
                undo_but(0);
                expect("set_graph_function", "kfree\n");
                finish();
        }
}

CASE_TEST(what_is_refused_is_not_undone_unless_it_was_ours_before) {
        _cleanup_free_ char *text = NULL;
        _cleanup_plan_ Plan p = PLAN_INIT(l, "s");
        const char *file;

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
}
