/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SessionDir: one recording on disk (store/format.h)
 *
 * Reached through descriptors only, so that the same code reads a store, a
 * session that the daemon handed over, and tests/data.
 */

#include "meta/meta.h"
#include "store/segment.h"
#include "store/symbol-file.h"

typedef struct SessionDir SessionDir;

/* Makes NAME below @sessions_fd (borrowed); -EEXIST if there is one. */
int session_dir_create(SessionDir **ret, int sessions_fd, const char *name);
/* Opens NAME below @sessions_fd; -ENOENT, -EINVAL (no valid name).  @symbols_fd: the store's
 * symbols/, borrowed (dup()ed), -EBADF, or another -errno: why it cannot be read. */
int session_dir_open(SessionDir **ret, int sessions_fd, const char *name, int symbols_fd);
/* Consumes both descriptors, also on failure.  @symbols_fd may be -errno, as above. */
int session_dir_take_fds(SessionDir **ret, int dir_fd, int symbols_fd);
int session_dir_fd(const SessionDir *d); /* borrowed; -EBADF of a stand-in */
int session_dir_symbols_fd(const SessionDir *d); /* likewise; negative: there is none */

/* What stands in for a directory: a file that holds a whole recording.  It is only read, and each
 * CPU has one segment, 0.  The functions return what those of a directory do. */
typedef struct SessionFiles {
        int (*read_meta)(const void *p, SessionMeta **ret);
        int (*read_tracing)(const void *p, const char *path, char **ret, size_t *ret_n);
        int (*read_symbols)(const void *p, char **ret, size_t *ret_n);
        int (*list_cpus)(const void *p, uint32_t **ret, size_t *ret_n);
        void (*free)(void *p);
} SessionFiles;

/* @p is consumed, also on failure. */
int session_dir_stand_in(SessionDir **ret, const SessionFiles *files, void *p);
/* The @p of a stand-in by @files; NULL if it is none. */
void *session_dir_files(const SessionDir *d, const SessionFiles *files);

/* Atomic; @synced as in entry_replace(). */
int session_dir_write_meta(SessionDir *d, const SessionMeta *m, bool synced);
/* Return: 0, META_E_INVALID (not JSON, or not ours, or no regular file), META_E_NEWER, -errno. */
int session_dir_read_meta(const SessionDir *d, SessionMeta **ret);
/* The same, but of a file that is there and cannot be read it is session_meta_stand_in(). */
int session_dir_read_any_meta(const SessionDir *d, const char *name, SessionMeta **ret);

/* A file copied from tracefs; @path as below tracefs ("events/header_page"); @synced as in entry_replace(). */
int session_dir_write_tracing(SessionDir *d, const char *path, const void *data, size_t n,
                              bool synced);
/* -ENOENT also of what is no regular file, which keep_list_misplaced() (retention/keep.h) names. */
int session_dir_read_tracing(const SessionDir *d, const char *path, char **ret, size_t *ret_n);

/* The directory of one CPU's segments, made if missing: a descriptor that the caller owns, or -errno. */
int session_dir_make_cpu(SessionDir *d, uint32_t cpu);
/* Numbers of the CPUs that have a directory, ascending; the caller frees *@ret. */
int session_dir_list_cpus(const SessionDir *d, uint32_t **ret, size_t *ret_n);
/* Sequences of one CPU's segments, ascending; files with other names are ignored; the caller frees. */
int session_dir_list_segments(const SessionDir *d, uint32_t cpu, uint64_t **ret, size_t *ret_n);
/* Those of all CPUs, by CPU, then sequence; the caller frees. */
typedef struct SegmentPlace {
        uint32_t cpu;
        uint64_t sequence;
} SegmentPlace;
int session_dir_list_places(const SessionDir *d, SegmentPlace **ret, size_t *ret_n);
/* The file of one, for reading (pages/page-source.h): a descriptor that the caller owns, or -errno; what is
 * no regular file is -EISDIR or -EBADFD. */
int session_dir_open_segment_file(const SessionDir *d, uint32_t cpu, uint64_t sequence);

/* @n_pages of a segment of @cpu are about to go. */
typedef void (*PeriodDropped)(uint32_t cpu, uint64_t n_pages, void *userdata);

/* Removes all CPUs' segments of one sequence, of which no writer has any open, also those whose pages cannot be
 * counted.  0, or -errno for the first that could not be removed; the others are. */
int session_dir_drop_period(const SessionDir *d, uint64_t sequence, PeriodDropped dropped,
                            void *userdata);

/* The kallsyms text of that name, which a meta gives; -ENODATA for NULL or without a store, another
 * -errno if its symbols/ cannot be read; the caller frees *@ret. */
int session_dir_read_symbols(const SessionDir *d, const char *hash, char **ret, size_t *ret_n);
/* The same, in parts (store/symbol-file.h). */
int session_dir_load_symbols(const SessionDir *d, const char *hash, SymbolParts *ret);
/* The build IDs of the kernel and its modules that are known, for build_ids_get(), which the caller frees.  What cannot be
 * read has none.  0 or -ENOMEM. */
int session_dir_read_build_ids(const SessionDir *d, const SessionMeta *m, Strv *ret);

SessionDir *session_dir_free(SessionDir *d);
DEFINE_CLEANUP(SessionDir *, session_dir_free);

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
