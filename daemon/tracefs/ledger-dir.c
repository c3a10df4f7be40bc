/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A path becomes a name as in a URL, and back.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "daemon/tracefs/ledger-dir.h"

#define RUNTIME_DIR RUNSTATEDIR "/ftraced"
#define RUNTIME_MODE 0755 /* as systemd makes it */
#define DIR_MODE 0700
#define TRIES 3

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
        int r = dir_make(AT_FDCWD, path, DIR_MODE);

        return r < 0 ? r : open_own(AT_FDCWD, path);
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
        if (asprintf(&above, "%s%s", *path == '/' ? "" : "./", path) < 0)
                return above = NULL;
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
        if (asprintf(&d->path, "%s/%s", ledger_dir_root(), name) < 0) {
                d->path = NULL;
                return -ENOMEM;
        }
        return make_own(d->path);
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

char *ledger_dir_store(const char *path) {
        return path_of(basename(path));
}

int ledger_dir_list(int fd, Strv *ret) {
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

int ledger_dir_open_other(int fd, const char *store) {
        _cleanup_close_ int ledgers_fd = dir_open(fd, "..");
        _cleanup_free_ char *name = NULL;
        int r;

        if (ledgers_fd < 0)
                return ledgers_fd;
        r = name_of(store, &name);
        return r < 0 ? r : open_own(ledgers_fd, name);
}
