/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <endian.h>
#include <fcntl.h>

#include "decode/cursor.h"
#include "page-builder.h"
#include "sealing.h"

static const Layout *const layout = &layouts[LAYOUT_6_1];

static Formats formats(void) {
        const char *problem;
        Formats f;

        ck_assert_int_eq(formats_parse(&f, layout->header_page, layout->entry, layout->exit, false,
                                       &problem),
                         0);
        return f;
}

/* A page of @n entries, the first at @at_ns, 10 ns from one to the next. */
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

static Cursor *cursor(const Recording *r, const Formats *f) {
        Cursor *c;

        ck_assert_int_eq(cursor_open(&c, r->dir, f, 0), 0);
        return c;
}

/* The times of all events from here, and '!' before those that follow a loss, as text. */
static char *times(Cursor *c) {
        static char text[1024];
        char *p = text;

        *p = 0;
        for (const Event *e = cursor_peek(c); e; e = cursor_peek(c)) {
                p += sprintf(p, "%s%llu ", e->missed ? "!" : "",
                             (unsigned long long) e->timestamp_ns);
                ck_assert_int_eq(cursor_advance(c), 0);
        }
        return text;
}

/* Overwrites bytes of segment @sequence of CPU 0. */
static void damage(const Recording *r, uint64_t sequence, uint64_t at, const void *data, size_t n) {
        char path[64];
        int fd;

        (void) sprintf(path, "cpu0/%08llx.seg", (unsigned long long) sequence);
        fd = openat(session_dir_fd(r->dir), path, O_WRONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pwrite_full(fd, data, n, at), 0);
        close(fd);
}

START_TEST(events_go_on_across_pages_and_segments)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 2), page_of(200, 0), page_of(300, 1) };
                Page more = page_of(400, 2);
                CursorCount n;

                recording_init(&r, layout);
                recording_add(&r, 0, 0, pages, 3);
                recording_add(&r, 0, 1, &more, 1);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 110 300 400 410 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_records, 5);
                ck_assert_uint_eq(n.n_pages, 4);
                ck_assert_uint_eq(n.n_segments, 2);
                ck_assert_uint_eq(n.n_unclosed, 0);
        }
END_TEST

START_TEST(a_loss_is_before_the_first_event_of_its_page)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 1), page_of(200, 0), page_of(300, 2) };
                const Event *e;

                recording_init(&r, layout);
                page_set_missed(&pages[1], 40); /* without events: the next page's */
                page_set_missed(&pages[2], 2);
                recording_add(&r, 0, 0, pages, 3);
                c = cursor(&r, &f);
                ck_assert(!cursor_peek(c)->missed);
                ck_assert_int_eq(cursor_advance(c), 0);
                e = cursor_peek(c);
                ck_assert(e->missed);
                ck_assert_uint_eq(e->n_missed, 42);
                ck_assert_int_eq(cursor_advance(c), 0);
                ck_assert(!cursor_peek(c)->missed);
        }
END_TEST

START_TEST(a_number_is_given_only_if_all_of_it_is_known)
        {
                for (int i = 0; i < 2; i++) {
                        _cleanup_recording_ Recording r;
                        _cleanup_(cursor_freep) Cursor *c = NULL;
                        Formats f = formats();
                        Page pages[] = { page_of(100, 0), page_of(200, 1) };

                        recording_init(&r, layout);
                        page_set_missed(&pages[0], i == 0 ? 40 : 0);
                        page_set_missed(&pages[1], i == 0 ? 0 : 40);
                        recording_add(&r, 0, 0, pages, 2);
                        c = cursor(&r, &f);
                        ck_assert(cursor_peek(c)->missed);
                        ck_assert_uint_eq(cursor_peek(c)->n_missed, 0);
                }
        }
END_TEST

START_TEST(a_torn_page_costs_itself_alone)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 1), page_of(200, 1), page_of(300, 1) };
                CursorCount n;

                recording_init(&r, layout);
                memset(pages[1].bytes + 8, 0xff, 3);
                recording_add(&r, 0, 0, pages, 3);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 !300 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_pages_torn, 1);
        }
