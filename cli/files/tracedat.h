/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * trace.dat: a recording in the form that trace-cmd and KernelShark read
 *
 * The pages are those of the recording, byte for byte (codec/dat-head.h tells the rest of the form).
 * Of formats and symbols it has those that occur in them, which is all that whoever reads it asks for:
 * some 100 KB instead of 10 MB.
 */

#include "cli/options/filtering.h"
#include "store/session-dir.h"

typedef struct TracedatSpec {
        unsigned version;  /* 6 or 7 */
        bool is_packed;    /* by zstd; of version 7 */
        Filtering *window; /* which CPUs and times: whole pages, so somewhat more; resolved here */
        uint64_t
                packed_max; /* codec/dat-writer.h: a CPU that takes more makes the file not packed */
        bool can_seek;      /* the same */
        /* How many of @n_total pages (0: not known yet) are done.  Called once in a while, NULL: never; anything
         * but 0 ends the writing and is returned. */
        int (*progress)(void *userdata, uint64_t n, uint64_t n_total);
        void *userdata;
} TracedatSpec;

/* trace-cmd 3.1.6 counts a CPU's compressed bytes in an int; fixed in trace-cmd 176bc1f1 (3.3.1). */
#define TRACEDAT_PACKED_MAX ((uint64_t) INT32_MAX)

typedef struct TracedatResult {
        uint64_t n_pages;
        uint64_t n_lost;          /* pages that are damaged: left out */
        uint64_t n_unreadable;    /* segments, the same */
        bool symbols_are_damaged; /* and not in it */
        bool is_packed;
} TracedatResult;

enum { TRACEDAT_E_UNREADABLE = 1 };

/*
 * tracedat_write()
 * @out_fd:      borrowed
 * @ret_problem: on TRACEDAT_E_UNREADABLE half a sentence, which the caller frees
 *
 * Of a session that still records it takes what is stored when it begins.
 * Return: 0, TRACEDAT_E_UNREADABLE, -errno (-EPIPE: nobody reads any more; -ESTALE: pages went
 * meanwhile).
 */
int tracedat_write(TracedatResult *ret, const SessionDir *dir, const SessionMeta *meta,
                   const TracedatSpec *spec, int out_fd, char **ret_problem);
