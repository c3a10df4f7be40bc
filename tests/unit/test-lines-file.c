/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <zstd.h>

#include "lines-fixture.h"
#include "lines/lines-private.h"
#include "scratch.h"

static void expect_bad(const char *path, const void *data, size_t n, const char *says) {
        LinesRecording none = { .symbols_fd = -EBADF };
        LinesPlace place = { .vmlinux = path };
        _cleanup_free_ char *problem = NULL;
        Lines *l = NULL;

        ck_assert_int_eq(file_replace(AT_FDCWD, path, data, n, 0600), 0);
        ck_assert_int_eq(lines_open(&l, &none, &place, &problem), LINES_E_NONE);
        ck_assert_msg(strstr(problem, says), "\"%s\" does not say \"%s\"", problem, says);
}

TEST(what_is_no_lines_file_is_refused_by_name) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        char path[4096 + 16];

        (void) snprintf(path, sizeof(path), "%s/x.lines", s.path);
        expect_bad(path, "ftlines\3xxxxxxxxxxx", 18,
                   "x.lines is no lines file, or of another version");
        expect_bad(path, "ftlines\2xxxxxxxxxxx", 18, "x.lines is a damaged lines file");
        expect_bad(path, "ftlines\2", 8, "x.lines is a damaged lines file");
}

/* The strings "", "f" and more, machine and release. */
static void add_head(Buf *body, size_t n_strings) {
        buf_add_varint(body, n_strings);
        buf_add(body, "\0f\0", 3);
        buf_pad(body, n_strings - 2, 0);
        buf_add(body, "\0\0", 2);
}

/* Symbols "f" of the kernel, of which the first has @calls. */
static void add_symbols(Buf *body, size_t n, const Buf *calls) {
        buf_add_varint(body, 1);
        buf_add(body, "\0\0", 2);
        buf_add_varint(body, n);
        buf_add(body, "\1\1\1\4", 4);
        buf_add_varint(body, calls->n_data);
        for (size_t i = 1; i < n; i++)
                buf_add(body, "\1\1\1\0", 4);
        buf_add(body, calls->data, calls->n_data);
}

/* What zstd cannot make smaller. */
static void add_noise(Buf *out, size_t n) {
        unsigned seed = 1;

        for (size_t i = 0; i < n; i++) {
                char c = (char) (rand_r(&seed) >> 8);

                buf_add(out, &c, 1);
        }
}

static int open_body(LinesFile **ret, const Buf *body) {
        size_t n_room = ZSTD_compressBound(body->n_data), n;
        _cleanup_free_ char *packed = malloc(n_room + 8);
        const char *problem;
        int r;

        ck_assert(packed && body->error == 0);
        memcpy(packed, LINES_FILE_MAGIC, 8);
        n = ZSTD_compress(packed + 8, n_room, body->data, body->n_data, 1);
        ck_assert(!ZSTD_isError(n));
        r = lines_file_open(ret, packed, n + 8, &problem);
        if (r == LINES_E_NONE)
                ck_assert_str_eq(problem, "is a damaged lines file");
        return r;
}

/* Whether @body is refused with one more of what it has too many of, and is not without it. */
#define EXPECT_MOST(n_most, make)                                                                  \
        for (size_t more = 0; more < 2; more++) {                                                  \
                _cleanup_(lines_file_freep) LinesFile *f = NULL;                                   \
                _cleanup_buf_ Buf body = BUF_INIT;                                                 \
                size_t n = (n_most) + more;                                                        \
                                                                                                   \
                make;                                                                              \
                ck_assert_int_eq(open_body(&f, &body), more ? LINES_E_NONE : 0);                   \
        }

TEST(a_body_of_many_times_what_it_is_packed_in_is_refused) {
        _cleanup_(lines_file_freep) LinesFile *f = NULL;
        _cleanup_buf_ Buf body = BUF_INIT, none = BUF_INIT;

        add_head(&body, FILE_STRINGS_MAX);
        add_symbols(&body, 1, &none);
        ck_assert_int_eq(open_body(&f, &body), LINES_E_NONE);
}

TEST(a_body_has_no_more_strings_objects_and_symbols_than_it_may) {
        _cleanup_buf_ Buf noise = BUF_INIT, none = BUF_INIT;

        add_noise(&noise, (size_t) 512 << 10);
        EXPECT_MOST(FILE_STRINGS_MAX, (add_head(&body, n), add_symbols(&body, 1, &noise)));
        EXPECT_MOST(FILE_SYMBOLS_MAX, (add_head(&body, 3), add_symbols(&body, n, &noise)));
        EXPECT_MOST(FILE_OBJECTS_MAX, ({
                            add_head(&body, 3);
                            buf_add_varint(&body, n);
                            for (size_t i = 0; i < n; i++)
                                    buf_add(&body, "\0\0\0", 3);
                    }));
        EXPECT_MOST(FILE_STRING_MAX, ({
                            buf_add_varint(&body, 3);
                            buf_add(&body, "\0f\0", 3);
                            buf_pad(&body, n, 'x');
                            buf_add(&body, "\0\0\0", 3);
                            add_symbols(&body, 1, &none);
                    }));
}

