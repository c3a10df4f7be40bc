/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A packed CPU is a chain of chunks, each with its two lengths before it, so all that is known
 * beforehand is where the first one is.  The chain is walked from head to head as far as pages are
 * asked for, without unpacking: a head that makes no sense ends what can be read.  A chunk that does
 * not unpack costs its own pages.  What of the mapped file lies behind is given back, so that it does
 * not count as the reader's memory.
 */

#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grow.h"
#include "codec/dat-bytes.h"
#include "codec/dat-pages.h"

#define CHUNK_BYTES_MAX ((uint32_t) 64 << 20) /* trace-cmd packs 10 pages at a time */

#define BEHIND_BYTES ((uint64_t) 1 << 20)

typedef struct Chunk {
        const uint8_t *data;
        uint32_t n, n_plain;
        uint64_t first_page;
} Chunk;

struct DatPages {
        const DatFile *f;
        const DatCpu *cpu;
        uint32_t page_bytes;
        uint64_t n_pages, n_torn; /* found so far */
        bool is_packed;
        DatBytes heads;        /* packed: at the next one */
        uint32_t n_said;       /* chunks that there should be */
        bool is_walked;        /* to the end */
        const uint8_t *behind; /* what is mapped before this was given back */
        Chunk *chunks;
        size_t n_chunks;
        size_t i_chunk; /* the one that is unpacked; SIZE_MAX: none */
        uint8_t *pages;
        uint32_t n_room;
        ZSTD_DCtx *zstd;
        SealedDamage *damages;
        size_t n_damages;
};

static int note(DatPages *p, size_t i_chunk, uint64_t n_pages, const char *what) {
        SealedDamage *d = reallocarray(p->damages, p->n_damages + 1, sizeof(*d));

        if (!d)
                return -ENOMEM;
        p->damages = d;
        d[p->n_damages++] = (SealedDamage){ .part = SEALED_PART_CHUNK,
                                            .block = (uint32_t) i_chunk,
                                            .n_blocks = n_pages > 0,
                                            .n_pages = n_pages,
                                            .what = what };
        return 0;
}

/* @now: what is looked at.  Whoever goes back reads from the file again. */
static void give_back(DatPages *p, const uint8_t *now) {
        const uint64_t unit = (uint64_t) sysconf(_SC_PAGESIZE);
        uintptr_t from, to;

        if (now >= p->behind && (uint64_t) (now - p->behind) < BEHIND_BYTES)
                return;
        from = ((uintptr_t) p->behind + unit - 1) / unit * unit;
        to = (uintptr_t) now / unit * unit;
        if (to > from)
                (void) madvise((void *) from, to - from, MADV_DONTNEED);
        p->behind = now;
}

/* The next chunk.  0 or -errno. */
static int find_chunk_behind(DatPages *p) {
        DatBytes *b = &p->heads;
        Chunk c = { .first_page = p->n_pages }, *chunks;

        if (p->n_chunks == p->n_said) {
                p->is_walked = true;
                return 0;
        }
        c.n = dat_bytes_u32(b, "cut off");
        c.n_plain = dat_bytes_u32(b, "cut off");
        c.data = dat_bytes_take(b, c.n, "cut off");
        if (!b->problem &&
            (c.n_plain == 0 || c.n_plain > CHUNK_BYTES_MAX || c.n_plain % p->page_bytes != 0))
                (void) dat_bytes_fail(b, "a chunk's length is impossible");
        if (b->problem) {
                p->is_walked = true;
                return p->n_torn == 0 ? note(p, p->n_chunks, 0, b->problem) : 0;
        }
        chunks = grow_array(p->chunks, p->n_chunks, sizeof(*chunks));
        if (!chunks)
                return -ENOMEM;
        p->chunks = chunks;
        p->chunks[p->n_chunks++] = c;
        p->n_pages += c.n_plain / p->page_bytes;
        give_back(p, c.data);
        return 0;
}

int dat_pages_has(DatPages *p, uint64_t i) {
        while (i >= p->n_pages && !p->is_walked) {
                int r = find_chunk_behind(p);

                if (r < 0)
                        return r;
        }
        return i < p->n_pages;
}

