/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatHead: all of a trace.dat but its pages, which come last
 *
 * Version 6, which trace-cmd and KernelShark have always read:
 *
 *      17 08 44 "tracing6" 00   endian u8   long_size u8   page_size u32
 *      "header_page" 00  u64 n, text        "header_event" 00  u64 n, text
 *      u32 n { u64 n, format }  of ftrace   u32 n { system 00  u32 n { u64 n, format } }
 *      u32 n, kallsyms    u32 n, printk_formats    u64 n, saved_cmdlines
 *      u32 n_cpus
 *      "options  " 00 { u16 id, u32 n, data } u16 0
 *      "flyrecord" 00 { u64 offset, u64 n } for each CPU
 *      u64 n "[clock]"
 *
 * Version 7 has the same in sections (codec/dat-file.h draws them), in the order of version 6 with
 * the options behind them, and then the head of the section of pages.  Integers have the byte order
 * of the recorded machine.
 *
 * Source: trace-cmd 3.1.6 Documentation/trace-cmd/trace-cmd.dat.v6.5.txt and .v7.5.txt; lib/trace-cmd/
 * trace-input.c, tracecmd_alloc_fd(), for the clock behind version 6's table.
 */

#include "base/buf.h"
#include "codec/dat-file.h"
#include "meta/meta.h"

typedef struct DatBlob {
        const char *data;
        size_t n;
} DatBlob;

typedef struct DatEvent {
        const char *system; /* "ftrace", "sched" */
        DatBlob format;
} DatEvent;

/* Everything is borrowed. */
typedef struct DatHead {
        unsigned version;         /* 6 or 7 */
        DatCompressor compressor; /* of version 7, DAT_NONE or DAT_ZSTD; DAT_NONE of version 6 */
        bool big_endian;
        uint32_t page_bytes;
        DatBlob header_page, header_event, symbols, printk, tasks;
        const DatEvent *events; /* those of one system beside each other */
        size_t n_events;
        const CpuAccount *accounts;
        size_t n_accounts;
        uint32_t n_cpus; /* with or without pages */
        const char *clock, *uname;
        const char *origin;    /* codec/dat-origin.h; NULL: none */
        const DatTimes *times; /* what the pages' are, of a trace.dat; NULL: what they hold */
} DatHead;

/* Where the pages of a CPU are: of n bytes, without the number of chunks that packed ones begin with.
 * n 0: it has none. */
typedef struct DatPlace {
        uint64_t at, n;
} DatPlace;

#define DAT_CHUNKS_BYTES 4U /* that number */

/*
 * dat_head_put() - append the head to @out, which is empty
 * @places: one for each CPU
 *
 * Its length is a multiple of page_bytes, and depends on which CPUs have pages, not on where and how
 * many.  0 or -errno.
 */
int dat_head_put(Buf *out, const DatHead *h, const DatPlace *places);
