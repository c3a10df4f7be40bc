/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One segment is open at a time and one page walked at a time:
 *
 *      sequences  [ 0 | 1 | 2 ]      listed once, and again at a refresh
 *                       |
 *      segment        [ p | p | p | p ]
 *                           |
 *      records             [ r r r r ]
 *                              |
 *      batch                 [ e e e ]   decoded, handed out by cursor_peek()
 *
 * Usual records are decoded some at a time, by a loop that keeps in registers
 * what a call for each would load again.  Two batches take turns, because the
 * event before the current one is still looked at.
 *
 * A loss is a property of the event after it: the page's flag, a torn page, a
 * skipped segment are all remembered until there is an event to attach them to.
 */

#include "decode/cursor.h"
#include "pages/dat-file.h"
#include "store/page.h"

#define BATCH_EVENTS 32

struct Cursor {
        CursorHead head;
        const SessionDir *dir;
        const Formats *formats;
        const DatTimes *times; /* NULL: pages hold the times themselves */

        uint64_t *sequences;
        size_t n_sequences;
        size_t i_sequence; /* of the open segment, or of the next to open */

        PageSource *segment;
        uint64_t i_page; /* the page after the one that is walked */
        bool in_page;
        const uint8_t *page; /* the one that is walked */
        Records records;

        bool missed; /* before the next event */
        uint64_t n_missed;
        uint64_t last_timestamp_ns;

        Event batches[2][BATCH_EVENTS];
        unsigned i_batch; /* the newest; the other is the one before */
        Payloads payloads;
        CursorCount count;
        Damages damages;
};

static void note_loss(Cursor *c, uint64_t n) {
        /* A number is only good if every gap before this event has one. */
        c->n_missed = c->missed && (c->n_missed == 0 || n == 0) ? 0 : c->n_missed + n;
        c->missed = true;
}

static int list_sequences(Cursor *c) {
        _cleanup_free_ uint64_t *sequences = NULL;
        uint64_t next = c->i_sequence < c->n_sequences ? c->sequences[c->i_sequence]
                        : c->n_sequences > 0           ? c->sequences[c->n_sequences - 1] + 1
                                                       : 0;
        size_t n = 0;
        int r = session_dir_list_segments(c->dir, c->head.cpu, &sequences, &n);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        free(c->sequences);
        c->sequences = TAKE_PTR(sequences);
        c->n_sequences = n;
        /* It stays on the same one, wherever that is now. */
        c->i_sequence = BISECT(0, n, i, c->sequences[i] < next);
        return 0;
}

static void count_end(CursorCount *count, const PageSource *s) {
        count->n_torn_bytes += s->n_torn;
        count->n_unclosed += !s->is_closed;
}

static void leave_segment(Cursor *c) {
        count_end(&c->count, c->segment);
        /* Unless it is not in the list any more, of which the next one is at its place then. */
        c->i_sequence += c->i_sequence < c->n_sequences &&
                         c->sequences[c->i_sequence] == c->segment->sequence;
        c->segment = page_source_free(c->segment);
        c->in_page = false;
}

/* Whether no segment follows the one at i_sequence, so far. */
static bool is_last(const Cursor *c) {
        return c->i_sequence + 1 >= c->n_sequences;
}

/* 0 and it is open; SEGMENT_E_*, noted; -errno. */
static int open_segment(Cursor *c, uint64_t sequence) {
        int r = page_source_open(&c->segment, c->dir, c->head.cpu, sequence, &c->damages);

        if (r == 0 && c->segment->page_bytes != c->formats->page_bytes) {
                c->segment = page_source_free(c->segment);
                damages_add(&c->damages, DAMAGE_NO_SEGMENT);
                r = SEGMENT_E_DAMAGED;
        }
        if (r == SEGMENT_E_UNBEGUN && !is_last(c))
                c->count.n_segments_unbegun++;
        else if (r == -ENOENT) /* a ring goes on while it is read */
                c->count.n_segments_gone++;
        return r == -ENOENT ? SEGMENT_E_DAMAGED : r;
}

/* Whether the segment that was opened names one before it that is not in the list.  The first of the
 * list does not count: a ring drops what was before. */
static bool is_after_a_gap(const Cursor *c) {
        uint64_t previous = c->segment->previous;

        return c->i_sequence > 0 && previous != UINT64_MAX &&
               previous > c->sequences[c->i_sequence - 1];
}

/* Opens the segment at i_sequence or the first good one after it.  1 if there is one, else 0.  A last
 * one that is empty is waited for: a live recording's writer makes the file, then writes its header. */
