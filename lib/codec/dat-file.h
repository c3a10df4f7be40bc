/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatFile: a trace.dat, version 6 or 7, read as a recording
 *
 * As trace-cmd 3.1.6 writes it, and as we do (codec/dat-head.h draws version 6).
 * Version 7 is made of sections, found through options:
 *
 *      17 08 44 "tracing7" 00   endian u8   long_size u8   page_size u32
 *      compressor "" or "zstd" or "zlib" 00   its version 00   u64 offset of the first options
 *
 *      section:   u16 id   u16 flags (1: compressed)   u32 string   u64 n   n bytes
 *      compressed sections:   u32 stored   u32 plain   stored bytes
 *      options:   { u16 id   u32 n   n bytes }   until id 0, whose u64 is the next options' offset
 *      option BUFFER:   u64 offset of its section   name 00   clock 00   u32 page_size
 *                       u32 n_cpus   { u32 cpu   u64 offset   u64 n }
 *      compressed pages of a CPU:   u32 n_chunks   { u32 stored   u32 plain   stored bytes }
 *
 * The file is mapped and taken as hostile.  What is said of metadata is checked when it is opened,
 * pages when they are read.  Of several buffers one is the recording: the top-level one if it has
 * pages, else the first that has some, or the one that is chosen.
 *
 * Source: trace-cmd 3.1.6 Documentation/trace-cmd/trace-cmd.dat.v6.5.txt and .v7.5.txt,
 * lib/trace-cmd/trace-input.c, tracecmd_alloc_fd(), and trace-compress.c.
 */

#include "base/cleanup.h"
#include "codec/dat-times.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct DatFile DatFile;

typedef enum DatCompressor { DAT_NONE, DAT_ZSTD, DAT_ZLIB } DatCompressor;

/* One CPU's pages. */
typedef struct DatCpu {
        uint32_t cpu;
        const uint8_t *data; /* n bytes, mapped */
        uint64_t n;
        uint64_t n_cut; /* bytes that it should have and that are behind the file's end */
} DatCpu;

/* Of a file that was copied from tracefs: header_page, header_event, and the events'. */
typedef struct DatFormat {
        char *path; /* as below tracefs: "events/ftrace/funcgraph_entry/format" */
        char *text; /* n bytes, ended by a NUL */
        size_t n;
} DatFormat;

/* What one tracing instance of the recorded machine had. */
typedef struct DatBuffer {
        char *name;  /* "": the top-level one */
        char *clock; /* NULL: as the file's */
        bool is_packed;
        uint32_t page_bytes;
        DatCpu *cpus; /* ascending by number; none: it is empty */
        size_t n_cpus;
        CpuAccount *accounts;
        size_t n_accounts;
        uint64_t table_at; /* of version 6: where its table of CPUs is; 0: not known */
        bool is_read;      /* its table was */
} DatBuffer;

#define DAT_TEXT_MAX ((size_t) 256 << 20)

enum {
        DAT_FILE_E_FOREIGN = 1,    /* not a trace.dat at all */
        DAT_FILE_E_UNREADABLE = 2, /* damaged, or of a kind that is not understood */
        DAT_FILE_E_NO_BUFFER = 3,  /* it has none of that name */
};

/*
 * dat_file_take_fd()
 * @fd:          of a regular file; consumed, also on failure
 * @ret_problem: on DAT_FILE_E_UNREADABLE half a sentence with the place, which the caller frees:
 *               "byte 4711: the file ends within the table of CPUs"
 *
 * Return: 0, DAT_FILE_E_*, -errno.
 */
int dat_file_take_fd(DatFile **ret, int fd, char **ret_problem);

/* The top-level one first. */
const DatBuffer *dat_file_buffers(const DatFile *f, size_t *ret_n);
/* The one of them that is the recording. */
const DatBuffer *dat_file_buffer(const DatFile *f);
/* What is asked of @f from now on is asked of that one.  0, DAT_FILE_E_NO_BUFFER. */
int dat_file_choose_buffer(DatFile *f, const char *name);

/* As a session's directory.  @f is consumed, also on failure; @name, which need not be a session's,
 * is what its metadata call it. */
int dat_file_to_dir(SessionDir **ret, DatFile *f, const char *name);
/* The file that stands in for @d; NULL if none does. */
const DatFile *dat_file_of_dir(const SessionDir *d);

/* As SessionFiles has the next three: @file is a DatFile. */
/* What is known of the recording.  0 or -ENOMEM. */
int dat_file_meta(const void *file, SessionMeta **ret);
/* The text of a file that was copied from tracefs, ended by a NUL; the caller frees.  -ENOENT. */
int dat_file_read_tracing(const void *file, const char *path, char **ret, size_t *ret_n);
/* The same of kallsyms; -ENODATA if there is none. */
int dat_file_read_symbols(const void *file, char **ret, size_t *ret_n);
/* @f NULL: none. */
const DatFormat *dat_file_formats(const DatFile *f, size_t *ret_n);
/* @n of the CPU's bytes from @at on, without mapping them: how many there are, or -errno. */
ssize_t dat_file_read_cpu(const DatFile *f, const DatCpu *cpu, uint64_t at, void *ret, size_t n);
/* Of the pages. */
DatCompressor dat_file_compressor(const DatFile *f);
bool dat_file_is_big_endian(const DatFile *f);
/* What its pages' times are. */
const DatTimes *dat_file_times(const DatFile *f);
/* The file, borrowed, and where in it the CPU's bytes begin. */
int dat_file_fd(const DatFile *f, const DatCpu *cpu, uint64_t *ret_at);
DatFile *dat_file_free(DatFile *f);
DEFINE_CLEANUP(DatFile *, dat_file_free);

/* Whether this program was built with what it takes. */
bool dat_can_unpack(DatCompressor compressor);
/* Unpacks exactly @n bytes: 0, DAT_FILE_E_UNREADABLE.  @compressor is not DAT_NONE; @context: zstd's
 * memory, for whoever unpacks often; NULL: none is kept. */
int dat_unpack(DatCompressor compressor, void *context, const void *data, size_t n_data, void *ret,
               size_t n);
