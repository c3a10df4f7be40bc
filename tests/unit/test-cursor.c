/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/cursor.h"
#include "page-builder.h"
#include "sealing.h"

static const Layout *const layout = &layouts[LAYOUT_6_1];

/* A recording, and a cursor over CPU 0 of it. */
typedef struct Walk {
        Recording recording;
        Formats formats;
        Cursor *cursor; /* NULL until it is opened */
} Walk;

static void walk_init(Walk *w) {
        const char *problem;

        *w = (Walk){};
        recording_init(&w->recording, layout);
        ck_assert_int_eq(formats_parse(&w->formats, layout->header_page, layout->entry,
                                       layout->exit, false, &problem),
                         0);
}

static Cursor *walk_open(Walk *w) {
        ck_assert_int_eq(cursor_open(&w->cursor, w->recording.dir, &w->formats, 0), 0);
        return w->cursor;
}

static void walk_done(Walk *w) {
        cursor_free(w->cursor);
        recording_done(&w->recording);
}

#define WALK(w)                                                                                    \
        _cleanup_(walk_done) Walk w;                                                               \
        walk_init(&w)
#define WALK_TEST(name) TEST_WITH(name, (Walk * w), WALK(w), &w)

/* A page of @n entries, the first at @at_ns, @distance_ns from one to the next. */
static Page page_every(uint64_t at_ns, int n, uint64_t distance_ns) {
        Page p = {};

        page_begin(&p, layout, at_ns);
        for (int i = 0; i < n; i++)
                page_enter(&p, at_ns + distance_ns * (uint64_t) i, 17, F_LEAF, 0);
        return p;
}

static Page page_of(uint64_t at_ns, int n) {
        return page_every(at_ns, n, 10);
}

/* Reads on to the end: the times of all events are these, with '!' before those that follow a loss.  What was counted. */
static PageCount expect(Walk *w, const char *times) {
        char text[1024] = "", *p = text;
        Cursor *c = w->cursor ?: walk_open(w);
        PageCount n;

        for (const Event *e = cursor_peek(c); e; e = cursor_peek(c)) {
                p += sprintf(p, "%s%llu ", e->missed ? "!" : "",
                             (unsigned long long) e->timestamp_ns);
                ck_assert_int_eq(cursor_advance(c), 0);
        }
        ck_assert_str_eq(text, times);
        cursor_count(c, &n);
        return n;
}

/* Overwrites bytes of segment @sequence of CPU 0. */
static void damage(const Walk *w, uint64_t sequence, uint64_t at, const void *data, size_t n) {
        char path[64];
        int fd;

        (void) sprintf(path, "cpu0/%08llx.seg", (unsigned long long) sequence);
        fd = openat(session_dir_fd(w->recording.dir), path, O_WRONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pwrite_full(fd, data, n, at), 0);
        close(fd);
}

static void drop(const Walk *w, const char *path) {
        ck_assert_int_eq(unlinkat(session_dir_fd(w->recording.dir), path, 0), 0);
}

WALK_TEST(events_go_on_across_pages_and_segments) {
        Page pages[] = { page_of(100, 2), page_of(200, 0), page_of(300, 1) };
        Page more = page_of(400, 2);
        PageCount n;

        recording_add(&w->recording, 0, 0, pages, 3);
        recording_add(&w->recording, 0, 1, &more, 1);
        n = expect(w, "100 110 300 400 410 ");
        ck_assert_uint_eq(n.n_records, 5);
        ck_assert_uint_eq(n.n_pages, 4);
        ck_assert_uint_eq(n.n_segments, 2);
        ck_assert_uint_eq(n.n_unclosed, 0);
}

/* A page without events passes its loss on to the next one's, and a number is given only if all of it is known. */
TEST(a_loss_is_before_the_first_event_of_its_page) {
        static const struct {
                uint64_t first, second, wanted; /* lost; 0: not known how many */
        } cases[] = { { 40, 2, 42 }, { 40, 0, 0 }, { 0, 40, 0 } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Page pages[] = { page_of(100, 1), page_of(200, 0), page_of(300, 2) };
                Cursor *c;

                WALK(w);
                page_set_missed(&pages[1], cases[i].first);
                page_set_missed(&pages[2], cases[i].second);
                recording_add(&w.recording, 0, 0, pages, 3);
                c = walk_open(&w);
                ck_assert(!cursor_peek(c)->missed);
                ck_assert_int_eq(cursor_advance(c), 0);
                ck_assert(cursor_peek(c)->missed);
                ck_assert_uint_eq(cursor_peek(c)->n_missed, cases[i].wanted);
                ck_assert_int_eq(cursor_advance(c), 0);
                ck_assert(!cursor_peek(c)->missed);
        }
}