static int enter_segment(Cursor *c) {
        while (c->i_sequence < c->n_sequences) {
                uint64_t sequence = c->sequences[c->i_sequence];
                int r = open_segment(c, sequence);

                if (r < 0)
                        return r;
                if (r == 0) {
                        c->i_page = 0;
                        c->in_page = false;
                        c->count.n_segments++;
                        if (is_after_a_gap(c)) {
                                c->count.n_segments_missing++;
                                note_loss(c, 0);
                        }
                        return 1;
                }
                if (r == SEGMENT_E_UNBEGUN && is_last(c))
                        return 0;
                note_loss(c, 0);
                c->i_sequence++;
        }
        return 0;
}

/* Begins the page at i_page.  Pages that hold nothing or are lost are counted and passed.  0 or
 * -errno. */
static int enter_page(Cursor *c) {
        const void *page;
        PageInfo info;
        uint64_t n;
        int r = page_source_read(c->segment, c->i_page, &page, &n);

        if (r < 0)
                return r;
        if (r == SEGMENT_E_LOST) {
                note_loss(c, 0);
                c->i_page += n;
                return 0;
        }
        c->page = page;
        /* Its header is met after some hundred events: time enough to fetch it. */
        if (n > 1)
                __builtin_prefetch(c->page + c->segment->page_bytes);
        c->i_page++;
        c->count.n_pages++;
        r = page_parse(&info, c->page, c->segment->page_bytes, needs_swap(c->formats->big_endian));
        if (r == PAGE_E_EMPTY) {
                c->count.n_pages_empty++;
                return 0;
        }
        if (r != 0) {
                c->count.n_pages_torn++;
                note_loss(c, 0);
                return 0;
        }
        if (info.missed) {
                c->count.n_pages_missed++;
                c->count.n_missed += info.n_missed;
                note_loss(c, info.n_missed);
        }
        if (info.timestamp < c->last_timestamp_ns)
                c->count.n_pages_backwards++;
        records_init(&c->records, c->page + PAGE_HEADER_BYTES, info.n_payload, info.timestamp,
                     c->formats->big_endian);
        c->in_page = true;
        return 0;
}

