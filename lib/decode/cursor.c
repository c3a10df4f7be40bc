/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One page is walked at a time:
 *
 *      pages          [ p | p | p | p ]      pages/page-source.h
 *                           |
 *      records             [ r r r r ]
 *                              |
 *      batch                 [ e e e ]   decoded, handed out by cursor_peek()
 *
 * Usual records are decoded some at a time, by a loop that keeps in registers
 * what a call for each would load again.  Two batches take turns, because the
 * event before the current one is still looked at.
 */

#include "decode/cursor.h"

#define BATCH_EVENTS 32

struct Cursor {
        CursorHead head;
        const Formats *formats;

        bool in_page;
        const uint8_t *page; /* the one that is walked */
        Records records;
        uint64_t last_timestamp_ns;
        PageWalk walk; /* of its counts those of records are made here */

        Event batches[2][BATCH_EVENTS];
        unsigned i_batch; /* the newest; the other is the one before */
        Payloads payloads;
};

/* The next event, whatever it is, as a batch of its own.  1 if there is one, 0, -ENOMEM. */
static int next_unusual(Cursor *c, Event *e) {
        bool has_payload;
        Record record;
        int r;

        while ((r = records_next(&c->records, &record)) == 0) {
                c->walk.count.n_records++;
                has_payload = formats_decode(c->formats, &record, e);
                if (_unlikely_(e->kind == EVENT_SHORT)) {
                        c->walk.count.n_records_short++;
                        page_walk_note_loss(&c->walk, 0);
                        continue;
                }
                if (_unlikely_(has_payload)) {
                        r = payloads_keep(&c->payloads, c->formats, e);
                        if (r < 0)
                                return r;
                }
                return 1;
        }
        if (r == RECORDS_E_DAMAGED) {
                c->walk.count.n_pages_damaged++;
                page_walk_note_loss(&c->walk, 0);
        }
        c->in_page = false;
        return 0;
}

/* Entries and exits of the usual form, as many as come in a row and fit.  How many they are.  Their
 * CPU is in the batch already, and only the first has a loss before it. */
static uint32_t next_usual(Cursor *c, Event *batch) {
        const uint8_t *next = c->records.next, *end = c->records.end;
        const Formats *formats = c->formats;
        Record record = { .timestamp_ns = c->records.timestamp_ns };
        Event *e = batch;
        uint32_t n;

        if (_unlikely_(c->records.is_foreign || !formats->is_plain))
                return 0;
        for (; e < batch + BATCH_EVENTS && end - next >= 4 + 8; e++) {
                uint32_t head = load_u32(next, false), delta = head >> 5;

                record.data = next + 4;
                record.n_data = (head & 31) * 4; /* of what is no length: 0, or too much */
                record.timestamp_ns += delta;
                if (_unlikely_(record.n_data > (size_t) (end - record.data) ||
                               !formats_decode_usual(formats, &record, e))) {
                        record.timestamp_ns -= delta;
                        break;
                }
                next = record.data + record.n_data;
        }
        n = (uint32_t) (e - batch);
        c->records.next = next;
        c->records.timestamp_ns = record.timestamp_ns;
        c->walk.count.n_records += n;
        return n;
}

/* Makes times of what the trace clock showed. */
static _cold_ void apply_times(const Cursor *c, Event *batch, int n) {
        for (int i = 0; i < n; i++)
                batch[i].timestamp_ns =
                        dat_times_apply(c->walk.times, c->head.cpu, batch[i].timestamp_ns);
}

/* The next events of the page that is walked.  1 if there is one, 0, -ENOMEM. */
static int next_in_page(Cursor *c) {
        Event *batch = c->batches[c->i_batch ^ 1];
        uint32_t n = next_usual(c, batch);
        int r = n > 0 ? (int) n : next_unusual(c, batch);

        if (r <= 0)
                return r;
        c->last_timestamp_ns = c->records.timestamp_ns;
        if (_unlikely_(c->walk.times != NULL))
                apply_times(c, batch, r);
        batch->cpu = c->head.cpu;
        batch->missed = TAKE(c->walk.missed, false);
        batch->n_missed = TAKE(c->walk.n_missed, 0);
        c->head.event = batch;
        c->head.n_ahead = (uint32_t) r - 1;
        c->i_batch ^= 1;
        return 1;
}

