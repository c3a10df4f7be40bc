/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array in memory, a JSON file beside it.  The file is always written first when something is
 * about to change and last when something was put back; in between it may list too much, never
 * too little.
 */

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/aside.h"
#include "daemon/knob.h"
#include "daemon/ledger.h"
#include "store/entry.h"

#define LEDGER_NAME "ledger"
#define LEDGER_VERSION 1
#define LEDGER_MAX_BYTES (64U << 20)

struct Ledger {
        int dir_fd; /* -EBADF: it is only in memory */
        char *boot_id;
        LedgerRecord *records;
        size_t n;
        bool is_stale; /* the file says more than the records */
};

static const char *const kind_names[] = {
        [LEDGER_FILE] = "file",
        [LEDGER_INSTANCE] = "instance",
        [LEDGER_TRACER] = "tracer",
        [LEDGER_LINE] = "line",
};

static void record_done(LedgerRecord *r) {
        free(r->session);
        free(r->file);
        free(r->old);
        *r = (LedgerRecord){};
}

static void remove_at(Ledger *l, size_t i) {
        record_done(&l->records[i]);
        memmove(l->records + i, l->records + i + 1, (l->n - i - 1) * sizeof(*l->records));
        l->n--;
}

Ledger *ledger_free(Ledger *l) {
        if (!l)
                return NULL;
        for (size_t i = 0; i < l->n; i++)
                record_done(&l->records[i]);
        free(l->records);
        free(l->boot_id);
        safe_close(l->dir_fd);
        free(l);
        return NULL;
}

int ledger_new_dry(Ledger **ret) {
        Ledger *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->dir_fd = -EBADF;
        *ret = l;
        return 0;
}

size_t ledger_n(const Ledger *l) {
        return l->n;
}

const LedgerRecord *ledger_get(const Ledger *l, size_t i) {
        return &l->records[i];
}

bool ledger_has(const Ledger *l, const char *session, const char *file) {
        for (size_t i = 0; i < l->n; i++)
                if (streq(l->records[i].session, session) && streq(l->records[i].file, file))
                        return true;
        return false;
}

bool ledger_covers(const Ledger *l, const char *dir) {
        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];

                if ((e->kind == LEDGER_FILE && *dir == 0 && streq(e->file, "current_tracer")) ||
                    (e->kind == LEDGER_INSTANCE && streq_ptr(startswith(dir, e->file), "/")))
                        return true;
        }
        return false;
}

/* Tells most records apart without a look at them: there may be thousands. */
static uint32_t hash_of(const char *session, const char *file) {
        uint32_t h = 2166136261;

        for (const char *s = session; *s; s++)
                h = (h ^ (unsigned char) *s) * 16777619;
        for (const char *s = file; *s; s++)
                h = (h ^ (unsigned char) *s) * 16777619;
        return h;
}

/* Where @session's record for this is, or l->n. */
static size_t find(const Ledger *l, const char *session, LedgerKind kind, const char *file,
                   const char *old) {
        uint32_t hash = hash_of(session, file);
        size_t i;

        for (i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];

                if (e->hash == hash && streq(e->session, session) && streq(e->file, file) &&
                    (kind == LEDGER_LINE) == (e->kind == LEDGER_LINE) &&
                    (kind != LEDGER_LINE || streq(e->old, old)))
                        break;
        }
        return i;
}

void ledger_drop_line(Ledger *l, const char *session, const char *file, const char *line) {
        size_t i = find(l, session, LEDGER_LINE, file, line);

        if (i < l->n)
                remove_at(l, i);
}

void ledger_drop(Ledger *l, const char *session, const char *file) {
        size_t i = find(l, session, LEDGER_FILE, file, NULL);

        if (i < l->n)
                remove_at(l, i);
}

void ledger_drop_all(Ledger *l, const char *session) {
        size_t kept = 0;

        for (size_t i = 0; i < l->n; i++)
                if (streq(l->records[i].session, session))
                        record_done(&l->records[i]);
                else
                        l->records[kept++] = l->records[i];
        l->n = kept;
}

int ledger_add(Ledger *l, const char *session, LedgerKind kind, const char *file, const char *old) {
        LedgerRecord new = { .kind = kind, .hash = hash_of(session, file) };
        LedgerRecord *records;

        if (find(l, session, kind, file, old) < l->n)
                return 0;
        new.session = strdup(session);
        new.file = strdup(file);
        new.old = old ? strdup(old) : NULL;
        records = reallocarray(l->records, l->n + 1, sizeof(*records));
        if (records)
                l->records = records;
        if (!records || !new.session || !new.file || (old && !new.old)) {
                record_done(&new);
                return -ENOMEM;
        }
        l->records[l->n++] = new;
        return 0;
}

