/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Event line: one line of a text of events, taken apart
 *
 *      cat-412   [001] d..2.    10.001234: funcgraph_entry:        1.302 us   |      netif_rx();
 *      task      CPU   flags    time       event                    duration     depth, call
 *
 * `trace-cmd report` prints such lines of a function_graph recording, with the
 * events that were recorded beside it.  Without flags, with the latency format's
 * columns ("cat-412     1d..2.    10.001234:"), with "-0x1" instead of flags (-R), a
 * task group behind the task, nanoseconds (-t), a difference behind the time
 * (--ts-diff), the recording's name before the task (several with -i).
 *
 * A call is drawn, or said in words where its event is not drawn:
 *
 *      funcgraph_entry:      ! 129.316 us |      irq_enter_rcu(); (ret=0x0)
 *      funcgraph_entry:      --> irq_enter_rcu (2)                                         -N
 *      funcgraph_exit:       <-- irq_enter_rcu (2) (start: a105  end: a106) over: 2
 *      funcgraph_entry:      func=irq_enter_rcu depth=2                                    -R
 *      funcgraph_exit:       func=irq_enter_rcu depth=2 overrun=0 calltime=a105 rettime=a106
 *
 * Source: trace-cmd 3.3, tracecmd/trace-read.c, trace_show_data(), and
 * lib/trace-cmd/trace-ftrace.c; linux 6.12 kernel/trace/trace_entries.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum EventLineKind {
        EVENT_NONE,    /* not of such a text */
        EVENT_DAMAGED, /* a call's, but not whole */
        EVENT_HEADING, /* "cpus=2", "CPU 3 is empty" */
        EVENT_MORE,    /* what an event prints in lines of its own: " => f (ffffffff81234567)" */
        EVENT_LOST,    /* "CPU:1 [12 EVENTS DROPPED]" */
        EVENT_OTHER,   /* an event of another kind */
        EVENT_OPEN,    /* a call, whose return has its own line */
        EVENT_LEAF,
        EVENT_CLOSE,
} EventLineKind;

typedef struct EventLine {
        EventLineKind kind;
        const char *problem; /* DAMAGED: half a sentence */
        bool has_task;       /* and all that stands before the event; else only the time may */
        const char *comm;    /* not ended, like all texts here */
        uint32_t n_comm;
        int32_t pid;
        uint32_t cpu; /* and of LOST */
        uint64_t timestamp_ns;
        const char *event; /* "NAME: FIELDS" */
        uint32_t n_event;
        uint64_t number; /* LOST: how many, 0 is not said; HEADING: CPUs, 0 is not said */
        int32_t depth;
        bool is_depth_untold; /* the blanks that would tell it are lost: depth is 0 */
        const char *label;    /* OPEN, LEAF; CLOSE if it is said */
        uint32_t n_label;
        const char *args; /* in the parentheses */
        uint32_t n_args;
        const char *caller; /* " <-f ", where the call says who called it */
        uint32_t n_caller;
        bool has_duration; /* LEAF and CLOSE */
        uint64_t duration_ns;
        bool has_retval;
        uint64_t retval;
        bool is_spelled; /* in words: no call is a LEAF, whatever follows */
} EventLine;

/* Always sets all of @ret. */
void event_line_parse(EventLine *ret, const char *text, size_t n_text);
