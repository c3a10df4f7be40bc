/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calls that are allowed whatever their arguments, and two that are looked at, so that memory is never executable
 * and never a file.
 */

#include <linux/capability.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "daemon/process/sandbox.h"

/* A sanitizer's shadow is terabytes of address space, and it has a stack of its own for signals. */
#ifdef __SANITIZE_ADDRESS__
#define LIMITS_MEMORY 0
#else
#define LIMITS_MEMORY 1
#endif

static const int allowed[] = {
        /* the descriptors that it has */
        SCMP_SYS(read),
        SCMP_SYS(pread64),
        SCMP_SYS(write),
        SCMP_SYS(pwrite64),
        SCMP_SYS(lseek),
        SCMP_SYS(fsync),
        SCMP_SYS(close),
        /* memory */
        SCMP_SYS(brk),
        SCMP_SYS(munmap),
        SCMP_SYS(mremap),
        SCMP_SYS(madvise),
        /* what the C library does by the way */
        SCMP_SYS(futex),
        SCMP_SYS(getrandom),
        SCMP_SYS(clock_gettime),
        SCMP_SYS(sched_yield),
        SCMP_SYS(sysinfo), /* qsort() */
        SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(rt_sigreturn),
        SCMP_SYS(restart_syscall),
#if !LIMITS_MEMORY
        SCMP_SYS(sigaltstack),
#endif
        /* the end */
        SCMP_SYS(exit),
        SCMP_SYS(exit_group),
};

_Static_assert(PRIVILEGE_PTRACE == CAP_SYS_PTRACE && PRIVILEGE_SYSLOG == CAP_SYSLOG &&
                       PRIVILEGE_ADMIN == CAP_SYS_ADMIN && PRIVILEGE_PERFMON == CAP_PERFMON,
               "linux/capability.h");

/* capset(2) by hand: the one call does not justify a library. */
int privilege_drop(Privilege kept_one) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
        uint32_t kept[ELEMENTSOF(data)] = {};

        if (kept_one >= 0)
                kept[CAP_TO_INDEX(kept_one)] = CAP_TO_MASK(kept_one);
        if (syscall(SYS_capget, &header, data) < 0)
                return ORIGIN(-errno);

        /* What root's exec would give back is dropped too, while we still may: it needs CAP_SETPCAP.  Who
         * has given that up has nothing left that no_new_privs does not keep from coming back. */
        for (unsigned c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
                if ((int) c != (int) kept_one)
                        (void) prctl(PR_CAPBSET_DROP, c, 0, 0, 0);

        for (size_t i = 0; i < ELEMENTSOF(data); i++) {
                data[i].permitted &= kept[i];
                data[i].effective = data[i].permitted;
                data[i].inheritable = 0; /* nor is anything ambient then */
        }
        if (syscall(SYS_capset, &header, data) < 0)
                return ORIGIN(-errno);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return ORIGIN(-errno);
        return 0;
}

int privilege_raise_descriptors(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return ORIGIN(-errno);
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
                return ORIGIN(-errno);
        return 0;
}

static int allow(scmp_filter_ctx filter, const int *more, size_t n) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(allowed); i++)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, more[i], 0);
#if defined(__s390x__)
        /* Its arguments are in memory, where no filter looks (linux 4.9 arch/s390/kernel/sys_s390.c,
         * mmap2; 6.14 has old_mmap). */
        if (r >= 0)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 0);
#else
        if (r >= 0)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                                     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                                     SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
#endif
        if (r >= 0)
                r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                                     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
        return r;
}

int sandbox_calls(const int *more, size_t n) {
        scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
        int r;

        if (!filter)
                return ORIGIN(-ENOSYS); /* or no memory */
        r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        if (r >= 0)
                r = allow(filter, more, n);
        if (r >= 0)
                r = seccomp_load(filter);
        seccomp_release(filter);
        return r < 0 ? ORIGIN(r) : 0;
}

/* Where they fail the work is done all the same. */
static void step_back(SandboxPriority priority) {
        const struct sched_param none = {};

        if (priority == SANDBOX_SOON)
                return;
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
        step_back(priority);
        return limit_resources(n_memory_bytes, n_file_bytes)
                       ?: privilege_drop(PRIVILEGE_NONE)
                       ?: sandbox_calls(NULL, 0);
}
