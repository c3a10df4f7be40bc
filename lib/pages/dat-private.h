/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the parts of DatFile share, from the ground up: dat-bytes.c reads numbers and unpacks, dat-times.c reads options
 * of times, dat-body.c the body of either version, dat-pages.c pages that are packed; dat-file.c opens and answers. */

#include <zstd.h>

#include "base/bytes.h"
#include "codec/pieces.h"
#include "pages/dat-file.h"
#include "store/damage.h"

#define DAT_TEXT_MAX ((size_t) 256 << 20)

/*
 * Numbers and strings read one after the other out of a stretch of the file
 *
 * What goes beyond the stretch is noted once, with its place in the file; from then on everything
 * is 0 or NULL, so that whoever reads asks at the end.
 */
typedef struct DatBytes {
        const uint8_t *data;
        uint64_t n, at;
        uint64_t base; /* where the stretch is in the file */
        bool swap;
        const char *problem; /* NULL: none; what was being read, a constant */
        uint64_t problem_at; /* in the file */
} DatBytes;

void dat_bytes_fail(DatBytes *b, const char *what);
/* @n bytes, or NULL; @what names them. */
const void *dat_bytes_take(DatBytes *b, uint64_t n, const char *what);
uint16_t dat_bytes_u16(DatBytes *b, const char *what);
uint32_t dat_bytes_u32(DatBytes *b, const char *what);
uint64_t dat_bytes_u64(DatBytes *b, const char *what);
/* A string and its NUL; "" after a failure. */
const char *dat_bytes_string(DatBytes *b, const char *what);
/* True if the next bytes are these, which are then passed. */
bool dat_bytes_are(DatBytes *b, const void *what, size_t n);

/* As SessionFiles has them: @file is a DatFile. */
/* What is known of the recording.  0 or -ENOMEM. */
int dat_file_meta(const void *file, SessionMeta **ret);
/* The text of a file that was copied from tracefs, ended by a NUL; the caller frees.  -ENOENT. */
int dat_file_read_tracing(const void *file, const char *path, char **ret, size_t *ret_n);
/* The same of kallsyms; -ENODATA if there is none. */
int dat_file_read_symbols(const void *file, char **ret, size_t *ret_n);

/* Reads what follows the common head, at @head->at.  0, DAT_FILE_E_UNREADABLE with *@ret_problem,
 * -errno. */
int dat_body_read(DatFile *f, DatBytes *head, char **ret_problem);
/* Makes the sentence of *@ret_problem, unless there is one: what was found first is the cause.
 * DAT_FILE_E_UNREADABLE or -ENOMEM. */
int dat_fail(char **ret_problem, uint64_t at, const char *what);

/* Takes in one of the four options, @data being its content; others are
 * passed over.  What cannot be understood changes nothing.  0 or -ENOMEM. */
int dat_times_read(DatTimes *t, uint16_t id, DatBytes data);
void dat_times_done(DatTimes *t);

/* --- packed pages ----------------------------------------------------------------------------- */

/* True if this program was built with what it takes. */
bool dat_can_unpack(DatCompressor compressor);
/* Unpacks exactly @n bytes, or not.  @compressor is not DAT_NONE; @context: zstd's memory, for whoever unpacks
 * often; NULL: none is kept. */
bool dat_unpack(DatCompressor compressor, void *context, const void *data, size_t n_data, void *ret,
                size_t n);

typedef struct DatChunk {
        uint64_t at; /* of what is packed, in the CPU's bytes */
        uint64_t first_page;
        uint32_t n, n_plain;
} DatChunk;

/* The pages of one CPU, unpacked a chunk at a time. */
typedef struct DatPages {
        const DatFile *f;
        const DatCpu *cpu;
        uint32_t page_bytes;
        uint64_t n_pages, n_torn;
        DatChunk *chunks;
        size_t n_chunks;
        Pieces unpacked;
        Damages *damages; /* borrowed; NULL: nobody wants them */
} DatPages;

/* @f, @cpu, @damages: borrowed.  0 or -ENOMEM. */
int dat_pages_new(DatPages **ret, const DatFile *f, const DatCpu *cpu, Damages *damages);
/*
 * dat_pages_read() - a page of those that there are, and those that lie behind it in memory
 * @ret:   set with 0; valid until a page of another chunk is asked for
 * @ret_n: how many they are; with SEGMENT_E_LOST how many are in the chunk that is damaged
 *
 * Return: 0, SEGMENT_E_LOST (and noted), -ENOMEM.
 */
int dat_pages_read(DatPages *p, uint64_t page, const void **ret, uint64_t *ret_n);
DatPages *dat_pages_free(DatPages *p);
DEFINE_CLEANUP(DatPages *, dat_pages_free);