static int commit(Ledger *l, const char *tracefs_path) {
        json_t *root, *records;
        char *text;
        int r = 0;

        if (l->n == 0)
                return unlinkat(l->dir_fd, LEDGER_NAME, 0) < 0 && errno != ENOENT ? -errno : 0;

        records = json_array();
        for (size_t i = 0; i < l->n && r >= 0; i++) {
                const LedgerRecord *e = &l->records[i];
                json_t *o = json_pack("{ss ss ss ss*}", "session", e->session, "kind",
                                      kind_names[e->kind], "file", e->file, "old", e->old);

                if (json_array_append_new(records, o) < 0)
                        r = -ENOMEM;
        }
        root = json_pack("{si ss ss so}", "version", LEDGER_VERSION, "boot_id", l->boot_id,
                         "tracefs", tracefs_path ?: "", "records", records);
        text = root && r >= 0 ? json_dumps(root, JSON_INDENT(1)) : NULL;
        json_decref(root);
        if (!text)
                return -ENOMEM;
        aside_leave();
        r = file_replace(l->dir_fd, LEDGER_NAME, text, strlen(text), 0640);
        aside_return();
        free(text);
        return r;
}

int ledger_commit(Ledger *l, const char *tracefs_path) {
        int r = l->dir_fd < 0 ? 0 : commit(l, tracefs_path);

        l->is_stale = r < 0;
        return r;
}

bool ledger_is_stale(const Ledger *l) {
        return l->is_stale;
}

/* A file name from the ledger is followed below tracefs; the ledger is data. */
static bool file_is_safe(const char *file) {
        return *file && *file != '/' && !strstr(file, "..");
}

static int kind_from_name(const char *name) {
        for (int i = 0; i < _LEDGER_KIND_N; i++)
                if (streq(kind_names[i], name))
                        return i;
        return -EBADMSG;
}

static int parse(Ledger *l, const char *text) {
        json_t *root = json_loads(text, 0, NULL), *record;
        const char *boot_id;
        size_t i;
        int version, r = -EBADMSG;

        if (json_unpack(root, "{si ss}", "version", &version, "boot_id", &boot_id) < 0 ||
            version != LEDGER_VERSION || !json_is_array(json_object_get(root, "records")))
                goto finish;
        r = 0;
        if (!streq(boot_id, l->boot_id)) {
                log_debug("ledger", "the ledger is from another boot: nothing to undo");
                goto finish;
        }
        json_array_foreach (json_object_get(root, "records"), i, record) {
                const char *session, *kind, *file, *old = NULL;
                int k;

                if (json_unpack(record, "{ss ss ss s?s}", "session", &session, "kind", &kind,
                                "file", &file, "old", &old) < 0 ||
                    !file_is_safe(file)) {
                        r = -EBADMSG;
                        goto finish;
                }
                k = kind_from_name(kind);
                if (k < 0 || (k != LEDGER_INSTANCE && !old)) {
                        r = -EBADMSG;
                        goto finish;
                }
                r = ledger_add(l, session, (LedgerKind) k, file, k == LEDGER_INSTANCE ? NULL : old);
                if (r < 0)
                        goto finish;
        }
finish:
        json_decref(root);
        return r;
}

