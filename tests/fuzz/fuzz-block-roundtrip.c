/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in the pages, they come back.
 *
 * Input: one byte (bits 0..1 the kernel's layout, 2 the other byte order, 3 pages of 64 KiB), then
 * for each page a byte and a u16 length, and so many bytes: with the byte 0 the page itself, which
 * zeroes fill up; else its u64 time and its payload, and the byte less 1 is what lies behind it.
 */

#include <endian.h>

#include "codec/block.h"
#include "fuzz.h"
#include "tests/unit/kernel-format.h"

#define N_PAGES_MAX 8

static const char *const formats[][2] = {
        { ENTRY_6_1, EXIT_6_1 }, /* and of 6.12 */
        { ENTRY_7_2, EXIT_7_2 },
        { ENTRY_6_1, "name: funcgraph_exit\nID: 10\n" COMMON_FIELDS
                     "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
                     "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n" }, /* no times */
        { "", "" }, /* nothing is known */
};

static BlockCodec *codec_of(unsigned layout, bool swap, uint32_t page_bytes) {
        static BlockCodec *codecs[ELEMENTSOF(formats)][2][2];
        BlockCodec **c = &codecs[layout][swap][page_bytes == 4096];

        if (*c)
                return *c;
        FUZZ_CHECK(block_codec_new(c, page_bytes, swap) == 0);
        for (int i = 0; i < 2; i++)
                FUZZ_CHECK(block_codec_add_format(*c, formats[layout][i],
                                                  strlen(formats[layout][i])) == 0);
        return *c;
}

/* Fills one page, returns how much of the input it took. */
static size_t fill(uint8_t *page, uint32_t page_bytes, const uint8_t *data, size_t n_data) {
        uint16_t length;
        uint64_t commit;
        size_t n;

        memcpy(&length, data + 1, sizeof(length));
        n = MIN((size_t) le16toh(length), n_data - 3);
        n = MIN(n, (size_t) page_bytes - 8);
        memset(page, data[0] ? data[0] - 1 : 0, page_bytes);
        if (data[0] == 0 || n < 8) {
                memcpy(page, data + 3, n);
        } else {
                commit = htole64(n - 8);
                memcpy(page, data + 3, 8);
                memcpy(page + 8, &commit, sizeof(commit));
                memcpy(page + 16, data + 11, n - 8);
        }
        return 3 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ uint8_t *pages = NULL, *again = NULL, *block = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        uint32_t page_bytes;
        size_t n_pages = 0, n_raw;
        BlockCodec *c;

        if (n_data < 4)
                return 0;
        page_bytes = data[0] & 8 ? 65536 : 4096;
        c = codec_of(data[0] & 3, data[0] & 4, page_bytes);
        pages = malloc(N_PAGES_MAX * page_bytes);
        FUZZ_CHECK(pages);
        data++;
        n_data--;
        for (size_t n; n_pages < N_PAGES_MAX && n_data >= 3; data += n, n_data -= n)
                n = fill(pages + n_pages++ * page_bytes, page_bytes, data, n_data);
        n_raw = n_pages * page_bytes;
        FUZZ_CHECK(block_encode(c, pages, n_pages, &out) == 0);

        block = fuzz_copy(out.data, out.n_data);
        again = malloc(n_raw);
        FUZZ_CHECK(again);
        FUZZ_CHECK(block_decode(codec_of(3, false, page_bytes), block, out.n_data, again,
                                n_pages) == 0);
        FUZZ_CHECK(memcmp(pages, again, n_raw) == 0);
        return 0;
}