static int advance_to_page(Cursor *c) {
        for (;;) {
                PageInfo info;
                int r;

                if (c->in_page) {
                        r = next_in_page(c);
                        if (r != 0)
                                return MIN(r, 0);
                        continue;
                }
                r = page_walk_next(&c->walk, &c->page, &info);
                if (r <= 0) {
                        c->head.event = NULL;
                        return r;
                }
                if (info.timestamp < c->last_timestamp_ns)
                        c->walk.count.n_pages_backwards++;
                records_init(&c->records, c->page + PAGE_HEADER_BYTES, info.n_payload,
                             info.timestamp, c->formats->big_endian);
                c->in_page = true;
        }
}

int cursor_go_on(Cursor *c) {
        int r = _likely_(c->in_page) ? next_in_page(c) : 0;

        if (_likely_(r > 0))
                return 0;
        if (r == 0)
                r = advance_to_page(c);
        if (r < 0)
                c->head.event = NULL;
        return r;
}

/* The page that is walked may be elsewhere now, or another one where it was: takes the position along.
 * 0 or -errno. */
static int find_page_again(Cursor *c) {
        size_t n_next, n_end;
        int r;

        if (!c->in_page)
                return 0;
        n_next = (size_t) (c->records.next - c->page);
        n_end = (size_t) (c->records.end - c->page);
        r = page_walk_again(&c->walk, &c->page);
        c->in_page = r == 0;
        c->records.next = c->page + n_next;
        c->records.end = c->page + n_end;
        return MIN(r, 0);
}

int cursor_seek(Cursor *c, uint64_t ns) {
        int r;

        if (!c->walk.segment || !c->head.event || c->head.event->timestamp_ns >= ns)
                return 0;
        r = page_walk_seek(&c->walk, ns);
        if (r < 0)
                return r;
        /* To look for it others were read, and where the one that is walked was. */
        if (r == 0)
                return find_page_again(c);
        c->in_page = false;
        c->head.n_ahead = 0;
        return cursor_advance(c);
}

int cursor_refresh(Cursor *c) {
        int r = page_walk_refresh(&c->walk);

        if (r >= 0)
                r = find_page_again(c);
        return r < 0 || c->head.event ? r : cursor_advance(c);
}

int cursor_open(Cursor **ret, const SessionDir *dir, const Formats *formats, uint32_t cpu) {
        _cleanup_(cursor_freep) Cursor *c = NEW(Cursor, .head.cpu = cpu, .formats = formats);
        int r;

        if (!c)
                return -ENOMEM;
        for (size_t i = 0; i < BATCH_EVENTS; i++)
                c->batches[0][i].cpu = c->batches[1][i].cpu = cpu;
        r = page_walk_init(&c->walk, dir, cpu, formats->page_bytes, needs_swap(formats->big_endian))
                    ?: cursor_advance(c);
        if (r >= 0)
                *ret = TAKE_PTR(c);
        return r;
}

void cursor_go_ahead(Cursor *c, Ahead *a) {
        c->walk.ahead = a;
        if (c->walk.segment)
                page_source_go_ahead(c->walk.segment, a);
}

void cursor_count(const Cursor *c, PageCount *ret) {
        page_walk_count(&c->walk, ret);
}

const Damages *cursor_damages(const Cursor *c) {
        return &c->walk.damages;
}

Cursor *cursor_free(Cursor *c) {
        if (!c)
                return NULL;
        page_walk_done(&c->walk);
        payloads_done(&c->payloads);
        return mfree(c);
}
