/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * trace.dat: a recording in the form that trace-cmd and KernelShark read
 *
 * Version 6, which both have always read and which can be written front to back, into a pipe too:
 *
 *      17 08 44 "tracing6" 00   endian u8   long_size u8   page_size u32
 *      "header_page" 00  u64 n, text        "header_event" 00  u64 n, text
 *      u32 n { u64 n, format }  of ftrace   u32 0  (no other event systems)
 *      u32 n, kallsyms    u32 n, printk_formats    u64 n, saved_cmdlines
 *      u32 n_cpus
 *      "options  " 00 { u16 id, u32 n, data } u16 0
 *      "flyrecord" 00 { u64 offset, u64 n } for each CPU
 *      u64 n "[clock]"
 *      the pages of each CPU, at a multiple of page_size
 *
 * Integers have the byte order of the recorded machine.  Pages are copied, never decoded: what a
 * neighbour recorded in the same buffer is there, too.  Pages that were never written, or whose
 * length is impossible, are left out, as they are when we draw.
 *
 * Source: trace-cmd 3.1.6 Documentation/trace-cmd/trace-cmd.dat.v6.5.txt; lib/trace-cmd/
 * trace-input.c, tracecmd_alloc_fd(), for the clock behind the flyrecord table.
 */

#include "store/session-dir.h"

enum { TRACEDAT_E_UNREADABLE = 1 };

/*
 * tracedat_write()
 * @out_fd:      borrowed; need not be seekable
 * @ret_problem: on TRACEDAT_E_UNREADABLE half a sentence, which the caller frees
 *
 * Of a session that still records it takes what is stored when it begins.
 * Return: 0, TRACEDAT_E_UNREADABLE, -errno (-EPIPE: nobody reads any more).
 */
int tracedat_write(const SessionDir *dir, const SessionMeta *meta, int out_fd, char **ret_problem);
