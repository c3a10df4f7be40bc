/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The only way back.  What is recorded last is put back first, after the tracers are off and before the
 * instances go; what fails stays in the ledger, to be tried again.
 */

#include <fcntl.h>

#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/ledger.h"

#define GRAPH_FUNCTION "set_graph_function"

/* What is busy for a moment: @call again, every 10 ms. */
#define UNTIL_NOT_BUSY(n_tries, call)                                                              \
        ({                                                                                         \
                int _r = (call);                                                                   \
                for (unsigned _i = 1; _r == -EBUSY && _i < (n_tries); _i++) {                      \
                        (void) usleep(10000);                                                      \
                        _r = (call);                                                               \
                }                                                                                  \
                _r;                                                                                \
        })

/* A service manager that was told to let go of trace_pipe_raw may take a moment. */
int ledger_switch_off(const Tracefs *fs, const char *path) {
        return UNTIL_NOT_BUSY(11, control_write(fs->fd, path, "nop"));
}

/* Switches function_graph off in @dir ("" or "instances/x/"); no such directory is fine. */
static int stop_tracer(const Tracefs *fs, const char *dir) {
        const char *tracer_path = TRACEFS_PATH("%scurrent_tracer", dir),
                   *on_path = TRACEFS_PATH("%stracing_on", dir);
        _cleanup_free_ char *tracer = NULL, *on = NULL;
        int r = control_read(fs->fd, tracer_path, &tracer);

        if (r == -ENOENT || (r >= 0 && !streq(tracer, "function_graph")))
                return 0;
        r = r ?: control_read(fs->fd, on_path, &on);
        if (r >= 0 && !streq(on, "0"))
                r = control_write(fs->fd, on_path, "0");
        return r ?: ledger_switch_off(fs, tracer_path);
}

/*
 * What all sessions share may only be written while no function_graph is on, whoever's; the rest of the
 * top-level buffer while nobody else has a tracer on there, for ours is off.
 */
static int may_write(const Tracefs *fs, const LedgerRecord *e) {
        _cleanup_free_ char *tracer = NULL;
        _cleanup_strv_ Strv users = {};
        int r;

        if (startswith(e->file, "instances/") || strstr(e->file, "events/"))
                return 0;
        if (!streq(e->session, LEDGER_SHARED)) {
                r = control_read(fs->fd, "current_tracer", &tracer);
                return r < 0 ? r : streq(tracer, "nop") ? 0 : -EBUSY;
        }
        r = tracefs_find_graph_users(fs, &users);
        return r < 0 ? r : users.n > 0 ? -EBUSY : 0;
}

/* What nobody is to wonder about later. */
static int tell_theirs(const Tracefs *fs, const LedgerRecord *e, const char *now, Strv *warnings) {
        return strv_addf(warnings,
                         "%s/%s said \"%.200s\" before, but somebody else has written it since: it "
                         "stays \"%.200s\"",
                         fs->path, e->file, e->old, now);
}

static int undo_file(const Ledger *l, const LedgerRecord *e, Strv *warnings, size_t *n) {
        _cleanup_free_ char *now = NULL, *words = NULL, *wish = NULL;
        _cleanup_strv_ Strv skipped = {};
        int r = control_read(l->fs->fd, e->file, &now);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        /* stop_tracer() has dealt with ours; any other tracer is somebody else's by now. */
        if (ledger_is_tracer(e->file) ||
            (control_equal(e->file, now, e->old) && !control_hides(e->file, now)))
                return 0;
        r = put_back_value(l, e, now, &wish);
        if (r < 0)
                return r;
        if (r == PUT_BACK_THEIRS)
                return tell_theirs(l->fs, e, now, warnings);
        background_leave();
        r = may_write(l->fs, e);
        if (r >= 0)
                r = control_restore(l->fs->fd, e->file, wish, &skipped);
        background_return();
        if (r < 0)
                return r;
        (*n)++;
        if (skipped.n == 0)
                return 0;
        words = strv_join(&skipped, ", ");
        if (!words)
                return -ENOMEM;
        return strv_addf(warnings, "%s held %s before, which this kernel no longer takes: left out",
                         e->file, words);
}

