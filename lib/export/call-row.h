/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Call row: a call as a row of a table
 *
 * The columns of the formats that are tables of calls, in their order.  Rows come tree
 * by tree in the order in which calls end; `id` counts them as they begin, and `parent` is the id of the caller, so that
 * trees can be put together again.  lib/export/calls.schema.json describes them for others.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pairing.h"

typedef struct CallText {
        const char *text; /* NULL: none */
        uint32_t n;
} CallText;

typedef struct CallRow {
        uint64_t id, parent; /* parent 0: nobody was seen who called it */
        uint64_t start_ns;   /* trace clock */
        uint64_t duration_ns;
        uint64_t self_ns;
        uint64_t blocked_ns; /* of the duration, waited */
        uint64_t irq_ns;     /* of the duration, in interrupts below */
        uint64_t cpu;        /* where it ended */
        int64_t pid;
        int64_t depth;
        int64_t retval;
        CallText task, function, module, root;
        bool is_cut; /* times are lower bounds: its end was not recorded */
        bool has_parent, has_cpu, has_pid, has_retval;
} CallRow;

typedef enum CallColumnKind { CALL_U64, CALL_I64, CALL_TEXT, CALL_BOOL } CallColumnKind;

typedef struct CallColumn {
        const char *name;
        CallColumnKind kind;
        size_t offset; /* in CallRow */
        size_t has;    /* of a bool: whether there is a value; 0: there always is */
} CallColumn;

extern const CallColumn call_columns[];
extern const size_t call_columns_n;

/* Points into @call. */
void call_row_fill(CallRow *ret, const Call *call);

static inline bool call_row_has(const CallRow *row, const CallColumn *column) {
        return column->has == 0 || *(const bool *) ((const char *) row + column->has);
}
