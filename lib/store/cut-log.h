/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cut log: when each sequence of a session's segments began, on every clock
 *
 * The file "cuts" of a session, a line for each cut, ascending:
 *
 *      SEQUENCE TRACE MONOTONIC BOOTTIME REALTIME      decimal, ns
 *
 * Lines are appended, so the last may be torn if the host died; whoever reads
 * takes the lines before it.  A clock that is set or slewed during a long
 * recording can be followed from line to line.
 */

#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct Cut {
        uint64_t sequence; /* of the period that begins */
        ClockTuple clocks;
} Cut;

int cut_log_append(const SessionDir *d, const Cut *cut); /* 0 or -errno */
/* All lines up to the first that is not one; the caller frees *@ret.  0 (also if there is no file),
 * -errno. */
int cut_log_read(const SessionDir *d, Cut **ret, size_t *ret_n);
/* Makes the file say these and nothing else.  0 or -errno. */
int cut_log_replace(const SessionDir *d, const Cut *cuts, size_t n);
