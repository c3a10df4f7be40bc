/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What verbs do with all the files of a recording
 */

#include "calls/census.h"
#include "cli/contact/contact.h"
#include "cli/options/filtering.h"
#include "cli/terminal/terminal.h"
#include "export/exporter.h"
#include "retention/retain.h"
#include "store/session-dir.h"

/*
 * Verify: is everything there that was recorded, and was everything recorded?
 *
 * Every page of every segment is decoded; what is found is compared with itself
 * and with what the daemon noted down.
 */

typedef struct VerifyResult {
        Strv problems;   /* sentences, without a full stop */
        Strv notes;      /* likewise: what is no loss of what was hooked */
        bool complete;   /* no problem: every event that happened is in the recording */
        bool unreadable; /* it cannot be decoded at all */
        Census census;   /* of all steps, finished */
} VerifyResult;

/* @progress: may be NULL.  A recording that cannot be decoded at all is a result with that problem, not an
 * error.  While a session records, what its daemon has yet to write is no problem.  verify_result_done() it; 0 or
 * -errno. */
int verify_session(const SessionDir *dir, const SessionMeta *meta, Progress *progress,
                   VerifyResult *ret);
void verify_result_done(VerifyResult *v);
#define _cleanup_verify_result_ _cleanup_(verify_result_done)
/* A SentCheck: whether it is a trace.dat, which is read as a whole. */
int verify_sent(int fd, const char *path, Buf *said, bool *ret_is_told);

/* Whether every block still holds the pages that the kernel gave: sealed segments keep a checksum of each block's
 * raw pages, taken before it was encoded. */
typedef struct VerifyBlocks {
        uint64_t n_segments, n_sealed;
        uint64_t n_blocks, n_blocks_good; /* of sealed ones: found, and equal */
        uint64_t n_pages;                 /* in the good ones */
        Strv damages;                     /* sentences, without a full stop */
} VerifyBlocks;

/* @progress: as above; verify_blocks_done() @ret.  0 or -errno. */
int verify_blocks(const SessionDir *dir, Progress *progress, VerifyBlocks *ret);
void verify_blocks_done(VerifyBlocks *c);
#define _cleanup_verify_blocks_ _cleanup_(verify_blocks_done)

/*
 * Last words: what the kernel said at the end of a recording that it did not survive
 *
 * A black box records the kernel's messages (printk:console) beside the calls.  The last of them that tells of an
 * end tells how this one ended; none does of a reset, a hang or a loss of power.
 */

#define LAST_WORDS_MAX 240

typedef struct LastWords {
        char text[LAST_WORDS_MAX];  /* "" : none told of an end */
        const char *what;           /* what that is: "a panic" */
        char fault[LAST_WORDS_MAX]; /* what was said first of the latest; "": there was none */
        uint64_t said_ns, fault_ns, now_ns; /* trace clock: of the two, and of the last step */
} LastWords;

/* Looks at one more step, in the order of time. */
void last_words_step(LastWords *w, const Step *s);
/* Whether @m is of a kernel that went down: what was rescued from a black box. */
bool last_words_are_due(const SessionMeta *m);
/* Adds a sentence, without a full stop, of how it ended.  0 or -ENOMEM. */
int last_words_note(const LastWords *w, Strv *notes);

/*
 * trace.dat: a recording in the form that trace-cmd and KernelShark read
 *
 * The pages are those of the recording, byte for byte (pages/dat-writer.h tells the rest of the form).
 * Of formats and symbols it has those that occur in them, which is all that whoever reads it asks for:
 * some 100 KB instead of 10 MB.
 */

typedef struct TracedatSpec {
        unsigned version;  /* 6 or 7 */
        bool is_packed;    /* by zstd; of version 7 */
        Filtering *window; /* which CPUs and times: whole pages, so somewhat more; resolved here */
        uint64_t packed_max; /* of a CPU: more makes the file not packed (pages/dat-writer.h) */
        bool can_seek;       /* the same */
        Progress *progress;  /* of pages; NULL: nobody is told */
        const char *filters; /* source_filters() */
} TracedatSpec;

/* trace-cmd 3.1.6 counts a CPU's compressed bytes in an int; fixed in trace-cmd 176bc1f1 (3.3.1). */
#define TRACEDAT_PACKED_MAX ((uint64_t) INT32_MAX)

typedef struct TracedatResult {
        uint64_t n_pages;
        Strv lacks; /* what could not be read, and is not in it but as these sentences, without a full stop */
        bool is_packed;
} TracedatResult;

void tracedat_result_done(TracedatResult *r);
#define _cleanup_tracedat_result_ _cleanup_(tracedat_result_done)

enum { TRACEDAT_E_UNREADABLE = 1 };

/* Of a session that still records it takes what is stored when it begins.  @out_fd: borrowed. Return: 0,
 * TRACEDAT_E_UNREADABLE (@ret_problem is half a sentence, which the caller frees), -errno (-EPIPE: nobody reads
 * any more; -ESTALE: pages went meanwhile).  tracedat_result_done() @ret. */
int tracedat_write(TracedatResult *ret, const SessionDir *dir, const SessionMeta *meta,
                   const TracedatSpec *spec, int out_fd, char **ret_problem);

/*
 * Export files: where an export of one or several recordings goes that has more than one file
 *
 *      -o NAME.parquet    calls; NAME.waits.parquet, NAME.losses.parquet
 *      -o DIR             DIR/date=2026-11-25/root=udp_sendmsg/HOST-RECORDING.parquet
 *                         DIR/_waits/date=2026-11-25/HOST-RECORDING.parquet, DIR/_losses/...
 *
 * The day is that of the recording's beginning, UTC; "unknown" of one that does not tell.  Bytes of names that a
 * path, or an engine that reads it, may take for something else are %XX; behind 100 of them there is a hash, "~"
 * and 16 digits.  Each file is there whole or not at all, and all appear together at the end: until then those of
 * a DIR are in DIR/.ftraced-XXXXXX, which is gone afterwards, whatever we die of (cli/terminal/terminal.h), so
 * that only those that are written now need descriptors.
 */

typedef struct ExportFile {
        Buf out; /* first */
        Outfile file;
        struct ExportFile *next;
} ExportFile;

typedef struct ExportFiles {
        const char *path;
        mode_t mode;
        bool is_dir;
        bool is_unknown; /* whether the last one is the same as one of its name that is there cannot be told */
        ExportFile *files;
        size_t n;
        char *temporary; /* of DIR; NULL: there is none yet */
        int sweeper_fd;
        char *failed; /* the path that could not be opened; NULL: none */
} ExportFiles;

#define EXPORT_FILES_INIT ((ExportFiles){ .sweeper_fd = -EBADF })

/* Whether @path is a directory, or shall be one: it ends in "/". */
bool export_files_is_dir(const char *path);
/* An ExportInfo's open() and close(); its files are an ExportFiles.  -EEXIST: of one that is_unknown there is a file. */
int export_files_open(const ExportInfo *info, const char *name, const Function *root, Buf **ret);
int export_files_close(const ExportInfo *info, Buf *out);
/* All of them are there now.  0 or -errno. */
int export_files_commit(ExportFiles *f);
void export_files_done(ExportFiles *f);
