/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of three readers.  Which one is decided by what the directory is, then by the file's header; a
 * file whose header is lost may still be a sealed one, whose blocks speak for themselves.
 */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/io.h"
#include "codec/dat-pages.h"
#include "codec/page-source.h"
#include "store/page.h"
#include "store/segment.h"

/* What was read is given back so many bytes at a time: mapped pages count as the reader's memory
 * until it does. */
#define BEHIND_BYTES ((uint64_t) 1 << 20)
/* Of a segment so much is read at once, and less until it is known that it is read in order. */
#define WINDOW_BYTES ((uint64_t) 256 << 10)

struct PageSource {
        uint32_t cpu, page_bytes;
        uint64_t sequence, previous;
        const uint8_t *behind; /* mapped pages before this one were given back; NULL: none */
        Segment *raw;          /* or */
        DatPages *dat;         /* or */
        SealedReader *sealed;
        int fd; /* of mapped pages, borrowed, and where in it the first one is */
        uint64_t begin;
        uint64_t first_hole; /* number of the first page that is in a hole; UINT64_MAX: none is */
        uint64_t n_data;     /* pages up to the last one that is not */
        SealedDamage *holes; /* n_holes that were met */
        size_t n_holes;
        uint64_t last_hole; /* the page that the last of them begins with */
        uint8_t *window;    /* of a segment: n_window pages from first_in_window on */
        size_t n_window_room;
        uint64_t first_in_window, n_window;
};

static PageSource *page_source_new(void) {
        return NEW(PageSource, .fd = -EBADF, .first_hole = UINT64_MAX);
}

static uint64_t page_at(const PageSource *s, uint64_t i) {
        return s->begin + i * s->page_bytes;
}

/* What was recorded has no holes: a file that has some is of another kind, and may be of any size. */
static void look_for_holes(PageSource *s) {
        uint64_t end, hole;

        s->first_hole = UINT64_MAX;
        s->n_data = page_source_n_pages(s);
        end = page_at(s, s->n_data);
        hole = fd_next_hole(s->fd, s->begin, end);
        if (hole == end)
                return;
        s->first_hole = (hole - s->begin) / s->page_bytes;
        s->n_data =
                (fd_data_end(s->fd, s->begin, end) - s->begin + s->page_bytes - 1) / s->page_bytes;
}

static int take_sealed(SealedReader **ret, int fd, uint32_t *ret_version) {
        int r = sealed_reader_take_fd(ret, fd, ret_version);

        switch (r) {
        case SEALED_E_DAMAGED:
                return PAGE_SOURCE_E_DAMAGED;
        case SEALED_E_NEWER:
                return PAGE_SOURCE_E_NEWER;
        default:
                return r;
        }
}

static void identify(PageSource *s, uint32_t cpu, uint32_t page_bytes, uint64_t sequence,
                     uint64_t previous) {
        s->cpu = cpu;
        s->page_bytes = page_bytes;
        s->sequence = sequence;
        s->previous = previous;
}

