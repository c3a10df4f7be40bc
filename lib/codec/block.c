/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The frame around a block's body, and the bodies that need no understanding: zstd over the pages,
 * or, where that does not help, the pages themselves.  The sum is of the pages and not of the body,
 * so that it finds an error of the codec as well as one of the disk.
 */

#include <endian.h>
#include <xxhash.h>
#include <zstd.h>

#include "codec/block.h"
#include "store/format.h"

#define LEVEL_DEFAULT 1
#define LEVEL_MAX 19

struct BlockCodec {
        uint32_t page_bytes;
        bool swap;
        int level;
        ZSTD_CCtx *compressor;
        ZSTD_DCtx *decompressor;
};

typedef struct BlockHeader {
        uint8_t kind, zero[3];
        uint32_t n_pages, page_bytes, n_body;
        uint64_t sum;
} BlockHeader;

_Static_assert(sizeof(BlockHeader) == BLOCK_HEADER_BYTES, "the header is a file format");

int block_codec_new(BlockCodec **ret, uint32_t page_bytes, bool swap, int level) {
        _cleanup_(block_codec_freep) BlockCodec *c = NULL;

        if (page_bytes < PAGE_BYTES_MIN || page_bytes > PAGE_BYTES_MAX ||
            (page_bytes & (page_bytes - 1)) != 0 || level < 0 || level > LEVEL_MAX)
                return -EINVAL;
        c = malloc(sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = (BlockCodec){
                .page_bytes = page_bytes,
                .swap = swap,
                .level = level ?: LEVEL_DEFAULT,
                .compressor = ZSTD_createCCtx(),
                .decompressor = ZSTD_createDCtx(),
        };
        if (!c->compressor || !c->decompressor)
                return -ENOMEM;
        *ret = TAKE_PTR(c);
        return 0;
}

BlockCodec *block_codec_free(BlockCodec *c) {
        if (!c)
                return NULL;
        (void) ZSTD_freeCCtx(c->compressor);
        (void) ZSTD_freeDCtx(c->decompressor);
        free(c);
        return NULL;
}

int block_codec_add_format(BlockCodec *c, const char *text, size_t n) {
        return 0;
}

static void finish(const BlockCodec *c, Buf *out, size_t at, uint8_t kind, const void *pages,
                   size_t n_pages) {
        BlockHeader h = {
                .kind = kind,
                .n_pages = htole32((uint32_t) n_pages),
                .page_bytes = htole32(c->page_bytes),
                .n_body = htole32((uint32_t) (out->n_data - at - sizeof(h))),
                .sum = htole64(XXH3_64bits(pages, n_pages * c->page_bytes)),
        };

        memcpy(out->data + at, &h, sizeof(h));
}

int block_encode(BlockCodec *c, const void *pages, size_t n_pages, Buf *out) {
        size_t n_raw = n_pages * c->page_bytes, at, n;
        uint8_t kind = BLOCK_ZSTD;
        char *body;

        if (n_pages == 0 || n_pages > MAX(BLOCK_BYTES_MAX / c->page_bytes, (size_t) 1))
                return -EINVAL;
        body = buf_reserve(out, sizeof(BlockHeader) + ZSTD_compressBound(n_raw));
        if (!body)
                return out->error;
        at = out->n_data;
        body += sizeof(BlockHeader);
        n = ZSTD_compressCCtx(c->compressor, body, ZSTD_compressBound(n_raw), pages, n_raw,
                              c->level);
        if (ZSTD_isError(n))
                return -ENOMEM; /* with that room its only failure */
        if (n >= n_raw) {
                kind = BLOCK_PLAIN;
                memcpy(body, pages, n_raw);
                n = n_raw;
        }
        out->n_data += sizeof(BlockHeader) + n;
        finish(c, out, at, kind, pages, n_pages);
        return 0;
}

int block_decode(BlockCodec *c, const void *data, size_t n, void *ret_pages, size_t n_pages) {
        const char *body = (const char *) data + sizeof(BlockHeader);
        BlockHeader h;
        size_t n_raw, n_body, n_done;

        if (n < sizeof(h) || n_pages == 0 || n_pages > BLOCK_BYTES_MAX)
                return BLOCK_E_DAMAGED;
        memcpy(&h, data, sizeof(h));
        n_raw = n_pages * c->page_bytes;
        n_body = le32toh(h.n_body);
        if (le32toh(h.n_pages) != n_pages || le32toh(h.page_bytes) != c->page_bytes ||
            n_body != n - sizeof(h) || h.zero[0] || h.zero[1] || h.zero[2])
                return BLOCK_E_DAMAGED;
        switch (h.kind) {
        case BLOCK_PLAIN:
                if (n_body != n_raw)
                        return BLOCK_E_DAMAGED;
                memcpy(ret_pages, body, n_raw);
                break;
        case BLOCK_ZSTD:
                n_done = ZSTD_decompressDCtx(c->decompressor, ret_pages, n_raw, body, n_body);
                if (ZSTD_isError(n_done) || n_done != n_raw)
                        return BLOCK_E_DAMAGED;
                break;
        default:
                return BLOCK_E_DAMAGED;
        }
        return XXH3_64bits(ret_pages, n_raw) == le64toh(h.sum) ? 0 : BLOCK_E_DAMAGED;
}
