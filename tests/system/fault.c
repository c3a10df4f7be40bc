/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A disk that fails on demand, preloaded into a daemon
 *
 * As long as the file $FAULT_FILE holds a number, every call that would put something on disk below
 * $FAULT_DIR fails with that errno, but for the first N of them if it holds "NUMBER N": splice(), write(), pwrite(), posix_fallocate(), ftruncate(), and the
 * making, renaming and removing of names.  Reading goes on, as it does on a full disk.  With an "s"
 * before the number only writing back fails, which who syncs is told; "w" holds it up instead, until
 * the file holds something else.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((typeof(&name)) dlsym(RTLD_NEXT, #name))

/* The errno that is asked for, with that word before it, or 0. */
static int fault(const char *word) {
        const char *path = getenv("FAULT_FILE");
        static char last[32];
        static int n_passed;
        char text[32] = {};
        int error = 0, n = 0;
        int fd = path ? (int) syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;

        if (fd < 0)
                return 0;
        if (syscall(SYS_read, fd, text, sizeof(text) - 1) < 0)
                text[0] = 0;
        (void) syscall(SYS_close, fd);
        if (strcmp(text, last) != 0) {
                strcpy(last, text);
                n_passed = 0;
        }
        if (strncmp(text, word, strlen(word)) == 0)
                (void) sscanf(text + strlen(word), "%d %d", &error, &n);
        return error == 0 || n_passed++ < n ? 0 : error;
}

static int fails_as(int fd, const char *word) {
        const char *dir = getenv("FAULT_DIR");
        char link[64], path[PATH_MAX];
        ssize_t n;
        int error;

        if (!dir || fd < 0)
                return 0;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path) - 1);
        if (n < 0)
                return 0;
        path[n] = 0;
        if (strncmp(path, dir, strlen(dir)) != 0)
                return 0;
        error = fault(word);
        if (error != 0)
                errno = error;
        return error != 0;
}

/* Whether a call on @fd, a file or a directory, is to fail: then errno is set. */
static int fails(int fd) {
        return fails_as(fd, "");
}

/* Whether it cannot be written back. */
static int fails_to_sync(int fd) {
        while (fails_as(fd, "w"))
                (void) usleep(10000);
        return fails_as(fd, "s");
}

int fdatasync(int fd) {
        return fails_to_sync(fd) ? -1 : REAL(fdatasync)(fd);
}

int fsync(int fd) {
        return fails_to_sync(fd) ? -1 : REAL(fsync)(fd);
}

int sync_file_range(int fd, __off64_t at, __off64_t n, unsigned flags) {
        return fails_as(fd, "s") ? -1 : REAL(sync_file_range)(fd, at, n, flags);
}

/* Nobody looks past the page cache, where all is well. */
int open(const char *path, int flags, ...) {
        mode_t mode;
        va_list ap;

        va_start(ap, flags);
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
        va_end(ap);
        if ((flags & O_DIRECT) && fault("s") != 0)
                return (errno = EINVAL, -1);
        return REAL(open)(path, flags, mode);
}

ssize_t splice(int in, __off64_t *in_at, int out, __off64_t *out_at, size_t n, unsigned flags) {
        return fails(out) ? -1 : REAL(splice)(in, in_at, out, out_at, n, flags);
}

ssize_t write(int fd, const void *data, size_t n) {
        return fails(fd) ? -1 : REAL(write)(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
        return fails(fd) ? -1 : REAL(pwrite)(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, __off64_t at) {
        return fails(fd) ? -1 : REAL(pwrite64)(fd, data, n, at);
}

int posix_fallocate(int fd, off_t at, off_t n) {
        return fails(fd) ? errno : REAL(posix_fallocate)(fd, at, n);
}

int posix_fallocate64(int fd, __off64_t at, __off64_t n) {
        return fails(fd) ? errno : REAL(posix_fallocate64)(fd, at, n);
}

int ftruncate(int fd, off_t n) {
        return fails(fd) ? -1 : REAL(ftruncate)(fd, n);
}

int ftruncate64(int fd, __off64_t n) {
        return fails(fd) ? -1 : REAL(ftruncate64)(fd, n);
}

#define DEFINE_OPENAT(openat)                                                                      \
        int openat(int dir_fd, const char *path, int flags, ...) {                                 \
                mode_t mode;                                                                       \
                va_list ap;                                                                        \
                                                                                                   \
                va_start(ap, flags);                                                               \
                mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                     \
                va_end(ap);                                                                        \
                return (flags & O_CREAT) && fails(dir_fd)                                          \
                               ? -1                                                                \
                               : REAL(openat)(dir_fd, path, flags, mode);                          \
        }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

int mkdirat(int dir_fd, const char *path, mode_t mode) {
        return fails(dir_fd) ? -1 : REAL(mkdirat)(dir_fd, path, mode);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
        return fails(to_fd) ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

int unlinkat(int dir_fd, const char *path, int flags) {
        int error = fails(dir_fd) ? errno : 0;

        /* A full disk gives space back. */
        return error != 0 && error != ENOSPC && error != EDQUOT
                       ? (errno = error, -1)
                       : REAL(unlinkat)(dir_fd, path, flags);
}
