/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The first bytes of a trace.dat are no text's.  What cannot be read at a place of its own, as a pipe, cannot be
 * mapped either, and so is no trace.dat.
 *
 * gzip and zstd, whose libraries are here anyway, are unpacked, a buffer at a time; what has other libraries is refused
 * with the command that unpacks it.  Half of a file is refused, too: nobody could tell where in it the end is.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/cleanup.h"
#include "base/io.h"
#include "base/origin.h"
#include "import/text-trace.h"
#include "pages/dat-file.h"

int source_form_of(int fd) {
        char begin[DAT_MAGIC_BYTES];
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (S_ISDIR(st.st_mode))
                return SOURCE_SESSION;
        if (!S_ISREG(st.st_mode) || pread_up_to(fd, begin, sizeof(begin), 0) != sizeof(begin))
                return SOURCE_TEXT;
        return memcmp(begin, DAT_MAGIC, sizeof(begin)) == 0 ? SOURCE_DAT : SOURCE_TEXT;
}

/* --- packed --------------------------------------------------------------------------------------- */

#define BUFFER_BYTES ((size_t) 128 * 1024)
#define MAGIC_BYTES 4

typedef struct Unpacking {
        int fd, out;
        uint64_t at, n_out, n_max;
        const char *problem;
        uint8_t in[BUFFER_BYTES], buffer[BUFFER_BYTES];
} Unpacking;

static ssize_t get(Unpacking *u) {
        ssize_t n = pread_up_to(u->fd, u->in, sizeof(u->in), u->at);

        u->at += n > 0 ? (uint64_t) n : 0;
        return n;
}

static int refuse(Unpacking *u, const char *problem) {
        u->problem = problem;
        return PACKED_E_REFUSED;
}

static int put(Unpacking *u, size_t n) {
        u->n_out += n;
        return u->n_out > u->n_max
                       ? refuse(u,
                                "compressed, and has more than is unpacked here: unpack it first")
                       : write_full(u->out, u->buffer, n);
}

/* One behind the other, as parallel compressors write them; what follows the last one does not matter. */
#ifdef HAVE_ZLIB
static int inflate_all(Unpacking *u, z_stream *z) {
        int state = Z_STREAM_END, r = 0;

        while (r == 0) {
                if (z->avail_in == 0) {
                        ssize_t n = get(u);

                        if (n <= 0)
                                return n < 0 ? (int) n
                                       : state == Z_STREAM_END
                                               ? 0
                                               : refuse(u, "compressed by gzip, and cut off");
                        z->next_in = u->in;
                        z->avail_in = (uInt) n;
                }
                if (state == Z_STREAM_END) {
                        if (u->n_out > 0 && *z->next_in != 0x1f)
                                return 0;
                        (void) inflateReset(z);
                }
                z->next_out = u->buffer;
                z->avail_out = sizeof(u->buffer);
                state = inflate(z, Z_NO_FLUSH);
                if (state != Z_OK && state != Z_STREAM_END)
                        return state == Z_MEM_ERROR ? -ENOMEM
                                                    : refuse(u, "compressed by gzip, and damaged");
                r = put(u, sizeof(u->buffer) - z->avail_out);
        }
        return r;
}

static int unpack_gzip(Unpacking *u) {
        z_stream z = {};
        int r = inflateInit2(&z, MAX_WBITS + 16) == Z_OK ? inflate_all(u, &z) : -ENOMEM;

        (void) inflateEnd(&z);
        return r;
}
#else
static int unpack_gzip(Unpacking *u) {
        return refuse(u, "compressed by gzip, for which this program was built without zlib: "
                         "\"gzip -dk\" unpacks it");
}
#endif

static int unpack_zstd(Unpacking *u) {
        ZSTD_DCtx *zstd = ZSTD_createDCtx();
        size_t left = 0;
        ssize_t n;
        int r = zstd ? 0 : -ENOMEM;

        while (r == 0 && (n = get(u)) != 0) {
                ZSTD_inBuffer in = { u->in, (size_t) n, 0 };
                bool is_full = true;

                if (n < 0)
                        r = (int) n;
                while (r == 0 && (in.pos < in.size || (is_full && left > 0))) {
                        ZSTD_outBuffer out = { u->buffer, sizeof(u->buffer), 0 };

                        left = ZSTD_decompressStream(zstd, &out, &in);
                        is_full = out.pos == out.size;
                        r = ZSTD_isError(left) ? refuse(u, "compressed by zstd, and damaged")
                                               : put(u, out.pos);
                }
        }
        (void) ZSTD_freeDCtx(zstd);
        return r == 0 && left > 0 ? refuse(u, "compressed by zstd, and cut off") : r;
}

static const struct {
        const char *magic; /* MAGIC_BYTES at most */
        int (*unpack)(Unpacking *u);
        const char *problem;
} kinds[] = {
        { "\x1f\x8b", unpack_gzip, NULL },
        { "\x28\xb5\x2f\xfd", unpack_zstd, NULL },
        { "\xfd"
          "7zX",
          NULL, "compressed by xz, which is not read: \"xz -dk\" unpacks it" },
        { "BZh9", NULL, "compressed by bzip2, which is not read: \"bzip2 -dk\" unpacks it" },
        { "\x04\x22\x4d\x18", NULL, "compressed by lz4, which is not read: \"lz4 -d\" unpacks it" },
        { "PK\x03\x04", NULL, "a zip archive, which is not read: \"unzip\" unpacks it" },
        { "7z\xbc\xaf", NULL, "a 7z archive, which is not read: \"7z x\" unpacks it" },
};

int packed_open(int *fd, uint64_t n_max, const char **ret_problem) {
        _cleanup_free_ Unpacking *u = NULL;
        _cleanup_close_ int out = -EBADF;
        char begin[MAGIC_BYTES] = "";
        const char *dir = getenv("TMPDIR");
        struct stat st;
        size_t i = 0;
        int r;

        if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode) ||
            pread_up_to(*fd, begin, sizeof(begin), 0) <= 0)
                return 0; /* whoever reads it says why */
        while (i < ELEMENTSOF(kinds) && memcmp(begin, kinds[i].magic, strlen(kinds[i].magic)) != 0)
                i++;
        if (i == ELEMENTSOF(kinds))
                return 0;
        *ret_problem = kinds[i].problem;
        if (!kinds[i].unpack)
                return PACKED_E_REFUSED;
        out = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (out < 0)
                return ORIGIN(-errno);
        u = malloc(sizeof(*u));
        if (!u)
                return -ENOMEM;
        u->fd = *fd;
        u->out = out;
        u->n_max = n_max;
        u->at = u->n_out = 0;
        r = kinds[i].unpack(u);
        if (r != 0) {
                *ret_problem = r > 0 ? u->problem : NULL;
                return r;
        }
        if (lseek(out, 0, SEEK_SET) < 0)
                return ORIGIN(-errno);
        (void) close(*fd);
        *fd = TAKE_FD(out);
        return 0;
}
