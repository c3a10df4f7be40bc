/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of three readers: plain pages, of a segment or a trace.dat, are read here.  Which one it is is decided by what
 * the directory is, then by the file's header; a file whose header is lost may still be a sealed one, whose blocks
 * speak for themselves.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/io.h"
#include "pages/dat-private.h"
#include "pages/page-source.h"
#include "store/page.h"
#include "store/segment.h"

/* Of plain pages so much is read at once, and less until it is known that they are read in order. */
#define WINDOW_BYTES ((uint64_t) 64 << 10) /* stays in the cache */

struct PageSource {
        uint32_t cpu, page_bytes;
        uint64_t sequence, previous;
        Segment *raw; /* NULL: of a trace.dat, or */
        DatPages *packed;
        SealedReader *sealed;
        /* Of plain pages */
        int fd; /* borrowed; negative: they are packed or sealed */
        bool is_dat;
        uint64_t begin; /* where in the file the first one is */
        uint64_t n_pages, n_torn;
        uint64_t first_hole; /* number of the first page that is in a hole; UINT64_MAX: none is */
        uint64_t n_data;     /* pages up to the last one that is not */
        SealedDamage *holes; /* n_holes that were met */
        size_t n_holes;
        uint64_t last_hole; /* the page that the last of them begins with */
        uint8_t *window;    /* n_window pages from first_in_window on */
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
        uint64_t end = page_at(s, s->n_pages), hole = fd_next_hole(s->fd, s->begin, end);

        s->first_hole = UINT64_MAX;
        s->n_data = s->n_pages;
        if (hole == end)
                return;
        s->first_hole = (hole - s->begin) / s->page_bytes;
        s->n_data =
                (fd_data_end(s->fd, s->begin, end) - s->begin + s->page_bytes - 1) / s->page_bytes;
}

static void look_at_segment(PageSource *s) {
        s->n_pages = s->raw->header.n_pages;
        s->n_torn = s->raw->n_torn;
        look_for_holes(s);
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
                look_at_segment(s);
        } else {
                const SealedHeader *h = &s->sealed->identity;

                identify(s, h->cpu, h->page_bytes, h->sequence, (uint64_t) h->previous - 1);
        }
        *ret = TAKE_PTR(s);
        return 0;
}

int page_source_open_dat(PageSource **ret, const DatFile *f, uint32_t cpu) {
        _cleanup_(page_source_freep) PageSource *s = page_source_new();
        const DatBuffer *b = dat_file_buffer(f);
        const DatCpu *c = b->cpus;
        int r = 0;

        if (!s)
                return -ENOMEM;
        while (c < b->cpus + b->n_cpus && c->cpu != cpu)
                c++;
        if (c == b->cpus + b->n_cpus)
                return ORIGIN(-ENOENT);
        identify(s, cpu, b->page_bytes, 0, UINT64_MAX);
        s->is_dat = true;
        if (b->is_packed && f->compressor != DAT_NONE)
                r = dat_pages_new(&s->packed, f, c);
        else {
                s->fd = f->fd;
                s->begin = c->at;
                s->n_pages = c->n / b->page_bytes;
                s->n_torn = c->n_cut + c->n % b->page_bytes;
                look_for_holes(s);
        }
        if (r == 0)
                *ret = TAKE_PTR(s);
        return r;
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

        return dat ? page_source_open_dat(ret, dat, cpu)
                   : open_segment(ret, dir, cpu, sequence, ret_version);
}

int page_source_refresh(PageSource *s) {
        int r = s->raw ? segment_refresh(s->raw) : 0;

        if (r >= 0 && s->raw)
                look_at_segment(s);
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
        return !s->raw || s->raw->header.state == SEGMENT_STATE_CLOSED;
}

uint64_t page_source_n_pages(const PageSource *s) {
        return s->packed ? s->packed->n_pages : s->sealed ? s->sealed->n_pages : s->n_pages;
}

uint64_t page_source_torn_bytes(const PageSource *s) {
        return s->packed ? s->packed->n_torn : s->n_torn;
}

static int read_sealed(SealedReader *r, uint64_t i, const void **ret, uint64_t *ret_n) {
        size_t i_block = sealed_reader_find(r, i);
        const SealedEntry *e;
        const void *pages;
        int k;

        if (i_block >= r->n_found) {
                *ret_n = r->n_pages - i;
                return PAGE_SOURCE_E_LOST;
        }
        e = &r->found[i_block].entry;
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
        *ret = (const char *) pages + (i - e->first_page) * r->identity.page_bytes;
        return 0;
}

