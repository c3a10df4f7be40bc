/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Wake: what an event of the scheduler says of who is woken and who runs next
 *
 *      sched_wakeup: comm=server pid=17 prio=120 target_cpu=001
 *      sched_switch: prev_comm=client prev_pid=16 ... ==> next_comm=server next_pid=17 next_prio=120
 *
 * A name may hold anything, also " pid=": what counts is the last one.
 *
 * Source: linux 6.1 include/trace/events/sched.h.
 */

#include <stdint.h>

#include "calls/step.h"

typedef enum Wake { WAKE_NONE, WAKE_WAKES, WAKE_RUNS } Wake;

/* Who is woken or runs. */
typedef struct Woken {
        int32_t pid;
        char comm[16]; /* cut; empty: not said */
} Woken;

/* Of a STEP_OTHER; @ret is set unless WAKE_NONE. */
Wake wake_of(const Step *step, Woken *ret);