TEST(of_many_symbols_of_one_name_some_are_found_by_it) {
        _cleanup_(lines_file_freep) LinesFile *f = NULL;
        _cleanup_(code_symbols_done) CodeSymbols symbols = {};
        _cleanup_buf_ Buf body = BUF_INIT, none = BUF_INIT;
        bool is_only;

        add_head(&body, 3);
        add_symbols(&body, 2000, &none);
        ck_assert_int_eq(open_body(&f, &body), 0);
        ck_assert_int_eq(lines_file_symbols(f, 0, &symbols), 0);
        ck_assert_uint_eq(symbols.n, 2000);
        ck_assert_uint_eq(symbols.names.n, 128);
        ck_assert_uint_eq(code_symbols_named(&symbols, "f", 1, &is_only), 0);
        ck_assert(!is_only);
        ck_assert_uint_eq(code_symbols_at(&symbols, 2000), 1999);
}

TEST(a_function_has_no_more_calls_than_it_may) {
        for (size_t more = 0; more < 2; more++) {
                _cleanup_(lines_file_freep) LinesFile *f = NULL;
                _cleanup_(lines_caller_freep) LinesCaller *c = NULL;
                _cleanup_buf_ Buf body = BUF_INIT, calls = BUF_INIT;
                size_t n = FILE_CALLS_MAX + more;

                buf_add_varint(&calls, n);
                buf_add(&calls, "\0", 1);
                for (size_t i = 0; i < n; i++)
                        buf_add(&calls, "\2\0\0\0\1\1\0\1", 8);
                buf_pad(&calls, n + 1, 0);
                /* What keeps the body from being packed too well is in strings. */
                buf_add_varint(&body, 1026);
                buf_add(&body, "\0f\0", 3);
                for (unsigned i = 0, seed = 1; i < 1024; i++) {
                        char text[101];

                        for (size_t k = 0; k < 100; k++)
                                text[k] = (char) ((rand_r(&seed) >> 8) | 1);
                        text[100] = 0;
                        buf_add(&body, text, sizeof(text));
                }
                buf_add(&body, "\0\0", 2);
                add_symbols(&body, 1, &calls);
                ck_assert_int_eq(open_body(&f, &body), 0);
                ck_assert_int_eq(lines_file_caller(f, 0, 0, &c), more ? -EBADMSG : 0);
                if (!more)
                        ck_assert_uint_eq(c->n_nodes, n);
        }
}

#ifdef HAVE_ELFUTILS
/* A file of what expect_sample() asks for, or of all. */
static void write_sample(const char *path, bool is_whole, Buf *out) {
        LinesId id = { NULL, SAMPLE_BUILD_ID };
        LinesRecording recording = {
                .symbols_fd = -EBADF, .release = "6.12-sample", .ids = &id, .n_ids = 1
        };
        _cleanup_(lines_freep) Lines *l = sample_open(SAMPLE_PATH("vmlinux"), &recording);
        Asked a = {};
        LineFrame f;

        if (!is_whole) {
                expect_sample(l, &a);
                EXPECT_SITES(l, &a, "module_caller [sample]", "leaf",
                             "direct\n module_caller drivers/sample/sample.c:21");
                ck_assert(lines_definition(l, asked(&a, "outer"), &f));
        }
        ck_assert_int_eq(lines_write(l, is_whole, out), 0);
        ck_assert_int_eq(file_replace(AT_FDCWD, path, out->data, out->n_data, 0600), 0);
}

TEST(a_lines_file_says_what_the_kernel_says) {
        for (int is_whole = 0; is_whole < 2; is_whole++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_buf_ Buf out = BUF_INIT;
                _cleanup_(lines_freep) Lines *l = NULL;
                char path[4096 + 16];
                Asked a = {};
                LineFrame f;

                (void) snprintf(path, sizeof(path), "%s/x.lines", s.path);
                write_sample(path, is_whole, &out);
                l = sample_open(path, NULL);
                expect_sample(l, &a);
                ck_assert(lines_definition(l, asked(&a, "outer"), &f));
                ck_assert_str_eq(f.file, "net/ipv4/outer.c");
                ck_assert_uint_eq(f.line, 50);
                if (is_whole)
                        EXPECT_SITES(l, &a, "loop", "other", "direct\n loop net/ipv4/loop.c:83");
                else {
                        EXPECT_SITES(l, &a, "loop", "other", "unknown");
                        EXPECT_SITES(l, &a, "module_caller [sample]", "leaf",
                                     "direct\n module_caller drivers/sample/sample.c:21");
                }
        }
}

