/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* SchedEvent: what analyze/sched.h needs of sched_switch, sched_waking, sched_wakeup and sched_wakeup_new */

#include <stdint.h>

typedef enum SchedKind {
        SCHED_NONE, /* it is another event */
        SCHED_SWITCH,
        SCHED_WAKING,
        SCHED_WAKING_NEW,
} SchedKind;

typedef struct SchedEvent {
        SchedKind kind;
        int32_t pid;      /* WAKING, WAKING_NEW: who is woken; SWITCH: who comes to the CPU */
        char comm[16];    /* the name of that; cut; empty: not said */
        int32_t left_pid; /* SWITCH */
        char left_state;  /* SWITCH: 'R' did not want to leave, 'S', 'D' ... wait */
} SchedEvent;
