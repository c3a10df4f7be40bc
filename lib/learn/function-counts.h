/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Function counts: how often each function occurs in pages, who calls it, and how long it takes
 *
 * For events that hold one kernel address: ftrace/funcgraph_entry ("func"), ftrace/function
 * ("ip").  Pages, formats and symbols are taken as hostile; whoever looks into pages that way has
 * no privileges (daemon/lean/lean.h).
 */

#include "base/buf.h"
#include "decode/names.h"

#define FUNCTION_COUNTS_MAX_CALLERS 4 /* of a function */

typedef struct FunctionCounts FunctionCounts;

/* All borrowed until function_counts_free(). */
typedef struct FunctionCountsConfig {
        const char *format,
                *field; /* text of the event's format file; what holds the address, 8 bytes */
        const char *exit_format; /* the same of ftrace/funcgraph_exit; NULL: no times */
        const Symbols *symbols;
        bool (*is_interrupt)(const char *name); /* what a device or a timer brings; NULL: nothing */
        uint64_t from_ns, to_ns; /* events from here up to, not including, there count */
} FunctionCountsConfig;

/* Callers are noted, and what was called below an interrupt is told apart, if the events have common_pid and a depth.
 * 0, -EINVAL (no such field), -ENOMEM. */
int function_counts_new(FunctionCounts **ret, const FunctionCountsConfig *config);
/* One page of this machine's byte order, those of one CPU in their order; what is damaged in it is left out.
 * 0 or -ENOMEM. */
int function_counts_add_page(FunctionCounts *t, const void *page, size_t n_bytes);
/*
 * function_counts_name() - the result, by name
 *
 * Adds lines "NAME CALLS OWN LEAF NS": how often it was called, and how often not below an interrupt; 1 if it was seen
 * to call nothing, else 0; how long it took in all.  Each is followed by a line " CALLER" for each of its first
 * FUNCTION_COUNTS_MAX_CALLERS callers.  Addresses that are no function's are left out.
 * Return: 0, -ENOMEM.
 */
int function_counts_name(const FunctionCounts *t, Buf *out);
FunctionCounts *function_counts_free(FunctionCounts *t);
DEFINE_CLEANUP(FunctionCounts *, function_counts_free);