int page_source_take_fd(PageSource **ret, int fd, uint32_t *ret_version) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        _cleanup_close_ int owned = fd, again = -EBADF;
        struct stat st;
        int r;

        if (fstat(owned, &st) < 0)
                return ORIGIN(-errno);
        if (st.st_size == 0)
                return PAGE_SOURCE_E_UNBEGUN;
        s = page_source_new();
        if (!s)
                return -ENOMEM;
        again = fcntl(owned, F_DUPFD_CLOEXEC, 3);
        if (again < 0)
                return ORIGIN(-errno);
        r = segment_take_fd(&s->raw, TAKE_FD(owned));
        if (r > 0)
                r = take_sealed(&s->sealed, TAKE_FD(again), ret_version);
        if (r != 0)
                return r;
        if (s->raw) {
                const SegmentHeader *h = &s->raw->header;

                identify(s, h->cpu, h->page_bytes, h->sequence, (uint64_t) h->previous - 1);
                s->fd = s->raw->fd;
                s->begin = SEGMENT_HEADER_BYTES;
                look_for_holes(s);
        } else {
                const SealedHeader *h = sealed_reader_identity(s->sealed);

                identify(s, h->cpu, h->page_bytes, h->sequence, (uint64_t) h->previous - 1);
        }
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_dat(PageSource **ret, const DatFile *f, uint32_t cpu) {
        _cleanup_(page_source_freep) PageSource *s = page_source_new();
        int r;

        if (!s)
                return -ENOMEM;
        r = dat_pages_open(&s->dat, f, cpu);
        if (r != 0)
                return r;
        identify(s, cpu, dat_file_buffer(f)->page_bytes, 0, UINT64_MAX);
        if (dat_pages_are_mapped(s->dat)) {
                s->fd = dat_pages_fd(s->dat, &s->begin);
                look_for_holes(s);
        }
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_segment(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                        uint32_t *ret_version) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r, fd;

        fd = session_dir_open_segment_file(dir, cpu, sequence);
        if (fd == -EISDIR || fd == -EBADFD)
                return PAGE_SOURCE_E_DAMAGED;
        r = fd < 0 ? fd : page_source_take_fd(&s, fd, ret_version);
        if (r != 0)
                return r;
        /* A file that was moved here would put its pages on the wrong CPU or in the wrong order. */
        if (s->cpu != cpu || s->sequence != sequence)
                return PAGE_SOURCE_E_DAMAGED;
        *ret = TAKE_PTR(s);
        return 0;
}

int page_source_open(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                     uint32_t *ret_version) {
        const DatFile *dat = dat_file_of_dir(dir);

        return dat ? open_dat(ret, dat, cpu) : open_segment(ret, dir, cpu, sequence, ret_version);
}

int page_source_refresh(PageSource *s) {
        int r;

        s->behind = NULL; /* it may be mapped elsewhere */
        if (!s->raw)
                return 0;
        r = segment_refresh(s->raw);
        if (r >= 0)
                look_for_holes(s);
        return r;
}

uint32_t page_source_cpu(const PageSource *s) {
        return s->cpu;
}

uint64_t page_source_sequence(const PageSource *s) {
        return s->sequence;
}

uint64_t page_source_previous(const PageSource *s) {
        return s->previous;
}

uint32_t page_source_page_bytes(const PageSource *s) {
        return s->page_bytes;
}

bool page_source_is_closed(const PageSource *s) {
        return s->dat || s->sealed || s->raw->header.state == SEGMENT_STATE_CLOSED;
}

uint64_t page_source_n_pages(const PageSource *s) {
        if (s->dat)
                return dat_pages_n_pages(s->dat);
        return s->raw ? s->raw->header.n_pages : sealed_reader_n_pages(s->sealed);
}

int page_source_has_page(const PageSource *s, uint64_t i) {
        return s->dat ? dat_pages_has(s->dat, i) : i < page_source_n_pages(s);
}

uint64_t page_source_torn_bytes(const PageSource *s) {
        if (s->dat)
                return dat_pages_torn_bytes(s->dat);
        return s->raw ? s->raw->n_torn : 0;
}

static int read_sealed(SealedReader *r, uint64_t i, const void **ret, uint64_t *ret_n) {
        size_t i_block = sealed_reader_find(r, i);
        const SealedEntry *e;
        const void *pages;
        int k;

        if (i_block >= sealed_reader_n_blocks(r)) {
                *ret_n = sealed_reader_n_pages(r) - i;
                return PAGE_SOURCE_E_LOST;
        }
        e = sealed_reader_entry(r, i_block);
        if (i < e->first_page) {
                *ret_n = e->first_page - i;
                return PAGE_SOURCE_E_LOST;
        }
        k = sealed_reader_block(r, i_block, &pages);
        if (k < 0)
                return k;
        *ret_n = e->first_page + e->n_pages - i;
        if (k == SEALED_E_DAMAGED)
                return PAGE_SOURCE_E_LOST;
        *ret = (const char *) pages + (i - e->first_page) * sealed_reader_identity(r)->page_bytes;
        return 0;
}

