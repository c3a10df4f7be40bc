/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * PageSource: the pages of one segment, whether it is sealed or not
 *
 * A segment that is sealed, dropped by its ring or removed while it is read goes on to be read, for the file that a
 * source began with stays what it was.
 */

#include "base/cleanup.h"
#include "codec/sealed-reader.h"
#include "pages/dat-file.h"
#include "store/damage.h"
#include "store/page.h"
#include "store/session-dir.h"

typedef struct Segment Segment;
typedef struct DatPages DatPages;

typedef struct PageSource {
        uint32_t cpu, page_bytes;
        uint64_t sequence;
        uint64_t previous; /* the one before it; UINT64_MAX: none, or not known */
        uint64_t n_pages;
        uint64_t n_torn;      /* bytes behind the last page */
        bool is_closed;       /* no page will be added */
        SealedReader *sealed; /* its blocks; NULL: it is not sealed */
        /* What follows is page-source.c's. */
        Segment *raw; /* NULL: of a trace.dat, or sealed */
        DatPages *packed;
        /* Of plain pages */
        int fd; /* borrowed; negative: they are packed or sealed */
        bool is_dat;
        uint64_t begin;              /* where in the file the first one is */
        uint64_t data_from, data_to; /* pages that are known to be in no hole */
        uint64_t hole_to;            /* behind the last one of those in holes that were noted */
        Damages *damages;
        uint8_t *window; /* n_window pages from first_in_window on */
        size_t n_window_room;
        uint64_t first_in_window, n_window;
        uint32_t n_stored;     /* bytes that a page has there */
        const DatFile *narrow; /* whose pages are of 32 bits; NULL: they are not */
        uint8_t *wide;         /* one of them as one of 64 bits */
} PageSource;

/*
 * page_source_open() - the segment @sequence of @cpu
 * @dir:     borrowed for the source's life
 * @damages: the same; what is found damaged, now or later, is noted there; NULL: nobody wants to know
 *
 * Return: 0, SEGMENT_E_DAMAGED (noted; also if it is not this CPU's and of this number), SEGMENT_E_NEWER (noted),
 * SEGMENT_E_UNBEGUN, -errno (-ENOENT).
 */
int page_source_open(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                     Damages *damages);
/* The same from a descriptor of a regular file, consumed also on failure, whosever it is. */
int page_source_take_fd(PageSource **ret, int fd, Damages *damages);
/* The same of a CPU's pages in a trace.dat, which is borrowed.  0, -ENOENT (no such CPU), -errno. */
int page_source_open_dat(PageSource **ret, const DatFile *f, uint32_t cpu, Damages *damages);
/* From now on what is packed is unpacked ahead for whoever reads in order (codec/pieces.h).  @a: borrowed. */
void page_source_go_ahead(PageSource *s, Ahead *a);
/* Looks again how many pages there are: 1 if more than before, 0, -errno.  Sealed ones are
 * final. */
int page_source_refresh(PageSource *s);

/*
 * page_source_read() - page @i and those that lie behind it in memory
 * @i:     less than n_pages
 * @ret:   set with 0; valid until another page is read, or a refresh
 * @ret_n: how many they are, at least 1; with SEGMENT_E_LOST how many cannot be read
 *
 * Pages asked for in order are decoded once.
 * Return: 0, SEGMENT_E_LOST, -errno.
 */
int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n);

/*
 * page_source_find() - the first page that has to be read for events from @ns on
 * @swap: of its numbers, seen from this machine
 *
 * Looks at few pages (of a sealed one at its index alone), and may name one that is somewhat early.
 * A page that is damaged or empty stops the search before it.  0 or -errno.
 */
int page_source_find(PageSource *s, uint64_t ns, bool swap, uint64_t *ret);

/* When the first page begins, as its header or its block's says: 1; 0: it does not; -errno. */
int page_source_begin(PageSource *s, bool swap, uint64_t *ret_ns);
/* When the first page of a whole recording begins, of those that say it: 1; 0: a CPU's first page does not, or its times
 * are shifted by what is read later; -errno.  UINT64_MAX: there are no pages. */
int page_source_begin_all(const SessionDir *dir, bool swap, uint64_t *ret_ns);

/*
 * page_source_span() - when its first and its last page begin, as their headers say
 * @swap: of its numbers, seen from this machine
 *
 * Decodes nothing: of a sealed one the blocks' headers say it.  A page that was never read into, or
 * is damaged, has no time.
 * Return: 0, -ENODATA (no page has one), other -errno.
 */
int page_source_span(PageSource *s, bool swap, uint64_t *ret_first_ns, uint64_t *ret_last_ns);

PageSource *page_source_free(PageSource *s);
DEFINE_CLEANUP(PageSource *, page_source_free);

