/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Role: what a function tells of its calls by itself
 *
 * By its name, in which suffixes that a compiler adds to clones (".isra.4", ".part.20.cold") make no
 * difference; the lists are of x86, of arm64 and of common code, from 3.10 to 7.2.  And an interrupt
 * is also what lies where the kernel keeps their entries (calls/function.h).
 */

#include "base/hash.h"
#include "calls/function.h"

/* From ROLE_IRQ on they are what a call is kept from its own business by. */
typedef enum Role {
        ROLE_NONE,
        ROLE_WAIT,    /* its own time is mostly spent off the CPU */
        ROLE_IRQ,     /* of an interrupt, and called by nobody */
        ROLE_SOFTIRQ, /* where softirqs are worked off */
        ROLE_WAKE,    /* it wakes a task */
} Role;

/* Whose wait it is that a task leaves the CPU for in it. */
typedef enum Input {
        INPUT_NONE,
        INPUT_PASSES, /* its caller's, whatever that waits for */
        INPUT_WAITS,  /* one for what its caller is to work on: a datagram, an event, a moment */
} Input;

Role role_of(const Function *function);
Input role_input(const Function *function);
/* "timer", "disk I/O", "packet": what an interrupt or a softirq is about that is in @function, or, @by_waiting, what a
 * task waits for in it that such a one wakes; NULL: it does not tell. */
const char *role_tells(const Function *function, bool by_waiting);
/* True if a task that is in it works off softirqs for what it did itself, and not because an interrupt
 * has ended. */
bool role_enters_softirq(const Function *function);
/* Whether it lets go of a lock that others sleep for, so that whom it wakes waited for its caller. */
bool role_releases_lock(const Function *function);
/* True if it only passes a wake-up on. */
bool role_passes_wakes_on(const Function *function);

/*
 * Alike: which functions of two recordings are the same
 *
 * Two kernels, or two compilers, call one function differently:
 *
 *      skb_clone.part.50, skb_clone.isra.4          skb_clone
 *      SyS_write, __x64_sys_write, ksys_write       sys_write
 *
 * and build one into the kernel that is a module elsewhere.  What is compared is what is left of a
 * name without that.
 */

typedef struct Alike {
        const char *prefix; /* "sys_", or "" */
        const char *name;   /* what follows it, in the function's label; not ended */
        size_t n_name;
} Alike;

Alike alike_of(const Function *function);
bool alike_equal(const Alike *a, const Alike *b);
uint64_t alike_hash(const Alike *a);
