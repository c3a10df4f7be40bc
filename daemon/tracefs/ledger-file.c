/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The ledger's file: replaced as a whole, and taken as a whole or not at all.  Whatever a daemon that died
 * wrote last, it lists what it may list too much of, and undoing that finds the old value.  Its directory has the
 * store's path for a name, as in a URL.
 */

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/ledger.h"
#include "store/entry.h"

#define LEDGER_NAME "ledger"
#define LEDGER_MODE 0600
#define LEDGER_VERSION 1
#define LEDGER_BAD LEDGER_NAME ".bad"
#define LEDGER_MAX_BYTES (64U << 20)
#define RUNTIME_DIR RUNSTATEDIR "/ftraced"
#define RUNTIME_MODE 0755 /* as systemd makes it */
#define DIR_MODE 0700
#define TRIES 3

/* --- the directory ---------------------------------------------------------------------------- */

static int name_of(const char *path, char **ret) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (const char *s = path; *s; s++)
                if (*s == '/' || *s == '%')
                        buf_printf(&b, "%%%02X", (unsigned) *s);
                else
                        buf_add(&b, s, 1);
        return buf_take_string(&b, ret);
}

/* NULL: it is no name of ours, or there is no memory. */
static char *path_of(const char *name) {
        char *path = strdup(name), *to = path;

        for (const char *s = name; path && *s; s++)
                if (startswith(s, "%2F") || startswith(s, "%25")) {
                        *to++ = s[2] == 'F' ? '/' : '%';
                        s += 2;
                } else
                        *to++ = *s;
        if (path)
                *to = 0;
        if (path && *path == '/')
                return path;
        return mfree(path);
}

/* A directory that is ours alone to write to: whoever can write there could have us put back anything. */
static int open_own(int dir_fd, const char *name) {
        _cleanup_close_ int fd = dir_open(dir_fd, name);
        struct stat st;

        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        return st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? TAKE_FD(fd)
                                                                                 : -EPERM;
}

static int make_own(const char *path) {
        return dir_make(AT_FDCWD, path, DIR_MODE) ?: open_own(AT_FDCWD, path);
}

const char *ledger_dir_root(void) {
        return getenv("FTRACED_LEDGERS") ?: RUNTIME_DIR "/ledgers";
}

/* realpath() of what need not be there, for its disk may not be: what of it is there is resolved. */
static char *resolve(const char *path) {
        _cleanup_free_ char *above = NULL, *resolved = NULL;
        char *found = realpath(path, NULL), *slash, *joined;

        if (found || errno != ENOENT || !*path)
                return found;
        if (text_format(&above, "%s%s", *path == '/' ? "" : "./", path) < 0)
                return NULL;
        for (size_t n = strlen(above); above[n - 1] == '/'; n--)
                above[n - 1] = 0;
        slash = strrchr(above, '/');
        *slash = 0;
        resolved = resolve(*above ? above : "/");
        if (!resolved ||
            asprintf(&joined, "%s/%s", streq(resolved, "/") ? "" : resolved, slash + 1) < 0)
                return NULL;
        return joined;
}

/* The directory's descriptor, or -errno. */
static int open_dirs(LedgerDir *d, const char *store) {
        _cleanup_free_ char *path = resolve(store), *name = NULL;
        int r, fd;

        if (!path)
                return ORIGIN(-errno);
        r = name_of(path, &name);
        if (r >= 0 && !getenv("FTRACED_LEDGERS"))
                r = dir_make(AT_FDCWD, RUNTIME_DIR, RUNTIME_MODE);
        if (r < 0)
                return r;
        fd = make_own(ledger_dir_root());
        if (fd < 0)
                return fd;
        safe_close(fd);
        return text_format(&d->path, "%s/%s", ledger_dir_root(), name) ?: make_own(d->path);
}

