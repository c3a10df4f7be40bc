/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two pipes: one on which the child waits for its byte, one that closes when execvp() succeeds. */

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/record/record.h"

_noreturn_ static void child(char *const *argv, int go_fd, int error_fd) {
        char go;
        int error;

        if (read_up_to(go_fd, &go, 1) != 1)
                _exit(0);
        (void) signal(SIGPIPE, SIG_DFL);
        (void) signal(SIGXFSZ, SIG_DFL);
        (void) execvp(argv[0], argv);
        error = errno;
        (void) write_full(error_fd, &error, sizeof(error));
        _exit(127);
}

int command_hold(Command *ret, char *const *argv) {
        _cleanup_close_ int go_read = -EBADF, go_write = -EBADF;
        _cleanup_close_ int error_read = -EBADF, error_write = -EBADF;
        int fds[2];
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        go_read = fds[0];
        go_write = fds[1];
        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        error_read = fds[0];
        error_write = fds[1];
        pid = fork();
        if (pid < 0)
                return ORIGIN(-errno);
        if (pid == 0) {
                go_write = safe_close(go_write); /* or it would never see the end of our side */
                child(argv, go_read, error_write);
        }
        *ret = (Command){ .pid = pid, .go_fd = TAKE_FD(go_write), .error_fd = TAKE_FD(error_read) };
        return 0;
}

int command_release(Command *c) {
        ssize_t n;
        int r, error = 0;

        r = write_full(c->go_fd, "g", 1);
        c->go_fd = safe_close(c->go_fd);
        if (r < 0)
                return r;
        n = read_up_to(c->error_fd, &error, sizeof(error));
        c->error_fd = safe_close(c->error_fd);
        if (n != sizeof(error))
                return 0;
        (void) command_reap(c, NULL, true);
        return -error;
}

int command_reap(Command *c, int *ret_status, bool wait) {
        int status;
        pid_t pid;

        if (c->pid <= 0)
                return 0;
        do
                pid = waitpid(c->pid, &status, wait ? 0 : WNOHANG);
        while (pid < 0 && errno == EINTR);
        if (pid != c->pid)
                return 0;
        c->pid = 0;
        if (ret_status)
                *ret_status = status;
        return 1;
}

void command_done(Command *c) {
        if (c->go_fd >= 0) {
                c->go_fd = safe_close(c->go_fd);
                (void) command_reap(c, NULL, true);
        }
        c->error_fd = safe_close(c->error_fd);
}