/* The next event, whatever it is, as a batch of its own.  1 if there is one, 0, -ENOMEM. */
static int next_unusual(Cursor *c, Event *e) {
        bool has_payload;
        Record record;
        int r;

        while ((r = records_next(&c->records, &record)) == 0) {
                c->count.n_records++;
                has_payload = formats_decode(c->formats, &record, e);
                if (_unlikely_(e->kind == EVENT_SHORT)) {
                        c->count.n_records_short++;
                        note_loss(c, 0);
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
                c->count.n_pages_damaged++;
                note_loss(c, 0);
        }
        c->in_page = false;
        return 0;
}

/* Entries and exits of the usual form, as many as come in a row and fit.  How many they are.  Their
 * CPU is in the batch already, and only the first has a loss before it. */
static uint32_t next_usual(Cursor *c, Event *batch) {
        const uint8_t *next = c->records.next, *end = c->records.end;
        uint64_t timestamp_ns = c->records.timestamp_ns;
        const Formats *formats = c->formats;
        uint32_t n = 0;

        if (_unlikely_(c->records.is_foreign))
                return 0;
        while (n < BATCH_EVENTS && end - next >= 4) {
                uint32_t head = load_u32(next, false), n_data = (head & 31) * 4;
                Record record = { timestamp_ns + (head >> 5), next + 4, n_data, false };

                if (_unlikely_((head & 31) - 1 >= 28 || n_data > (size_t) (end - next) - 4 ||
                               !formats_decode_usual(formats, &record, &batch[n])))
                        break;
                timestamp_ns = record.timestamp_ns;
                next += 4 + n_data;
                n++;
        }
        c->records.next = next;
        c->records.timestamp_ns = timestamp_ns;
        c->count.n_records += n;
        return n;
}

/* Makes times of what the trace clock showed. */
static _cold_ void apply_times(const Cursor *c, Event *batch, int n) {
        for (int i = 0; i < n; i++)
                batch[i].timestamp_ns =
                        dat_times_apply(c->times, c->head.cpu, batch[i].timestamp_ns);
}

/* The next events of the page that is walked.  1 if there is one, 0, -ENOMEM. */
static int next_in_page(Cursor *c) {
        Event *batch = c->batches[c->i_batch ^ 1];
        uint32_t n = next_usual(c, batch);
        int r = n > 0 ? (int) n : next_unusual(c, batch);

        if (r <= 0)
                return r;
        c->last_timestamp_ns = c->records.timestamp_ns;
        if (_unlikely_(c->times != NULL))
                apply_times(c, batch, r);
        batch->cpu = c->head.cpu;
        batch->missed = TAKE(c->missed, false);
        batch->n_missed = TAKE(c->n_missed, 0);
        c->head.event = batch;
        c->head.n_ahead = (uint32_t) r - 1;
        c->i_batch ^= 1;
        return 1;
}

static int advance_to_page(Cursor *c) {
        for (;;) {
                int r;

                if (c->in_page) {
                        r = next_in_page(c);
                        if (r != 0)
                                return MIN(r, 0);
                        continue;
                }
                if (!c->segment) {
                        r = enter_segment(c);
                        if (r == 0)
                                c->head.event = NULL;
                        if (r <= 0)
                                return r;
                }
                if (c->i_page < c->segment->n_pages) {
                        r = enter_page(c);
                        if (r < 0)
                                return r;
                        continue;
                }
                /* The last one may still grow. */
                if (is_last(c)) {
                        c->head.event = NULL;
                        return 0;
                }
                leave_segment(c);
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

/* The last segment that begins at @ns or before, from the current one on; it is not opened. */
static int find_segment(Cursor *c, uint64_t ns, bool swap, size_t *ret) {
        size_t low = c->i_sequence, high = c->n_sequences;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                _cleanup_(page_source_freep) PageSource *s = NULL;
                uint64_t begin_ns;
                int r = page_source_open(&s, c->dir, c->head.cpu, c->sequences[middle], NULL);

                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == 0 && page_source_begin(s, swap, &begin_ns) > 0 && begin_ns <= ns)
                        low = middle;
                else
                        high = middle;
        }
        *ret = low;
        return 0;
}

/* The page that is walked may be elsewhere now, or another one where it was: takes the position along.
 * 0 or -errno. */
static int find_page_again(Cursor *c) {
        size_t n_next, n_end;
        const void *page;
        uint64_t n;
        int r;

        if (!c->in_page)
                return 0;
        n_next = (size_t) (c->records.next - c->page);
        n_end = (size_t) (c->records.end - c->page);
        r = page_source_read(c->segment, c->i_page - 1, &page, &n);
        if (r < 0)
                return r;
        if (r != 0) {
                note_loss(c, 0);
                c->in_page = false;
                return 0;
        }
        c->page = page;
        c->records.next = c->page + n_next;
        c->records.end = c->page + n_end;
        return 0;
}

int cursor_seek(Cursor *c, uint64_t ns) {
        const bool swap = needs_swap(c->formats->big_endian);
        uint64_t page;
        size_t i;
        int r;

        if (!c->segment || !c->head.event || c->head.event->timestamp_ns >= ns)
                return 0;
        r = find_segment(c, ns, swap, &i);
        if (r < 0)
                return r;
        if (i != c->i_sequence) {
                leave_segment(c);
                c->i_sequence = i;
                r = enter_segment(c);
                if (r <= 0) {
                        c->head.event = NULL;
                        return r;
                }
        }
        r = page_source_find(c->segment, c->times ? dat_times_find(c->times, ns) : ns, swap, &page);
        if (r < 0)
                return r;
        /* To look for it others were read, and where the one that is walked was. */
        if (page < c->i_page)
                return find_page_again(c);
        /* What was lost on the way is not the next event's loss, but what its own page says is. */
        c->missed = false;
        c->n_missed = 0;
        c->i_page = page;
        c->in_page = false;
        c->head.n_ahead = 0;
        return cursor_advance(c);
}

int cursor_refresh(Cursor *c) {
        /* First the list: what is behind a newer segment's start is complete. */
        int r = list_sequences(c);

        if (r >= 0 && c->segment)
                r = page_source_refresh(c->segment);
        if (r >= 0)
                r = find_page_again(c);
        return r < 0 || c->head.event ? r : cursor_advance(c);
}

int cursor_open(Cursor **ret, const SessionDir *dir, const Formats *formats, uint32_t cpu) {
        const DatFile *file = dat_file_of_dir(dir);
        _cleanup_(cursor_freep) Cursor *c = NULL;
        int r;

        c = NEW(Cursor, .head.cpu = cpu, .dir = dir, .formats = formats);
        if (!c)
                return -ENOMEM;
        if (file && !dat_times_are_plain(&file->times))
                c->times = &file->times;
        for (size_t i = 0; i < BATCH_EVENTS; i++)
                c->batches[0][i].cpu = c->batches[1][i].cpu = cpu;
        r = list_sequences(c) ?: cursor_advance(c);
        if (r >= 0)
                *ret = TAKE_PTR(c);
        return r;
}

void cursor_count(const Cursor *c, CursorCount *ret) {
        *ret = c->count;
        if (c->segment)
                count_end(ret, c->segment);
        else if (c->i_sequence < c->n_sequences)
                ret->n_segments_unbegun++;
}

const Damages *cursor_damages(const Cursor *c) {
        return &c->damages;
}

Cursor *cursor_free(Cursor *c) {
        if (!c)
                return NULL;
        page_source_free(c->segment);
        payloads_done(&c->payloads);
        free(c->sequences);
        return mfree(c);
}
