/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <zstd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "import/text-trace.h"
#include "scratch.h"

#define TEXT " 0)   1.000 us    |  f();\n"

static int open_packed(const Scratch *s, const void *data, size_t n, uint64_t n_max,
                       const char **ret_problem) {
        int fd, r;

        scratch_write(s->fd, "file", data, n);
        fd = openat(s->fd, "file", O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        *ret_problem = "";
        r = packed_open(&fd, n_max, ret_problem);
        if (r == 0)
                return fd;
        close(fd);
        return r > 0 ? -1000 - r : r;
}

static void expect(const Scratch *s, const void *data, size_t n, const char *text, size_t n_text) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *found = NULL;
        const char *problem;
        size_t n_found;

        fd = open_packed(s, data, n, n_text, &problem);
        ck_assert_msg(fd >= 0, "%s", problem);
        ck_assert_int_eq(fd_read(fd, &found, &n_found, SIZE_MAX), 0);
        ck_assert_uint_eq(n_found, n_text);
        ck_assert_mem_eq(found, text, n_text);
}

static void refuses(const Scratch *s, const void *data, size_t n, uint64_t n_max, const char *why) {
        const char *problem;

        ck_assert_int_eq(open_packed(s, data, n, n_max, &problem), -1000 - PACKED_E_REFUSED);
        ck_assert_msg(strstr(problem, why), "%s", problem);
}

SCRATCH_TEST(what_is_not_packed_stays_as_it_is) {
        expect(s, TEXT, strlen(TEXT), TEXT, strlen(TEXT));
        expect(s, "\x1f", 1, "\x1f", 1);
}

/* All that @pack makes, twice, cut anywhere, with any byte changed, and more than is wanted. */
static void try_all(size_t (*pack)(uint8_t *ret, size_t n, const char *text, size_t n_text),
                    const char *name) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        static char zeros[1 << 20];
        static uint8_t data[1 << 16];
        size_t n = pack(data, sizeof(data) / 2, TEXT, strlen(TEXT));
        const char *problem;
        int fd;

        expect(&s, data, n, TEXT, strlen(TEXT));
        memcpy(data + n, data, n);
        expect(&s, data, 2 * n, TEXT TEXT, 2 * strlen(TEXT));
        refuses(&s, data, n, strlen(TEXT) - 1, "more than is unpacked");
        for (size_t i = 4; i < n; i++)
                refuses(&s, data, i, 1000, "cut off");
        for (size_t i = 4; i < n; i++) {
                data[i] ^= 0xff;
                fd = open_packed(&s, data, n, 1000, &problem);
                ck_assert(fd >= 0 || strstr(problem, name));
                if (fd >= 0)
                        close(fd);
                data[i] ^= 0xff;
        }
        n = pack(data, sizeof(data), zeros, sizeof(zeros));
        expect(&s, data, n, zeros, sizeof(zeros));
        refuses(&s, data, n, sizeof(zeros) - 1, "more than is unpacked");
}

static size_t pack_zstd(uint8_t *ret, size_t n, const char *text, size_t n_text) {
        n = ZSTD_compress(ret, n, text, n_text, 1);
        ck_assert(!ZSTD_isError(n));
        return n;
}

TEST(zstd_is_unpacked_whole_and_in_bounds) {
        try_all(pack_zstd, "zstd");
}

#ifdef HAVE_ZLIB
static size_t pack_gzip(uint8_t *ret, size_t n, const char *text, size_t n_text) {
        z_stream z = { .next_in = (uint8_t *) (uintptr_t) text,
                       .avail_in = (uInt) n_text,
                       .next_out = ret,
                       .avail_out = (uInt) n };

        ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
        deflateEnd(&z);
        return n - z.avail_out;
}

TEST(gzip_is_unpacked_whole_and_in_bounds) {
        try_all(pack_gzip, "gzip");
}
#endif

SCRATCH_TEST(what_is_not_unpacked_here_is_told_by_its_name) {
        refuses(s,
                "\xfd"
                "7zXZ\0",
                6, 1000, "xz -dk");
        refuses(s, "BZh91AY&SY", 10, 1000, "bzip2 -dk");
        refuses(s, "PK\3\4", 4, 1000, "unzip");
}
