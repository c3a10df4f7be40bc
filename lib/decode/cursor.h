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
#include "pages/page-walk.h"
#include "store/session-dir.h"

typedef struct Cursor Cursor;

/* What a Cursor begins with, so that its event, and mostly the next one, is at hand without a call. */
typedef struct CursorHead {
        const Event *event;
        uint32_t n_ahead; /* decoded already, behind it in memory */
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
