/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Segments and pages are walked as decode/cursor.c does, but for damage, which is stepped over
 * without a word: the steps' own way through the recording has met it already.
 */

#include "cli/source/record-finder.h"
#include "codec/dat-file.h"
#include "codec/page-source.h"
#include "store/page.h"

struct RecordFinder {
        const SessionDir *dir;
        const Formats *formats;
        const DatTimes *times; /* NULL: pages hold the times themselves */
        uint32_t cpu;
        bool swap;
        uint64_t *sequences;
        size_t n_sequences, i_sequence; /* of the next to open */
        PageSource *segment;            /* NULL: none is open */
        uint64_t i_page;                /* of the next */
        bool in_page;
        Records records;
        Record record;             /* the current one */
        Event event;               /* and what it says */
        bool is_taken;             /* found already */
        RecordFinderPassed passed; /* NULL: nobody is told */
        void *userdata;
};

/* @ns: as pages hold it, here and in the next two. */
static int open_segment(RecordFinder *f, uint64_t ns) {
        while (!f->segment && f->i_sequence < f->n_sequences) {
                int r = page_source_open(&f->segment, f->dir, f->cpu, f->sequences[f->i_sequence++],
                                         NULL);

                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == 0 && page_source_page_bytes(f->segment) != f->formats->page_bytes)
                        f->segment = page_source_free(f->segment);
                /* A page that begins at that very time may follow on one that ends then. */
                if (f->segment)
                        r = page_source_find(f->segment, ns - (ns > 0), f->swap, &f->i_page);
                if (f->segment && r < 0)
                        return r;
        }
        return f->segment ? 1 : 0;
}

/* Whether the page behind @data, in memory, begins before @ns. */
static bool is_over_before(const RecordFinder *f, const void *data, uint64_t ns) {
        const uint8_t *next = (const uint8_t *) data + f->formats->page_bytes;
        PageInfo info;

        return page_parse(&info, next, f->formats->page_bytes, f->swap) == 0 && info.timestamp < ns;
}

/* On to a page where @ns may be.  1, 0 if there is no page any more, -errno. */
static int enter_page(RecordFinder *f, uint64_t ns) {
        for (;;) {
                const void *data;
                PageInfo info;
                uint64_t n;
                int r = open_segment(f, ns);

                if (r <= 0)
                        return r;
                if (f->i_page >= page_source_n_pages(f->segment)) {
                        f->segment = page_source_free(f->segment);
                        continue;
                }
                r = page_source_read(f->segment, f->i_page, &data, &n);
                if (r < 0)
                        return r;
                f->i_page += r == 0 ? 1 : n;
                if (r != 0 || (n > 1 && is_over_before(f, data, ns)) ||
                    page_parse(&info, data, f->formats->page_bytes, f->swap) != 0)
                        continue;
                records_init(&f->records, (const uint8_t *) data + PAGE_HEADER_BYTES,
                             info.n_payload, info.timestamp, f->formats->big_endian);
                f->in_page = true;
                return 1;
        }
}

/* The next record that is an event.  @ns: none before that time is wanted.  1, 0, -errno. */
static int advance(RecordFinder *f, uint64_t ns) {
        uint64_t raw = f->times ? dat_times_find(f->times, ns) : ns;

        f->is_taken = false;
        for (;;) {
                int r = f->in_page ? 1 : enter_page(f, raw);

                if (r <= 0)
                        return r;
                if (records_next(&f->records, &f->record) != 0) {
                        f->in_page = false;
                        continue;
                }
                if (f->times)
                        f->record.timestamp_ns =
                                dat_times_apply(f->times, f->cpu, f->record.timestamp_ns);
                (void) formats_decode(f->formats, &f->record, &f->event);
                if (f->event.kind != EVENT_SHORT)
                        return 1;
        }
}

static bool is_of(const Event *e, EventKind kind, const Step *step) {
        if (e->kind != kind || e->pid != step->pid)
                return false;
        if (kind == EVENT_OTHER)
                return e->id == step->event_id;
        return e->func == step->function->address && e->depth == step->depth;
}

/* Of the current record, which is none that is wanted. */
static int tell_passed(RecordFinder *f) {
        if (!f->passed || f->event.kind != EVENT_OTHER)
                return 0;
        f->event.cpu = f->cpu;
        return f->passed(f->userdata, &f->event, &f->record);
}

void record_finder_set_passed(RecordFinder *f, RecordFinderPassed passed, void *userdata) {
        f->passed = passed;
        f->userdata = userdata;
}

int record_finder_pass(RecordFinder *f, unsigned n) {
        int r = !f->is_taken && f->in_page ? 1 : advance(f, f->record.timestamp_ns);

        for (; r > 0 && n > 0; n--) {
                r = tell_passed(f);
                if (r >= 0)
                        r = advance(f, f->record.timestamp_ns);
        }
        return MIN(r, 0);
}

static int find(RecordFinder *f, EventKind kind, uint64_t from_ns, uint64_t to_ns, const Step *step,
                Record *ret) {
        int r = !f->is_taken && f->in_page ? 1 : advance(f, from_ns);

        for (; r > 0; r = advance(f, from_ns)) {
                if (f->event.timestamp_ns > to_ns)
                        return RECORD_FINDER_E_MISSING;
                if (f->event.timestamp_ns >= from_ns && is_of(&f->event, kind, step)) {
                        f->is_taken = true;
                        *ret = f->record;
                        return 0;
                }
                r = tell_passed(f);
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : RECORD_FINDER_E_MISSING;
}

int record_finder_find(RecordFinder *f, const Step *step, Record *ret) {
        EventKind kind = step->kind == STEP_LEAVE   ? EVENT_EXIT
                         : step->kind == STEP_OTHER ? EVENT_OTHER
                                                    : EVENT_ENTRY;

        return find(f, kind, step->timestamp_ns, step->timestamp_ns, step, ret);
}

int record_finder_find_leave(RecordFinder *f, const Step *step, Record *ret) {
        return find(f, EVENT_EXIT, step->timestamp_ns, UINT64_MAX, step, ret);
}

int record_finder_new(RecordFinder **ret, const SessionDir *dir, const Formats *formats,
                      uint32_t cpu) {
        const DatFile *file = dat_file_of_dir(dir);
        _cleanup_(record_finder_freep) RecordFinder *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        f->dir = dir;
        f->formats = formats;
        f->times = file ? dat_file_times(file) : NULL;
        f->cpu = cpu;
        f->swap = needs_swap(formats->big_endian);
        f->is_taken = true;
        r = session_dir_list_segments(dir, cpu, &f->sequences, &f->n_sequences);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}

RecordFinder *record_finder_free(RecordFinder *f) {
        if (!f)
                return NULL;
        free(f->sequences);
        page_source_free(f->segment);
        return mfree(f);
}
