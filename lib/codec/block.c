/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The frame around a block's body, and the bodies that need no understanding: zstd over the pages,
 * or, where that does not help, the pages themselves.  The sum is of the pages and not of the body,
 * so that it finds an error of the codec as well as one of the disk.
 */

#include <assert.h>
#include <endian.h>
#include <xxhash.h>
#include <zstd.h>

#include "codec/block.h"
#include "codec/record.h"
#include "store/format.h"

struct BlockCodec {
        uint32_t page_bytes;
        bool little_endian;             /* the pages to encode */
        RecordKind kinds[LAYOUT_KINDS]; /* as the formats have them: without a length */
        unsigned n_kinds;
        Columns columns;
        Model *model;
};

typedef struct BlockHeader {
        uint8_t kind, zero[3];
        uint32_t n_pages, page_bytes, n_body;
        uint64_t sum;
} BlockHeader;

_Static_assert(sizeof(BlockHeader) == BLOCK_HEADER_BYTES, "the header is a file format");

int block_codec_new(BlockCodec **ret, uint32_t page_bytes, bool swap) {
        _cleanup_(block_codec_freep) BlockCodec *c = NULL;
        int r;

        if (!page_bytes_are_valid(page_bytes))
                return ORIGIN(-EINVAL);
        c = NEW(BlockCodec, .page_bytes = page_bytes,
                .little_endian = swap != (__BYTE_ORDER == __LITTLE_ENDIAN),
                .model = malloc(sizeof(Model)));
        if (!c)
                return -ENOMEM;
        r = columns_init(&c->columns);
        if (r < 0)
                return r;
        if (!c->model)
                return -ENOMEM;
        *ret = TAKE_PTR(c);
        return 0;
}

BlockCodec *block_codec_free(BlockCodec *c) {
        if (!c)
                return NULL;
        columns_done(&c->columns);
        free(c->model);
        return mfree(c);
}

int block_codec_add_format(BlockCodec *c, const char *text, size_t n) {
        unsigned i = 0;
        RecordKind k;

        if (layout_parse(&k, text, n) != 0)
                return 0;
        /* Ids are unique, and there is one kind of exit. */
        while (i < c->n_kinds)
                if (c->kinds[i].id == k.id || (c->kinds[i].is_exit && k.is_exit))
                        c->kinds[i] = c->kinds[--c->n_kinds];
                else
                        i++;
        if (c->n_kinds < LAYOUT_KINDS)
                c->kinds[c->n_kinds++] = k;
        return 0;
}

/* How long the records of each kind are in these pages: as long as the first one.  Kinds that do
 * not occur are left out. */
static void find_kinds(const BlockCodec *c, const uint8_t *pages, size_t n_pages) {
        Model *m = c->model;
        unsigned found = 0;

        m->n_kinds = 0;
        for (size_t i = 0; i < n_pages && m->n_kinds < c->n_kinds; i++) {
                const uint8_t *page = pages + i * c->page_bytes, *p = page + PAGE_HEADER_BYTES;
                uint64_t n_left = load64(page + 8) & COMMIT_LENGTH_MASK;
                size_t n;

                if (n_left > c->page_bytes - PAGE_HEADER_BYTES)
                        continue;
                for (; (n = record_bytes(p, n_left)) != 0; p += n, n_left -= n)
                        for (unsigned k = 0; k < c->n_kinds; k++) {
                                RecordKind kind = c->kinds[k];

                                if ((found & 1U << k) || (uint16_t) load32(p + 4) != kind.id ||
                                    layout_set_length(&kind, n - RECORD_HEAD_BYTES) != 0 ||
                                    record_type(load32(p)) != kind.n_bytes / 4U)
                                        continue;
                                m->kinds[m->n_kinds++] = kind;
                                found |= 1U << k;
                        }
        }
}

/* 0 if the records of these pages are not known: nothing is appended then. */
static int encode_columns(BlockCodec *c, const uint8_t *pages, size_t n_pages, Buf *out) {
        uint8_t stored[1 + LAYOUT_KINDS * LAYOUT_STORED_BYTES];
        Model *m = c->model;
        int r;

        if (!c->little_endian)
                return 0;
        find_kinds(c, pages, n_pages);
        if (m->n_kinds == 0)
                return 0;
        stored[0] = (uint8_t) m->n_kinds;
        for (unsigned i = 0; i < m->n_kinds; i++)
                layout_store(&m->kinds[i], stored + 1 + i * LAYOUT_STORED_BYTES);
        buf_add(out, stored, 1 + m->n_kinds * LAYOUT_STORED_BYTES);
        pages_split(m, &c->columns, pages, n_pages, c->page_bytes);
        r = columns_pack(&c->columns, out);
        return r < 0 ? r : 1;
}