TEST(damage_in_a_page_costs_no_other) {
        Page torn[] = { page_of(100, 1), page_of(200, 1), page_of(300, 1) };
        Page bad[] = { page_of(100, 2), page_of(300, 1) };
        Page cut = page_of(100, 1), back[] = { page_of(100, 2), page_of(50, 1) };
        const uint8_t entry[12] = { 11 };
        PageCount n;

        WALK(a);
        WALK(b);
        WALK(c);
        WALK(d);
        memset(torn[1].bytes + 8, 0xff, 3);
        recording_add(&a.recording, 0, 0, torn, 3);
        n = expect(&a, "100 !300 ");
        ck_assert_uint_eq(n.n_pages_torn, 1);

        page_word(&bad[0], page_head(&bad[0], 0, 1));
        page_word(&bad[0], 0xfffffff0);
        recording_add(&b.recording, 0, 0, bad, 2);
        n = expect(&b, "100 110 !300 ");
        ck_assert_uint_eq(n.n_pages_damaged, 1);

        page_record(&cut, 105, entry, sizeof(entry));
        page_enter(&cut, 110, 17, F_LEAF, 0);
        recording_add(&c.recording, 0, 0, &cut, 1);
        n = expect(&c, "100 !110 ");
        ck_assert_uint_eq(n.n_records_short, 1);
        ck_assert_uint_eq(n.n_records, 3);

        recording_add(&d.recording, 0, 0, back, 2);
        n = expect(&d, "100 110 50 ");
        ck_assert_uint_eq(n.n_pages_backwards, 1);
}

WALK_TEST(damaged_and_missing_segments_are_stepped_over) {
        PageCount n;

        for (uint64_t i = 0; i < 5; i++) {
                Page p = page_of(100 * i, 1);

                if (i != 1)
                        recording_add(&w->recording, 0, i, &p, 1);
        }
        damage(w, 3, 0, "nonsense", 8);
        n = expect(w, "0 !200 !400 ");
        ck_assert_uint_eq(n.n_segments_missing, 1);
        ck_assert_uint_eq(cursor_damages(w->cursor)->n_all, 1);
}

WALK_TEST(a_sequence_that_a_quiet_cpu_skipped_is_no_damage) {
        Page first = page_of(100, 1), second = page_of(200, 1), third = page_of(300, 1);
        PageCount n;

        /* A ring dropped what was before. */
        recording_add_after(&w->recording, 0, 5, 2, &first, 1);
        recording_add_after(&w->recording, 0, 9, 5, &second, 1);
        recording_add_after(&w->recording, 0, 10, 9, &third, 1);
        n = expect(w, "100 200 300 ");
        ck_assert_uint_eq(n.n_segments_missing, 0);
        ck_assert_uint_eq(n.n_segments, 3);
}

WALK_TEST(a_segment_that_a_ring_drops_on_the_way_is_a_loss_and_no_damage) {
        PageCount n;

        for (uint64_t i = 0; i < 4; i++) {
                Page p = page_of(100 * i, 1);

                recording_add(&w->recording, 0, i, &p, 1);
        }
        walk_open(w); /* in the first, which goes too */
        drop(w, "cpu0/00000000.seg");
        drop(w, "cpu0/00000001.seg");
        n = expect(w, "0 !200 300 ");
        ck_assert_uint_eq(n.n_segments_gone, 1);
        ck_assert_uint_eq(cursor_damages(w->cursor)->n_all + n.n_segments_missing, 0);
}

TEST(a_segment_that_is_dropped_while_it_is_read_is_read_to_its_end) {
        for (unsigned kind = 0; kind < 4; kind++) {
                PageCount n;

                WALK(w);
                for (uint64_t i = 0; i < 3; i++) {
                        Page p[] = { page_of(1000 * i, 1), page_of(1000 * i + 100, 1) };

                        recording_add(&w.recording, 0, i, p, 2);
                        if (kind & 1)
                                (void) seal(w.recording.dir, 0, i, 4096);
                }
                walk_open(&w);
                drop(&w, "cpu0/00000000.seg");
                if (kind & 2)
                        ck_assert_int_eq(cursor_refresh(w.cursor), 0);
                n = expect(&w, "0 100 1000 1100 2000 2100 ");
                ck_assert_uint_eq(n.n_segments_gone + cursor_damages(w.cursor)->n_all +
                                          n.n_segments_missing + n.n_unclosed,
                                  0);
        }
}

