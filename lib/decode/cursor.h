/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cursor: one CPU's events in the order of its pages, across all its segments
 *
 * Whatever is damaged is stepped over and counted, never an error: the next
 * event after a gap of any kind has `missed` set.  A recording that still grows
 * is followed by cursor_refresh().
 */

#include "base/cleanup.h"
#include "decode/formats.h"
#include "pages/page-source.h"
#include "store/session-dir.h"

typedef struct Cursor Cursor;

/* What a Cursor begins with, so that its event, and mostly the next one, is at hand without a call. */
typedef struct CursorHead {
        const Event *event;
        uint32_t n_ahead; /* decoded already, behind it in memory */
        uint32_t cpu;
} CursorHead;

/* What a cursor met so far, some events ahead. */
typedef struct CursorCount {
        uint64_t n_segments, n_pages, n_records;
        uint64_t n_segments_unbegun; /* empty; the last one may still begin */
        uint64_t n_segments_missing; /* gaps: a segment names one before it that is not there */
        uint64_t n_segments_gone;    /* removed while the cursor was on its way to them */
        uint64_t n_pages_torn;       /* length does not fit: skipped */
        uint64_t n_pages_empty;      /* allocated, never written */
        uint64_t n_pages_damaged;    /* a record in it contradicts itself: its rest is skipped */
        uint64_t n_pages_backwards;  /* begin before the page before them ended */
        uint64_t n_pages_missed;     /* say that events were lost before them */
        uint64_t n_missed;           /* how many, where the pages say it */
        uint64_t n_records_short;    /* too short for their fields */
        uint64_t n_torn_bytes;       /* behind the last whole page of segments */
        uint64_t n_unclosed;         /* segments whose writer never closed them */
} CursorCount;

/*
 * cursor_open() - at the first event of @cpu
 * @dir, @formats: borrowed for the cursor's life
 *
 * Return: 0 (also if there is no event yet), -errno.
 */
int cursor_open(Cursor **ret, const SessionDir *dir, const Formats *formats, uint32_t cpu);
static inline uint32_t cursor_cpu(const Cursor *c) {
        return ((const CursorHead *) c)->cpu;
}

/* The current event, or NULL behind the last; valid until the cursor has moved twice. */
static inline const Event *cursor_peek(const Cursor *c) {
        return ((const CursorHead *) c)->event;
}

/* cursor_advance() where nothing is decoded already. */
int cursor_go_on(Cursor *c);
/* To the next event.  0 or -errno. */
static inline int cursor_advance(Cursor *c) {
        CursorHead *h = (CursorHead *) c;

        if (_unlikely_(h->n_ahead == 0))
                return cursor_go_on(c);
        h->n_ahead--;
        h->event++;
        return 0;
}
/* On to where events from @ns on begin, or somewhat before: pages between are not read, and nothing
 * that is damaged there is counted.  Never back.  0 or -errno. */
int cursor_seek(Cursor *c, uint64_t ns);
/* Looks for what was written since; at the end, goes on to it.  0 or -errno. */
int cursor_refresh(Cursor *c);
void cursor_count(const Cursor *c, CursorCount *ret);
/* Whatever else it met: files, and parts of them.  Valid as long as the cursor. */
const Damages *cursor_damages(const Cursor *c);
Cursor *cursor_free(Cursor *c);
DEFINE_CLEANUP(Cursor *, cursor_free);
