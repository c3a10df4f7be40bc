/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A packed CPU is a chain of chunks, each with its two lengths before it, so all that is known
 * beforehand is where the first one is.  The chain is walked from head to head as far as pages are
 * asked for, without unpacking: a head that makes no sense ends what can be read.  Where every 64th
 * begins is kept, and from there it is walked again to whatever else is wanted, so that a recording
 * of 10 GiB needs some 60 KiB for it:
 *
 *      chunks   h....h....h....h....h....h....h....h....
 *      marks    ^                   ^
 *
 * A chunk that does not unpack costs its own pages.
 *
 * Packed pages are read, not mapped: what a fault maps is the kernel's choice, up to 2 MiB at a time,
 * all of which counts as the reader's memory.
 */

#include <byteswap.h>
#include <zstd.h>

#include "base/array.h"
#include "codec/dat-pages.h"

#define CHUNK_BYTES_MAX ((uint32_t) 64 << 20) /* trace-cmd packs 10 pages at a time */
#define WINDOW_BYTES ((size_t) 256 << 10)
#define MARK_CHUNKS 64U

typedef struct Chunk {
        uint64_t at;         /* of what is packed, in the CPU's bytes */
        uint32_t n, n_plain; /* n_plain 0: there is none */
        uint32_t number;
        uint64_t first_page;
} Chunk;

/* Before the head of a chunk. */
typedef struct Mark {
        uint64_t at; /* in the CPU's bytes */
        uint64_t first_page;
} Mark;

struct DatPages {
        const DatFile *f;
        const DatCpu *cpu;
        uint32_t page_bytes;
        uint64_t n_pages, n_torn; /* found so far */
        bool is_packed;
        uint64_t at;       /* packed: of the next head */
        uint32_t n_said;   /* chunks that there should be, */
        uint32_t n_chunks; /* and that were walked over */
        bool is_walked;    /* to the end */
        uint8_t *window;   /* n_window of the CPU's bytes */
        uint64_t window_at;
        size_t n_window, n_window_room;
        Mark *marks;
        size_t n_marks;
        Chunk now; /* the one that was asked for last */
        bool is_unpacked;
        uint8_t *pages;
        uint32_t n_room;
        ZSTD_DCtx *zstd;
        SealedDamage *damages;
        size_t n_damages;
};

static int note(DatPages *p, uint32_t number, uint64_t n_pages, const char *what) {
        SealedDamage damage = { SEALED_PART_CHUNK, number, n_pages > 0, n_pages, what };

        return ARRAY_ADD(p->damages, p->n_damages, damage) ? 0 : -ENOMEM;
}

/* @n of the CPU's bytes; false: they are not there. */
static bool read_bytes(const DatPages *p, uint64_t at, void *ret, size_t n) {
        if (at >= p->window_at && at - p->window_at < p->n_window &&
            p->n_window - (at - p->window_at) >= n) {
                memcpy(ret, p->window + (at - p->window_at), n);
                return true;
        }
        return dat_file_read_cpu(p->f, p->cpu, at, ret, n) == (ssize_t) n;
}

static bool read_numbers(const DatPages *p, uint64_t at, uint32_t *ret, size_t n) {
        bool swap = needs_swap(dat_file_is_big_endian(p->f));

        if (!read_bytes(p, at, ret, n * sizeof(*ret)))
                return false;
        for (size_t i = 0; swap && i < n; i++)
                ret[i] = bswap_32(ret[i]);
        return true;
}

/* The chunk whose head is @at; NULL, or what is wrong. */
static const char *read_chunk(const DatPages *p, uint64_t at, Chunk *ret) {
        uint32_t head[2];

        if (!read_numbers(p, at, head, 2) || head[0] > p->cpu->n - at - sizeof(head))
                return "cut off";
        if (head[1] == 0 || head[1] > CHUNK_BYTES_MAX || head[1] % p->page_bytes != 0 ||
            head[0] > ZSTD_COMPRESSBOUND(CHUNK_BYTES_MAX))
                return "a chunk's length is impossible";
        ret->at = at + sizeof(head);
        ret->n = head[0];
        ret->n_plain = head[1];
        return NULL;
}

static uint64_t chunk_end(const Chunk *c) {
        return c->at + c->n;
}

/* What is packed of a chunk: 0, DAT_PAGES_E_LOST (it is not there any more), -ENOMEM. */
static int load(DatPages *p, const Chunk *c, const uint8_t **ret) {
        uint64_t n_left = p->cpu->n - c->at;
        size_t n = n_left < WINDOW_BYTES ? (size_t) n_left : MAX((size_t) c->n, WINDOW_BYTES);
        ssize_t n_read;

        if (c->at < p->window_at || chunk_end(c) > p->window_at + p->n_window) {
                p->n_window = 0;
                if (!ARRAY_ROOM(p->window, p->n_window_room, n))
                        return -ENOMEM;
                n_read = dat_file_read_cpu(p->f, p->cpu, c->at, p->window, n);
                if (n_read < (ssize_t) c->n)
                        return DAT_PAGES_E_LOST;
                p->window_at = c->at;
                p->n_window = (size_t) n_read;
        }
        *ret = p->window + (c->at - p->window_at);
        return 0;
}

static int add_mark(DatPages *p, uint64_t at) {
        return ARRAY_ADD(p->marks, p->n_marks, (Mark){ at, p->n_pages }) ? 0 : -ENOMEM;
}

