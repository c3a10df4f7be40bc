/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <zstd.h>

#include "lines-fixture.h"
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
        expect_bad(path, "ftlines\2xxxxxxxxxxx", 18,
                   "x.lines is no lines file, or of another version");
        expect_bad(path, "ftlines\1xxxxxxxxxxx", 18, "x.lines is a damaged lines file");
        expect_bad(path, "ftlines\1", 8, "x.lines is a damaged lines file");
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