int ledger_open(Ledger **ret, int dir_fd, int root_fd) {
        _cleanup_(ledger_freep) Ledger *l = calloc(1, sizeof(*l));
        _cleanup_free_ char *text = NULL;
        int r;

        if (!l)
                return -ENOMEM;
        l->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
        if (l->dir_fd < 0)
                return -errno;
        r = file_read(root_fd, "proc/sys/kernel/random/boot_id", &l->boot_id, NULL, 4096);
        if (r < 0)
                return r;
        l->boot_id[strcspn(l->boot_id, "\n")] = 0;

        r = entry_read(l->dir_fd, LEDGER_NAME, &text, NULL, LEDGER_MAX_BYTES);
        if (r >= 0)
                r = parse(l, text);
        else if (r == -ENOENT)
                r = 0;
        if (r == -EBADMSG)
                (void) renameat(l->dir_fd, LEDGER_NAME, l->dir_fd, LEDGER_NAME ".bad");
        if (r >= 0 && l->n == 0)
                r = ledger_commit(l, NULL); /* another boot's */
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

/* Switches function_graph off in @dir ("" or "instances/x/"); no such directory is fine. */
static int stop_tracer(const Tracefs *fs, const char *dir) {
        _cleanup_free_ char *tracer_path = NULL, *on_path = NULL, *tracer = NULL, *on = NULL;
        int r;

        if (asprintf(&tracer_path, "%scurrent_tracer", dir) < 0 ||
            asprintf(&on_path, "%stracing_on", dir) < 0)
                return -ENOMEM;
        r = knob_read(fs->fd, tracer_path, &tracer);
        if (r == -ENOENT || (r >= 0 && !streq(tracer, "function_graph")))
                return 0;
        if (r >= 0)
                r = knob_read(fs->fd, on_path, &on);
        if (r >= 0 && !streq(on, "0"))
                r = knob_write(fs->fd, on_path, "0");
        if (r >= 0)
                r = knob_write(fs->fd, tracer_path, "nop");
        /* A service manager that was told to let go of trace_pipe_raw may take a moment. */
        for (unsigned i = 0; r == -EBUSY && i < 10; i++) {
                (void) usleep(10000);
                r = knob_write(fs->fd, tracer_path, "nop");
        }
        return r;
}

/* What all sessions share may only be written while no function_graph is on, whoever's. */
static int may_write(const Tracefs *fs, const LedgerRecord *e) {
        _cleanup_strv_ Strv users = {};
        int r;

        if (!streq(e->session, LEDGER_SHARED))
                return 0;
        r = tracefs_find_graph_users(fs, &users);
        return r < 0 ? r : users.n > 0 ? -EBUSY : 0;
}

static int undo_file(const Tracefs *fs, const LedgerRecord *e, Strv *warnings, size_t *n) {
        _cleanup_strv_ Strv skipped = {};
        _cleanup_free_ char *now = NULL, *words = NULL;
        int r;

        r = knob_read(fs->fd, e->file, &now);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        /* stop_tracer() has dealt with ours; any other tracer is somebody else's by now. */
        if (streq(e->file, "current_tracer") ||
            (knob_equal(e->file, now, e->old) && !knob_hides(e->file, now)))
                return 0;
        aside_leave();
        r = may_write(fs, e);
        if (r >= 0)
                r = knob_restore(fs->fd, e->file, e->old, &skipped);
        aside_return();
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

/* A line goes by its text with a '!', a dynamic event by its name: "p:ftraced/x f" by "-:ftraced/x". */
char *ledger_line_out(const LedgerRecord *e) {
        const char *name = strchr(e->old, ':');
        char *text;
        int n;

        if (streq(e->file, "dynamic_events") && name)
                n = asprintf(&text, "-%.*s", (int) strcspn(name, " "), name);
        else
                n = asprintf(&text, "!%s", e->old);
        return n < 0 ? NULL : text;
}

/* Where there is no such line events say nothing and set_ftrace_filter says ENODEV (tried on 6.12). */
static int undo_line(const Tracefs *fs, const LedgerRecord *e, size_t *n) {
        _cleanup_strv_ Strv lines = {};
        char *line = ledger_line_out(e);
        int r;

        r = line ? strv_take(&lines, line) : -ENOMEM;
        aside_leave();
        if (r >= 0)
                r = knob_append(fs->fd, e->file, &lines);
        aside_return();
        *n += r >= 0;
        return r == -ENOENT || r == -ENODEV || r == -EINVAL || r == -ESRCH ? 0 : r;
}

static int undo_stop(const Ledger *l, const Tracefs *fs, const char *session) {
        int ret = 0;

        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];
                _cleanup_free_ char *dir = NULL;
                int r = 0;

                if (!streq(e->session, session))
                        continue;
                if (e->kind == LEDGER_TRACER)
                        continue;
                aside_leave();
                if (e->kind == LEDGER_INSTANCE)
                        r = asprintf(&dir, "%s/", e->file) < 0 ? -ENOMEM : stop_tracer(fs, dir);
                else if (streq(e->file, "current_tracer"))
                        r = stop_tracer(fs, "");
                aside_return();
                if (r < 0 && ret == 0)
                        ret = r;
        }
        return ret;
}

/* An instance is busy as long as anybody has one of its files open: whoever only looks at it is
 * waited for, for a moment. */
