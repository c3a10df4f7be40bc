/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each column is stored in the way that suits it: one byte for a column that is all the same, zstd
 * where it gains, else as it is.  Tokens hardly repeat in sequences: for them zstd is asked to look
 * for long matches only, in a small table, so that what it does is Huffman coding.
 *
 * The columns are mapped, not of the heap: 27 MiB of which most blocks touch little, and a sanitizer
 * would mark all of them for every reader.  A page behind them that is nobody's ends a write too far.
 */

#include <sys/mman.h>

#include "codec/columns.h"

#define SLACK 64
#define STRIDE (COLUMN_BYTES_MAX + SLACK)
#define GAIN_MIN 16 /* bytes, below which zstd does not pay */

enum {
        COLUMN_IS_PLAIN = 0,
        COLUMN_IS_SAME = 1,
        COLUMN_IS_ZSTD = 2,
};

/* Of whole pages of any size, so that the last column ends where they do. */
#define MEMORY_BYTES ((COLUMN_N * STRIDE + 65535) / 65536 * 65536)

int columns_init(Columns *ret) {
        uint8_t *memory = mmap(NULL, MEMORY_BYTES + (size_t) sysconf(_SC_PAGESIZE), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        *ret = (Columns){
                .memory = memory == MAP_FAILED ? NULL : memory,
                .compressor = ZSTD_createCCtx(),
                .decompressor = ZSTD_createDCtx(),
        };
        if (!ret->memory || !ret->compressor || !ret->decompressor ||
            mprotect(memory, MEMORY_BYTES, PROT_READ | PROT_WRITE) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < COLUMN_N; i++)
                ret->of[i].data = ret->of[i].next = memory + MEMORY_BYTES - (COLUMN_N - i) * STRIDE;
        return 0;
}

void columns_done(Columns *c) {
        (void) ZSTD_freeCCtx(c->compressor);
        (void) ZSTD_freeDCtx(c->decompressor);
        if (c->memory)
                (void) munmap(c->memory, MEMORY_BYTES + (size_t) sysconf(_SC_PAGESIZE));
}

void columns_clear(Columns *c) {
        for (size_t i = 0; i < COLUMN_N; i++)
                c->of[i].next = c->of[i].data;
        c->bits = (Bits){ .next = c->of[COLUMN_BITS].data };
}

static void set_effort(Columns *c, bool tokens) {
        ZSTD_CCtx *z = c->compressor;

        (void) ZSTD_CCtx_reset(z, ZSTD_reset_session_and_parameters);
        (void) ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, COLUMNS_LEVEL);
        (void) ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
        if (!tokens)
                return;
        (void) ZSTD_CCtx_setParameter(z, ZSTD_c_strategy, ZSTD_fast);
        (void) ZSTD_CCtx_setParameter(z, ZSTD_c_minMatch, 7);
        (void) ZSTD_CCtx_setParameter(z, ZSTD_c_hashLog, 10);
}

typedef struct Stored {
        uint8_t how;
        size_t n, n_stored;
} Stored;

/* Appends the bytes of one column as they are stored. */
static int pack(Columns *c, const Column *from, Stored *ret, Buf *out) {
        size_t n = (size_t) (from->next - from->data), n_room = ZSTD_compressBound(n), n_packed;
        char *p;

        *ret = (Stored){ .how = COLUMN_IS_PLAIN, .n = n, .n_stored = n };
        if (n == 0)
                return 0;
        p = buf_reserve(out, MAX(n, n_room));
        if (!p)
                return out->error;
        if (n > 1 && memcmp(from->data, from->data + 1, n - 1) == 0) {
                *p = (char) from->data[0];
                *ret = (Stored){ .how = COLUMN_IS_SAME, .n = n, .n_stored = 1 };
        } else {
                n_packed = n;
                if (n > GAIN_MIN && from != &c->of[COLUMN_BITS]) {
                        set_effort(c, from >= &c->of[COLUMN_TOKENS]);
                        n_packed = ZSTD_compress2(c->compressor, p, n_room, from->data, n);
                        if (ZSTD_isError(n_packed))
                                return -ENOMEM; /* with that room its only failure */
                }
                if (n_packed + GAIN_MIN < n)
                        *ret = (Stored){ .how = COLUMN_IS_ZSTD, .n = n, .n_stored = n_packed };
                else
                        memcpy(p, from->data, n);
        }
        out->n_data += ret->n_stored;
        return 0;
}

int columns_pack(Columns *c, Buf *out) {
        uint8_t head[COLUMN_N * 21];
        Column to = { .data = head, .next = head };
        size_t at = out->n_data, n_head;
        int r;

        c->of[COLUMN_BITS].next = c->bits.next + (c->bits.n > 0);
        /* The head's size is known last: its room is left, and what follows moved. */
        if (!buf_reserve(out, sizeof(head)))
                return out->error;
        out->n_data += sizeof(head);
        for (size_t i = 0; i < COLUMN_N; i++) {
                Stored stored;

                r = pack(c, &c->of[i], &stored, out);
                if (r < 0)
                        return r;
                column_put(&to, stored.how);
                column_put_varint(&to, stored.n);
                if (stored.how == COLUMN_IS_ZSTD)
                        column_put_varint(&to, stored.n_stored);
        }
        n_head = (size_t) (to.next - head);
        memcpy(out->data + at, head, n_head);
        memmove(out->data + at + n_head, out->data + at + sizeof(head),
                out->n_data - at - sizeof(head));
        out->n_data -= sizeof(head) - n_head;
        return 0;
}

static bool read_head(Column *from, Stored *ret) {
        uint64_t n, n_stored;

        if (!column_get(from, &ret->how) || !column_get_varint(from, &n) || n > COLUMN_BYTES_MAX)
                return false;
        switch (ret->how) {
        case COLUMN_IS_PLAIN:
                n_stored = n;
                break;
        case COLUMN_IS_SAME:
                n_stored = 1;
                break;
        case COLUMN_IS_ZSTD:
                if (!column_get_varint(from, &n_stored))
                        return false;
                break;
        default:
                return false;
        }
        ret->n = n;
        ret->n_stored = n_stored;
        return true;
}

static bool unpack(Columns *c, Column *to, const Stored *stored, Column *from) {
        if ((size_t) (from->end - from->next) < stored->n_stored)
                return false;
        switch (stored->how) {
        case COLUMN_IS_PLAIN:
                memcpy(to->data, from->next, stored->n);
                break;
        case COLUMN_IS_SAME:
                memset(to->data, *from->next, stored->n);
                break;
        case COLUMN_IS_ZSTD:
                if (ZSTD_decompressDCtx(c->decompressor, to->data, stored->n, from->next,
                                        stored->n_stored) != stored->n)
                        return false;
                break;
        }
        from->next += stored->n_stored;
        to->next = to->data;
        to->end = to->data + stored->n;
        memset(to->end, 0, SLACK);
        return true;
}

int columns_unpack(Columns *c, const uint8_t *data, size_t n) {
        Column from = { .next = (uint8_t *) data, .end = (uint8_t *) data + n };
        Stored stored[COLUMN_N];

        for (size_t i = 0; i < COLUMN_N; i++)
                if (!read_head(&from, &stored[i]))
                        return COLUMNS_E_DAMAGED;
        for (size_t i = 0; i < COLUMN_N; i++)
                if (!unpack(c, &c->of[i], &stored[i], &from))
                        return COLUMNS_E_DAMAGED;
        c->at = 0;
        return from.next == from.end ? 0 : COLUMNS_E_DAMAGED;
}