/* @now: the page that is read.  Whoever goes back reads from the file again. */
static void give_back(PageSource *s, const uint8_t *now) {
        const uint64_t unit = (uint64_t) sysconf(_SC_PAGESIZE);
        uintptr_t from, to;

        if (s->behind && now >= s->behind && (uint64_t) (now - s->behind) < BEHIND_BYTES)
                return;
        if (s->behind && now > s->behind) {
                from = ((uintptr_t) s->behind + unit - 1) / unit * unit;
                to = (uintptr_t) now / unit * unit;
                if (to > from)
                        (void) madvise((void *) from, to - from, MADV_DONTNEED);
        }
        s->behind = now;
}

/* How many pages from @i on are in a hole; of what is not, *@ret_n becomes what is before one. */
static _cold_ uint64_t n_in_hole(const PageSource *s, uint64_t i, uint64_t *ret_n) {
        uint64_t end = page_at(s, page_source_n_pages(s)), at = page_at(s, i);
        uint64_t n = fd_hole_bytes(s->fd, at, end) / s->page_bytes;

        *ret_n = (fd_next_hole(s->fd, page_at(s, i + 1) - 1, end) - at) / s->page_bytes;
        *ret_n = MAX(*ret_n, (uint64_t) 1);
        return n;
}

/* Once, however often it is met. */
static int note_hole(PageSource *s, uint64_t i, uint64_t n) {
        SealedDamage hole = {
                .part = s->dat ? SEALED_PART_CPU : SEALED_PART_HOLE,
                .n_pages = n,
                .what = "a hole in the file, where nothing was ever written",
        };

        if (s->n_holes > 0 && i <= s->last_hole)
                return 0;
        if (!ARRAY_ADD(s->holes, s->n_holes, hole))
                return -ENOMEM;
        s->last_hole = i;
        return 0;
}

/* @n_max: pages before a hole. */
static int read_window(PageSource *s, uint64_t i, uint64_t n_max, const void **ret,
                       uint64_t *ret_n) {
        const size_t page_bytes = s->page_bytes;
        uint64_t behind = s->first_in_window + s->n_window, n = 1;
        ssize_t n_read;

        if (i < s->first_in_window || i >= behind) {
                if (i == behind)
                        n = MIN(2 * s->n_window, WINDOW_BYTES / page_bytes);
                n = MIN(n, n_max);
                n = MAX(n, (uint64_t) 1);
                s->n_window = 0;
                if (!ARRAY_ROOM(s->window, s->n_window_room, n * page_bytes))
                        return -ENOMEM;
                n_read = pread_up_to(s->fd, s->window, n * page_bytes, page_at(s, i));
                if (n_read < 0)
                        return (int) n_read;
                s->first_in_window = i;
                s->n_window = (uint64_t) n_read / page_bytes;
                if (s->n_window == 0)
                        return PAGE_SOURCE_E_LOST;
        }
        *ret = s->window + (i - s->first_in_window) * page_bytes;
        *ret_n = MIN(s->first_in_window + s->n_window - i, n_max);
        return 0;
}

static int read_plain(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        uint64_t n;
        int r = 0;

        if (_unlikely_(i >= s->first_hole)) {
                uint64_t n_lost = n_in_hole(s, i, &n);

                if (n_lost > 0) {
                        *ret_n = n_lost;
                        r = note_hole(s, i, n_lost);
                        return r < 0 ? r : PAGE_SOURCE_E_LOST;
                }
        } else
                n = MIN(page_source_n_pages(s), s->first_hole) - i;
        if (s->raw) {
                r = read_window(s, i, n, ret, ret_n);
                if (r == PAGE_SOURCE_E_LOST)
                        *ret_n = n;
                return r;
        }
        r = dat_pages_read(s->dat, i, ret, ret_n);
        *ret_n = n;
        give_back(s, *ret);
        return r;
}

int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        int r;

        if (s->sealed)
                return read_sealed(s->sealed, i, ret, ret_n);
        if (s->raw || dat_pages_are_mapped(s->dat))
                return read_plain(s, i, ret, ret_n);
        r = dat_pages_read(s->dat, i, ret, ret_n);
        return r == DAT_PAGES_E_LOST ? PAGE_SOURCE_E_LOST : r;
}

/* The last block that begins at @ns or before. */
static uint64_t find_sealed(SealedReader *r, uint64_t ns) {
        size_t n =
                BISECT(1, sealed_reader_n_blocks(r), i, sealed_reader_entry(r, i)->first_ns <= ns);

        return n > 1 ? sealed_reader_entry(r, n - 1)->first_page : 0;
}