/* How many pages from @i on are in a hole; of what is not, *@ret_n becomes what is before one. */
static _cold_ uint64_t n_in_hole(const PageSource *s, uint64_t i, uint64_t *ret_n) {
        uint64_t end = page_at(s, s->n_pages), at = page_at(s, i);
        uint64_t n = fd_hole_bytes(s->fd, at, end) / s->page_bytes;

        *ret_n = (fd_next_hole(s->fd, page_at(s, i + 1) - 1, end) - at) / s->page_bytes;
        *ret_n = MAX(*ret_n, (uint64_t) 1);
        return n;
}

/* Once, however often it is met. */
static int note_hole(PageSource *s, uint64_t i, uint64_t n) {
        SealedDamage hole = {
                .part = s->is_dat ? SEALED_PART_CPU : SEALED_PART_HOLE,
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
        int r;

        if (_unlikely_(i >= s->first_hole)) {
                uint64_t n_lost = n_in_hole(s, i, &n);

                if (n_lost > 0) {
                        *ret_n = n_lost;
                        r = note_hole(s, i, n_lost);
                        return r < 0 ? r : PAGE_SOURCE_E_LOST;
                }
        } else
                n = MIN(s->n_pages, s->first_hole) - i;
        r = read_window(s, i, n, ret, ret_n);
        if (r == PAGE_SOURCE_E_LOST)
                *ret_n = n;
        return r;
}

int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        int r;

        if (s->sealed)
                return read_sealed(s->sealed, i, ret, ret_n);
        if (s->fd >= 0)
                return read_plain(s, i, ret, ret_n);
        r = dat_pages_read(s->packed, i, ret, ret_n);
        return r == DAT_PAGES_E_LOST ? PAGE_SOURCE_E_LOST : r;
}

const SealedReader *page_source_sealed(const PageSource *s) {
        return s->sealed;
}

int page_source_check(PageSource *s, SealedCheck *ret) {
        int r = s->sealed ? sealed_reader_check(s->sealed, ret) : 0;

        return r < 0 ? r : s->sealed != NULL;
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

int page_source_find(PageSource *s, uint64_t ns, bool swap, uint64_t *ret) {
        uint64_t low = 0, high = page_source_n_pages(s);

        if (s->sealed) { /* the last block that begins at @ns or before */
                size_t n =
                        BISECT(1, s->sealed->n_found, i, s->sealed->found[i].entry.first_ns <= ns);

                *ret = n > 1 ? s->sealed->found[n - 1].entry.first_page : 0;
                return 0;
        }
        while (high - low > 1) {
                uint64_t middle = low + (high - low) / 2, begin_ns;
                int r = read_time(s, middle, swap, &begin_ns);

                if (r < 0)
                        return r;
                *(r > 0 && begin_ns <= ns ? &low : &high) = middle;
        }
        *ret = low;
        return 0;
}

static int span_of_blocks(const SealedReader *r, uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        size_t first = 0, last = r->n_found;

        while (first < last && r->found[first].entry.first_ns == 0)
                first++;
        while (last > first && r->found[last - 1].entry.last_ns == 0)
                last--;
        if (first == last)
                return ORIGIN(-ENODATA);
        *ret_first_ns = r->found[first].entry.first_ns;
        *ret_last_ns = r->found[last - 1].entry.last_ns;
        return 0;
}

int page_source_begin(PageSource *s, bool swap, uint64_t *ret_ns) {
        if (s->sealed && s->sealed->n_found > 0) {
                *ret_ns = s->sealed->found[0].entry.first_ns;
                return 1;
        }
        return page_source_n_pages(s) > 0 ? read_time(s, 0, swap, ret_ns) : 0;
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

const SealedDamage *page_source_damages(const PageSource *s, size_t *ret_n) {
        *ret_n = s->sealed ? s->sealed->n_damages : s->packed ? s->packed->n_damages : s->n_holes;
        return s->sealed ? s->sealed->damages : s->packed ? s->packed->damages : s->holes;
}

PageSource *page_source_free(PageSource *s) {
        if (!s)
                return NULL;
        segment_free(s->raw);
        dat_pages_free(s->packed);
        sealed_reader_free(s->sealed);
        free(s->holes);
        free(s->window);
        return mfree(s);
}
