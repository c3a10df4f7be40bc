/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A packed CPU is a chain of chunks, each with its two lengths before it.  All of it is walked from head to head at
 * first, without unpacking: a head that makes no sense ends what can be read.  A chunk that does not unpack costs its
 * own pages.
 *
 * Packed pages are read, not mapped: what a fault maps is the kernel's choice, up to 2 MiB at a time,
 * all of which counts as the reader's memory.
 */

#include <byteswap.h>

#include "base/array.h"
#include "base/io.h"
#include "pages/dat-private.h"

#define CHUNK_BYTES_MAX ((uint32_t) 64 << 20) /* trace-cmd packs 10 pages at a time */
#define CHUNK_PACKED_MIN 8U                   /* what nothing of zstd or zlib is shorter than */

static void note(const DatPages *p, size_t number, uint64_t n_pages, const char *what) {
        damages_add(p->damages, (Damage){ .part = DAMAGE_CHUNK,
                                          .block = (uint32_t) number,
                                          .n_blocks = n_pages > 0,
                                          .n_pages = n_pages,
                                          .what = what });
}

/* @n numbers of the CPU's bytes; false: they are not there. */
static bool read_numbers(const DatPages *p, uint64_t at, uint32_t *ret, size_t n) {
        ssize_t n_bytes = (ssize_t) (n * sizeof(*ret));

        if (at > p->cpu->n || p->cpu->n - at < (uint64_t) n_bytes ||
            pread_up_to(p->f->fd, ret, (size_t) n_bytes, p->cpu->at + at) != n_bytes)
                return false;
        for (size_t i = 0; p->f->swap && i < n; i++)
                ret[i] = bswap_32(ret[i]);
        return true;
}

/* The chunk whose head is @at; NULL, or what is wrong. */
static const char *read_chunk(const DatPages *p, uint64_t at, DatChunk *ret) {
        uint32_t head[2];

        if (!read_numbers(p, at, head, 2) || head[0] > p->cpu->n - at - sizeof(head))
                return "cut off";
        if (head[1] == 0 || head[1] > CHUNK_BYTES_MAX || head[1] % p->page_bytes != 0 ||
            head[0] < CHUNK_PACKED_MIN || head[0] > ZSTD_COMPRESSBOUND(CHUNK_BYTES_MAX))
                return "a chunk's length is impossible";
        *ret = (DatChunk){ at + sizeof(head), p->n_pages, head[0], head[1] };
        return NULL;
}

static int walk(DatPages *p) {
        uint64_t at = sizeof(uint32_t);
        const char *problem = NULL;
        uint32_t n_said = 0;
        DatChunk c;

        if (!read_numbers(p, 0, &n_said, 1))
                problem = "the file ends within the number of chunks";
        while (!problem && p->n_chunks < n_said && !(problem = read_chunk(p, at, &c))) {
                if (!ARRAY_ADD(p->chunks, p->n_chunks, c))
                        return -ENOMEM;
                at = c.at + c.n;
                p->n_pages += c.n_plain / p->page_bytes;
        }
        if (problem && p->n_torn == 0)
                note(p, p->n_chunks, 0, problem);
        return 0;
}

/* A PieceUnpack; the scratch is zstd's context. */
static int unpack(const void *source, Piece *piece, void **scratch) {
        const DatPages *p = source;
        const DatChunk *c = &p->chunks[piece->i];

        if (!*scratch && p->f->compressor == DAT_ZSTD && !(*scratch = ZSTD_createDCtx()))
                return -ENOMEM;
        if (!ARRAY_ROOM(piece->packed, piece->n_packed_room, c->n) ||
            !ARRAY_ROOM(piece->plain, piece->n_plain_room, c->n_plain))
                return -ENOMEM;
        return pread_up_to(p->f->fd, piece->packed, c->n, p->cpu->at + c->at) == (ssize_t) c->n &&
                               dat_unpack(p->f->compressor, *scratch, piece->packed, c->n,
                                          piece->plain, c->n_plain)
                       ? 0
                       : SEGMENT_E_LOST;
}

static void free_context(void *scratch) {
        (void) ZSTD_freeDCtx(scratch);
}

int dat_pages_new(DatPages **ret, const DatFile *f, const DatCpu *cpu, Damages *damages) {
        _cleanup_(dat_pages_freep) DatPages *p =
                NEW(DatPages, .f = f, .cpu = cpu, .page_bytes = f->buffers[f->i_chosen].page_bytes,
                    .n_torn = cpu->n_cut, .damages = damages,
                    .unpacked = { .unpack = unpack, .free_scratch = free_context });
        int r = p ? walk(p) : -ENOMEM;

        if (r < 0)
                return r;
        p->unpacked.source = p;
        p->unpacked.n = p->n_chunks;
        *ret = TAKE_PTR(p);
        return 0;
}

int dat_pages_read(DatPages *p, uint64_t page, const void **ret, uint64_t *ret_n) {
        size_t at = BISECT(1, p->n_chunks, i, p->chunks[i].first_page <= page) - 1;
        const DatChunk *c = &p->chunks[at];
        const Piece *piece;
        int r = pieces_get(&p->unpacked, at, &piece);

        *ret_n = c->first_page + c->n_plain / p->page_bytes - page;
        if (r == 0)
                *ret = piece->plain + (page - c->first_page) * p->page_bytes;
        else if (r > 0)
                note(p, at, c->n_plain / p->page_bytes, "does not unpack");
        return r;
}

DatPages *dat_pages_free(DatPages *p) {
        if (!p)
                return NULL;
        pieces_done(&p->unpacked);
        free(p->chunks);
        return mfree(p);
}