/* Over the next chunk.  0 or -errno. */
static int walk_on(DatPages *p) {
        const char *problem;
        Chunk c;
        int r;

        if (p->n_chunks == p->n_said) {
                p->is_walked = true;
                return 0;
        }
        problem = read_chunk(p, p->at, &c);
        if (problem) {
                p->is_walked = true;
                return p->n_torn == 0 ? note(p, p->n_chunks, 0, problem) : 0;
        }
        r = p->n_chunks % MARK_CHUNKS == 0 ? add_mark(p, p->at) : 0;
        if (r < 0)
                return r;
        p->at = chunk_end(&c);
        p->n_chunks++;
        p->n_pages += c.n_plain / p->page_bytes;
        return 0;
}

int dat_pages_has(DatPages *p, uint64_t i) {
        while (i >= p->n_pages && !p->is_walked) {
                int r = walk_on(p);

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
        p->n_torn = p->cpu->n_cut;
        p->at = sizeof(p->n_said);
        if (!read_numbers(p, 0, &p->n_said, 1)) {
                p->is_walked = true;
                return p->n_torn == 0 ? note(p, 0, 0, "the file ends within the number of chunks")
                                      : 0;
        }
        return 0;
}

int dat_pages_open(DatPages **ret, const DatFile *f, uint32_t cpu) {
        const DatBuffer *b = dat_file_buffer(f);
        _cleanup_(dat_pages_freep) DatPages *p =
                NEW(DatPages, .f = f, .page_bytes = b->page_bytes, .is_walked = true);
        int r;

        if (!p)
                return -ENOMEM;
        for (size_t i = 0; i < b->n_cpus; i++)
                if (b->cpus[i].cpu == cpu)
                        p->cpu = &b->cpus[i];
        if (!p->cpu)
                return ORIGIN(-ENOENT);
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

uint64_t dat_pages_n_pages(DatPages *p) {
        (void) dat_pages_has(p, UINT64_MAX); /* without memory: as many as are known */
        return p->n_pages;
}

uint64_t dat_pages_torn_bytes(const DatPages *p) {
        return p->n_torn;
}

/* The last mark that is not behind @page; the first one is before all. */
static const Mark *find_mark(const DatPages *p, uint64_t page) {
        return &p->marks[BISECT(1, p->n_marks, i, p->marks[i].first_page <= page) - 1];
}

static bool is_in(const DatPages *p, const Chunk *c, uint64_t page) {
        return page >= c->first_page && page - c->first_page < c->n_plain / p->page_bytes;
}

/* The heads were good when they were walked over, but somebody may write into the file. */
static bool go_to(DatPages *p, uint64_t at, uint32_t number, uint64_t first_page) {
        Chunk c = { .number = number, .first_page = first_page };

        p->is_unpacked = false;
        p->now = (Chunk){};
        if (read_chunk(p, at, &c))
                return false;
        p->now = c;
        return true;
}

static bool go_on(DatPages *p) {
        const Chunk *c = &p->now;

        return go_to(p, chunk_end(c), c->number + 1, c->first_page + c->n_plain / p->page_bytes);
}

/* Makes the chunk of @page, which was walked over, the one that is asked for. */
static bool find_chunk(DatPages *p, uint64_t page) {
        const Mark *mark;
        bool good = true;

        if (is_in(p, &p->now, page) || (p->now.n_plain > 0 && go_on(p) && is_in(p, &p->now, page)))
                return true;
        mark = find_mark(p, page);
        for (good = go_to(p, mark->at, (uint32_t) (mark - p->marks) * MARK_CHUNKS,
                          mark->first_page);
             good && !is_in(p, &p->now, page); good = go_on(p))
                if (p->now.first_page > page)
                        return false;
        return good;
}

static int unpack(DatPages *p) {
        const Chunk *c = &p->now;
        const uint8_t *data;
        int r = load(p, c, &data);

        if (r < 0)
                return r;
        if (!ARRAY_ROOM(p->pages, p->n_room, c->n_plain))
                return -ENOMEM;
        if (r > 0 ||
            dat_unpack(dat_file_compressor(p->f), p->zstd, data, c->n, p->pages, c->n_plain) != 0) {
                r = note(p, c->number, c->n_plain / p->page_bytes, "does not unpack");

                return r < 0 ? r : DAT_PAGES_E_LOST;
        }
        p->is_unpacked = true;
        return 0;
}

static int read_packed(DatPages *p, uint64_t i, const void **ret, uint64_t *ret_n) {
        const Chunk *c = &p->now;
        int r = dat_pages_has(p, i);

        *ret_n = 1;
        if (r <= 0)
                return r < 0 ? r : DAT_PAGES_E_LOST;
        if (!find_chunk(p, i)) {
                r = note(p, p->n_chunks, 1, "has changed since it was looked at");
                return r < 0 ? r : DAT_PAGES_E_LOST;
        }
        *ret_n = c->first_page + c->n_plain / p->page_bytes - i;
        r = p->is_unpacked ? 0 : unpack(p);
        if (r == 0)
                *ret = p->pages + (i - c->first_page) * p->page_bytes;
        return r;
}

int dat_pages_read(DatPages *p, uint64_t i, const void **ret, uint64_t *ret_n) {
        if (p->is_packed)
                return read_packed(p, i, ret, ret_n);
        *ret = p->cpu->data + i * p->page_bytes;
        *ret_n = p->n_pages - i;
        return 0;
}

int dat_pages_fd(const DatPages *p, uint64_t *ret_at) {
        return dat_file_fd(p->f, p->cpu, ret_at);
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
        free(p->marks);
        free(p->window);
        free(p->pages);
        free(p->damages);
        (void) ZSTD_freeDCtx(p->zstd);
        return mfree(p);
}
