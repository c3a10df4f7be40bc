/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatWriter: a whole trace.dat, front to back
 *
 * Pages are copied, never decoded: what a neighbour recorded in the same buffer is there, too.
 * Memory is that of the head and of some pages, whatever the size of the recording.
 */

#include "base/buf.h"
#include "pages/dat-file.h"
#include "pages/page-source.h"

/* --- which pages ------------------------------------------------------------------------------ */

/* Pages of one segment that follow each other and are taken. */
typedef struct DatRun {
        uint32_t cpu;
        uint64_t sequence, first, n;
} DatRun;

/*
 * DatPlan: which pages of a recording go into a trace.dat
 *
 * The head of a trace.dat says how many pages each CPU has, so they are counted before any is
 * written.  Pages that were never written, or whose length is impossible, are left out, as they are
 * when we draw; of a session that still records, what is there when the plan is made.
 */
typedef struct DatPlan {
        bool swap; /* of the recorded machine, seen from this one */
        uint32_t page_bytes;
        DatRun *runs; /* ascending by cpu, sequence, first */
        size_t n_runs;
        uint32_t n_cpus;  /* the highest number plus 1; 0: there is no CPU */
        uint64_t n_pages; /* in all runs */
} DatPlan;

/* What to take. */
typedef struct DatChoice {
        const bool *cpus; /* NULL: all */
        size_t n_cpus;
        uint64_t from_ns,
                to_ns; /* as events' times are; to_ns 0: no end.  Read is what may lie between */
        /* Asked for each good page, in the order of the runs: 1 takes it, 0 leaves it out, -errno ends it all.  NULL
         * takes every page. */
        int (*look)(void *userdata, PageWalk *w, const PageInfo *info, const void *page);
        /* What was met on the way through each CPU; 0 or -errno.  NULL: nobody wants to know. */
        int (*walked)(void *userdata, const PageWalk *w);
        void *userdata;
} DatChoice;

/* @ret->swap and page_bytes are set by the caller, the rest is zero.  dat_plan_done() it, also after
 * a failure.  0 or -errno. */
int dat_plan_make(DatPlan *ret, const SessionDir *dir, const DatChoice *choice);
void dat_plan_done(DatPlan *p);
#define _cleanup_dat_plan_ _cleanup_(dat_plan_done)

/* --- the head --------------------------------------------------------------------------------- */

typedef struct DatBlob {
        const char *data;
        size_t n;
} DatBlob;

typedef struct DatEvent {
        const char *system; /* "ftrace", "sched" */
        DatBlob format;
} DatEvent;

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
 * Version 7 has the same in sections (pages/dat-file.h draws them), in the order of version 6 with
 * the options behind them, and then the head of the section of pages.  Integers have the byte order
 * of the recorded machine.
 *
 * Source: trace-cmd 3.1.6 Documentation/trace-cmd/trace-cmd.dat.v6.5.txt and .v7.5.txt; lib/trace-cmd/
 * trace-input.c, tracecmd_alloc_fd(), for the clock behind version 6's table.
 */
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
        const char *origin;    /* dat_origin_format(); NULL: none */
        const char *owners;    /* a session's tracing/owners; NULL: none */
        const char *maps;      /* likewise tracing/maps */
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

/* --- all of it -------------------------------------------------------------------------------- */

typedef struct DatTarget {
        int fd; /* borrowed */
        /* Of a regular file, from its beginning.  What cannot seek is packed twice, for the head says
         * how long everything is. */
        bool can_seek;
        uint64_t packed_max; /* bytes that the packed pages of one CPU may take; 0: no limit */
        /* Called at least once each MiB; NULL: never.  Anything but 0 ends the writing and is returned. */
        int (*progress)(void *userdata, uint64_t n_pages);
        void *userdata;
} DatTarget;

enum { DAT_WRITE_E_TOO_LARGE = 1 };

/*
 * dat_write()
 * @plan: of @dir, with at least one CPU
 * @head: its n_cpus is at least @plan's; page_bytes and the byte order are @plan's
 *
 * Return: 0, DAT_WRITE_E_TOO_LARGE (packed_max; what cannot seek was not written to), -ESTALE (pages
 * of the plan are gone), -errno (-EPIPE: nobody reads any more).
 */
int dat_write(const DatTarget *target, const DatHead *head, const DatPlan *plan,
              const SessionDir *dir);
