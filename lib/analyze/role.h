/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Role: what a function tells of its calls by itself
 *
 * By its name, in which suffixes that a compiler adds to clones (".isra.4", ".part.20.cold") make no
 * difference; the lists are of x86, of arm64 and of common code, from 3.10 to 7.2.  And an interrupt
 * is also what lies where the kernel keeps their entries (calls/function.h).
 */

#include "calls/function.h"

/* From ROLE_IRQ on they are what a call is kept from its own business by. */
typedef enum Role {
        ROLE_NONE,
        ROLE_WAIT,    /* its own time is mostly spent off the CPU */
        ROLE_IRQ,     /* of an interrupt, and called by nobody */
        ROLE_SOFTIRQ, /* where softirqs are worked off */
        ROLE_WAKE,    /* it wakes a task */
} Role;

Role role_of(const Function *function);
/* Whether a task that is in it works off softirqs for what it did itself, and not because an interrupt
 * has ended. */
bool role_enters_softirq(const Function *function);
/* Whether it lets go of a lock that others sleep for, so that whom it wakes waited for its caller. */
bool role_releases_lock(const Function *function);
/* Bytes of the name without the compiler's suffixes: "validate_xmit_skb" of
 * "validate_xmit_skb.isra.92.part.93". */
size_t role_plain_name(const Function *function);