END_TEST

START_TEST(a_damaged_record_costs_the_rest_of_its_page)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 2), page_of(300, 1) };
                CursorCount n;

                recording_init(&r, layout);
                page_word(&pages[0], page_head(&pages[0], 0, 1));
                page_word(&pages[0], 0xfffffff0);
                recording_add(&r, 0, 0, pages, 2);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 110 !300 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_pages_damaged, 1);
        }
END_TEST

START_TEST(damaged_and_missing_segments_are_stepped_over)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                CursorCount n;

                recording_init(&r, layout);
                for (uint64_t i = 0; i < 5; i++) {
                        Page p = page_of(100 * i, 1);

                        if (i != 1)
                                recording_add(&r, 0, i, &p, 1);
                }
                damage(&r, 3, 0, "nonsense", 8);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "0 !200 !400 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_missing, 1);
                ck_assert_uint_eq(n.n_segments_damaged, 1);
        }
END_TEST

START_TEST(a_sequence_that_a_quiet_cpu_skipped_is_no_damage)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page first = page_of(100, 1), second = page_of(200, 1), third = page_of(300, 1);
                CursorCount n;

                recording_init(&r, layout);
                recording_add_after(&r, 0, 5, 2, &first, 1); /* a ring dropped what was before */
                recording_add_after(&r, 0, 9, 5, &second, 1);
                recording_add_after(&r, 0, 10, 9, &third, 1);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 200 300 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_missing, 0);
                ck_assert_uint_eq(n.n_segments, 3);
        }
END_TEST

START_TEST(a_segment_that_a_ring_drops_on_the_way_is_a_loss_and_no_damage)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                CursorCount n;

                recording_init(&r, layout);
                for (uint64_t i = 0; i < 4; i++) {
                        Page p = page_of(100 * i, 1);

                        recording_add(&r, 0, i, &p, 1);
                }
                c = cursor(&r, &f); /* in the first, which goes too */
                ck_assert_int_eq(unlinkat(session_dir_fd(r.dir), "cpu0/00000000.seg", 0), 0);
                ck_assert_int_eq(unlinkat(session_dir_fd(r.dir), "cpu0/00000001.seg", 0), 0);
                ck_assert_str_eq(times(c), "0 !200 300 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_gone, 1);
                ck_assert_uint_eq(n.n_segments_damaged, 0);
                ck_assert_uint_eq(n.n_segments_missing, 0);
        }
END_TEST

START_TEST(a_segment_that_is_dropped_while_it_is_read_is_read_to_its_end)
        {
                for (unsigned is_sealed = 0; is_sealed < 2; is_sealed++)
                        for (unsigned is_refreshed = 0; is_refreshed < 2; is_refreshed++) {
                                _cleanup_recording_ Recording r;
                                _cleanup_(cursor_freep) Cursor *c = NULL;
                                Formats f = formats();
                                CursorCount n;

                                recording_init(&r, layout);
                                for (uint64_t i = 0; i < 3; i++) {
                                        Page p[] = { page_of(1000 * i, 1),
                                                     page_of(1000 * i + 100, 1) };

                                        recording_add(&r, 0, i, p, 2);
                                        if (is_sealed)
                                                (void) seal(r.dir, 0, i, 4096);
                                }
                                c = cursor(&r, &f);
                                ck_assert_int_eq(
                                        unlinkat(session_dir_fd(r.dir), "cpu0/00000000.seg", 0), 0);
                                if (is_refreshed)
                                        ck_assert_int_eq(cursor_refresh(c), 0);
                                ck_assert_str_eq(times(c), "0 100 1000 1100 2000 2100 ");
                                cursor_count(c, &n);
                                ck_assert_uint_eq(n.n_segments_gone, 0);
                                ck_assert_uint_eq(n.n_segments_damaged, 0);
                                ck_assert_uint_eq(n.n_parts_damaged, 0);
                                ck_assert_uint_eq(n.n_segments_missing, 0);
                                ck_assert_uint_eq(n.n_unclosed, 0);
                        }
        }
