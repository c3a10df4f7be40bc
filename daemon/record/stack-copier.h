/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Stack copier: what the kernel copies of programs' stacks, into the session's stacks/ (spaces/stack-copies.h)
 *
 * One ring for each CPU, which all events of the CPU fill and a thread empties STACKS_DRAINS_S times a second: that, with
 * the ring's size, is as much as a CPU copies; what finds the ring full is counted by the kernel and not copied, which
 * costs the program next to nothing.  At a limit copying ends, or in a ring of the disk the oldest file goes.
 */

#include "meta/spec.h"
#include "store/session-dir.h"

#define STACKS_RING_PAGES                                                                          \
        128U /* what root may have for each CPU: kernel.perf_event_mlock_kb is 516 */
#define STACKS_DRAINS_S 5U
#define STACKS_DEFAULT_MAX_BYTES (UINT64_C(256) << 20)

typedef struct StackCopier StackCopier;

/* @dir: borrowed.  0 or -errno. */
int stack_copier_new(StackCopier **ret, const SessionDir *dir, const Spec *spec);
/* An event of @cpu, a descriptor that is consumed, and switched off still; the first of a CPU is mapped.  0 or -errno. */
int stack_copier_add(StackCopier *c, uint32_t cpu, int event_fd);
/* Switches all on, with a thread since the first time, or off.  0 or -errno. */
int stack_copier_switch(StackCopier *c, bool on);
/* Stores what is left, and waits for the thread.  *@ret_error: why it ended early, or 0; *@ret_full: it had reached its
 * limit.  Both may be NULL. */
StackCopier *stack_copier_end(StackCopier *c, int *ret_error, bool *ret_full);
static inline StackCopier *stack_copier_free(StackCopier *c) {
        return stack_copier_end(c, NULL, NULL);
}
DEFINE_CLEANUP(StackCopier *, stack_copier_free);
