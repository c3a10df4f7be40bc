/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A file as a block: decoding writes and reads nothing outside, and whatever it has left in the pages
 * can be encoded and decoded again.  The sum is looked at last, so it does not keep the rest from being
 * reached.
 */

#include <endian.h>

#include "codec/block.h"
#include "fuzz.h"

#define N_PAGES_MAX 8

static BlockCodec *codec_of(uint32_t page_bytes) {
        static BlockCodec *small, *large;
        BlockCodec **c = page_bytes == 4096 ? &small : &large;

        if (!*c)
                FUZZ_CHECK(block_codec_new(c, page_bytes, false) == 0);
        return *c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ uint8_t *block = NULL, *pages = NULL, *again = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        uint32_t n_pages, page_bytes;
        BlockCodec *c;
        size_t n_raw;

        if (n_data < BLOCK_HEADER_BYTES)
                return 0;
        memcpy(&n_pages, data + 4, sizeof(n_pages));
        memcpy(&page_bytes, data + 8, sizeof(page_bytes));
        n_pages = le32toh(n_pages);
        page_bytes = le32toh(page_bytes);
        if (n_pages == 0 || n_pages > N_PAGES_MAX || (page_bytes != 4096 && page_bytes != 65536))
                return 0;
        c = codec_of(page_bytes);
        n_raw = (size_t) n_pages * page_bytes;
        block = fuzz_copy(data, n_data);
        pages = malloc(n_raw);
        again = malloc(n_raw);
        FUZZ_CHECK(pages && again);
        memset(pages, 0xa5, n_raw);
        (void) block_decode(c, block, n_data, pages, n_pages);
        FUZZ_CHECK(block_encode(c, pages, n_pages, &out) == 0);
        FUZZ_CHECK(block_decode(c, out.data, out.n_data, again, n_pages) == 0);
        FUZZ_CHECK(memcmp(pages, again, n_raw) == 0);
        return 0;
}
