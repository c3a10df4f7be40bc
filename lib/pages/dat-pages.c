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

#include "base/array.h"
#include "base/io.h"
#include "pages/dat-private.h"

#define CHUNK_BYTES_MAX ((uint32_t) 64 << 20) /* trace-cmd packs 10 pages at a time */
#define WINDOW_BYTES ((size_t) 256 << 10)
#define MARK_CHUNKS 64U

static int note(DatPages *p, uint32_t number, uint64_t n_pages, const char *what) {
        SealedDamage damage = { SEALED_PART_CHUNK, number, n_pages > 0, n_pages, what };

        return ARRAY_ADD(p->damages, p->n_damages, damage) ? 0 : -ENOMEM;
}

static ssize_t read_file(const DatPages *p, uint64_t at, void *ret, size_t n) {
        return at >= p->cpu->n ? 0
                               : pread_up_to(p->f->fd, ret, MIN((uint64_t) n, p->cpu->n - at),
                                             p->cpu->at + at);
}

/* @n numbers of the CPU's bytes; false: they are not there. */
static bool read_numbers(const DatPages *p, uint64_t at, uint32_t *ret, size_t n) {
        size_t n_bytes = n * sizeof(*ret);

        if (at >= p->window_at && at - p->window_at < p->n_window &&
            p->n_window - (at - p->window_at) >= n_bytes)
                memcpy(ret, p->window + (at - p->window_at), n_bytes);
        else if (read_file(p, at, ret, n_bytes) != (ssize_t) n_bytes)
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
            head[0] > ZSTD_COMPRESSBOUND(CHUNK_BYTES_MAX))
                return "a chunk's length is impossible";
        ret->at = at + sizeof(head);
        ret->n = head[0];
        ret->n_plain = head[1];
        return NULL;
}

static uint64_t chunk_end(const DatChunk *c) {
        return c->at + c->n;
}

/* What is packed of a chunk: 0, DAT_PAGES_E_LOST (it is not there any more), -ENOMEM. */
static int load(DatPages *p, const DatChunk *c, const uint8_t **ret) {
        uint64_t n_left = p->cpu->n - c->at;
        size_t n = n_left < WINDOW_BYTES ? (size_t) n_left : MAX((size_t) c->n, WINDOW_BYTES);
        ssize_t n_read;

        if (c->at < p->window_at || chunk_end(c) > p->window_at + p->n_window) {
                p->n_window = 0;
                if (!ARRAY_ROOM(p->window, p->n_window_room, n))
                        return -ENOMEM;
                n_read = read_file(p, c->at, p->window, n);
                if (n_read < (ssize_t) c->n)
                        return DAT_PAGES_E_LOST;
                p->window_at = c->at;
                p->n_window = (size_t) n_read;
        }
        *ret = p->window + (c->at - p->window_at);
        return 0;
}

/* Over the next chunk.  0 or -errno. */
static int walk_on(DatPages *p) {
        const char *problem;
        DatChunk c;

        if (p->n_chunks == p->n_said) {
                p->is_walked = true;
                return 0;
        }
        problem = read_chunk(p, p->at, &c);
        if (problem) {
                p->is_walked = true;
                return p->n_torn == 0 ? note(p, p->n_chunks, 0, problem) : 0;
        }
        if (p->n_chunks % MARK_CHUNKS == 0 &&
            !ARRAY_ADD(p->marks, p->n_marks, (DatMark){ p->at, p->n_pages }))
                return -ENOMEM;
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

int dat_pages_new(DatPages **ret, const DatFile *f, const DatCpu *cpu) {
        _cleanup_(dat_pages_freep) DatPages *p =
                NEW(DatPages, .f = f, .cpu = cpu, .page_bytes = f->buffers[f->i_chosen].page_bytes,
                    .n_torn = cpu->n_cut, .zstd = ZSTD_createDCtx(), .at = sizeof(p->n_said));
        int r = 0;

        if (!p || !p->zstd)
                return -ENOMEM;
        if (!read_numbers(p, 0, &p->n_said, 1)) {
                p->is_walked = true;
                if (p->n_torn == 0)
                        r = note(p, 0, 0, "the file ends within the number of chunks");
        }
        if (r >= 0)
                *ret = TAKE_PTR(p);
        return r;
}

/* The last mark that is not behind @page; the first one is before all. */
static const DatMark *find_mark(const DatPages *p, uint64_t page) {
        return &p->marks[BISECT(1, p->n_marks, i, p->marks[i].first_page <= page) - 1];
}

static bool is_in(const DatPages *p, const DatChunk *c, uint64_t page) {
        return page >= c->first_page && page - c->first_page < c->n_plain / p->page_bytes;
}

/* The heads were good when they were walked over, but somebody may write into the file. */
static bool go_to(DatPages *p, uint64_t at, uint32_t number, uint64_t first_page) {
        DatChunk c = { .number = number, .first_page = first_page };

        p->is_unpacked = false;
        p->now = (DatChunk){};
        if (read_chunk(p, at, &c))
                return false;
        p->now = c;
        return true;
}

static bool go_on(DatPages *p) {
        const DatChunk *c = &p->now;

        return go_to(p, chunk_end(c), c->number + 1, c->first_page + c->n_plain / p->page_bytes);
}

/* Makes the chunk of @page, which was walked over, the one that is asked for. */
static bool find_chunk(DatPages *p, uint64_t page) {
        const DatMark *mark;
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
        const DatChunk *c = &p->now;
        const uint8_t *data;
        int r = load(p, c, &data);

        if (r < 0)
                return r;
        if (!ARRAY_ROOM(p->pages, p->n_room, c->n_plain))
                return -ENOMEM;
        if (r > 0 || !dat_unpack(p->f->compressor, p->zstd, data, c->n, p->pages, c->n_plain)) {
                r = note(p, c->number, c->n_plain / p->page_bytes, "does not unpack");

                return r < 0 ? r : DAT_PAGES_E_LOST;
        }
        p->is_unpacked = true;
        return 0;
}

int dat_pages_read(DatPages *p, uint64_t i, const void **ret, uint64_t *ret_n) {
        const DatChunk *c = &p->now;
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