/* When page @i begins.  1; 0: it does not say; -errno. */
static int read_time(PageSource *s, uint64_t i, bool swap, uint64_t *ret) {
        const void *page;
        PageInfo info;
        uint64_t n;
        int r = page_source_read(s, i, &page, &n);

        if (r != 0 || page_parse(&info, page, s->page_bytes, swap) != 0)
                return MIN(r, 0);
        *ret = info.timestamp;
        return 1;
}

/* So many pages that the next one begins behind @ns, or all.  Of compressed ones no more are looked
 * through than twice as many as are wanted. */
static int find_bound(PageSource *s, uint64_t ns, bool swap, uint64_t *ret) {
        for (uint64_t i = 1; s->dat; i *= 2) {
                int r = page_source_has_page(s, i);
                uint64_t begin_ns;

                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                r = read_time(s, i, swap, &begin_ns);
                if (r < 0)
                        return r;
                if (r == 0 || begin_ns > ns) {
                        *ret = i;
                        return 0;
                }
        }
        *ret = page_source_n_pages(s);
        return 0;
}

int page_source_find(PageSource *s, uint64_t ns, bool swap, uint64_t *ret) {
        uint64_t low = 0, high;
        int r;

        if (s->sealed) {
                *ret = find_sealed(s->sealed, ns);
                return 0;
        }
        r = find_bound(s, ns, swap, &high);
        if (r < 0)
                return r;
        while (high - low > 1) {
                uint64_t middle = low + (high - low) / 2, begin_ns;

                r = read_time(s, middle, swap, &begin_ns);
                if (r < 0)
                        return r;
                *(r > 0 && begin_ns <= ns ? &low : &high) = middle;
        }
        *ret = low;
        return 0;
}

static int span_of_blocks(SealedReader *r, uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        size_t first = 0, last = sealed_reader_n_blocks(r);

        while (first < last && sealed_reader_entry(r, first)->first_ns == 0)
                first++;
        while (last > first && sealed_reader_entry(r, last - 1)->last_ns == 0)
                last--;
        if (first == last)
                return ORIGIN(-ENODATA);
        *ret_first_ns = sealed_reader_entry(r, first)->first_ns;
        *ret_last_ns = sealed_reader_entry(r, last - 1)->last_ns;
        return 0;
}

int page_source_begin(PageSource *s, bool swap, uint64_t *ret_ns) {
        int r;

        if (s->sealed && sealed_reader_n_blocks(s->sealed) > 0) {
                *ret_ns = sealed_reader_entry(s->sealed, 0)->first_ns;
                return 1;
        }
        r = page_source_has_page(s, 0);
        return r > 0 ? read_time(s, 0, swap, ret_ns) : r;
}

int page_source_span(PageSource *s, bool swap, uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        uint64_t first = 0, last, n;

        if (s->sealed)
                return span_of_blocks(s->sealed, ret_first_ns, ret_last_ns);
        last = s->fd >= 0 ? s->n_data : page_source_n_pages(s);
        while (first < last && read_time(s, first, swap, ret_first_ns) <= 0)
                first += MAX(first >= s->first_hole ? n_in_hole(s, first, &n) : 0, (uint64_t) 1);
        while (last > first && read_time(s, last - 1, swap, ret_last_ns) <= 0)
                last--;
        return first < last ? 0 : -ENODATA;
}

SealedReader *page_source_sealed(PageSource *s) {
        return s->sealed;
}

const SealedDamage *page_source_damages(const PageSource *s, size_t *ret_n) {
        if (s->fd >= 0) {
                *ret_n = s->n_holes;
                return s->holes;
        }
        return s->dat ? dat_pages_damages(s->dat, ret_n) : sealed_reader_damages(s->sealed, ret_n);
}

PageSource *page_source_free(PageSource *s) {
        if (!s)
                return NULL;
        segment_free(s->raw);
        dat_pages_free(s->dat);
        sealed_reader_free(s->sealed);
        free(s->holes);
        free(s->window);
        return mfree(s);
}
