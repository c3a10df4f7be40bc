/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Indent line: one line of a SystemTap script that prints thread_indent(),
 * taken apart
 *
 *         117 client(16140):      -> udp_sendmsg
 *      microseconds, task, depth, direction, function
 *
 * A script that prints no blank around the arrow ("->f args", as
 * para-callgraph.stp does) is understood, too; what follows the function is its
 * arguments or its return value.
 *
 * Source: SystemTap 4.8, tapset/indent.stp.
 */

#include "calls/step.h"

typedef enum IndentLineKind {
        INDENT_OTHER,
        INDENT_DAMAGED,
        INDENT_CALL,
        INDENT_RETURN
} IndentLineKind;

typedef struct IndentLine {
        IndentLineKind kind;
        const char *problem; /* DAMAGED */
        uint64_t us;         /* since the thread's outermost call */
        const char *comm;    /* not ended; made plain or not */
        uint32_t n_comm;
        int32_t tid;
        int32_t depth;
        const char *label; /* not ended */
        uint32_t n_label;
        bool is_tight; /* no blank around the arrow */
        StepText said; /* args: all that follows the function */
} IndentLine;

void indent_line_parse(IndentLine *ret, const char *text, size_t n_text);
