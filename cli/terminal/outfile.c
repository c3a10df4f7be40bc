/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * realpath() finds what is to be replaced; the directory of the file without a name is therefore the
 * right one.  linkat() gives a name but replaces nothing, and then the file is linked beside the old
 * one and renamed.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cli/terminal/outfile.h"
#include "cli/terminal/sweeper.h"

#define FD_PATH_MAX 32

/* The umask can only be read by setting it. */
static mode_t current_umask(void) {
        mode_t m = umask(022);

        (void) umask(m);
        return m;
}

static void fd_path(char ret[static FD_PATH_MAX], int fd) {
        (void) snprintf(ret, FD_PATH_MAX, "/proc/self/fd/%d", fd);
}

/* -errno also if it could not be linked later. */
static int open_nameless(Outfile *f, mode_t mode) {
        const char *slash = strrchr(f->path, '/');
        _cleanup_free_ char *dir =
                !slash ? strdup(".") : strndup(f->path, (size_t) MAX(slash - f->path, 1));
        char link[FD_PATH_MAX];
        struct stat st;

        if (!dir)
                return -ENOMEM;
        f->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
        if (f->fd < 0)
                return ORIGIN(-errno);
        fd_path(link, f->fd);
        if (stat(link, &st) < 0) {
                f->fd = safe_close(f->fd);
                return ORIGIN(-errno);
        }
        f->is_nameless = true;
        return 0;
}

static int open_named(Outfile *f, mode_t mode) {
        _cleanup_free_ char *temporary = NULL;

        if (asprintf(&temporary, "%s.XXXXXX", f->path) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }
        f->fd = mkostemp(temporary, O_CLOEXEC);
        if (f->fd < 0)
                return ORIGIN(-errno);
        f->temporary = TAKE_PTR(temporary);
        f->sweeper_fd = sweeper_start(f->temporary);
        return fchmod(f->fd, mode & ~current_umask()) < 0 ? ORIGIN(-errno) : 0;
}

static int open_somehow(Outfile *ret, const char *path, mode_t mode, bool may_be_nameless) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        struct stat st;
        int r = 0;

        f.path = realpath(path, NULL) ?: strdup(path);
        if (!f.path)
                return -ENOMEM;
        if (stat(f.path, &st) >= 0 && !S_ISREG(st.st_mode)) {
                f.fd = open(f.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                if (f.fd < 0)
                        return ORIGIN(-errno);
        } else if (!may_be_nameless || open_nameless(&f, mode) < 0) {
                /* Says what is wrong with the directory, if it is that. */
                r = open_named(&f, mode);
        }
        if (r < 0)
                return r;
        *ret = TAKE(f, OUTFILE_INIT);
        return 0;
}

int outfile_open(Outfile *ret, const char *path, mode_t mode) {
        return open_somehow(ret, path, mode, true);
}

int outfile_open_named(Outfile *ret, const char *path, mode_t mode) {
        return open_somehow(ret, path, mode, false);
}

int outfile_open_as(Outfile *ret, const char *path, const char *temporary, mode_t mode) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;

        f.path = strdup(path);
        if (!f.path)
                return -ENOMEM;
        f.fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (f.fd < 0)
                return ORIGIN(-errno);
        f.temporary = strdup(temporary);
        if (!f.temporary) {
                (void) unlink(temporary);
                return -ENOMEM;
        }
        *ret = TAKE(f, OUTFILE_INIT);
        return 0;
}

int outfile_close(Outfile *f) {
        return close(TAKE_FD(f->fd)) < 0 ? ORIGIN(-errno) : 0;
}

static int link_to(const Outfile *f, const char *path) {
        char link[FD_PATH_MAX];

        fd_path(link, f->fd);
        return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? ORIGIN(-errno) : 0;
}

/* Links it beside the file that it replaces, under a name that nobody else has: a sweeper for it is
 * there before it is, as SIGKILL may come before it is renamed. */
static int link_beside(Outfile *f) {
        uint64_t random;
        int r;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                return ORIGIN(-EIO);
        if (asprintf(&f->temporary, "%s.%016" PRIx64, f->path, random) < 0) {
                f->temporary = NULL;
                return -ENOMEM;
        }
        f->sweeper_fd = sweeper_start(f->temporary);
        r = link_to(f, f->temporary);
        if (r < 0)
                free(TAKE_PTR(f->temporary));
        return r;
}

/* What it is called until now becomes its name. */
static int take_place(Outfile *f) {
        int r = rename(f->temporary, f->path) < 0 ? ORIGIN(-errno) : 0;

        if (r < 0)
                (void) unlink(f->temporary);
        free(TAKE_PTR(f->temporary));
        return r;
}

int outfile_commit(Outfile *f) {
        sigset_t all, before;
        int r;

        if (!f->is_nameless) {
                r = f->fd >= 0 ? outfile_close(f) : 0;
                return r < 0 || !f->temporary ? r : take_place(f);
        }
        /* Nothing that can be caught comes between the two names. */
        sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &before);
        r = link_to(f, f->path);
        if (r == -EEXIST)
                r = link_beside(f);
        if (r >= 0 && f->temporary)
                r = take_place(f);
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
        return r;
}

void outfile_done(Outfile *f) {
        f->fd = safe_close(f->fd);
        if (f->temporary)
                (void) unlink(f->temporary);
        f->sweeper_fd = safe_close(f->sweeper_fd);
        free(TAKE_PTR(f->temporary));
        free(TAKE_PTR(f->path));
}