static int remove_instance(const Tracefs *fs, const char *dir) {
        int r;

        log_debug("knob", "rmdir %s", dir);
        for (unsigned i = 0; i < 50; i++) {
                r = unlinkat(fs->fd, dir, AT_REMOVEDIR) < 0 ? -errno : 0;
                if (r != -EBUSY)
                        break;
                (void) usleep(10000);
        }
        return r;
}

/* Sets a tracer of somebody else again, unless they have set one themselves.  As long as a session
 * has more of that buffer to put back it would be taken for the session's. */
static int undo_tracer(const Ledger *l, const Tracefs *fs, const LedgerRecord *e, size_t *n) {
        _cleanup_free_ char *now = NULL;
        int r;

        for (size_t i = 0; i < l->n; i++)
                if (l->records[i].kind == LEDGER_FILE && streq(l->records[i].file, e->file))
                        return -EBUSY;
        r = knob_read(fs->fd, e->file, &now);
        if (r == -ENOENT || r == -ENODEV || (r >= 0 && !streq(now, "nop")))
                return 0;
        aside_leave();
        if (r >= 0)
                r = knob_write(fs->fd, e->file, e->old);
        aside_return();
        if (r >= 0)
                (*n)++;
        return r;
}

static int undo_session(Ledger *l, const Tracefs *fs, const char *session, Strv *warnings,
                        size_t *n_undone) {
        size_t n = 0, n_before = l->n;
        int ret, r, failed = 0;

        ret = undo_stop(l, fs, session);
        for (size_t i = l->n; ret >= 0 && i-- > 0;) {
                const LedgerRecord *e = &l->records[i];

                if ((e->kind != LEDGER_FILE && e->kind != LEDGER_LINE) ||
                    !streq(e->session, session))
                        continue;
                r = e->kind == LEDGER_LINE ? undo_line(fs, e, &n) : undo_file(fs, e, warnings, &n);
                if (r >= 0)
                        remove_at(l, i);
                else {
                        log_debug("ledger", "%s is not put back: %s", e->file, strerror(-r));
                        failed = failed ?: r;
                }
        }
        for (size_t i = l->n; ret >= 0 && i-- > 0;) {
                const LedgerRecord *e = &l->records[i];

                if (e->kind != LEDGER_INSTANCE || !streq(e->session, session))
                        continue;
                aside_leave();
                r = remove_instance(fs, e->file);
                aside_return();
                if (r >= 0)
                        n++;
                else if (r != -ENOENT) {
                        failed = failed ?: r;
                        continue;
                }
                remove_at(l, i);
        }
        /* Last, for their filters must be there before they are on. */
        for (size_t i = l->n; ret >= 0 && !failed && i-- > 0;) {
                if (l->records[i].kind != LEDGER_TRACER || !streq(l->records[i].session, session))
                        continue;
                r = undo_tracer(l, fs, &l->records[i], &n);
                if (r >= 0)
                        remove_at(l, i);
                else
                        failed = failed ?: r;
        }
        if (l->n != n_before) {
                r = ledger_commit(l, fs->path);
                if (r < 0)
                        log_debug("ledger", "the ledger is stale: %s", strerror(-r));
        }
        *n_undone += n;
        return ret < 0 ? ret : failed;
}

int ledger_get_sessions(const Ledger *l, Strv *ret) {
        for (size_t i = 0; i < l->n; i++) {
                int r;

                if (streq(l->records[i].session, LEDGER_SHARED) ||
                    streq(l->records[i].session, LEDGER_ROOTS))
                        continue;
                r = strv_add(ret, l->records[i].session);
                if (r < 0)
                        return r;
        }
        strv_sort_unique(ret);
        return 0;
}

int ledger_undo(Ledger *l, const Tracefs *fs, const char *session, Strv *warnings, size_t *ret_n) {
        _cleanup_strv_ Strv sessions = {};
        size_t n = 0;
        int ret = 0, r;

        if (session)
                ret = undo_session(l, fs, session, warnings, &n);
        else {
                ret = ledger_get_sessions(l, &sessions);
                for (size_t i = 0; i < sessions.n; i++) {
                        r = undo_session(l, fs, sessions.items[i], warnings, &n);
                        if (r < 0)
                                ret = ret ?: r;
                }
                r = undo_session(l, fs, LEDGER_SHARED, warnings, &n);
                if (r < 0)
                        ret = ret ?: r;
        }
        if (ret_n)
                *ret_n = n;
        return ret;
}
