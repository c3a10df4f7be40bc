/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What trace-cmd compresses with: zstd frames, or zlib streams where it was built without zstd.
 * The length that comes out is known beforehand, so what is longer or shorter is damage.
 */

#include <zstd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "codec/dat-file.h"

static bool unpack_zlib(const void *data, size_t n_data, void *ret, size_t n) {
#ifdef HAVE_ZLIB
        uLongf n_done = n;

        return uncompress(ret, &n_done, data, n_data) == Z_OK && n_done == n;
#else
        return false;
#endif
}

bool dat_can_unpack(DatCompressor compressor) {
#ifdef HAVE_ZLIB
        return true;
#else
        return compressor != DAT_ZLIB;
#endif
}

static bool unpack_zstd(void *context, const void *data, size_t n_data, void *ret, size_t n) {
        return (context ? ZSTD_decompressDCtx(context, ret, n, data, n_data)
                        : ZSTD_decompress(ret, n, data, n_data)) == n;
}

int dat_unpack(DatCompressor compressor, void *context, const void *data, size_t n_data, void *ret,
               size_t n) {
        bool good = compressor == DAT_ZSTD ? unpack_zstd(context, data, n_data, ret, n)
                                           : unpack_zlib(data, n_data, ret, n);

        return good ? 0 : DAT_FILE_E_UNREADABLE;
}
