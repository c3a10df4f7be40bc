/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the rows of calls (parquet-calls.c) go into, and what goes into files beside them. */

#include "encode/parquet.h"
#include "encode/spill.h"
#include "export/exporter.h"

/* --- parts ------------------------------------------------------------------------------------ */

/*
 * Parts: the files that the calls of a recording go into, one for all of them or one for each root
 *
 * The first PARTS_OPEN_MAX roots have theirs open until the end.  Trees of further roots wait, in memory and then in a
 * file (export/spill.h), and are written at the end, one root after the other: neither descriptors nor memory grow with
 * the number of roots, but for some 50 bytes each.
 */
#define PARTS_OPEN_MAX 32

/* An outermost call with all below it. */
typedef struct PartsTree {
        uint64_t number;
        int32_t pid;             /* negative: not known */
        int32_t tgid;            /* likewise */
        uint32_t task, trace_id, user, unit, container, pod, cgroup; /* texts */
        uint32_t n;              /* rows */
        const void *rows;
        Spill *spill; /* that they are in, to relax it */
} PartsTree;

typedef struct Part {
        uint32_t root;
        const Function *function;
        Parquet *file; /* NULL: its trees wait, or it is finished */
        Buf *out;
        uint64_t first, last; /* that wait, plus 1; 0: none */
} Part;

typedef struct Parts {
        ExportState *state; /* its info: whether there is one for each root; opens, closes */
        bool is_tsv;
        ParquetTexts *texts;
        const ParquetSchema *schema;
        size_t row_bytes;
        /* Each row of @tree becomes one of @file.  0 or -errno. */
        int (*write)(ExportState *state, Parquet *file, const PartsTree *tree);
        Part *items;
        size_t n, n_open;
        Hash at; /* index + 1, by root */
        Spill spill;
        uint64_t n_spilled;
} Parts;

/* @root: its name's number in the texts, which is that of @function.  0 or -errno, also of the files. */
int parts_add(Parts *p, uint32_t root, const Function *function, const PartsTree *tree);
/* No more trees: a file for all is there even without any.  As parts_add(). */
int parts_finish(Parts *p);
void parts_done(Parts *p);

/* --- beside ----------------------------------------------------------------------------------- */

/*
 * What belongs to calls, and is no call, in files beside theirs: when they waited and who woke them, and
 * where events were lost, if the state's info->open opens such files
 *
 *      waits    host recording tree left start_unix_ns start_ns woken_ns back_ns state cpu pid task
 *               function waker_task waker_pid waker_function waker_interrupt waker_softirq waker_what
 *      losses   host recording at_unix_ns at_ns cpu events
 *
 * tree and left are those of the call that waited.  events is how many; none: the kernel did not say.
 */
typedef struct BesideFile {
        Parquet *table; /* NULL: it has no rows yet, or nobody takes such a file */
        Buf *out;
} BesideFile;

typedef struct Beside {
        const ExportState *state;
        ParquetTexts *texts;
        BesideFile waits, losses;
        Buf text;
} Beside;

/* A wait of a tree that is open. */
typedef struct BesideWait {
        SchedWait wait;
        uint32_t left, cpu;
} BesideWait;

/* A text's number for @n_rows rows, or PARQUET_ALL_ROWS, whatever bytes it has; UINT32_MAX of NULL.  0 or -ENOMEM. */
int beside_text(Beside *b, const char *text, size_t n, uint32_t n_rows, uint32_t *ret);
/* The next column: when @at_ns was in time of day, if that is known. */
void beside_put_unix(const Beside *b, Parquet *p, uint64_t at_ns);
/* Each 0 or -errno. */
int beside_wait(Beside *b, const BesideWait *wait, uint64_t tree, const Stack *stack,
                const Function *function);
int beside_loss(Beside *b, const Step *lost);
/* Each file is there even without rows, so that whoever asks finds columns. */
int beside_finish(Beside *b);
void beside_done(Beside *b);
