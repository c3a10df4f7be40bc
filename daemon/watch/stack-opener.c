/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel copies a program's stack for perf_event_open(2) alone, which needs CAP_PERFMON, or, where
 * /proc/sys/kernel/perf_event_paranoid is above 2 as on Debian, CAP_SYS_ADMIN; the daemon has neither.  As a service it asks
 * ftraced-stacks.socket, whose service has nothing but these two; where it was begun with all of root's capabilities, a
 * child keeps one of them.  Either has only the system calls for it, makes up the event's attributes itself, and opens none
 * but probes of sessions' roots.
 *
 * Such an event is no change to tracefs, and in no ledger: it ends with the last descriptor of it.
 */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "daemon/process/sandbox.h"
#include "daemon/process/spawn.h"
#include "daemon/watch/watch.h"
#include "spaces/stack-copies.h"

#define ASK_NS (30 * NSEC_PER_SEC)
#define ID_MAX 32

static int child_fd = -EBADF; /* for as long as the daemon lives */

/* --- who may open --------------------------------------------------------------------------------- */

/* "ftraced_0123456789abcdef_k0": what value_probe_make() calls the probe of a root. */
bool stack_event_is_valid(const char *name, size_t n_max) {
        size_t n = strnlen(name, n_max), k = 0;
        const char *s = n < n_max ? startswith(name, "ftraced_") : NULL;

        while (s && k < 16 && strchr("0123456789abcdef", s[k]) && s[k])
                k++;
        return s && k == 16 && s[16] == '_' && (s[17] == 'c' || s[17] == 'k') && s[18] &&
               strspn(s + 18, "0123456789") == strlen(s + 18);
}

static int read_id(const char *event, uint64_t *ret) {
        static const char *const dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
                char path[128], text[ID_MAX] = "";
                _cleanup_close_ int fd = -EBADF;
                ssize_t n;

                (void) snprintf(path, sizeof(path), "%s/events/ftraced/%s/id", dirs[i], event);
                fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
                n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
                if (n <= 0)
                        continue;
                text[strcspn(text, "\n")] = 0;
                return parse_u64(text, UINT32_MAX, ret);
        }
        return -ENOENT;
}

static int open_event(const StackAsk *a, int group_fd) {
        struct perf_event_attr attr = {
                .type = PERF_TYPE_TRACEPOINT,
                .size = sizeof(attr),
                .sample_period = a->every,
                .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                               PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                .sample_regs_user = STACKS_REGISTERS,
                .sample_stack_user = a->n_bytes,
                .disabled = 1,
                .inherit = a->pid > 0, /* as event-fork has it */
                .use_clockid = a->clock >= 0,
                .clockid = a->clock >= 0 ? a->clock : 0,
                .watermark = 1,
                .wakeup_watermark = UINT32_MAX, /* nobody waits for it */
        };
        uint64_t id;
        int fd, r;

        if (!stack_event_is_valid(a->event, sizeof(a->event)) || a->every < 1 ||
            a->every > SPEC_STACK_EVERY_MAX || a->n_bytes < SPEC_STACK_BYTES_MIN ||
            a->n_bytes > SPEC_STACK_BYTES_MAX || a->n_bytes % 8 != 0 || a->cpu > INT32_MAX ||
            (a->clock != -1 && a->clock != CLOCK_MONOTONIC && a->clock != CLOCK_BOOTTIME) ||
            (a->pid != -1 && (a->pid <= 0 || a->of_group)) || a->of_group != (group_fd >= 0) ||
            STACKS_MACHINE == 0)
                return -EINVAL;
        r = read_id(a->event, &id);
        if (r < 0)
                return r;
        attr.config = id;
        fd = (int) syscall(SYS_perf_event_open, &attr, group_fd >= 0 ? group_fd : a->pid,
                           (int) a->cpu, -1,
                           PERF_FLAG_FD_CLOEXEC | (group_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0));
        return fd < 0 ? -errno : fd;
}