static void close_all(LedgerDir *d) {
        d->lock_fd = safe_close(d->lock_fd);
        d->fd = safe_close(d->fd);
        d->path = mfree(d->path);
}

int ledger_dir_open(LedgerDir *ret, const char *store, pid_t *ret_holder) {
        LedgerDir d = LEDGER_DIR_INIT;
        int r = -1;

        /* Whoever had it may have removed it meanwhile. */
        for (unsigned i = 0; r < 0 && i < TRIES; i++) {
                d.fd = r = open_dirs(&d, store);
                if (r >= 0)
                        r = lock_take(&d.lock_fd, d.fd, ret_holder);
                if (r != 0)
                        close_all(&d);
        }
        if (r == LOCK_E_HELD)
                return LEDGER_DIR_E_HELD;
        if (r != 0)
                d.fd = r < 0 ? r : -ENOSPC;
        *ret = d;
        return 0;
}

void ledger_dir_done(LedgerDir *d) {
        if (d->fd >= 0 && faccessat(d->fd, "ledger", F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
            errno == ENOENT) {
                (void) unlinkat(d->fd, "lock", 0);
                (void) rmdir(d->path);
        }
        close_all(d);
}

/* Adds the paths of the other stores that have a directory beside the one that @fd is.  0 or -ENOMEM. */
static int list_others(int fd, Strv *ret) {
        _cleanup_(closedirp) DIR *dir = NULL;
        struct stat own, other;
        struct dirent *e;
        int r = 0;

        if (dir_list(&dir, dir_open(fd, "..")) < 0 || fstat(fd, &own) < 0)
                return 0;
        while (r >= 0 && (e = readdir(dir))) {
                char *path = path_of(e->d_name);

                if (path && fstatat(dirfd(dir), e->d_name, &other, AT_SYMLINK_NOFOLLOW) >= 0 &&
                    other.st_ino != own.st_ino)
                        r = strv_take(ret, path);
                else
                        free(path);
        }
        return r;
}

/* The directory of one of these; the caller owns it; -errno. */
static int open_other(int fd, const char *store) {
        _cleanup_close_ int ledgers_fd = dir_open(fd, "..");
        _cleanup_free_ char *name = NULL;

        if (ledgers_fd < 0)
                return ledgers_fd;
        return name_of(store, &name) ?: open_own(ledgers_fd, name);
}

/* --- its content ------------------------------------------------------------------------------ */

static const char *const kind_names[] = {
        [LEDGER_FILE] = "file",
        [LEDGER_INSTANCE] = "instance",
        [LEDGER_TRACER] = "tracer",
        [LEDGER_LINE] = "line",
};

static int commit(const Ledger *l) {
        json_t *root, *records;
        char *text;
        int r = 0;

        if (l->dir_fd < 0)
                return l->n == 0 ? 0 : l->dir_fd; /* there is no place for it */
        if (l->n == 0)
                return unlinkat(l->dir_fd, LEDGER_NAME, 0) < 0 && errno != ENOENT ? ORIGIN(-errno)
                                                                                  : 0;

        records = json_array();
        for (size_t i = 0; i < l->n && r >= 0; i++) {
                const LedgerRecord *e = &l->records[i];
                json_t *mark = e->mark ? json_integer((json_int_t) e->mark) : NULL;
                json_t *o = json_pack("{ss ss ss ss* ss* so* so*}", "session", e->session, "kind",
                                      kind_names[e->kind], "file", e->file, "old", e->old, "set",
                                      e->set, "mark", mark, "bounded",
                                      e->is_bounded ? json_true() : NULL);

                if ((e->mark && !mark) || json_array_append_new(records, o) < 0)
                        r = -ENOMEM;
        }
        root = json_pack("{si ss ss so}", "version", LEDGER_VERSION, "boot_id", l->boot_id,
                         "tracefs", l->fs->path ?: "", "records", records);
        text = root && r >= 0 ? json_dumps(root, JSON_INDENT(1)) : NULL;
        json_decref(root);
        if (!text)
                return -ENOMEM;
        r = BACKGROUND_CALL(file_replace(l->dir_fd, LEDGER_NAME, text, strlen(text), LEDGER_MODE));
        free(text);
        return r;
}

int ledger_commit(Ledger *l) {
        int r = l->is_dry ? 0 : commit(l);

        l->error = r;
        return r;
}

void ledger_shorten(Ledger *l) {
        int r = ledger_commit(l);

        if (r < 0)
                log_debug("ledger", "the ledger is stale: %s", strerror(-r));
}

static int parse_record(Ledger *l, json_t *record, const char *owner) {
        const char *session, *kind, *file, *old = NULL, *set = NULL;
        size_t n = l->n;
        json_int_t mark = 0;
        int k, r, is_bounded = false;

        if (json_unpack(record, "{ss ss ss s?s s?s s?I s?b}", "session", &session, "kind", &kind,
                        "file", &file, "old", &old, "set", &set, "mark", &mark, "bounded",
                        &is_bounded) < 0 ||
            !*file || *file == '/' ||
            strstr(file, "..")) /* it is followed below tracefs, and data */
                return -EBADMSG;
        k = text_find(kind_names, _LEDGER_KIND_N, kind);
        if (k < 0 || (k != LEDGER_INSTANCE && !old))
                return -EBADMSG;
        r = ledger_add(l, owner ?: session, (LedgerKind) k, file,
                       k == LEDGER_INSTANCE ? NULL : old);
        if (r < 0 || l->n == n)
                return r;
        l->records[n].mark = (uint64_t) mark;
        l->records[n].is_bounded = is_bounded;
        return text_replace(&l->records[n].set, set);
}

/* Adds what the text says of this boot, in the place of each session's name @owner if that is given. */
static int parse(Ledger *l, const char *text, const char *owner) {
        json_auto_t *root = json_loads(text, 0, NULL);
        const char *boot_id;
        json_t *record;
        int version, r = 0;
        size_t i;

        if (json_unpack(root, "{si ss}", "version", &version, "boot_id", &boot_id) < 0 ||
            version != LEDGER_VERSION || !json_is_array(json_object_get(root, "records")))
                return -EBADMSG;
        if (!streq(boot_id, l->boot_id)) {
                log_debug("ledger", "the ledger is from another boot: nothing to undo");
                return 0;
        }
        json_array_foreach (json_object_get(root, "records"), i, record)
                r = r ?: parse_record(l, record, owner);
        return r;
}

/* --- the file --------------------------------------------------------------------------------- */

/* NULL: there is no directory, or no memory; the caller frees. */
static char *path_in(int dir_fd, const char *name) {
        char link[64], dir[PATH_MAX] = "", *path;

        if (dir_fd < 0)
                return NULL;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%i", dir_fd);
        (void) readlink(link, dir, sizeof(dir) - 1);
        (void) text_format(&path, "%s%s", dir, name);
        return path;
}

char *ledger_failed_where(const Ledger *l, int error) {
        if (l->error >= 0 || l->error != error)
                return NULL;
        return l->dir_fd < 0 ? strdup(ledger_dir_root()) : path_in(l->dir_fd, "");
}

bool ledger_is_lost(const Ledger *l) {
        return l->n > 0 && l->error == 0 && l->dir_fd >= 0 &&
               faccessat(l->dir_fd, LEDGER_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

char *ledger_path(const Ledger *l) {
        return path_in(l->dir_fd, "/" LEDGER_NAME);
}

char *ledger_bad_path(const Ledger *l) {
        return faccessat(l->dir_fd, LEDGER_BAD, F_OK, AT_SYMLINK_NOFOLLOW) < 0
                       ? NULL
                       : path_in(l->dir_fd, "/" LEDGER_BAD);
}

char *ledger_store(const Ledger *l) {
        _cleanup_free_ char *path = path_in(l->dir_fd, "");

        return path ? path_of(basename(path)) : NULL;
}

static void set_aside(int dir_fd, int error, const char *text) {
        _cleanup_free_ char *path = path_in(dir_fd, "/" LEDGER_NAME);
        const char *why = error == -EBADMSG
                                  ? (text && *text ? "it cannot be understood" : "nothing is in it")
                          : entry_is_misplaced(error) ? "it is no regular file"
                                                      : strerror(-error);

        if (renameat(dir_fd, LEDGER_NAME, dir_fd, LEDGER_BAD) < 0)
                log_error("%s, which lists what is to be put back in the kernel, cannot be read: "
                          "%s; nor can it be moved away: do that.",
                          path ?: LEDGER_NAME, why);
        else
                log_warning("%s, which lists what is to be put back in the kernel, cannot be read: "
                            "%s; it is kept as " LEDGER_BAD ".",
                            path ?: LEDGER_NAME, why);
}

/* True if it says that the file is no ledger of ours, rather than that it could not be looked at. */
static bool is_bad(int r) {
        return r == -EBADMSG || r == -EFBIG || r == -EIO || r == -EACCES || r == -EPERM ||
               entry_is_misplaced(r);
}

/* All of a file, or nothing. */
static int read_file(Ledger *l, int dir_fd, const char *owner, char **ret_text) {
        size_t n = l->n;
        int r = entry_read(dir_fd, LEDGER_NAME, ret_text, NULL, LEDGER_MAX_BYTES);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        r = parse(l, *ret_text, owner);
        while (r < 0 && l->n > n)
                ledger_remove_at(l, l->n - 1);
        return r;
}

int ledger_read_others(const Ledger *l, Ledger **ret) {
        _cleanup_(ledger_freep) Ledger *others = NULL;
        _cleanup_strv_ Strv stores = {};
        int r = ledger_new_dry(&others, l->fs, l->boot_id);

        if (r >= 0 && l->dir_fd >= 0)
                r = list_others(l->dir_fd, &stores);
        for (size_t i = 0; r >= 0 && i < stores.n; i++) {
                _cleanup_close_ int fd = open_other(l->dir_fd, stores.items[i]);
                _cleanup_free_ char *text = NULL;

                if (fd >= 0 && read_file(others, fd, stores.items[i], &text) == -ENOMEM)
                        r = -ENOMEM;
        }
        if (r < 0)
                return r;
        *ret = TAKE_PTR(others);
        return 0;
}

bool ledger_other_lives(const Ledger *l, const char *store) {
        _cleanup_close_ int fd = l->dir_fd < 0 ? -EBADF : open_other(l->dir_fd, store);
        pid_t holder;

        return fd >= 0 && lock_look(fd, &holder) > 0;
}

int ledger_open(Ledger **ret, int dir_fd, const Tracefs *fs) {
        _cleanup_(ledger_freep) Ledger *l = NULL;
        _cleanup_free_ char *text = NULL;
        int r = ledger_new_dry(&l, fs, NULL);

        if (r < 0)
                return r;
        l->is_dry = false;
        l->dir_fd = dir_fd < 0 ? dir_fd : fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
        if (dir_fd >= 0 && l->dir_fd < 0)
                return ORIGIN(-errno);
        r = file_read(fs->root_fd, "proc/sys/kernel/random/boot_id", &l->boot_id, NULL, 4096);
        if (r < 0)
                return r;
        l->boot_id[strcspn(l->boot_id, "\n")] = 0;
        r = dir_fd < 0 ? 0 : read_file(l, dir_fd, NULL, &text);
        if (r < 0 && !is_bad(r))
                return r;
        if (r < 0)
                set_aside(dir_fd, r, text);
        if (l->n == 0)
                (void) ledger_commit(l); /* another boot's */
        *ret = TAKE_PTR(l);
        return 0;
}