END_TEST

START_TEST(short_records_are_counted_not_read)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page p = page_of(100, 1);
                const uint8_t entry[12] = { 11 };
                CursorCount n;

                recording_init(&r, layout);
                page_record(&p, 105, entry, sizeof(entry));
                page_enter(&p, 110, 17, F_LEAF, 0);
                recording_add(&r, 0, 0, &p, 1);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 !110 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_records_short, 1);
                ck_assert_uint_eq(n.n_records, 3);
        }
END_TEST

START_TEST(a_page_that_goes_back_in_time_is_counted)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 2), page_of(50, 1) };
                CursorCount n;

                recording_init(&r, layout);
                recording_add(&r, 0, 0, pages, 2);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 110 50 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_pages_backwards, 1);
        }
END_TEST

static void publish(SegmentWriter *w, uint64_t at_ns) {
        Page p = page_of(at_ns, 2);

        ck_assert_int_eq(write_full(segment_writer_fd(w), p.bytes, sizeof(p.bytes)), 0);
        segment_publish(w, sizeof(p.bytes));
}

START_TEST(what_is_written_meanwhile_is_found_by_a_refresh)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                _cleanup_close_ int fd = -EBADF;
                Formats f = formats();
                SegmentWriter *w;

                recording_init(&r, layout);
                c = cursor(&r, &f); /* before there is even a directory */
                ck_assert_ptr_null(cursor_peek(c));
                fd = session_dir_make_cpu(r.dir, 0);
                ck_assert_int_eq(segment_create(&w, fd, 0, UINT64_MAX, 0, 4096, r.meta->id), 0);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_ptr_null(cursor_peek(c));
                publish(w, 100);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100);
                /* In the middle of a page while the mapping moves. */
                for (uint64_t i = 2; i < 300; i++)
                        publish(w, 100 * i);
                ck_assert_int_eq(cursor_refresh(c), 0);
                for (uint64_t i = 1; i < 300; i++) {
                        ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100 * i);
                        ck_assert_int_eq(cursor_advance(c), 0);
                        ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100 * i + 10);
                        ck_assert_int_eq(cursor_advance(c), 0);
                }
                ck_assert_ptr_null(cursor_peek(c));
                /* The last page of one segment and the first of the next at once. */
                publish(w, 30000);
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                ck_assert_int_eq(segment_create(&w, fd, 1, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 30100);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "30000 30010 30100 30110 ");
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
        }
END_TEST

START_TEST(a_segment_without_its_header_yet_is_waited_for)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                _cleanup_close_ int fd = -EBADF;
                Formats f = formats();
                Page first = page_of(100, 1);
                SegmentWriter *w;
                CursorCount n;

                recording_init(&r, layout);
                recording_add(&r, 0, 0, &first, 1);
                fd = session_dir_make_cpu(r.dir, 0);
                safe_close(openat(fd, "00000001.seg", O_WRONLY | O_CREAT | O_EXCL, 0600));
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 ");
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_ptr_null(cursor_peek(c));
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_unbegun, 1);

                ck_assert_int_eq(unlinkat(fd, "00000001.seg", 0), 0);
                ck_assert_int_eq(segment_create(&w, fd, 1, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 200);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "200 210 ");
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);

                /* Its writer died, and another goes on behind it. */
                safe_close(openat(fd, "00000002.seg", O_WRONLY | O_CREAT | O_EXCL, 0600));
                ck_assert_int_eq(segment_create(&w, fd, 3, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 300);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "!300 310 ");
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_unbegun, 1);
                ck_assert_uint_eq(n.n_segments_damaged, 0);
        }
END_TEST

