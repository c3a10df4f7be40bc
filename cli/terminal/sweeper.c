/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The process is nobody's child, so that nobody who waits for children meets it, and of a session of
 * its own, so that the terminal's signals do not. */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/terminal/sweeper.h"

/* Nobody must wait for us to close what is theirs. */
static void close_all_but(int fd) {
        if (fd > 0)
                (void) close_range(0, (unsigned) fd - 1, 0);
        (void) close_range((unsigned) fd + 1, ~0U, 0);
}

static _Noreturn void sweep(const char *path, int fd) {
        char byte;

        close_all_but(fd);
        while (read(fd, &byte, 1) < 0 && errno == EINTR)
                ;
        (void) tree_remove(AT_FDCWD, path);
        _exit(0);
}

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
