/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A descriptor of the child tells its end without a signal, whose handler belongs to the program; without one, it
 * is asked for, again and again. */

#include <limits.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/now.h"
#include "base/poll.h"

int poll_until(struct pollfd *p, nfds_t n, uint64_t end_ns) {
        for (;;) {
                int timeout_ms = -1, r;

                if (end_ns != UINT64_MAX) {
                        uint64_t now = now_ns(CLOCK_MONOTONIC), left;

                        left = now < end_ns ? (end_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC
                                            : 0;
                        timeout_ms = (int) MIN(left, (uint64_t) INT_MAX);
                }
                r = poll(p, n, timeout_ms);
                if (r > 0)
                        return 0;
                if (r == 0)
                        return ORIGIN(-ETIMEDOUT);
                if (errno != EINTR)
                        return ORIGIN(-errno);
        }
}

static int has_ended(pid_t pid) {
        siginfo_t info = {};

        if (waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
                return ORIGIN(-errno);
        return info.si_pid == pid;
}

static int poll_by_turns(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns) {
        for (;;) {
                uint64_t now = now_ns(CLOCK_MONOTONIC);
                int r = has_ended(pid);

                if (r != 0)
                        return r < 0 ? r : POLL_CHILD_ENDED;
                r = poll_until(p, n, MIN(end_ns, now + POLL_CHILD_MS * NSEC_PER_MSEC));
                if (r >= 0 || r != -ETIMEDOUT || now >= end_ns)
                        return r;
        }
}

int poll_child(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns) {
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, pid, 0);
        int r;

        if (fd < 0 && errno != ENOSYS)
                return ORIGIN(-errno);
        p[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
        if (fd < 0)
                return poll_by_turns(pid, p, n, end_ns);
        r = poll_until(p, n, end_ns);
        return r >= 0 && p[0].revents != 0 ? POLL_CHILD_ENDED : r;
}