START_TEST(a_sealed_segment_gives_the_same_events)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 2), page_of(200, 0), page_of(300, 1) };
                Page more[] = { page_of(400, 2), page_of(500, 1) };
                CursorCount before, after;

                recording_init(&r, layout);
                page_set_missed(&pages[2], 7);
                recording_add(&r, 0, 0, pages, 3);
                recording_add(&r, 0, 1, more, 2);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 110 !300 400 410 500 ");
                cursor_count(c, &before);
                (void) seal(r.dir, 0, 0, 4096);
                (void) seal(r.dir, 0, 1, 0);
                c = cursor_free(c);
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 110 !300 400 410 500 ");
                cursor_count(c, &after);
                ck_assert_mem_eq(&before, &after, sizeof(before));
        }
END_TEST

START_TEST(sealing_does_not_disturb_who_follows)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                _cleanup_close_ int fd = -EBADF;
                Formats f = formats();
                SegmentWriter *w;

                recording_init(&r, layout);
                fd = session_dir_make_cpu(r.dir, 0);
                ck_assert_int_eq(segment_create(&w, fd, 0, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 100);
                c = cursor(&r, &f);
                ck_assert_uint_eq(cursor_peek(c)->timestamp_ns, 100);
                publish(w, 200);
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                ck_assert_int_eq(segment_create(&w, fd, 1, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 300);
                /* Sealed under the eyes of the cursor, which has not seen the end of it. */
                (void) seal(r.dir, 0, 0, 0);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "100 110 200 210 300 310 ");
                publish(w, 400);
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                ck_assert_int_eq(segment_create(&w, fd, 2, UINT64_MAX, 0, 4096, r.meta->id), 0);
                (void) seal(r.dir, 0, 1, 0);
                publish(w, 500);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "400 410 500 510 ");
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                /* A whole segment is sealed before the cursor comes to it. */
                ck_assert_int_eq(segment_create(&w, fd, 3, UINT64_MAX, 0, 4096, r.meta->id), 0);
                publish(w, 600);
                ck_assert_int_eq(segment_writer_close(w, NULL), 0);
                (void) seal(r.dir, 0, 2, 0);
                (void) seal(r.dir, 0, 3, 0);
                ck_assert_int_eq(cursor_refresh(c), 0);
                ck_assert_str_eq(times(c), "600 610 ");
        }
END_TEST

START_TEST(a_damaged_block_is_a_loss_and_has_a_name)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 1), page_of(200, 1), page_of(300, 1),
                                 page_of(400, 1) };
                const CursorDamage *d;
                CursorCount n;
                size_t n_damages;

                recording_init(&r, layout);
                recording_add(&r, 0, 0, pages, 4);
                (void) seal(r.dir, 0, 0, 4096);
                {
                        _cleanup_(page_source_freep) PageSource *s = NULL;

                        ck_assert_int_eq(page_source_open(&s, r.dir, 0, 0, NULL), 0);
                        damage(&r, 0,
                               page_source_sealed(s)->found[1].entry.offset +
                                       SEALED_BLOCK_HEADER_BYTES,
                               "\xff", 1);
                }
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "100 !300 400 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_parts_damaged, 1);
                ck_assert_uint_eq(n.n_pages_lost, 1);
                ck_assert_uint_eq(n.n_pages, 3);
                d = cursor_damages(c, &n_damages);
                ck_assert_uint_eq(n_damages, 1);
                ck_assert_uint_eq(d[0].sequence, 0);
                ck_assert_uint_eq(d[0].part.block, 1);
                ck_assert_str_eq(d[0].part.what, "the body does not match its checksum");
        }
END_TEST

START_TEST(a_newer_segment_is_skipped_and_has_a_name)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(cursor_freep) Cursor *c = NULL;
                Formats f = formats();
                Page pages[] = { page_of(100, 1), page_of(200, 1) };
                SealedHeader h = { .magic = SEGMENT_MAGIC, .version = htole32(9) };
                const CursorDamage *d;
                CursorCount n;
                size_t n_damages;

                recording_init(&r, layout);
                recording_add(&r, 0, 0, pages, 1);
                recording_add(&r, 0, 1, pages + 1, 1);
                h.checksum = htole64(sealed_checksum(&h, SEALED_HEADER_BYTES - 8));
                damage(&r, 0, 0, &h, sizeof(h));
                c = cursor(&r, &f);
                ck_assert_str_eq(times(c), "!200 ");
                cursor_count(c, &n);
                ck_assert_uint_eq(n.n_segments_newer, 1);
                ck_assert_uint_eq(n.n_segments_damaged, 0);
                d = cursor_damages(c, &n_damages);
                ck_assert_uint_eq(n_damages, 1);
                ck_assert_uint_eq(d[0].newer_version, 9);
        }