/* --- what the pages of a trace.dat tell where nothing else does ------------------------------- */

/*
 * dat_losses_note() - losses, for files of `trace-cmd listen` and `split` have no CPUSTAT
 * @m:           of @dir; where CPUSTAT counts losses of a CPU, that is believed
 * @is_thorough: look through the pages of a CPU also if CPUSTAT says that nothing was lost, which
 *               takes reading, or unpacking, all of them; whoever reads them anyway finds what they
 *               say against it (cli/source/source.h)
 *
 * A page says that events were lost before it, and mostly how many (store/page.h).  That becomes what a session's own
 * account would have: a sum for each CPU, and a gap for each place, of GAP_UNKNOWN events where the kernel had no
 * room to say.  Nothing happens to a recording that is no trace.dat.  0 or -errno.
 */
int dat_losses_note(SessionMeta *m, const SessionDir *dir, bool is_thorough);
/* Fills @m->start, on all clocks with the time of the first page, if @dir is a trace.dat of `trace-cmd record --date`,
 * whose times are those of the clock on the wall, and nothing else has told when it was.  0 or -errno. */
int dat_start_note(SessionMeta *m, const SessionDir *dir);

/*
 * PageWalk: one CPU's pages in order, across all its segments
 *
 * The one way through them, whether they are decoded or copied.  Whatever is damaged, missing or empty is stepped over
 * and counted, never an error.  A recording that still grows is followed by page_walk_refresh().
 */

/* What was met so far. */
typedef struct PageCount {
        uint64_t n_segments, n_pages;
        uint64_t n_segments_unbegun; /* empty; the last one may still begin */
        uint64_t n_segments_missing; /* gaps: a segment names one before it that is not there */
        uint64_t n_segments_gone;    /* removed while the walk was on its way to them */
        uint64_t n_pages_torn;       /* length does not fit: skipped */
        uint64_t n_pages_empty;      /* allocated, never written */
        uint64_t n_pages_missed;     /* say that events were lost before them */
        uint64_t n_missed;           /* how many, where the pages say it */
        uint64_t n_torn_bytes;       /* behind the last whole page of segments */
        uint64_t n_unclosed;         /* segments whose writer never closed them */
        /* For whoever looks into the pages to count */
        uint64_t n_records;
        uint64_t n_pages_damaged;   /* a record in it contradicts itself: its rest is skipped */
        uint64_t n_pages_backwards; /* begin before the page before them ended */
        uint64_t n_records_short;   /* too short for their fields */
} PageCount;

typedef struct PageWalk {
        const SessionDir *dir; /* borrowed */
        Ahead *ahead;          /* borrowed; NULL: nothing is unpacked ahead */
        const DatTimes *times; /* NULL: pages hold the times themselves */
        uint32_t cpu, page_bytes;
        bool swap;
        bool missed; /* behind the page before, or in what was stepped over; for the reader to take */
        uint64_t n_missed;
        uint64_t i_page; /* in the segment, behind the page that was given last */
        PageSource *segment;
        PageCount count;
        Damages damages; /* whatever else was met: files, and parts of them */
        uint64_t *sequences;
        size_t n_sequences;
        size_t i_sequence; /* of the open segment, or of the next to open */
} PageWalk;

/* @dir: borrowed for its life, during which @ret must stay where it is; page_walk_done() it also after a failure.
 * @swap: of the pages' numbers, seen from this machine.  0 or -errno. */
int page_walk_init(PageWalk *ret, const SessionDir *dir, uint32_t cpu, uint32_t page_bytes,
                   bool swap);
/* The next page that can be read, valid until another is: 1; 0: there is none, so far; -errno. */
int page_walk_next(PageWalk *w, const uint8_t **ret, PageInfo *ret_info);
/* On to where events from @ns on begin, or somewhat before: pages between are not read, and nothing that is damaged
 * there is counted.  1; 0: it stays where it is, and the page that it gave last is to be had by page_walk_again();
 * -errno. */
int page_walk_seek(PageWalk *w, uint64_t ns);
/* The page that was given last, wherever it is now.  0, SEGMENT_E_LOST (and noted), -errno. */
int page_walk_again(PageWalk *w, const uint8_t **ret);
/* Looks for what was written since; then the page that was given last is elsewhere.  0 or -errno. */
int page_walk_refresh(PageWalk *w);
/* Events are lost before the next one; @n 0: nobody knows how many. */
void page_walk_note_loss(PageWalk *w, uint64_t n);
void page_walk_count(const PageWalk *w, PageCount *ret);
void page_walk_done(PageWalk *w);

/* How many pages the segments of @cpu have, by what their headers and sizes say.  0 or -errno. */
int page_walk_stored(const SessionDir *dir, uint32_t cpu, uint64_t *ret);