/* A segment that is written. */
static SegmentWriter *begin(const Walk *w, int fd, uint64_t sequence) {
        SegmentWriter *writer;

        ck_assert_int_eq(
                segment_create(&writer, fd, sequence, UINT64_MAX, 0, 4096, w->recording.meta->id),
                0);
        return writer;
}

static void publish(SegmentWriter *w, uint64_t at_ns) {
        Page p = page_of(at_ns, 2);

        ck_assert_int_eq(write_full(w->fd, p.bytes, sizeof(p.bytes)), 0);
        segment_publish(w, sizeof(p.bytes));
}

static void end(SegmentWriter *w) {
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
}

static PageCount expect_more(Walk *w, const char *times) {
        ck_assert_int_eq(cursor_refresh(w->cursor), 0);
        return expect(w, times);
}

WALK_TEST(what_is_written_meanwhile_is_found_by_a_refresh) {
        _cleanup_close_ int fd = -EBADF;
        SegmentWriter *writer;
        Cursor *c;

        c = walk_open(w); /* before there is even a directory */
        ck_assert_ptr_null(cursor_peek(c));
        fd = session_dir_make_cpu(w->recording.dir, 0);
        writer = begin(w, fd, 0);
        (void) expect_more(w, "");
        publish(writer, 100);
        ck_assert_int_eq(cursor_refresh(c), 0);
        ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100);
        /* In the middle of a page while the window moves. */
        for (uint64_t i = 2; i < 300; i++)
                publish(writer, 100 * i);
        ck_assert_int_eq(cursor_refresh(c), 0);
        for (uint64_t i = 2; i < 600; i++) {
                ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100 * (i / 2) + 10 * (i % 2));
                ck_assert_int_eq(cursor_advance(c), 0);
        }
        ck_assert_ptr_null(cursor_peek(c));
        /* The last page of one segment and the first of the next at once. */
        publish(writer, 30000);
        end(writer);
        writer = begin(w, fd, 1);
        publish(writer, 30100);
        (void) expect_more(w, "30000 30010 30100 30110 ");
        end(writer);
}

WALK_TEST(a_segment_without_its_header_yet_is_waited_for) {
        _cleanup_close_ int fd = -EBADF;
        Page first = page_of(100, 1);
        SegmentWriter *writer;
        PageCount n;

        recording_add(&w->recording, 0, 0, &first, 1);
        fd = session_dir_make_cpu(w->recording.dir, 0);
        safe_close(openat(fd, "00000001.seg", O_WRONLY | O_CREAT | O_EXCL, 0600));
        (void) expect(w, "100 ");
        n = expect_more(w, "");
        ck_assert_uint_eq(n.n_segments_unbegun, 1);

        ck_assert_int_eq(unlinkat(fd, "00000001.seg", 0), 0);
        writer = begin(w, fd, 1);
        publish(writer, 200);
        (void) expect_more(w, "200 210 ");
        end(writer);

        /* Its writer died, and another goes on behind it. */
        safe_close(openat(fd, "00000002.seg", O_WRONLY | O_CREAT | O_EXCL, 0600));
        writer = begin(w, fd, 3);
        publish(writer, 300);
        n = expect_more(w, "!300 310 ");
        end(writer);
        ck_assert_uint_eq(n.n_segments_unbegun, 1);
        ck_assert_uint_eq(cursor_damages(w->cursor)->n_all, 0);
}

WALK_TEST(sealing_does_not_disturb_who_follows) {
        _cleanup_close_ int fd = -EBADF;
        SegmentWriter *writer;

        fd = session_dir_make_cpu(w->recording.dir, 0);
        writer = begin(w, fd, 0);
        publish(writer, 100);
        ck_assert_uint_eq(cursor_peek(walk_open(w))->timestamp_ns, 100);
        publish(writer, 200);
        end(writer);
        writer = begin(w, fd, 1);
        publish(writer, 300);
        /* Sealed under the eyes of the cursor, which has not seen the end of it. */
        (void) seal(w->recording.dir, 0, 0, 0);
        (void) expect_more(w, "100 110 200 210 300 310 ");
        publish(writer, 400);
        end(writer);
        writer = begin(w, fd, 2);
        (void) seal(w->recording.dir, 0, 1, 0);
        publish(writer, 500);
        (void) expect_more(w, "400 410 500 510 ");
        end(writer);
        /* A whole segment is sealed before the cursor comes to it. */
        writer = begin(w, fd, 3);
        publish(writer, 600);
        end(writer);
        (void) seal(w->recording.dir, 0, 2, 0);
        (void) seal(w->recording.dir, 0, 3, 0);
        (void) expect_more(w, "600 610 ");
}

