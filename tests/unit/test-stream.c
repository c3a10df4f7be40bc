/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/cursor.h"
#include "page-builder.h"

static const Layout *const layout = &layouts[LAYOUT_7_2];

static Formats formats(void) {
        const char *problem;
        Formats f;

        ck_assert_int_eq(formats_parse(&f, layout->header_page, layout->entry, layout->exit, false,
                                       &problem),
                         0);
        return f;
}

static void add_event(Recording *r, uint32_t cpu, uint64_t sequence, uint64_t at_ns) {
        Page p = {};

        page_begin(&p, layout, at_ns);
        page_enter(&p, at_ns, 17, F_LEAF, 0);
        recording_add(r, cpu, sequence, &p, 1);
}

static void expect(Stream *s, uint64_t until_ns, uint64_t at_ns, uint32_t cpu) {
        const Event *e;

        ck_assert_int_eq(stream_next(s, until_ns, &e), 1);
        ck_assert_uint_eq(e->timestamp_ns, at_ns);
        ck_assert_uint_eq(e->cpu, cpu);
}

static void expect_none(Stream *s, uint64_t until_ns) {
        const Event *e;

        ck_assert_int_eq(stream_next(s, until_ns, &e), 0);
}

RECORDING_TEST(the_earliest_comes_first_and_of_equals_the_lowest_cpu, layout) {
        _cleanup_(stream_freep) Stream *s = NULL;
        Formats f = formats();

        add_event(r, 2, 0, 100);
        add_event(r, 2, 1, 300);
        add_event(r, 0, 0, 200);
        add_event(r, 0, 1, 300);
        add_event(r, 10, 0, 50);
        add_event(r, 10, 1, 300);
        ck_assert_int_eq(stream_open(&s, r->dir, &f), 0);
        expect(s, STREAM_NO_LIMIT, 50, 10);
        expect(s, STREAM_NO_LIMIT, 100, 2);
        expect(s, STREAM_NO_LIMIT, 200, 0);
        expect(s, STREAM_NO_LIMIT, 300, 0);
        expect(s, STREAM_NO_LIMIT, 300, 2);
        expect(s, STREAM_NO_LIMIT, 300, 10);
        expect_none(s, STREAM_NO_LIMIT);
        ck_assert_uint_eq(stream_n_cpus(s), 3);
}

TEST(any_mixture_comes_out_sorted) {
        enum { N_CPUS = 9, N_EVENTS = 60 };
        unsigned seed = unit_seed();
        RECORDING(r, layout);
        _cleanup_(stream_freep) Stream *s = NULL;
        Formats f = formats();
        uint64_t last = 0;
        const Event *e;
        size_t n = 0;

        for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
                uint64_t at_ns = 0;
                Page p = {};

                page_begin(&p, layout, 0);
                for (int i = 0; i < N_EVENTS; i++) {
                        at_ns += (uint64_t) rand_r(&seed) % 50;
                        page_enter(&p, at_ns, 17, F_LEAF, 0);
                }
                recording_add(&r, cpu, 0, &p, 1);
        }
        ck_assert_int_eq(stream_open(&s, r.dir, &f), 0);
        for (; stream_next(s, STREAM_NO_LIMIT, &e) == 1; n++) {
                ck_assert_uint_ge(e->timestamp_ns * N_CPUS + e->cpu, last);
                last = e->timestamp_ns * N_CPUS + e->cpu;
        }
        ck_assert_uint_eq(n, N_CPUS * N_EVENTS);
}

RECORDING_TEST(the_neighbour_on_the_same_cpu_can_be_seen_and_taken, layout) {
        _cleanup_(stream_freep) Stream *s = NULL;
        Formats f = formats();

        add_event(r, 0, 0, 100);
        add_event(r, 0, 1, 300);
        add_event(r, 0, 2, 400);
        add_event(r, 1, 0, 200);
        ck_assert_int_eq(stream_open(&s, r->dir, &f), 0);
        ck_assert_ptr_null(stream_peek_same_cpu(s));
        expect(s, STREAM_NO_LIMIT, 100, 0);
        ck_assert_uint_eq(stream_peek_same_cpu(s)->timestamp_ns, 300);
        ck_assert_int_eq(stream_drop_same_cpu(s), 0);
        expect(s, STREAM_NO_LIMIT, 200, 1);
        ck_assert_ptr_null(stream_peek_same_cpu(s));
        expect(s, STREAM_NO_LIMIT, 400, 0);
        expect_none(s, STREAM_NO_LIMIT);
}

RECORDING_TEST(nothing_comes_out_before_its_time, layout) {
        _cleanup_(stream_freep) Stream *s = NULL;
        Formats f = formats();

        add_event(r, 1, 0, 100);
        add_event(r, 1, 1, 300);
        ck_assert_int_eq(stream_open(&s, r->dir, &f), 0);
        expect_none(s, 99);
        expect(s, 100, 100, 1);
        expect_none(s, 299);
        /* A CPU that is heard of for the first time, with an earlier event. */
        add_event(r, 0, 0, 200);
        ck_assert_int_eq(stream_refresh(s), 0);
        expect(s, 300, 200, 0);
        expect(s, 300, 300, 1);
        add_event(r, 0, 1, 400);
        expect_none(s, STREAM_NO_LIMIT);
        ck_assert_int_eq(stream_refresh(s), 0);
        expect(s, STREAM_NO_LIMIT, 400, 0);
}