END_TEST

START_TEST(seeking_finds_what_reading_up_to_there_finds)
        {
                const Formats f = formats();

                /* With few events in a page, and with more than are decoded at a time. */
                for (int kind = 0; kind < 4; kind++) {
                        _cleanup_recording_ Recording r;
                        bool sealed = kind & 1;
                        int n_events = kind & 2 ? 75 : 3;
                        uint64_t step_ns = kind & 2 ? 1000 : 100;
                        Page pages[24];

                        recording_init(&r, layout);
                        for (uint64_t i = 0; i < ELEMENTSOF(pages); i++)
                                pages[i] = page_every(step_ns * (i + 1), n_events, 9 + i % 3);
                        for (uint64_t i = 0; i < 3; i++) {
                                recording_add(&r, 0, i, pages + 8 * i, 8);
                                if (sealed)
                                        (void) seal(r.dir, 0, i, 2 * 4096);
                        }
                        for (uint64_t ns = 0; ns < 27 * step_ns; ns += step_ns / 20) {
                                _cleanup_(cursor_freep) Cursor *sought = cursor(&r, &f),
                                                               *walked = cursor(&r, &f);
                                CursorCount n;

                                ck_assert_int_eq(cursor_seek(sought, ns), 0);
                                cursor_count(sought, &n);
                                ck_assert_uint_le(n.n_pages, 1 + 3);
                                while (cursor_peek(sought) &&
                                       cursor_peek(sought)->timestamp_ns < ns)
                                        ck_assert_int_eq(cursor_advance(sought), 0);
                                while (cursor_peek(walked) &&
                                       cursor_peek(walked)->timestamp_ns < ns)
                                        ck_assert_int_eq(cursor_advance(walked), 0);
                                ck_assert_int_eq(!cursor_peek(sought), !cursor_peek(walked));
                                while (cursor_peek(walked)) {
                                        ck_assert(!cursor_peek(sought)->missed);
                                        ck_assert_uint_eq(cursor_peek(sought)->timestamp_ns,
                                                          cursor_peek(walked)->timestamp_ns);
                                        ck_assert_int_eq(cursor_advance(walked), 0);
                                        ck_assert_int_eq(cursor_advance(sought), 0);
                                }
                                ck_assert_ptr_null(cursor_peek(sought));
                        }
                }
        }
END_TEST

UNIT_SUITE("cursor", seeking_finds_what_reading_up_to_there_finds,
           events_go_on_across_pages_and_segments, a_loss_is_before_the_first_event_of_its_page,
           a_number_is_given_only_if_all_of_it_is_known, a_torn_page_costs_itself_alone,
           a_damaged_record_costs_the_rest_of_its_page,
           damaged_and_missing_segments_are_stepped_over,
           a_sequence_that_a_quiet_cpu_skipped_is_no_damage,
           a_segment_that_a_ring_drops_on_the_way_is_a_loss_and_no_damage,
           a_segment_that_is_dropped_while_it_is_read_is_read_to_its_end,
           short_records_are_counted_not_read, a_page_that_goes_back_in_time_is_counted,
           what_is_written_meanwhile_is_found_by_a_refresh,
           a_segment_without_its_header_yet_is_waited_for, a_sealed_segment_gives_the_same_events,
           sealing_does_not_disturb_who_follows, a_damaged_block_is_a_loss_and_has_a_name,
           a_newer_segment_is_skipped_and_has_a_name)