static int decode_columns(BlockCodec *c, const uint8_t *body, size_t n, uint8_t *ret_pages,
                          size_t n_pages) {
        Model *m = c->model;
        size_t n_head;

        if (n < 1 || body[0] > LAYOUT_KINDS)
                return BLOCK_E_DAMAGED;
        m->n_kinds = body[0];
        n_head = 1 + m->n_kinds * LAYOUT_STORED_BYTES;
        if (n < n_head)
                return BLOCK_E_DAMAGED;
        for (unsigned i = 0; i < m->n_kinds; i++)
                if (layout_load(&m->kinds[i], body + 1 + i * LAYOUT_STORED_BYTES) != 0)
                        return BLOCK_E_DAMAGED;
        if (columns_unpack(&c->columns, body + n_head, n - n_head) != 0 ||
            pages_join(m, &c->columns, ret_pages, n_pages, c->page_bytes) != 0)
                return BLOCK_E_DAMAGED;
        return 0;
}

static int encode_zstd(BlockCodec *c, const void *pages, size_t n_raw, Buf *out) {
        size_t n_room = ZSTD_compressBound(n_raw), n;
        char *body = buf_reserve(out, n_room);

        if (!body)
                return out->error;
        n = ZSTD_compressCCtx(c->columns.compressor, body, n_room, pages, n_raw, COLUMNS_LEVEL);
        if (ZSTD_isError(n))
                return -ENOMEM; /* with that room its only failure */
        out->n_data += n;
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
        size_t n_raw = n_pages * c->page_bytes, at;
        uint8_t kind = BLOCK_COLUMNS;
        int r;

        if (n_pages == 0 || n_pages > BLOCK_BYTES_MAX / c->page_bytes)
                return ORIGIN(-EINVAL);
        assert(out->fd < 0); /* it would empty itself before the header is known */
        if (!buf_reserve(out, sizeof(BlockHeader) + n_raw))
                return out->error;
        at = out->n_data;
        out->n_data += sizeof(BlockHeader);
        r = encode_columns(c, pages, n_pages, out);
        if (r == 0) {
                kind = BLOCK_ZSTD;
                r = encode_zstd(c, pages, n_raw, out);
        }
        if (r >= 0 && out->n_data - at - sizeof(BlockHeader) >= n_raw) {
                kind = BLOCK_PLAIN;
                out->n_data = at + sizeof(BlockHeader);
                buf_add(out, pages, n_raw);
                r = out->error;
        }
        if (r < 0) {
                out->n_data = at;
                return r;
        }
        finish(c, out, at, kind, pages, n_pages);
        return 0;
}

int block_decode(BlockCodec *c, const void *data, size_t n, void *ret_pages, size_t n_pages) {
        const char *body = (const char *) data + sizeof(BlockHeader);
        BlockHeader h;
        size_t n_raw, n_body, n_done;

        if (n < sizeof(h) || n_pages == 0 || n_pages > BLOCK_BYTES_MAX / c->page_bytes)
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
                n_done = ZSTD_decompressDCtx(c->columns.decompressor, ret_pages, n_raw, body,
                                             n_body);
                if (ZSTD_isError(n_done) || n_done != n_raw)
                        return BLOCK_E_DAMAGED;
                break;
        case BLOCK_COLUMNS:
                if (decode_columns(c, (const uint8_t *) body, n_body, ret_pages, n_pages) != 0)
                        return BLOCK_E_DAMAGED;
                break;
        default:
                return BLOCK_E_DAMAGED;
        }
        return XXH3_64bits(ret_pages, n_raw) == le64toh(h.sum) ? 0 : BLOCK_E_DAMAGED;
}

uint64_t block_sum(const void *data) {
        BlockHeader h;

        memcpy(&h, data, sizeof(h));
        return le64toh(h.sum);
}
