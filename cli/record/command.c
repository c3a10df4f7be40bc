/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A socket: the child waits on it for a byte, its end closes when execvp() succeeds, and else brings errno. */

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/record/record.h"

_noreturn_ static void child(char *const *argv, int fd) {
        char go;
        int error;

        if (read_up_to(fd, &go, 1) != 1)
                _exit(0);
        (void) signal(SIGPIPE, SIG_DFL);
        (void) signal(SIGXFSZ, SIG_DFL);
        (void) execvp(argv[0], argv);
        error = errno;
        (void) write_full(fd, &error, sizeof(error));
        _exit(127);
}

int command_hold(Command *ret, char *const *argv) {
        _cleanup_close_ int our_fd = -EBADF, its_fd = -EBADF;
        int fds[2];
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return ORIGIN(-errno);
        our_fd = fds[0];
        its_fd = fds[1];
        pid = fork();
        if (pid < 0)
                return ORIGIN(-errno);
        if (pid == 0) {
                our_fd = safe_close(our_fd); /* or it would never see the end of our side */
                child(argv, its_fd);
        }
        *ret = (Command){ .pid = pid, .fd = TAKE_FD(our_fd) };
        return 0;
}

int command_release(Command *c) {
        int error = 0, r = write_full(c->fd, "g", 1);
        ssize_t n = r < 0 ? 0 : read_up_to(c->fd, &error, sizeof(error));

        c->fd = safe_close(c->fd);
        if (n != sizeof(error))
                return r;
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
        if (c->fd < 0)
                return;
        c->fd = safe_close(c->fd);
        (void) command_reap(c, NULL, true);
}
