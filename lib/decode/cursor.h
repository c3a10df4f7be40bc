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
        uint32_t n_ahead; /* decoded already, behind it in memory; if any, all are of formats_decode_usual() */
        uint32_t cpu;
} CursorHead;

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
/* From now on what is packed is unpacked ahead.  @a: borrowed for the cursor's life. */
void cursor_go_ahead(Cursor *c, Ahead *a);
/* On to where events from @ns on begin, or somewhat before: pages between are not read, and nothing
 * that is damaged there is counted.  Never back.  0 or -errno. */
int cursor_seek(Cursor *c, uint64_t ns);
/* Looks for what was written since; at the end, goes on to it.  0 or -errno. */
int cursor_refresh(Cursor *c);
/* What it met so far, some events ahead. */
void cursor_count(const Cursor *c, PageCount *ret);
/* Whatever else it met: files, and parts of them.  Valid as long as the cursor. */
const Damages *cursor_damages(const Cursor *c);
Cursor *cursor_free(Cursor *c);
DEFINE_CLEANUP(Cursor *, cursor_free);

/*
 * Stream: all CPUs' events as one, in the kernel's own order
 *
 * The smallest timestamp first, and of equal ones the lowest CPU's
 * (linux 6.1 kernel/trace/trace.c, __find_next_entry()).
 */

typedef struct Stream Stream;

#define STREAM_NO_LIMIT UINT64_MAX

/* @dir, @formats: borrowed for the stream's life.  0 or -errno. */
int stream_open(Stream **ret, const SessionDir *dir, const Formats *formats);

/* What a Stream begins with, so that a run of events of one CPU is handed out without a call. */
typedef struct StreamHead {
        Cursor *last;      /* whose event was handed out last; NULL: none yet */
        uint64_t ahead_ns; /* its events before this one come before all others */
} StreamHead;

/* stream_next() where another CPU may be next. */
int stream_go_on(Stream *s, uint64_t until_ns, const Event **ret);

/* The event that follows the last one on the same CPU, or NULL; valid until the next call. */
static inline const Event *stream_peek_same_cpu(const Stream *s) {
        const Cursor *last = ((const StreamHead *) s)->last;

        return last ? cursor_peek(last) : NULL;
}

/*
 * stream_next() - the next event not later than @until_ns
 * @ret: valid until the next call of this or of stream_drop_same_cpu()
 *
 * Return: 1 and *@ret is set, 0 if there is none, -errno.
 */
static inline int stream_next(Stream *s, uint64_t until_ns, const Event **ret) {
        const StreamHead *h = (const StreamHead *) s;
        const Event *e = stream_peek_same_cpu(s);
        int r;

        if (_unlikely_(!e || e->timestamp_ns >= h->ahead_ns))
                return stream_go_on(s, until_ns, ret);
        if (_unlikely_(e->timestamp_ns > until_ns))
                return 0;
        r = cursor_advance(h->last);
        if (_unlikely_(r < 0))
                return r;
        *ret = e;
        return 1;
}

/* Takes the one of stream_peek_same_cpu() out of the stream.  0 or -errno. */
static inline int stream_drop_same_cpu(Stream *s) {
        return cursor_advance(((const StreamHead *) s)->last);
}

/* The event that stream_next() would hand out, if that and two more of its CPU are usual ones, decoded already; else NULL. */
static inline const Event *stream_peek_usual(const Stream *s, uint64_t until_ns) {
        const StreamHead *h = (const StreamHead *) s;
        const CursorHead *c = (const CursorHead *) h->last;

        return c && c->n_ahead >= 2 && c->event->timestamp_ns < h->ahead_ns &&
                               c->event->timestamp_ns <= until_ns
                       ? c->event
                       : NULL;
}

/* Takes @n out of the stream, at most two behind stream_peek_usual(). */
static inline void stream_skip_usual(Stream *s, uint32_t n) {
        CursorHead *c = (CursorHead *) ((const StreamHead *) s)->last;

        c->n_ahead -= n;
        c->event += n;
}

/* From now on another thread unpacks what is packed, if there is a CPU for it, before it is asked for.  0 or -ENOMEM. */
int stream_go_ahead(Stream *s);
/* When the first event is that has not been asked for; false: there is none. */
bool stream_begin(const Stream *s, uint64_t *ret_ns);
/* On to events from @ns on, or somewhat before (cursor_seek()).  0 or -errno. */
int stream_seek(Stream *s, uint64_t ns);

/* Looks for pages, segments and CPUs that came since.  0 or -errno. */
int stream_refresh(Stream *s);

size_t stream_n_cpus(const Stream *s); /* that have a directory */
const Cursor *stream_cursor(const Stream *s, size_t i);
Stream *stream_free(Stream *s);
DEFINE_CLEANUP(Stream *, stream_free);