/* Sends all of @data, with a descriptor unless @passed_fd is negative.  0 or -EPIPE. */
static int send_with(int fd, const void *data, size_t n, int passed_fd) {
        union {
                struct cmsghdr header;
                char room[CMSG_SPACE(sizeof(int))];
        } control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
                                  .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS } };
        struct iovec part = { (void *) data, n };
        struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

        if (passed_fd >= 0) {
                m.msg_control = &control;
                m.msg_controllen = sizeof(control);
                memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof(passed_fd));
        }
        return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t) n ? 0 : -EPIPE;
}

/* The same: *@ret_fd is negative if none came along. */
static int receive_with(int fd, void *data, size_t n, int *ret_fd) {
        union {
                struct cmsghdr header;
                char room[CMSG_SPACE(sizeof(int))];
        } control = {};
        struct iovec part = { data, n };
        struct msghdr m = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control) };

        *ret_fd = -EBADF;
        if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t) n)
                return -EPIPE;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
                    c->cmsg_len == CMSG_LEN(sizeof(int)))
                        memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
        return 0;
}

/* One answer, with a descriptor if it is 0.  0 or -errno: nobody asks any more. */
static int answer(int fd) {
        _cleanup_close_ int event = -EBADF, group_fd = -EBADF;
        StackAsk a;
        int32_t error;
        int r = receive_with(fd, &a, sizeof(a), &group_fd);

        if (r < 0)
                return r;
        event = open_event(&a, group_fd);
        error = MIN(event, 0);
        return send_with(fd, &error, sizeof(error), event);
}

/* What of both capabilities this kernel asks for. */
static Privilege find_privilege(void) {
        static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
        _cleanup_free_ char *text = NULL;

        if (prctl(PR_CAPBSET_READ, PRIVILEGE_PERFMON, 0, 0, 0) != 1 ||
            file_read(AT_FDCWD, path, &text, NULL, 64) < 0 || atoi(text) > 2)
                return PRIVILEGE_ADMIN;
        return PRIVILEGE_PERFMON;
}

int stacks_serve(int fd) {
        static const int calls[] = {
                SCMP_SYS(openat),
                SCMP_SYS(recvmsg),
                SCMP_SYS(sendmsg),
                SCMP_SYS(perf_event_open),
        };
        int r = privilege_drop(find_privilege());

        if (r >= 0)
                r = sandbox_calls(calls, ELEMENTSOF(calls));
        while (r >= 0)
                r = answer(fd);
        return r == -EPIPE ? 0 : r;
}

int stacks_opener_start(void) {
        if (STACKS_MACHINE == 0 || prctl(PR_CAPBSET_READ, find_privilege(), 0, 0, 0) != 1)
                return 0;
        child_fd = spawn_server("ftraced-stacks", stacks_serve);
        return MIN(child_fd, 0);
}

/* --- who asks --------------------------------------------------------------------------------------- */

const char *stacks_opener(void) {
        return child_fd >= 0 ? "the child that may open them" : "ftraced-stacks.socket";
}

int stacks_connect(void) {
        int fd = child_fd >= 0 ? fcntl(child_fd, F_DUPFD_CLOEXEC, 3) : 0;

        return child_fd < 0 ? spawn_connect(STACKS_SOCKET) : fd < 0 ? ORIGIN(-errno) : fd;
}

/* The answer that came too late would be the next one's. */
static int give_up(int error) {
        child_fd = safe_close(child_fd);
        return error;
}

int stacks_ask(int fd, const StackAsk *ask, int group_fd) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int32_t error = -EPIPE;
        int event = -EBADF, r = send_with(fd, ask, sizeof(*ask), group_fd);

        if (r >= 0)
                r = poll_until(&p, 1, now_ns(CLOCK_MONOTONIC) + ASK_NS);
        if (r >= 0)
                r = receive_with(fd, &error, sizeof(error), &event);
        if (r < 0)
                return give_up(ORIGIN(r));
        if (error == 0)
                return event >= 0 ? event : ORIGIN(-EPROTO);
        safe_close(event);
        return ORIGIN(error < 0 && error > -4096 ? error : -EPROTO);
}