/* An event is busy for a moment after it was switched off, or while somebody looks at it.  Where there is no such line events say nothing and set_ftrace_filter says ENODEV (tried on 6.12). */
static int undo_line(const Ledger *l, const LedgerRecord *e, Strv *warnings, size_t *n) {
        _cleanup_strv_ Strv lines = {};
        char *line = ledger_line_out(e);
        int r = line ? strv_take(&lines, line) : -ENOMEM;

        r = r ?: BACKGROUND_CALL(UNTIL_NOT_BUSY(21, control_append(l->fs->fd, e->file, &lines)));
        *n += r >= 0;
        return r == -ENOENT || r == -ENODEV || r == -EINVAL || r == -ESRCH ? 0 : r;
}

/*
 * Switches off what a session has on in the top-level buffer.  Somebody else's function_graph looks the same: it is
 * theirs if they have written current_tracer since, and set_graph_function as well.  Either alone may be a
 * write that we had them refused, or one beside our tracer.  Without any filter it is switched off, whosever it
 * may be: who cleared ours beside our tracer would else have every function traced from now on.
 */
static int stop_top(Ledger *l, const LedgerRecord *e) {
        const LedgerRecord *roots =
                ledger_record_of(l, LEDGER_SHARED, LEDGER_FILE, GRAPH_FUNCTION, NULL);
        _cleanup_free_ char *now = NULL, *wish = NULL;
        int r;

        if (roots && e->mark && put_back_mark(l->fs, e->file) != e->mark) {
                r = control_read(l->fs->fd, GRAPH_FUNCTION, &now);
                if (r >= 0)
                        r = put_back_value(l, roots, now, &wish);
                if (r < 0 ||
                    (r == PUT_BACK_THEIRS && put_back_is_bounded(l->fs, e->file, "function_graph")))
                        return MIN(r, 0);
        }
        r = ledger_claim_again(l, "current_tracer");
        return r < 0 ? r : BACKGROUND_CALL(stop_tracer(l->fs, ""));
}

static int undo_stop(Ledger *l, const char *session) {
        int ret = 0;

        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];
                int r = 0;

                if (!streq(e->session, session) || e->kind == LEDGER_TRACER)
                        continue;
                if (e->kind == LEDGER_INSTANCE)
                        r = BACKGROUND_CALL(stop_tracer(l->fs, TRACEFS_PATH("%s/", e->file)));
                else if (streq(e->file, "current_tracer"))
                        r = stop_top(l, e);
                else if (
                        ledger_is_tracer(
                                e->file)) /* of an instance that was there before (daemon/instances/instance.h) */
                        r = BACKGROUND_CALL(stop_tracer(
                                l->fs, TRACEFS_PATH("%.*s", (int) (basename(e->file) - e->file),
                                                    e->file)));
                ret = ret ?: r;
        }
        return ret;
}

/* An instance is busy as long as anybody has one of its files open: whoever only looks at it is
 * waited for, for a moment. */