TEST(what_was_written_of_a_lines_file_is_the_same_again) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_buf_ Buf first = BUF_INIT, second = BUF_INIT;
        _cleanup_(lines_freep) Lines *l = NULL;
        char path[4096 + 16];

        (void) snprintf(path, sizeof(path), "%s/x.lines", s.path);
        write_sample(path, true, &first);
        l = sample_open(path, NULL);
        ck_assert_int_eq(lines_write(l, true, &second), 0);
        ck_assert_uint_eq(first.n_data, second.n_data);
        ck_assert_mem_eq(first.data, second.data, first.n_data);
}

TEST(a_store_has_it_by_its_build_id) {
        LinesId id = { NULL, SAMPLE_BUILD_ID };
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_buf_ Buf out = BUF_INIT;
        LinesRecording recording = { .symbols_fd = s.fd, .ids = &id, .n_ids = 1 };
        _cleanup_(lines_freep) Lines *l = NULL;
        char path[4096 + 64];

        (void) snprintf(path, sizeof(path), "%s/" SAMPLE_BUILD_ID ".lines", s.path);
        write_sample(path, true, &out);
        l = sample_open(NULL, &recording);
        ck_assert_str_eq(lines_origin(l), SAMPLE_BUILD_ID ".lines");
}

TEST(one_of_another_kernel_is_refused_by_name) {
        LinesId id = { NULL, "ffeeddccbbaa00112233445566778899ffeeddcc" };
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_buf_ Buf out = BUF_INIT;
        LinesRecording by_id = { .symbols_fd = -EBADF, .ids = &id, .n_ids = 1 };
        LinesRecording by_release = { .symbols_fd = -EBADF, .release = "7.2" };
        char path[4096 + 16];

        (void) snprintf(path, sizeof(path), "%s/x.lines", s.path);
        write_sample(path, true, &out);
        for (int i = 0; i < 2; i++) {
                LinesPlace place = { .vmlinux = path };
                _cleanup_free_ char *problem = NULL;
                Lines *l = NULL;

                ck_assert_int_eq(lines_open(&l, i ? &by_release : &by_id, &place, &problem),
                                 LINES_E_NONE);
                ck_assert_ptr_nonnull(
                        strstr(problem, i ? "x.lines is of 6.12-sample, and the recording of 7.2"
                                          : "x.lines has the build ID " SAMPLE_BUILD_ID));
        }
}

TEST(a_damaged_body_is_an_error_or_another_answer) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_buf_ Buf out = BUF_INIT;
        unsigned seed = unit_seed();
        char path[4096 + 16];
        unsigned long long n_body;
        uint8_t body[1 << 16];

        (void) snprintf(path, sizeof(path), "%s/x.lines", s.path);
        write_sample(path, true, &out);
        n_body = ZSTD_decompress(body, sizeof(body), out.data + 8, out.n_data - 8);
        ck_assert(!ZSTD_isError((size_t) n_body));
        for (int i = 0; i < 3000; i++) {
                _cleanup_free_ uint8_t *bad = malloc((size_t) n_body);
                _cleanup_free_ char *packed = malloc(ZSTD_compressBound((size_t) n_body) + 8);
                _cleanup_free_ char *problem = NULL;
                LinesRecording none = { .symbols_fd = -EBADF };
                LinesPlace place = { .vmlinux = path };
                _cleanup_(lines_freep) Lines *l = NULL;
                size_t n;

                ck_assert(bad && packed);
                memcpy(bad, body, (size_t) n_body);
                for (int k = 0; k < 1 + i % 7; k++)
                        bad[(size_t) rand_r(&seed) % (size_t) n_body] = (uint8_t) rand_r(&seed);
                memcpy(packed, out.data, 8);
                n = ZSTD_compress(packed + 8, ZSTD_compressBound((size_t) n_body), bad,
                                  (size_t) n_body, 1);
                ck_assert_int_eq(file_replace(AT_FDCWD, path, packed, n + 8, 0600), 0);
                if (lines_open(&l, &none, &place, &problem) == 0) {
                        Asked a = {};
                        const LineSites *sites[2] = {
                                lines_sites(l, asked(&a, "twice"), asked(&a, "leaf")),
                                lines_sites(l, asked(&a, "twice"), asked(&a, "other")),
                        };
                        uint64_t possible[2];

                        ck_assert_int_eq(lines_follow_all(l, sites, 2, true, possible), 0);
                        (void) lines_sites(l, asked(&a, "through"), asked(&a, "leaf"));
                        (void) lines_sites(l, asked(&a, "by_pointer"), asked(&a, "leaf"));
                }
        }
}
#endif
