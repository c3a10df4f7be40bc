/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * PageWalk: one CPU's pages in order, across all its segments
 *
 * The one way through them, whether they are decoded or copied.  Whatever is damaged, missing or empty is stepped over
 * and counted, never an error.  A recording that still grows is followed by page_walk_refresh().
 */

#include "pages/page-source.h"
#include "store/damage.h"
#include "store/page.h"

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