static int begin_walk(DatPages *p) {
        p->zstd = ZSTD_createDCtx();
        if (!p->zstd)
                return -ENOMEM;
        p->is_packed = true;
        p->is_walked = false;
        p->behind = p->cpu->data;
        p->n_torn = p->cpu->n_cut;
        p->heads = (DatBytes){ .data = p->cpu->data,
                               .n = p->cpu->n,
                               .swap = dat_file_is_big_endian(p->f) !=
                                       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
        p->n_said = dat_bytes_u32(&p->heads, "the file ends within the number of chunks");
        if (p->heads.problem) {
                p->is_walked = true;
                return p->n_torn == 0 ? note(p, 0, 0, p->heads.problem) : 0;
        }
        return 0;
}

int dat_pages_open(DatPages **ret, const DatFile *f, uint32_t cpu) {
        _cleanup_(dat_pages_freep) DatPages *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        *p = (DatPages){
                .f = f, .page_bytes = dat_file_page_bytes(f), .i_chunk = SIZE_MAX, .is_walked = true
        };
        for (size_t i = 0; i < dat_file_n_cpus(f); i++)
                if (dat_file_cpu(f, i)->cpu == cpu)
                        p->cpu = dat_file_cpu(f, i);
        if (!p->cpu)
                return -ENOENT;
        if (dat_file_compressor(f) == DAT_NONE) {
                p->n_pages = p->cpu->n / p->page_bytes;
                p->n_torn = p->cpu->n_cut + p->cpu->n % p->page_bytes;
        } else {
                r = begin_walk(p);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(p);
        return 0;
}

uint32_t dat_pages_cpu(const DatPages *p) {
        return p->cpu->cpu;
}

uint32_t dat_pages_page_bytes(const DatPages *p) {
        return p->page_bytes;
}

uint64_t dat_pages_n_pages(DatPages *p) {
        (void) dat_pages_has(p, UINT64_MAX); /* without memory: as many as are known */
        return p->n_pages;
}

uint64_t dat_pages_torn_bytes(const DatPages *p) {
        return p->n_torn;
}

static size_t find_chunk(const DatPages *p, uint64_t page) {
        size_t low = 0, high = p->n_chunks;

        if (p->i_chunk < p->n_chunks) { /* mostly this one or the next */
                low = p->i_chunk;
                if (page < p->chunks[low].first_page)
                        low = 0;
                else if (low + 2 < high && page < p->chunks[low + 2].first_page)
                        high = low + 2;
        }
        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;

                if (p->chunks[middle].first_page <= page)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static int unpack(DatPages *p, size_t i) {
        const Chunk *c = &p->chunks[i];

        p->i_chunk = SIZE_MAX;
        give_back(p, c->data);
        if (p->n_room < c->n_plain) {
                uint8_t *pages = realloc(p->pages, c->n_plain);

                if (!pages)
                        return -ENOMEM;
                p->pages = pages;
                p->n_room = c->n_plain;
        }
        if (dat_unpack(dat_file_compressor(p->f), p->zstd, c->data, c->n, p->pages, c->n_plain) !=
            0) {
                int r = note(p, i, c->n_plain / p->page_bytes, "does not unpack");

                return r < 0 ? r : DAT_PAGES_E_LOST;
        }
        p->i_chunk = i;
        return 0;
}

int dat_pages_read(DatPages *p, uint64_t i, const void **ret, uint64_t *ret_n) {
        const Chunk *c;
        size_t i_chunk;
        int r = 0;

        if (!p->is_packed) {
                *ret = p->cpu->data + i * p->page_bytes;
                *ret_n = p->n_pages - i;
                return 0;
        }
        r = dat_pages_has(p, i);
        if (r <= 0) {
                *ret_n = 1;
                return r < 0 ? r : DAT_PAGES_E_LOST;
        }
        r = 0;
        i_chunk = find_chunk(p, i);
        c = &p->chunks[i_chunk];
        *ret_n = c->first_page + c->n_plain / p->page_bytes - i;
        if (p->i_chunk != i_chunk)
                r = unpack(p, i_chunk);
        if (r == 0)
                *ret = p->pages + (i - c->first_page) * p->page_bytes;
        return r;
}

bool dat_pages_are_mapped(const DatPages *p) {
        return !p->is_packed;
}

const SealedDamage *dat_pages_damages(const DatPages *p, size_t *ret_n) {
        *ret_n = p->n_damages;
        return p->damages;
}

DatPages *dat_pages_free(DatPages *p) {
        if (!p)
                return NULL;
        free(p->chunks);
        free(p->pages);
        free(p->damages);
        (void) ZSTD_freeDCtx(p->zstd);
        free(p);
        return NULL;
}
