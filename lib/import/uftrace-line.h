/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Uftrace line: one line that "uftrace replay" prints, taken apart
 *
 *      # DURATION     TID     FUNCTION
 *         1.302 us [  4422] |   netif_rx(1, "lo") = 0;
 *      duration    thread       depth, call
 *
 * Which fields there are, and in which order, is an option (-f), and told by the
 * heading: also the time, the address, the task, the module, and two more that look
 * like durations.  An opening brace has no duration.
 *
 * Source: uftrace 0.13, cmds/replay.c, print_graph_rstack(), and utils/field.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct UftraceFields {
        bool known; /* a heading has told the others */
        bool tid, duration, time;
        bool words;        /* others, which may hold anything: the task, the module */
        uint32_t n_before; /* fields that look like the duration and stand before it */
} UftraceFields;

typedef enum UftraceLineKind {
        UFTRACE_NONE,    /* not of such a text */
        UFTRACE_DAMAGED, /* it has the fields, but not what belongs behind them */
        UFTRACE_HEADING, /* fields: which there are */
        UFTRACE_EMPTY,   /* fields alone, between threads */
        UFTRACE_COMMENT, /* an event, between comment signs */
        UFTRACE_LOST,    /* "LOST 12 records!!", as a comment */
        UFTRACE_OPEN,
        UFTRACE_LEAF,
        UFTRACE_CLOSE,
} UftraceLineKind;

typedef struct UftraceLine {
        UftraceLineKind kind;
        const char *problem; /* DAMAGED: half a sentence */
        UftraceFields fields;
        bool has_tid, has_time, has_duration;
        int32_t tid;
        uint64_t timestamp_ns, duration_ns;
        int32_t depth;
        const char *label; /* OPEN, LEAF; CLOSE if it has a name; not ended, like those below */
        uint32_t n_label;
        const char *args; /* in the parentheses */
        uint32_t n_args;
        const char *value; /* " = 0", what it returns; NULL: that is not told */
        uint32_t n_value;
        const char *text; /* COMMENT: between the signs */
        uint32_t n_text;
        uint64_t number; /* LOST: how many, 0 is not said */
} UftraceLine;

/* @fields: what the last heading has told.  Always sets all of @ret. */
void uftrace_line_parse(UftraceLine *ret, const char *text, size_t n_text,
                        const UftraceFields *fields);
