/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The process is nobody's child, so that nobody who waits for children meets it, and of a session of
 * its own, so that the terminal's signals do not. */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/terminal/sweeper.h"

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
