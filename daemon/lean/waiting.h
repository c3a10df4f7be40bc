/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Waiting: the functions where tasks wait or spin, and those of interrupts
 *
 * Whatever is asked for, they are hooked, as long as others do not call them often: they are the answer.  daemon/lean/waiting-functions
 * has them by subsystem, each with its reason.
 */

#include "daemon/admission/functions.h"

typedef enum WaitingKind {
        WAITING_OTHER,
        WAITING_INTERRUPT, /* what a timer or a device brings into the task that it meets */
        WAITING_SCHEDULER, /* below these is the scheduler's inside */
} WaitingKind;

/* Adds those that this kernel has, sorted.  0 or -ENOMEM. */
int waiting_find(const Functions *f, Strv *ret);
/* Whether it is one, and of that kind. */
bool waiting_is(const char *name, WaitingKind kind);
bool waiting_is_interrupt(const char *name);
