/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "pages/dat-private.h"

void dat_bytes_fail(DatBytes *b, const char *what) {
        if (!b->problem) {
                b->problem = what;
                b->problem_at = b->base + b->at;
        }
        b->at = b->n;
}

const void *dat_bytes_take(DatBytes *b, uint64_t n, const char *what) {
        const void *p = b->data + b->at;

        if (b->problem || n > b->n - b->at) {
                dat_bytes_fail(b, what);
                return NULL;
        }
        b->at += n;
        return p;
}

uint16_t dat_bytes_u16(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 2, what);

        return p ? load_u16(p, b->swap) : 0;
}

uint32_t dat_bytes_u32(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 4, what);

        return p ? load_u32(p, b->swap) : 0;
}

uint64_t dat_bytes_u64(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 8, what);

        return p ? load_u64(p, b->swap) : 0;
}

const char *dat_bytes_string(DatBytes *b, const char *what) {
        const uint8_t *p = b->data + b->at;
        const uint8_t *end = b->problem || b->at >= b->n ? NULL : memchr(p, 0, b->n - b->at);

        if (!end) {
                dat_bytes_fail(b, what);
                return "";
        }
        b->at += (uint64_t) (end - p) + 1;
        return (const char *) p;
}

bool dat_bytes_are(DatBytes *b, const void *what, size_t n) {
        if (b->problem || n > b->n - b->at || memcmp(b->data + b->at, what, n) != 0)
                return false;
        b->at += n;
        return true;
}

/* What trace-cmd compresses with: zstd frames, or zlib streams where it was built without zstd.  The length that
 * comes out is known beforehand, so what is longer or shorter is damage. */
bool dat_unpack(DatCompressor compressor, void *context, const void *data, size_t n_data, void *ret,
                size_t n) {
#ifdef HAVE_ZLIB
        uLongf n_done = n;

        if (compressor == DAT_ZLIB)
                return uncompress(ret, &n_done, data, n_data) == Z_OK && n_done == n;
#endif
        return compressor == DAT_ZSTD &&
               (context ? ZSTD_decompressDCtx(context, ret, n, data, n_data)
                        : ZSTD_decompress(ret, n, data, n_data)) == n;
}

bool dat_can_unpack(DatCompressor compressor) {
#ifdef HAVE_ZLIB
        return true;
#else
        return compressor != DAT_ZLIB;
#endif
}
