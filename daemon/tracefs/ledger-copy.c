/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A path becomes a name as in a URL, and back.  One that is too long for a name has no copy.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/tracefs/ledger-copy.h"

#define DIR_NAME "ledgers"
#define DIR_MODE 0700
#define RUNTIME_MODE 0755 /* as systemd makes it */

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

static int make_own(int dir_fd, const char *name) {
        int r = dir_make(dir_fd, name, DIR_MODE);

        return r < 0 ? r : open_own(dir_fd, name);
}

static int open_dirs(LedgerCopy *c, const char *store) {
        const char *runtime = getenv("RUNTIME_DIRECTORY") ?: RUNSTATEDIR "/ftraced";
        _cleanup_free_ char *path = realpath(store, NULL);
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!path && errno == ENOENT && *store == '/') /* its disk is not there */
                path = strdup(store);
        if (!path)
                return ORIGIN(-errno);
        r = name_of(path, &c->name);
        if (r >= 0)
                r = dir_make(AT_FDCWD, runtime, RUNTIME_MODE);
        if (r < 0)
                return r;
        fd = open_own(AT_FDCWD, runtime);
        if (fd < 0)
                return fd;
        c->ledgers_fd = make_own(fd, DIR_NAME);
        if (c->ledgers_fd < 0)
                return c->ledgers_fd;
        c->fd = make_own(c->ledgers_fd, c->name);
        return MIN(c->fd, 0);
}

static void close_all(LedgerCopy *c) {
        c->lock_fd = safe_close(c->lock_fd);
        c->fd = safe_close(c->fd);
        c->ledgers_fd = safe_close(c->ledgers_fd);
        free(c->name);
        c->name = NULL;
}

int ledger_copy_open(LedgerCopy *ret, const char *store, pid_t *ret_holder) {
        LedgerCopy c = LEDGER_COPY_INIT;
        bool is_new;
        int r = open_dirs(&c, store);

        if (r >= 0)
                r = lock_take(&c.lock_fd, c.fd, ret_holder, &is_new);
        if (r != 0)
                close_all(&c);
        if (r == LOCK_E_HELD)
                return LEDGER_COPY_E_HELD;
        if (r != 0)
                log_debug("ledger", "the ledger has no copy: %s", origin_text(r));
        *ret = c;
        return 0;
}

void ledger_copy_done(LedgerCopy *c) {
        struct stat st;

        if (c->fd >= 0 && fstatat(c->fd, "ledger", &st, AT_SYMLINK_NOFOLLOW) < 0 &&
            errno == ENOENT) {
                (void) unlinkat(c->fd, "lock", 0);
                (void) unlinkat(c->ledgers_fd, c->name, AT_REMOVEDIR);
        }
        close_all(c);
}

int ledger_copy_list(int fd, Strv *ret) {
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

int ledger_copy_open_other(int fd, const char *store) {
        _cleanup_close_ int ledgers_fd = dir_open(fd, "..");
        _cleanup_free_ char *name = NULL;
        int r;

        if (ledgers_fd < 0)
                return ledgers_fd;
        r = name_of(store, &name);
        return r < 0 ? r : open_own(ledgers_fd, name);
}