static int remove_instance(const Tracefs *fs, const char *dir) {
        /* Of what is not there a read-only mount says that it is read-only. */
        if (faccessat(fs->fd, dir, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                return ORIGIN(-errno);
        log_debug("control", "rmdir %s", dir);
        return UNTIL_NOT_BUSY(50, unlinkat(fs->fd, dir, AT_REMOVEDIR) < 0 ? ORIGIN(-errno) : 0);
}

static int undo_instance(const Ledger *l, const LedgerRecord *e, Strv *warnings, size_t *n) {
        int r = BACKGROUND_CALL(remove_instance(l->fs, e->file));

        *n += r >= 0;
        return r == -ENOENT ? 0 : r;
}

/* What of a buffer is still to be put back could not be, beside a tracer. */
static bool is_in_way(const LedgerRecord *file, const LedgerRecord *tracer) {
        if (file->kind != LEDGER_FILE || startswith(file->file, LEDGER_ROOTS_DIR))
                return false;
        return streq(file->file, tracer->file) ||
               (streq(tracer->file, "current_tracer") && !startswith(file->file, "instances/") &&
                !strstr(file->file, "events/"));
}

/* Sets a tracer of somebody else again, unless they have set one themselves, or switched theirs off.  As
 * long as a session has more of that buffer to put back it would be taken for the session's. */
static int undo_tracer(const Ledger *l, const LedgerRecord *e, Strv *warnings, size_t *n) {
        _cleanup_free_ char *now = NULL, *wish = NULL;
        int r;

        for (size_t i = 0; i < l->n; i++)
                if (is_in_way(&l->records[i], e))
                        return ORIGIN(-EBUSY);
        r = control_read(l->fs->fd, e->file, &now);
        if (r == -ENOENT || r == -ENODEV || (r >= 0 && !streq(now, "nop")))
                return 0;
        if (r >= 0)
                r = put_back_value(l, e, now, &wish);
        if (r < 0)
                return r;
        if (r == PUT_BACK_THEIRS)
                return tell_theirs(l->fs, e, now, warnings);
        if (e->is_bounded && !put_back_is_bounded(l->fs, e->file, e->old))
                return strv_addf(warnings,
                                 "%s/%s was %s, with filters that are gone: it stays nop, since "
                                 "without filters it would trace every function",
                                 l->fs->path, e->file, e->old);
        r = BACKGROUND_CALL(control_write(l->fs->fd, e->file, e->old));
        *n += r >= 0;
        return r;
}

/* 0, or -errno: it is not undone.  Sentences are added to @warnings, changes to *@n. */
typedef int (*Undo)(const Ledger *l, const LedgerRecord *e, Strv *warnings, size_t *n);

static const Undo undo[_LEDGER_KIND_N] = {
        [LEDGER_FILE] = undo_file,
        [LEDGER_INSTANCE] = undo_instance,
        [LEDGER_TRACER] = undo_tracer,
        [LEDGER_LINE] = undo_line,
};

/* The session's records of some kinds, the latest first; the first failure. */
static int undo_kinds(Ledger *l, const char *session, unsigned kinds, Strv *warnings, size_t *n) {
        int failed = 0;

        for (size_t i = l->n; i-- > 0;) {
                const LedgerRecord *e = &l->records[i];
                int r;

                if (!(kinds & 1U << e->kind) || !streq(e->session, session))
                        continue;
                r = undo[e->kind](l, e, warnings, n);
                if (r >= 0)
                        ledger_remove_at(l, i);
                else {
                        log_debug("ledger", "%s is not put back: %s", e->file, strerror(-r));
                        failed = failed ?: r;
                }
        }
        return failed;
}

int ledger_undo(Ledger *l, const char *session, Strv *warnings, size_t *ret_n) {
        size_t n_before = l->n, n = 0;
        int r, k;

        if (ledger_settle(l, session) > 0)
                ledger_shorten(l);
        r = undo_stop(l, session);
        if (r >= 0) {
                r = undo_kinds(l, session, 1U << LEDGER_FILE | 1U << LEDGER_LINE, warnings, &n);
                k = undo_kinds(l, session, 1U << LEDGER_INSTANCE, warnings, &n);
                r = r ?: k;
        }
        /* Last, for their filters must be there before they are on. */
        if (r >= 0)
                r = undo_kinds(l, session, 1U << LEDGER_TRACER, warnings, &n);
        ledger_mark(l);
        if (l->n != n_before || r < 0)
                ledger_shorten(l);
        if (ret_n)
                *ret_n = n;
        return r;
}
