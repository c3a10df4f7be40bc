/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/occurrence.h"
#include "page-builder.h"

static const char irqs[] = "ffff800080010000 T __irqentry_text_start\n"
                           "ffff800080010008 t bcm2835_handle_irq\n"
                           "ffff800080010060 t gic_handle_irq\n"
                           "ffff80008001028c T __irqentry_text_end\n"
                           "ffff800080010290 T __do_softirq\n"
                           "ffff800080011000 T vectors\n";
static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
                               "0000000000001000 a a_percpu_area\n"
                               "ffffffff81000000 T udp_sendmsg\n"
                               "ffffffff81000000 T an_alias\n"
                               "ffffffff81000100 T ip_make_skb\n"
                               "ffffffff81000200 t kfree\n"
                               "ffffffffc0000010 t ovl_open\t[overlay]";

static Formats formats_of(const Layout *layout) {
        const char *problem;
        Formats f;

        ck_assert_int_eq(formats_parse(&f, layout->header_page, layout->entry, layout->exit, false,
                                       &problem),
                         0);
        return f;
}

static Occurrence *occurrence_among(const char *symbols, const Formats *formats, const Page *page) {
        PageCount count = {};
        PageInfo info;
        Occurrence *o = MADE(Occurrence, occurrence_new, formats, strdup(symbols), strlen(symbols));

        ck_assert_int_eq(page_parse(&info, page->bytes, BUILT_PAGE_BYTES, HOST_BIG_ENDIAN), 0);
        occurrence_add(o, &info, page->bytes, &count);
        return o;
}

static Occurrence *occurrence_of(const Formats *formats, const Page *page) {
        return occurrence_among(kallsyms, formats, page);
}

static void expect_symbols(Occurrence *o, const char *wanted) {
        _cleanup_buf_ Buf b = BUF_INIT;

        occurrence_put_symbols(o, &b);
        EXPECT_TEXT(b, wanted);
}

TEST(functions_of_calls_occur_once_in_the_order_of_the_text) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                _cleanup_(occurrence_freep) Occurrence *o = NULL;
                Formats f = formats_of(&layouts[i]);
                Page p = {};

                page_begin(&p, &layouts[i], 5);
                page_enter(&p, 6, 17, F_MODULE, 0);
                page_enter(&p, 7, 17, F_ROOT, 0);
                page_leave(&p, 8, 17, F_ROOT, 0, 1);
                page_enter(&p, 9, 17, F_ROOT, 0);
                page_leave(&p, 9, 17, F_UNKNOWN, 0, 1);
                o = occurrence_of(&f, &p);
                expect_symbols(o, "ffffffff81000000 T udp_sendmsg\n"
                                  "ffffffffc0000010 t ovl_open\t[overlay]\n"
                                  "ffffffffc0100010 t ftraced_end_of_symbols\n");
                ck_assert(occurrence_has_event(o, layouts[i].entry_id));
                ck_assert(occurrence_has_event(o, layouts[i].exit_id));
                ck_assert(!occurrence_has_event(o, 5));
        }
}

TEST(words_of_other_events_keep_the_symbols_they_lie_in) {
        _cleanup_(occurrence_freep) Occurrence *o = NULL;
        Formats f = formats_of(&layouts[LAYOUT_7_2]);
        uint32_t record[] = { 5,          17,         0x81000234, 0xffffffff, 0x81000101,
                              0xffffffff, 0x00000010, 0x00000000, 0x00001010, 0x00000000 };
        Page p = {};

        for (size_t i = 0; i < ELEMENTSOF(record); i++)
                record[i] = htole32(record[i]);
        page_begin(&p, &layouts[LAYOUT_7_2], 5);
        page_record(&p, 5, record, sizeof(record));
        o = occurrence_of(&f, &p);
        expect_symbols(o, "ffffffff81000100 T ip_make_skb\n"
                          "ffffffff81000200 t kfree\n"
                          "ffffffff81100200 t ftraced_end_of_symbols\n");
        ck_assert(occurrence_has_event(o, 5));
}

TEST(where_interrupts_begin_is_kept_if_one_does) {
        const uint64_t functions[] = { 0xffff800080010060, 0xffff800080010290 };
        const char *wanted[] = { "ffff800080010000 T __irqentry_text_start\n"
                                 "ffff800080010060 t gic_handle_irq\n"
                                 "ffff80008001028c T __irqentry_text_end\n"
                                 "ffff800080110060 t ftraced_end_of_symbols\n",
                                 "ffff800080010290 T __do_softirq\n"
                                 "ffff800080110290 t ftraced_end_of_symbols\n" };

        for (size_t i = 0; i < ELEMENTSOF(functions); i++) {
                _cleanup_(occurrence_freep) Occurrence *o = NULL;
                Formats f = formats_of(&layouts[LAYOUT_7_2]);
                Page p = {};

                page_begin(&p, &layouts[LAYOUT_7_2], 5);
                page_enter(&p, 6, 17, functions[i], 0);
                o = occurrence_among(irqs, &f, &p);
                expect_symbols(o, wanted[i]);
        }
}

TEST(a_page_spans_from_its_first_event_to_its_last) {
        uint64_t first, last;
        PageInfo info;
        Page p = {};

        page_begin(&p, &layouts[LAYOUT_6_1], 5);
        ck_assert_int_eq(page_parse(&info, p.bytes, BUILT_PAGE_BYTES, HOST_BIG_ENDIAN), 0);
        ck_assert(!occurrence_span(&info, p.bytes, false, &first, &last));
        page_enter(&p, 7, 17, F_ROOT, 0);
        page_enter(&p, 1000000007, 17, F_ROOT, 0);
        page_enter(&p, 1000000009, 17, F_ROOT, 0);
        ck_assert_int_eq(page_parse(&info, p.bytes, BUILT_PAGE_BYTES, HOST_BIG_ENDIAN), 0);
        ck_assert(occurrence_span(&info, p.bytes, false, &first, &last));
        ck_assert_uint_eq(first, 7);
        ck_assert_uint_eq(last, 1000000009);
}
