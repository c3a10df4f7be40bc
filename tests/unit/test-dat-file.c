/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The files of the fuzzer's corpus, which hold the same two pages in each form, and what becomes of
 * them when they are cut or changed. */

#include <endian.h>
#include <sys/mman.h>

#include "pages/dat-private.h"
#include "pages/page-source.h"
#include "scratch.h"

static const char *const forms[] = { "version-6", "version-7", "version-7-zstd", "version-7-zlib" };

typedef struct Bytes {
        char *data;
        size_t n;
} Bytes;

static Bytes load(const char *form) {
        char path[PATH_MAX];
        Bytes b;

        (void) snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/tracedat/%s",
                        getenv("top_srcdir"), form);
        ck_assert_int_eq(file_read(AT_FDCWD, path, &b.data, &b.n, 1 << 20), 0);
        return b;
}

static int open_bytes(DatFile **ret, const Bytes *b, size_t n, char **ret_problem) {
        int fd = memfd_create("dat", MFD_CLOEXEC);

        ck_assert_int_eq(write(fd, b->data, n), (ssize_t) n);
        return dat_file_take_fd(ret, fd, ret_problem);
}

static bool is_there(const char *form) {
        return dat_can_unpack(DAT_ZLIB) || !strstr(form, "zlib");
}

static void expect_text(const DatFile *f, const char *path, const char *begin) {
        _cleanup_free_ char *text = NULL;
        size_t n;

        ck_assert_int_eq(dat_file_read_tracing(f, path, &text, &n), 0);
        ck_assert_uint_eq(strlen(text), n);
        ck_assert_msg(startswith(text, begin), "%s: %s", path, text);
}

/* Reads every page; returns how many there were. */
static uint64_t read_pages(const DatFile *f) {
        uint64_t n_pages = 0;

        for (size_t i = 0; i < dat_file_buffer(f)->n_cpus; i++) {
                _cleanup_(page_source_freep) PageSource *p = NULL;
                uint64_t n;

                ck_assert_int_eq(page_source_open_dat(&p, f, dat_file_buffer(f)->cpus[i].cpu, NULL),
                                 0);
                for (uint64_t k = 0; k < p->n_pages; k += n) {
                        const char *data;
                        int r = page_source_read(p, k, (const void **) &data, &n);
                        volatile char last;

                        ck_assert_uint_gt(n, 0);
                        if (r != 0) {
                                ck_assert_int_eq(r, SEGMENT_E_LOST);
                                continue;
                        }
                        last = data[n * dat_file_buffer(f)->page_bytes - 1];
                        (void) last;
                        n_pages += n;
                }
        }
        return n_pages;
}

TEST(every_form_holds_the_same) {
        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                _cleanup_(dat_file_freep) DatFile *f = NULL;
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                _cleanup_free_ char *symbols = NULL, *problem = NULL;
                Bytes b = load(forms[i]);
                size_t n;

                if (!is_there(forms[i]))
                        continue;
                ck_assert_int_eq(open_bytes(&f, &b, b.n, &problem), 0);
                ck_assert_uint_eq(dat_file_buffer(f)->n_cpus, 2);
                ck_assert_uint_eq(dat_file_buffer(f)->page_bytes, 4096);
                ck_assert_uint_eq(read_pages(f), dat_file_buffer(f)->is_packed ? 4 : 2);
                expect_text(f, "events/header_page", "\tfield: u64 timestamp;");
                expect_text(f, "events/ftrace/funcgraph_exit/format", "name: funcgraph_exit\n");
                expect_text(f, "events/sched/sched_wakeup/format", "name: sched_wakeup\n");
                expect_text(f, "saved_cmdlines", "17 client\n18 a server\n");
                expect_text(f, "printk_formats", "a\nb");
                ck_assert_int_eq(dat_file_read_symbols(f, &symbols, &n), 0);
                ck_assert(startswith(symbols, "ffffffff81000000 T udp_sendmsg\n"));
                ck_assert_int_eq(dat_file_meta(f, &m), 0);
                ck_assert_str_eq(m->clock, "mono");
                ck_assert_str_eq(m->kernel, "6.12");
                ck_assert_uint_eq(m->n_possible_cpus, 2);
                ck_assert_uint_eq(session_meta_events_lost(m), 7);
                free(b.data);
        }
}

static void expect_problem(const Bytes *b, const char *expected) {
        _cleanup_free_ char *problem = NULL;
        DatFile *f;

        ck_assert_int_eq(open_bytes(&f, b, b->n, &problem), DAT_FILE_E_UNREADABLE);
        ck_assert_msg(strstr(problem, expected), "%s", problem);
}

