/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/formats.h"
#include "page-builder.h"
#include "store/page.h"

static int parse(Formats *f, const Layout *l, bool big_endian) {
        const char *problem = NULL;
        int r = formats_parse(f, l->header_page, l->entry, l->exit, big_endian, &problem);

        ck_assert_int_eq(r == FORMATS_E_INVALID, problem != NULL);
        return r;
}

TEST(three_kernels_records_read_the_same) {
        for (size_t i = 0; i < 2 * N_LAYOUTS; i++) {
                const Layout *l = &layouts[i / 2];
                Page p = { .big_endian = i % 2 };
                Formats f;
                Records w;
                Record record;
                Event e;

                ck_assert_int_eq(parse(&f, l, p.big_endian), 0);
                ck_assert_uint_eq(f.page_bytes, 4096);
                page_begin(&p, l, 100);
                page_enter(&p, 105, 17, F_ROOT, 3);
                page_leave(&p, 160, 17, F_ROOT, 3, 40);
                records_init(&w, p.bytes + PAGE_HEADER_BYTES, p.n_payload, 100, p.big_endian);

                ck_assert_int_eq(records_next(&w, &record), 0);
                formats_decode(&f, &record, &e);
                ck_assert_int_eq(e.kind, EVENT_ENTRY);
                ck_assert_uint_eq(e.timestamp_ns, 105);
                ck_assert_int_eq(e.pid, 17);
                ck_assert_int_eq(e.depth, 3);
                ck_assert_uint_eq(e.func, F_ROOT);
                ck_assert_uint_eq(e.flags, 1);

                ck_assert_int_eq(records_next(&w, &record), 0);
                formats_decode(&f, &record, &e);
                ck_assert_int_eq(e.kind, EVENT_EXIT);
                ck_assert_int_eq(e.pid, 17);
                ck_assert_int_eq(e.depth, 3);
                ck_assert_uint_eq(e.func, F_ROOT);
                ck_assert_uint_eq(e.calltime, 120);
                ck_assert_uint_eq(e.rettime, 160);
        }
}

static void decode_at(const Formats *f, const uint8_t *data, uint32_t n, Event *e) {
        /* Exactly as long as it says, so that a sanitizer sees what is beyond. */
        _cleanup_free_ uint8_t *copy = malloc(n ?: 1);
        Record record = { .data = copy, .n_data = n, .swap = HOST_BIG_ENDIAN };

        memcpy(copy, data, n);
        formats_decode(f, &record, e);
}

TEST(a_record_shorter_than_its_fields_is_not_read) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                Page p = {};
                Formats f;
                Event e;

                ck_assert_int_eq(parse(&f, &layouts[i], false), 0);
                page_begin(&p, &layouts[i], 0);
                page_leave(&p, 1, 17, F_ROOT, 0, 1);
                for (uint32_t n = 0; n < 40; n++) {
                        decode_at(&f, p.bytes + PAGE_HEADER_BYTES + 4, n, &e);
                        ck_assert_int_eq(e.kind, EVENT_SHORT);
                }
                decode_at(&f, p.bytes + PAGE_HEADER_BYTES + 4, 40, &e);
                ck_assert_int_eq(e.kind, EVENT_EXIT);
        }
}

TEST(arguments_are_the_words_behind_an_entrys_fields) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
                _cleanup_(payloads_done) Payloads kept = {};
                uint8_t data[24 + 6 * 8 + 4] = {};
                Formats f;
                Event e;

                ck_assert_int_eq(parse(&f, &layouts[LAYOUT_7_2], big_endian), 0);
                data[big_endian] = 11;
                data[24 + (big_endian ? 7 : 0)] = 0xab;
                data[24 + 40 + (big_endian ? 0 : 7)] = 0xff;
                formats_decode(&f,
                               &(Record){ .data = data,
                                          .n_data = 24,
                                          .swap = big_endian != HOST_BIG_ENDIAN },
                               &e);
                ck_assert_int_eq(e.kind, EVENT_ENTRY);
                ck_assert_uint_eq(e.n_args, 0);
                formats_decode(&f,
                               &(Record){ .data = data,
                                          .n_data = sizeof(data),
                                          .swap = big_endian != HOST_BIG_ENDIAN },
                               &e);
                ck_assert_uint_eq(e.n_args, 6);
                ck_assert_int_eq(payloads_keep(&kept, &f, &e), 0);
                ck_assert_uint_eq(((const uint64_t *) e.payload)[0], 0xab);
                ck_assert_uint_eq(((const uint64_t *) e.payload)[5], 0xff00000000000000);
        }
}

