/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/terminal/terminal.h"

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

int outfile_open(Outfile *ret, const char *path, mode_t mode) {
        _cleanup_free_ char *real = realpath(path, NULL) ?: strdup(path), *temporary = NULL;
        const char *slash = real ? strrchr(real, '/') : NULL;
        int n_dir = slash ? (int) (slash + 1 - real) : 0;
        struct stat st;
        uint64_t random;
        int r, fd;

        if (!real)
                return -ENOMEM;
        if (stat(real, &st) >= 0 && !S_ISREG(st.st_mode)) {
                fd = open(real, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                if (fd < 0)
                        return ORIGIN(-errno);
                *ret = (Outfile){ .fd = fd, .path = TAKE_PTR(real), .sweeper_fd = -EBADF };
                return 0;
        }
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                return ORIGIN(-EIO);
        if (asprintf(&temporary, "%.*s.ftraced-%016" PRIx64, n_dir, real, random) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }
        r = outfile_open_as(ret, real, temporary, mode);
        if (r >= 0)
                ret->sweeper_fd = sweeper_start(temporary);
        return r;
}

int outfile_close(Outfile *f) {
        return close(TAKE_FD(f->fd)) < 0 ? ORIGIN(-errno) : 0;
}

int outfile_commit(Outfile *f) {
        int r = f->fd >= 0 ? outfile_close(f) : 0;

        if (r < 0 || !f->temporary)
                return r;
        if (rename(f->temporary, f->path) < 0)
                return ORIGIN(-errno);
        free(TAKE_PTR(f->temporary));
        f->sweeper_fd = safe_close(f->sweeper_fd);
        return 0;
}

void outfile_done(Outfile *f) {
        f->fd = safe_close(f->fd);
        if (f->temporary)
                (void) unlink(f->temporary);
        f->sweeper_fd = safe_close(f->sweeper_fd);
        free(TAKE_PTR(f->temporary));
        free(TAKE_PTR(f->path));
}

/* --- what has to be gone ---------------------------------------------------------------------- */

static _Noreturn void sweep(const char *path, int fd) {
        char byte;

        /* Nobody must wait for us to close what is theirs. */
        if (dup2(fd, 0) < 0)
                _exit(1);
        closefrom(1);
        while (read(0, &byte, 1) < 0 && errno == EINTR)
                ;
        (void) tree_remove(AT_FDCWD, path);
        _exit(0);
}

/* The process is nobody's child, so that nobody who waits for children meets it, and of a session of
 * its own, so that the terminal's signals do not. */
int sweeper_start(const char *path) {
        _cleanup_close_ int read_fd = -EBADF, write_fd = -EBADF;
        sigset_t all, before;
        int fds[2], status;
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        read_fd = fds[0];
        write_fd = fds[1];
        /* It keeps them blocked. */
        sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &before);
        pid = fork();
        if (pid == 0) {
                (void) setsid();
                pid = fork();
                if (pid == 0)
                        sweep(path, read_fd);
                _exit(pid < 0);
        }
        (void) sigprocmask(SIG_SETMASK, &before, NULL);
        if (pid < 0)
                return ORIGIN(-errno);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return status == 0 ? TAKE_FD(write_fd) : -EAGAIN;
}
