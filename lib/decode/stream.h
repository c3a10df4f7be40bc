/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stream: all CPUs' events as one, in the kernel's own order
 *
 * The smallest timestamp first, and of equal ones the lowest CPU's
 * (linux 6.1 kernel/trace/trace.c, __find_next_entry()).
 */

#include "base/cleanup.h"
#include "decode/cursor.h"

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

/* From now on another thread unpacks what is packed, if there is a CPU for it, before it is asked for.  0 or -ENOMEM. */
int stream_go_ahead(Stream *s);
/* When the first event is that has not been asked for; false: there is none. */
bool stream_begin(const Stream *s, uint64_t *ret_ns);
/* On to events from @ns on, or somewhat before (cursor_seek()).  0 or -errno. */
int stream_seek(Stream *s, uint64_t ns);

/* Looks for pages, segments and CPUs that came since.  0 or -errno. */
int stream_refresh(Stream *s);

/* True if exits have a return value. */
bool stream_has_retval(const Stream *s);
size_t stream_n_cpus(const Stream *s); /* that have a directory */
const Cursor *stream_cursor(const Stream *s, size_t i);
Stream *stream_free(Stream *s);
DEFINE_CLEANUP(Stream *, stream_free);