TEST(the_text_of_a_latency_tracer_is_no_recording) {
        Bytes b = load("version-7");
        char *option;

        /* u16 id, u32 n, u64 offset, name 00, clock 00 */
        option = memmem(b.data, b.n, "\0mono\0", 6);
        ck_assert_ptr_nonnull(option);
        option -= 14;
        ck_assert_int_eq(option[0], 3);
        option[0] = 22;
        expect_problem(&b, "the text of a latency tracer");
        free(b.data);
}

TEST(a_file_that_was_cut_is_read_as_far_as_it_goes) {
        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                Bytes b = load(forms[i]);
                bool was_good = false;

                for (size_t n = 0; is_there(forms[i]) && n < b.n; n += UNIT_EVERY) {
                        _cleanup_(dat_file_freep) DatFile *f = NULL;
                        _cleanup_free_ char *problem = NULL;
                        int r = open_bytes(&f, &b, n, &problem);

                        /* Pages come last in version 6, their table in version 7. */
                        if (r == 0) {
                                was_good = true;
                                (void) read_pages(f);
                        } else {
                                ck_assert(!was_good);
                                ck_assert_int_gt(r, 0);
                                ck_assert(n < 12 || startswith(problem, "byte "));
                        }
                }
                ck_assert_int_eq(was_good, i == 0);
                free(b.data);
        }
}

TEST(no_flipped_bit_leads_outside) {
        for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
                Bytes b = load(forms[i]);

                for (size_t n = 0; is_there(forms[i]) && n < b.n * 8; n += 5 * UNIT_EVERY) {
                        _cleanup_(dat_file_freep) DatFile *f = NULL;
                        _cleanup_free_ char *problem = NULL;
                        int r;

                        b.data[n / 8] = (char) (b.data[n / 8] ^ (1 << n % 8));
                        r = open_bytes(&f, &b, b.n, &problem);
                        ck_assert_int_ge(r, 0);
                        if (r == 0)
                                (void) read_pages(f);
                        b.data[n / 8] = (char) (b.data[n / 8] ^ (1 << n % 8));
                }
                free(b.data);
        }
}

TEST(a_refusal_names_the_place) {
        Bytes b = load("version-7");
        char *p = memmem(b.data, b.n, "none", 4);

        memcpy(p, "lzma", 4);
        expect_problem(&b, "byte 18: it is compressed in a way that is neither zstd nor zlib");
        memcpy(p, "none", 4);
        memset(p + 6, 0x7f, 8);
        expect_problem(&b, "byte 9187201950435737471: the file ends before what is said to "
                           "be here");
        free(b.data);

        b = load("options-that-bite-their-tail");
        ck_assert_int_eq(b.data[10], '7');
        expect_problem(&b, "its options never end");
        b.data[11] = 'x';
        expect_problem(&b, "byte 10: the version is neither 6 nor 7");
        free(b.data);
}

/* A short file whose options name one section again and again. */
TEST(a_section_that_is_named_without_end_is_given_up) {
        enum { N = 400000 };
        const size_t n_format = 1000, at = 34, n_section = 4 + 8 + n_format;
        size_t n = at + 16 + n_section, n_options = (size_t) N * 14 + 14;
        _cleanup_free_ char *problem = NULL;
        Bytes b = { calloc(1, n + 16 + n_options), n + 16 + n_options };
        DatFile *f = NULL;
        uint64_t v;

        memcpy(b.data, "\x17\x08\x44tracing7\0\0\10\0\x10\0\0none\0\0", 24);
        v = htole64(n);
        memcpy(b.data + 24, &v, 8);
        b.data[at] = 17;
        v = htole64(n_section);
        memcpy(b.data + at + 8, &v, 8);
        b.data[at + 16] = 1;
        v = htole64(n_format);
        memcpy(b.data + at + 20, &v, 8);
        memcpy(b.data + at + 28, "name: x\n", 8);
        v = htole64(n_options);
        memcpy(b.data + n + 8, &v, 8);
        for (size_t i = 0; i < N; i++) {
                char *option = b.data + n + 16 + i * 14;

                option[0] = 17;
                option[2] = 8;
                option[6] = (char) at;
        }
        b.data[n + 16 + (size_t) N * 14 + 2] = 8;
        ck_assert_int_eq(open_bytes(&f, &b, b.n, &problem), DAT_FILE_E_UNREADABLE);
        ck_assert_msg(strstr(problem, "larger than any kernel's") ||
                              strstr(problem, "too many formats"),
                      "%s", problem);
        free(b.data);
}
