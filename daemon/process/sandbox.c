/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The filter is short enough to be written by hand: a table of calls that are allowed whatever their
 * arguments, and three that are looked at, so that memory is never executable and never a file.
 */

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "daemon/process/privilege.h"
#include "daemon/process/sandbox.h"

#define LOW_NICE 5 /* a weight of 335 beside 1,024 (linux 6.12 kernel/sched/core.c, sched_prio_to_weight) */

#if defined(__x86_64__) && !defined(__ILP32__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* A sanitizer's shadow is terabytes of address space, and it has a stack of its own for signals. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMITS_MEMORY 0
#endif
#endif
#ifndef LIMITS_MEMORY
#define LIMITS_MEMORY 1
#endif

#ifdef OUR_ARCH

/* The lower half: both machines are little endian, and what we ask for fits into 32 bits. */
#define ARGUMENT(i) offsetof(struct seccomp_data, args[i])
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define PASS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), PASS

static const struct sock_filter program[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
        KILL,
        LOAD(offsetof(struct seccomp_data, nr)),
        /* the descriptors that it has */
        ALLOW(read),
        ALLOW(pread64),
        ALLOW(write),
        ALLOW(pwrite64),
        ALLOW(lseek),
        ALLOW(fsync),
        ALLOW(close),
        /* memory */
        ALLOW(brk),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        /* what the C library does by the way */
        ALLOW(futex),
        ALLOW(getrandom),
        ALLOW(clock_gettime),
        ALLOW(sched_yield),
        ALLOW(sysinfo), /* qsort() */
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigreturn),
        ALLOW(restart_syscall),
#if !LIMITS_MEMORY
        ALLOW(sigaltstack),
#endif
        /* the end */
        ALLOW(exit),
        ALLOW(exit_group),
        /* mmap(): anonymous, and neither it nor mprotect() makes it executable */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 2),
        LOAD(ARGUMENT(3)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
        LOAD(ARGUMENT(2)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
        PASS,
        KILL,
};

static int filter_calls(void) {
        const struct sock_fprog p = { .len = ELEMENTSOF(program),
                                      .filter = (struct sock_filter *) program };

        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) < 0 ? ORIGIN(-errno) : 0;
}

#else

static int filter_calls(void) {
        return ORIGIN(-ENOSYS);
}

#endif

/* Where they fail the work is done all the same. */
static void step_back(SandboxPriority priority) {
        const struct sched_param none = {};

        if (priority == SANDBOX_LOW) {
                (void) !nice(LOW_NICE);
                return;
        }
        (void) sched_setscheduler(0, SCHED_IDLE, &none);
        (void) syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
                       IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static int limit_resources(uint64_t n_memory_bytes, uint64_t n_file_bytes) {
        const struct {
                int resource;
                rlim_t max;
        } limits[] = {
                { LIMITS_MEMORY ? RLIMIT_AS : RLIMIT_CORE, LIMITS_MEMORY ? n_memory_bytes : 0 },
                { RLIMIT_FSIZE, n_file_bytes },
                { RLIMIT_CORE, 0 },
                { RLIMIT_NOFILE, 0 },
                { RLIMIT_NPROC, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(limits); i++) {
                const struct rlimit l = { limits[i].max, limits[i].max };

                if (setrlimit((__rlimit_resource_t) limits[i].resource, &l) < 0)
                        return ORIGIN(-errno);
        }
        return 0;
}

int sandbox(SandboxPriority priority, uint64_t n_memory_bytes, uint64_t n_file_bytes) {
        int r;

        step_back(priority);
        r = limit_resources(n_memory_bytes, n_file_bytes);
        if (r >= 0)
                r = privilege_drop(false);
        return r < 0 ? r : filter_calls();
}
