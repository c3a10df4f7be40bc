/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One set of signals for every verb that records; what they mean is the verb's affair. */

#include <signal.h>

#include "cli/terminal/terminal.h"

static sigset_t signals_set(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGHUP);
        sigaddset(&set, SIGCHLD);
        return set;
}

int signals_open(void) {
        sigset_t set = signals_set();
        int fd;

        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return ORIGIN(-errno);
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? ORIGIN(-errno) : fd;
}

bool signals_next(int fd, struct signalfd_siginfo *ret) {
        return read(fd, ret, sizeof(*ret)) == sizeof(*ret);
}

bool signals_want_end(int fd) {
        struct signalfd_siginfo s;
        bool wanted = false;

        while (signals_next(fd, &s))
                wanted = wanted || s.ssi_signo != SIGCHLD;
        return wanted;
}

void signals_close(int *fd) {
        sigset_t set = signals_set();

        if (*fd < 0)
                return;
        (void) signals_want_end(*fd);
        *fd = safe_close(*fd);
        (void) sigprocmask(SIG_UNBLOCK, &set, NULL);
}