TEST(other_ids_are_other_events) {
        uint8_t data[8] = { 200, 0, 0, 0, 17 };
        Formats f;
        Event e;

        ck_assert_int_eq(parse(&f, &layouts[LAYOUT_6_1], false), 0);
        decode_at(&f, data, sizeof(data), &e);
        ck_assert_int_eq(e.kind, EVENT_OTHER);
        ck_assert_uint_eq(e.id, 200);
        ck_assert_int_eq(e.pid, 17);
        decode_at(&f, data, 2, &e);
        ck_assert_int_eq(e.kind, EVENT_OTHER);
        ck_assert_int_eq(e.pid, 0);
}

TEST(a_wild_depth_is_bounded) {
        Page p = {};
        Formats f;
        Event e;

        ck_assert_int_eq(parse(&f, &layouts[LAYOUT_7_2], false), 0);
        page_begin(&p, &layouts[LAYOUT_7_2], 0);
        page_enter(&p, 0, 1, F_ROOT, INT32_MAX);
        decode_at(&f, p.bytes + PAGE_HEADER_BYTES + 4, 24, &e);
        ck_assert_int_eq(e.depth, EVENT_DEPTH_MAX);
        page_begin(&p, &layouts[LAYOUT_7_2], 0);
        page_enter(&p, 0, 1, F_ROOT, -1);
        decode_at(&f, p.bytes + PAGE_HEADER_BYTES + 4, 24, &e);
        ck_assert_int_eq(e.depth, 0);
}

/* A copy of @text with the first @from replaced by @to. */
static char *replace(const char *text, const char *from, const char *to) {
        const char *at = strstr(text, from);
        char *s;

        ck_assert_ptr_nonnull(at);
        ck_assert_int_ge(asprintf(&s, "%.*s%s%s", (int) (at - text), text, to, at + strlen(from)),
                         0);
        return s;
}

TEST(a_field_may_lie_anywhere) {
        Layout l = layouts[LAYOUT_6_1];
        _cleanup_free_ char *moved = replace(l.entry, "depth;\toffset:16", "depth;\toffset:32");
        Formats f;

        l.entry = moved;
        ck_assert_int_eq(parse(&f, &l, false), 0);
        ck_assert_uint_eq(f.entry.depth.offset, 32);
        ck_assert_uint_eq(f.entry.n_bytes, 36);
}

TEST(what_lies_is_refused) {
        enum { EXIT = offsetof(Layout, exit), HEADER = offsetof(Layout, header_page) };
        static const struct {
                size_t part;
                const char *from, *to;
        } lies[] = {
                { EXIT, "depth;", "death;" },
                { EXIT, "depth;\toffset:16", "depth;\toffset:-4" },
                { EXIT, "rettime;\toffset:32;\tsize:8", "rettime;\toffset:32;\tsize:3" },
                { EXIT, "rettime;\toffset:32", "rettime;\toffset:100000" },
                { EXIT, "rettime;\toffset:32", "rettime;\toffset:2147483647" },
                { EXIT, "calltime;", "calltime[4];" },
                { EXIT, "ID: 10", "ID: 11" },
                { EXIT, "ID: 10", "ID: -1" },
                { EXIT, "ID: 10", "ID: 70000" },
                { EXIT, "funcgraph_exit", "funcgraph_exodus" },
                { EXIT, "format:", "" },
                { EXIT, "common_pid;\toffset:4", "common_pid;\toffset:5" },
                { EXIT, "name:", "" },
                { HEADER, "offset:16", "offset:12" },
                { HEADER, "commit;\toffset:8;\tsize:8", "commit;\toffset:8;\tsize:4" },
                { HEADER, "size:4080", "size:40" },
                { HEADER, "size:4080", "size:-1" },
                { HEADER, "size:4080", "size:2147483647" },
                { HEADER, "timestamp", "timestump" },
        };

        for (size_t i = 0; i < ELEMENTSOF(lies); i++) {
                Layout l = layouts[LAYOUT_6_1];
                const char **part = (void *) ((char *) &l + lies[i].part);
                _cleanup_free_ char *lie = replace(*part, lies[i].from, lies[i].to);
                Formats f;

                *part = lie;
                ck_assert_int_eq(parse(&f, &l, false), FORMATS_E_INVALID);
        }
}

TEST(any_cut_of_a_format_is_survived) {
        const Layout *whole = &layouts[LAYOUT_7_2];

        for (size_t n = 0; n < strlen(whole->exit); n++) {
                Layout l = *whole;
                _cleanup_free_ char *cut = strndup(whole->exit, n);
                Formats f;
                int r;

                l.exit = cut;
                r = parse(&f, &l, false);
                ck_assert(r == 0 || r == FORMATS_E_INVALID);
        }
}

TEST(a_huge_text_is_refused) {
        Layout l = layouts[LAYOUT_6_1];
        size_t n = 1 << 20;
        _cleanup_free_ char *huge = malloc(n + 1);
        Formats f;

        memset(huge, '[', n);
        huge[n] = 0;
        l.entry = huge;
        ck_assert_int_eq(parse(&f, &l, false), FORMATS_E_INVALID);
}
