/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Function counts: how often each function occurs in pages, and who calls it
 *
 * For events that hold one kernel address: ftrace/funcgraph_entry ("func"), ftrace/function
 * ("ip").  Pages, formats and symbols are taken as hostile; whoever looks into pages that way has
 * no privileges (daemon/lean/learner.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define FUNCTION_COUNTS_MAX_WINDOWS 16
#define FUNCTION_COUNTS_MAX_PIDS 64
#define FUNCTION_COUNTS_MAX_CALLERS 4 /* of a function */

/* Events from from_ns up to, not including, to_ns of the trace clock. */
typedef struct FunctionCountsWindow {
        uint64_t from_ns, to_ns;
} FunctionCountsWindow;

typedef struct FunctionCounts FunctionCounts;

/*
 * function_counts_new()
 * @format:  text of the event's format file
 * @field:   the field that holds the address, 8 bytes
 * @windows: each is counted on its own; at most FUNCTION_COUNTS_MAX_WINDOWS
 *
 * Callers are noted if the events have common_pid and a depth.
 * Return: 0, -EINVAL (no such field), -ENOMEM.
 */
int function_counts_new(FunctionCounts **ret, const char *format, const char *field,
                        const FunctionCountsWindow *windows, size_t n_windows);
/*
 * function_counts_set_pids() - count what these tasks call, and nothing else
 *
 * @n: 0: everybody's
 *
 * Return: 0, -EINVAL (too many, or the events have no common_pid).
 */
int function_counts_set_pids(FunctionCounts *t, const uint32_t *pids, size_t n);
/* One page of this machine's byte order; what is damaged in it is left out.  0 or -ENOMEM. */
int function_counts_add_page(FunctionCounts *t, const void *page, size_t n_bytes);
/*
 * function_counts_name() - the result, by name
 * @symbols: text of kallsyms, in any order
 *
 * Adds lines "NAME COUNT..." with a count for each window, each followed by a line " CALLER" for
 * each of its first FUNCTION_COUNTS_MAX_CALLERS callers.  An address belongs to the nearest
 * symbol at or below it; one that several symbols share has a line for each of them.  Addresses
 * without a symbol are left out.
 * Return: 0, -ENOMEM.
 */
int function_counts_name(const FunctionCounts *t, const char *symbols, Buf *out);
FunctionCounts *function_counts_free(FunctionCounts *t);
DEFINE_CLEANUP(FunctionCounts *, function_counts_free);