WALK_TEST(a_damaged_block_is_a_loss_and_has_a_name) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        Page pages[] = { page_of(100, 1), page_of(200, 1), page_of(300, 1), page_of(400, 1) };
        const Damages *d;
        PageCount n;

        recording_add(&w->recording, 0, 0, pages, 4);
        (void) seal(w->recording.dir, 0, 0, 4096);
        ck_assert_int_eq(page_source_open(&s, w->recording.dir, 0, 0, NULL), 0);
        damage(w, 0, s->sealed->found[1].entry.offset + SEALED_BLOCK_HEADER_BYTES, "\xff", 1);
        n = expect(w, "100 !300 400 ");
        ck_assert_uint_eq(n.n_pages, 3);
        d = cursor_damages(w->cursor);
        ck_assert_uint_eq(d->n_all, 1);
        ck_assert_uint_eq(d->n_pages, 1);
        ck_assert_uint_eq(d->items[0].sequence, 0);
        ck_assert_uint_eq(d->items[0].block, 1);
        ck_assert_str_eq(d->items[0].what, "the body does not match its checksum");
}

WALK_TEST(a_newer_segment_is_skipped_and_has_a_name) {
        Page pages[] = { page_of(100, 1), page_of(200, 1) };
        SealedHeader h = { .magic = SEGMENT_MAGIC, .version = htole32(9) };
        const Damages *d;

        recording_add(&w->recording, 0, 0, pages, 1);
        recording_add(&w->recording, 0, 1, pages + 1, 1);
        h.checksum = htole64(sealed_checksum(&h, SEALED_HEADER_BYTES - 8));
        damage(w, 0, 0, &h, sizeof(h));
        (void) expect(w, "!200 ");
        d = cursor_damages(w->cursor);
        ck_assert_uint_eq(d->n_all, 1);
        ck_assert_int_eq(d->items[0].part, DAMAGE_NEWER);
        ck_assert_uint_eq(d->items[0].block, 9);
}

static void advance_to(Cursor *c, uint64_t ns) {
        while (cursor_peek(c) && cursor_peek(c)->timestamp_ns < ns)
                ck_assert_int_eq(cursor_advance(c), 0);
}

TEST(seeking_finds_what_reading_up_to_there_finds) {
        /* With few events in a page, and with more than are decoded at a time. */
        for (int kind = 0; kind < 4; kind++) {
                int n_events = kind & 2 ? 75 : 3;
                uint64_t step_ns = kind & 2 ? 1000 : 100;
                Page pages[24];

                WALK(w);
                for (uint64_t i = 0; i < ELEMENTSOF(pages); i++)
                        pages[i] = page_every(step_ns * (i + 1), n_events, 9 + i % 3);
                for (uint64_t i = 0; i < 3; i++) {
                        recording_add(&w.recording, 0, i, pages + 8 * i, 8);
                        if (kind & 1)
                                (void) seal(w.recording.dir, 0, i, 2 * 4096);
                }
                for (uint64_t ns = 0; ns < 27 * step_ns; ns += step_ns * UNIT_EVERY / 20) {
                        Cursor *sought = walk_open(&w), *walked = walk_open(&w);
                        PageCount n;

                        ck_assert_int_eq(cursor_seek(sought, ns), 0);
                        cursor_count(sought, &n);
                        ck_assert_uint_le(n.n_pages, 1 + 3);
                        advance_to(sought, ns);
                        advance_to(walked, ns);
                        ck_assert_int_eq(!cursor_peek(sought), !cursor_peek(walked));
                        while (cursor_peek(walked)) {
                                ck_assert(!cursor_peek(sought)->missed);
                                ck_assert_uint_eq(cursor_peek(sought)->timestamp_ns,
                                                  cursor_peek(walked)->timestamp_ns);
                                ck_assert_int_eq(cursor_advance(walked), 0);
                                ck_assert_int_eq(cursor_advance(sought), 0);
                        }
                        ck_assert_ptr_null(cursor_peek(sought));
                        cursor_free(sought);
                        w.cursor = cursor_free(walked);
                }
        }
}
