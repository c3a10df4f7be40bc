/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
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

/* What is behind @path, if the kernel lets us follow it there (fs.protected_symlinks of sysctl), of which realpath()
 * knows nothing; *@ret_real: its name, or @path, which is no link then, or one to nothing.  1: it is to be written in
 * place; 0; -errno. */
static int find_real(char **ret_real, const char *path) {
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        char link[64], real[PATH_MAX] = "";
        struct stat st, named;

        if (fd < 0 && errno != ENOENT)
                return ORIGIN(-errno);
        if (fd >= 0 && fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (fd >= 0 && lstat(path, &named) >= 0 && S_ISLNK(named.st_mode)) {
                (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
                if (readlink(link, real, sizeof(real) - 1) < 0)
                        return ORIGIN(-errno);
                /* Not of what was removed, or is elsewhere in another mount namespace. */
                if (S_ISREG(st.st_mode) && (lstat(real, &named) < 0 || named.st_dev != st.st_dev ||
                                            named.st_ino != st.st_ino))
                        return ORIGIN(-ESTALE);
        }
        *ret_real = strdup(*real && S_ISREG(st.st_mode) ? real : path);
        return !*ret_real ? -ENOMEM : fd >= 0 && !S_ISREG(st.st_mode);
}

int outfile_open(Outfile *ret, const char *path, mode_t mode) {
        _cleanup_free_ char *real = NULL, *temporary = NULL;
        int r = find_real(&real, path), n_dir, fd;
        const char *slash;
        struct stat st;
        uint64_t random;

        if (r < 0)
                return r;
        if (r > 0) {
                /* With O_CREAT, as a shell's: that is what fs.protected_fifos asks for. */
                fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, mode);
                if (fd < 0)
                        return ORIGIN(-errno);
                if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode)) { /* it was exchanged */
                        safe_close(fd);
                        return ORIGIN(-ESTALE);
                }
                *ret = (Outfile){ .fd = fd, .path = TAKE_PTR(real), .sweeper_fd = -EBADF };
                return 0;
        }
        slash = strrchr(real, '/');
        n_dir = slash ? (int) (slash + 1 - real) : 0;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                return ORIGIN(-EIO);
        r = text_format(&temporary, "%.*s.ftraced-%016" PRIx64, n_dir, real, random)
                    ?: outfile_open_as(ret, real, temporary, mode);
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
