/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "cli/tracedat.h"
#include "page-builder.h"
#include "sealing.h"
#include "store/symbol-file.h"

typedef struct Dat {
        char *data;
        size_t n, at;
} Dat;

static Dat dat_of(const Recording *r) {
        _cleanup_close_ int fd = memfd_create("dat", MFD_CLOEXEC);
        Dat d = {};

        ck_assert_int_eq(tracedat_write(r->dir, r->meta, fd, NULL), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &d.data, &d.n, SIZE_MAX), 0);
        return d;
}

static void dat_done(Dat *d) {
        free(d->data);
}

static uint64_t number(Dat *d, size_t n_bytes) {
        uint64_t v = 0;

        ck_assert_uint_le(d->at + n_bytes, d->n);
        memcpy(&v, d->data + d->at, n_bytes);
        d->at += n_bytes;
        return v;
}

static void expect(Dat *d, const char *bytes, size_t n) {
        ck_assert_uint_le(d->at + n, d->n);
        ck_assert_mem_eq(d->data + d->at, bytes, n);
        d->at += n;
}

static void skip(Dat *d, uint64_t n) {
        ck_assert_uint_le(n, d->n - d->at);
        d->at += n;
}

static size_t count(const Dat *d, const char *text) {
        size_t n = 0;

        for (const char *p = d->data;
             (p = memmem(p, (size_t) (d->data + d->n - p), text, strlen(text))); p++)
                n++;
        return n;
}

START_TEST(every_part_is_where_the_format_says)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(dat_done) Dat d = {};
                const Layout *layout = &layouts[LAYOUT_7_2];
                Page p[4] = {};
                uint64_t offsets[3], sizes[3];
                uint16_t id;
                size_t n_stats = 0;

                recording_init(&r, layout);
                for (size_t i = 0; i < 4; i++) {
                        page_begin(&p[i], layout, 1000 * i + 5);
                        page_enter(&p[i], 1000 * i + 5, 17, F_ROOT, 0);
                }
                recording_add(&r, 0, 0, p, 2);
                recording_add(&r, 2, 0, p + 2, 1);
                recording_add(&r, 2, 1, p + 3, 1);
                d = dat_of(&r);

                expect(&d, "\x17\x08\x44tracing6\0\0\10\0\x10\0\0", 18);
                expect(&d, "header_page", 12);
                ck_assert_uint_eq(number(&d, 8), strlen(layout->header_page));
                expect(&d, layout->header_page, strlen(layout->header_page));
                expect(&d, "header_event", 13);
                skip(&d, number(&d, 8));
                ck_assert_uint_eq(number(&d, 4), 2);
                ck_assert_uint_eq(number(&d, 8), strlen(layout->entry));
                expect(&d, layout->entry, strlen(layout->entry));
                ck_assert_uint_eq(number(&d, 8), strlen(layout->exit));
                expect(&d, layout->exit, strlen(layout->exit));
                ck_assert_uint_eq(number(&d, 4), 0);
                skip(&d, number(&d, 4)); /* kallsyms */
                ck_assert_uint_eq(number(&d, 4), 0);
                ck_assert_uint_eq(number(&d, 8), strlen("17 client\n18 a server\n"));
                expect(&d, "17 client\n18 a server\n", 22);
                ck_assert_uint_eq(number(&d, 4), 3);
                expect(&d, "options  ", 10);
                while ((id = (uint16_t) number(&d, 2)) != 0) {
                        uint64_t n = number(&d, 4);

                        n_stats += id == 2;
                        if (id == 8)
                                ck_assert_mem_eq(d.data + d.at, "\3\0\0\0", 4);
                        skip(&d, n);
                }
                ck_assert_uint_eq(n_stats, 2);
                expect(&d, "flyrecord", 10);
                for (size_t i = 0; i < 3; i++) {
                        offsets[i] = number(&d, 8);
                        sizes[i] = number(&d, 8);
                        ck_assert_uint_eq(offsets[i] % 4096, 0);
                }
                ck_assert_uint_eq(number(&d, 8), 6);
                expect(&d, "[mono]", 6);
                ck_assert_uint_eq(sizes[0], 8192);
                ck_assert_uint_eq(sizes[1], 0);
                ck_assert_uint_eq(sizes[2], 8192);
                ck_assert_uint_ge(offsets[0], d.at);
                for (size_t i = 0; i < 4; i++)
                        ck_assert_mem_eq(d.data + offsets[i / 2 * 2] + i % 2 * 4096, p[i].bytes,
                                         4096);
                ck_assert_uint_eq(d.n, offsets[2] + 8192);
        }
