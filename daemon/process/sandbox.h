/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sandbox: a process that can do nothing any more but compute and use the descriptors it has
 *
 * For whatever looks into pages on the daemon's side.  No capabilities, no new privileges, no new
 * descriptors or processes, bounded memory and output, low priority, and a seccomp filter: system
 * calls that read, write and end, anonymous memory, and nothing else; any other kills the process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SandboxPriority {
        SANDBOX_IDLE, /* when nothing else wants to run: on a busy host that may be never */
        SANDBOX_SOON, /* others wait for the result, or pay until it is there: as everybody */
} SandboxPriority;

/* For good.  @n_memory_bytes: of address space; @n_file_bytes: how long a file it writes may become.
 * 0; -ENOSYS where the machine or the kernel has no filter for us; other -errno. */
int sandbox(SandboxPriority priority, uint64_t n_memory_bytes, uint64_t n_file_bytes);

/*
 * privilege_drop() - what root's process gives up, and sets no_new_privs; before the first thread
 * @kept: one capability that stays, or PRIVILEGE_NONE.  Addresses in /proc/kallsyms need CAP_SYSLOG (linux 6.1
 *        kernel/ksyms_common.c, kallsyms_show_value()), others' maps in /proc CAP_SYS_PTRACE (fs/proc/task_mmu.c);
 *        files of tracefs belong to uid 0 and need no capability
 *
 * 0 or -errno.
 */
typedef enum Privilege {
        PRIVILEGE_NONE = -1,
        PRIVILEGE_PTRACE = 19,  /* CAP_SYS_PTRACE */
        PRIVILEGE_ADMIN = 21,   /* CAP_SYS_ADMIN */
        PRIVILEGE_SYSLOG = 34,  /* CAP_SYSLOG */
        PRIVILEGE_PERFMON = 38, /* CAP_PERFMON */
} Privilege;
int privilege_drop(Privilege kept);
/* Of system calls only those of a sandbox from now on, and @more, @n of them; any other ends the process.  0; -errno. */
int sandbox_calls(const int *more, size_t n);
/* The soft limit of descriptors becomes the hard one: a session needs up to four for each CPU. */
int privilege_raise_descriptors(void);
