/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Segment: a run of one CPU's pages in a file (store/format.h)
 *
 * Written by one thread (the recorder's), read by anybody meanwhile.
 */

#include "base/cleanup.h"
#include "store/format.h"

#define SEGMENT_NAME_MAX 16 /* "0000002a.seg" and its NUL, with room to spare */
/* The file name of a sequence below 2^32; returns @name. */
char *segment_format_name(char name[static SEGMENT_NAME_MAX], uint64_t sequence);
/* The same with its directory, "cpu3/0000002a.seg", as a session has it. */
#define SEGMENT_PATH_MAX (16 + SEGMENT_NAME_MAX)
char *segment_format_path(char path[static SEGMENT_PATH_MAX], uint32_t cpu, uint64_t sequence);
bool segment_parse_name(const char *name, uint64_t *ret); /* false: it is none */

/* Reads and checks the header of a file, in this machine's byte order; the file's size is not
 * looked at.  Of a sealed one page_bytes, cpu, sequence and n_pages are set, too.  0, SEGMENT_E_*, -errno. */
int segment_read_header(int fd, SegmentHeader *ret);

/* --- writing ------------------------------------------------------------------------------ */

typedef struct SegmentWriter {
        int fd; /* to splice into: positioned behind the last byte */
        uint32_t page_bytes;
        uint64_t n_bytes; /* in the file, without the header */
        void *tail_map;   /* of the tail, begins at a page of this machine */
        size_t n_tail_map;
} SegmentWriter;

/*
 * segment_create() - a new segment, exclusively
 * @cpu_dir_fd: sessions/NAME/cpuN, borrowed
 * @previous:   the sequence of this CPU's segment before it; UINT64_MAX: there is none
 * @session_id: 16 hex digits
 * @page_bytes: a power of two, PAGE_BYTES_MIN..PAGE_BYTES_MAX
 *
 * Return: 0, -EEXIST, -ENOSPC, -EOVERFLOW (sequences end at 2^32), other -errno.  The header is in
 * the file when it returns; after a failure there is no file.
 */
int segment_create(SegmentWriter **ret, int cpu_dir_fd, uint64_t sequence, uint64_t previous,
                   uint32_t cpu, uint32_t page_bytes, const char *session_id);

/* What still waits for a segment whose writer died. */
typedef struct SegmentRest {
        size_t n_piped; /* bytes in the pipe; a page cut in two goes on there */
        size_t n_tail;  /* bytes of the last page that read() has delivered; it has more of them */
} SegmentRest;

/*
 * segment_append() - go on with the segment of a writer that died
 * @rest:     what its length alone does not say
 * @ret_torn: bytes of a page that were cut off because its rest is not in the pipe
 *
 * The file's length is the truth: whole pages behind n_pages are pages.  A page of zeroes at the
 * end was allocated and never read into, and is cut.  With n_tail the last page is left for
 * segment_tail(), which then gives it as it is.
 * Return: 0, SEGMENT_E_CLOSED, SEGMENT_E_DAMAGED (not this segment's header; left as it is),
 * -ENODATA (its writer died before it had a header), other -errno.
 */
int segment_append(SegmentWriter **ret, int cpu_dir_fd, uint64_t sequence, uint32_t cpu,
                   uint32_t page_bytes, const char *session_id, const SegmentRest *rest,
                   size_t *ret_torn);

/* @n_bytes more have been spliced: whole pages are counted in the header, a partial one waits for its rest. */
void segment_publish(SegmentWriter *w, size_t n_bytes);

/*
 * segment_tail() - room for one page at the end of the file, mapped and shared
 * @ret: page_bytes of zeroes to read() into; valid until segment_tail_commit() or
 * segment_tail_abort()
 *
 * For the last, partly filled page that splice does not take: what is read there is in the page
 * cache at once, never only in this process.  Disk space is allocated first (-ENOSPC) and mapped,
 * so that a read() into it is done or not begun, whoever kills the process when.
 * Only at a page boundary: -EBUSY otherwise.
 */
int segment_tail(SegmentWriter *w, void **ret);
void segment_tail_commit(SegmentWriter *w);
void segment_tail_abort(SegmentWriter *w);

uint64_t segment_writer_n_pages(const SegmentWriter *w);
/* The time in the header of the last whole page, or 0. */
uint64_t segment_writer_last_ns(const SegmentWriter *w);
/* Marks it closed (cutting a partial page off: *@ret_torn_bytes, may be NULL) and frees, also when
 * it fails.  A tail that was not committed is dropped.  *@ret_fd is the descriptor it was written through, which the
 * caller owns then, also after a failure, and may sync; NULL: it is closed.  0, -EIO if the file has become shorter
 * than what was published, -errno. */
int segment_writer_close(SegmentWriter *w, size_t *ret_torn_bytes, int *ret_fd);
/* Frees without marking it closed. */
SegmentWriter *segment_writer_free(SegmentWriter *w);
DEFINE_CLEANUP(SegmentWriter *, segment_writer_free);

/*
 * segment_recover() - close the segment of a writer that died, and nobody goes on with
 * @ret_n_pages: pages that the segment has now
 *
 * Pages may lie whole in the file behind the header's n_pages: spliced, and the writer killed before it
 * could say so.  They are counted, and the torn tail is cut off with pages of zeroes, which were allocated
 * and never read into (PAGE_E_EMPTY).  A segment that is closed or sealed already is left as it is.
 * The daemon calls this at its start, while it holds the store's lock, so no other writer lives.
 * Return: 0, SEGMENT_E_DAMAGED or SEGMENT_E_NEWER (left as it is), -errno.
 */
int segment_recover(int dir_fd, const char *path, uint64_t *ret_n_pages);

/* --- reading ------------------------------------------------------------------------------ */

typedef struct Segment {
        int fd;
        /* As segment_read_header() has it, but state and n_pages are of the last look, and n_pages is no more
         * than the file has. */
        SegmentHeader header;
        uint64_t
                n_torn; /* bytes behind the last page that counts: 0 unless the writer died or still writes */
        bool has_holes; /* some of the pages may be in one */
} Segment;

/*
 * segment_take_fd() - look at a segment for reading
 * @fd: of a regular file; consumed, also on failure
 *
 * Return: 0, SEGMENT_E_*, -errno.  A file that is still being written is welcome.
 * Damage beyond the header is not an error: pages are as many as the file has whole.
 */
int segment_take_fd(Segment **ret, int fd);
/* Looks again how many pages there are; 1 if more than before, 0; -EBADMSG if the header has gone, other
 * -errno (then nothing has changed).  After somebody cut the file there are fewer. */
int segment_refresh(Segment *s);
Segment *segment_free(Segment *s);
DEFINE_CLEANUP(Segment *, segment_free);