END_TEST

START_TEST(pages_that_cannot_be_read_are_left_out)
        {
                _cleanup_recording_ Recording r;
                _cleanup_(dat_done) Dat d = {};
                const Layout *layout = &layouts[LAYOUT_6_1];
                Page p[3] = {};

                recording_init(&r, layout);
                for (size_t i = 0; i < 3; i += 2)
                        page_begin(&p[i], layout, 1000 * i + 5);
                recording_add(&r, 0, 0, p, 3); /* the second was never written */
                d = dat_of(&r);
                ck_assert_mem_eq(d.data + d.n - 8192, p[0].bytes, 4096);
                ck_assert_mem_eq(d.data + d.n - 4096, p[2].bytes, 4096);
        }
END_TEST

START_TEST(a_sealed_recording_becomes_the_same_file)
        {
                _cleanup_(dat_done) Dat before = {}, after = {};
                _cleanup_recording_ Recording r;
                const Layout *layout = &layouts[LAYOUT_6_12];
                Page p[6] = {};

                recording_init(&r, layout);
                for (size_t i = 0; i < 6; i++) {
                        if (i == 3)
                                continue; /* never written */
                        page_begin(&p[i], layout, 1000 * i + 5);
                        page_enter(&p[i], 1000 * i + 5, 17, F_ROOT, 0);
                }
                recording_add(&r, 0, 0, p, 5);
                recording_add(&r, 1, 0, p + 5, 1);
                before = dat_of(&r);
                (void) seal(r.dir, 0, 0, 2 * 4096);
                (void) seal(r.dir, 1, 0, 0);
                after = dat_of(&r);
                ck_assert_uint_eq(before.n, after.n);
                ck_assert_mem_eq(before.data, after.data, before.n);
        }
END_TEST

START_TEST(a_recording_without_formats_is_refused_with_the_reason)
        {
                _cleanup_recording_ Recording r;
                _cleanup_free_ char *problem = NULL;

                recording_init(&r, &layouts[LAYOUT_6_1]);
                ck_assert_int_eq(unlinkat(session_dir_fd(r.dir),
                                          "tracing/events/ftrace/funcgraph_exit/format", 0),
                                 0);
                ck_assert_int_eq(tracedat_write(r.dir, r.meta, -EBADF, &problem),
                                 TRACEDAT_E_UNREADABLE);
                ck_assert_str_eq(problem, "its events/ftrace/funcgraph_exit/format is missing");
        }
END_TEST

START_TEST(each_module_that_was_ever_loaded_is_in_its_symbols)
        {
                static const char later[] = "0000000000000000 A fixed_percpu_data\n"
                                            "ffffffff81000000 T udp_sendmsg\n"
                                            "ffffffff81000800 T of_no_module\n"
                                            "ffffffffc0000010 t dummy_in_its_place\t[dummy]\n"
                                            "ffffffffc0000020 t dummy_xmit\t[dummy]\n";
                _cleanup_recording_ Recording r;
                _cleanup_(dat_done) Dat d = {};
                char hash[SYMBOL_HASH_CHARS + 1];

                recording_init(&r, &layouts[LAYOUT_6_12]);
                ck_assert_int_eq(symbol_file_store(r.symbols_fd, later, strlen(later), hash), 0);
                for (uint64_t i = 1; i < 4; i++)
                        ck_assert_int_eq(symbol_maps_add(&r.meta->symbol_maps, i * 10, i * 10 + 5,
                                                         hash, NULL),
                                         0);
                d = dat_of(&r);
                ck_assert_uint_eq(count(&d, "t ovl_open\t[overlay]\n"), 1);
                ck_assert_uint_eq(count(&d, "ffffffffc0000020 t dummy_xmit\t[dummy]\n"), 1);
                ck_assert_uint_eq(count(&d, "T udp_sendmsg\n"), 1);
                ck_assert_uint_eq(count(&d, "of_no_module"), 0);
                ck_assert_uint_eq(count(&d, "dummy_in_its_place"), 0);
        }
END_TEST

UNIT_MAIN("tracedat", a_sealed_recording_becomes_the_same_file, every_part_is_where_the_format_says,
          pages_that_cannot_be_read_are_left_out,
          a_recording_without_formats_is_refused_with_the_reason,
          each_module_that_was_ever_loaded_is_in_its_symbols)
