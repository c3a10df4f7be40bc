/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of three readers: plain pages, of a segment or a trace.dat, are read here.  Which one it is is decided by what
 * the directory is, then by the file's header; a file whose header is lost may still be a sealed one, whose blocks
 * speak for themselves.
 */

#include <byteswap.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/io.h"
#include "pages/dat-private.h"
#include "pages/page-source.h"
#include "store/page.h"
#include "store/segment.h"

/* Of plain pages so much is read at once. */
#define WINDOW_BYTES ((uint64_t) 64 << 10) /* stays in the cache */

static PageSource *page_source_new(Damages *damages) {
        return NEW(PageSource, .fd = -EBADF, .is_closed = true, .damages = damages);
}

static uint64_t page_at(const PageSource *s, uint64_t i) {
        return s->begin + i * s->n_stored;
}

static void look_at_segment(PageSource *s) {
        s->n_pages = s->raw->header.n_pages;
        s->n_torn = s->raw->n_torn;
        s->is_closed = s->raw->header.state == SEGMENT_STATE_CLOSED;
        s->data_from = 0;
        s->data_to = s->raw->has_holes ? 0 : s->n_pages;
}

/* @previous: as headers have it, plus 1. */
static void identify(PageSource *s, uint32_t cpu, uint32_t page_bytes, uint64_t sequence,
                     uint32_t previous) {
        s->cpu = cpu;
        s->page_bytes = s->n_stored = page_bytes;
        s->sequence = sequence;
        s->previous = (uint64_t) previous - 1;
}

int page_source_take_fd(PageSource **ret, int fd, Damages *damages) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        _cleanup_close_ int owned = fd, again = -EBADF;
        struct stat st;
        int r;

        if (fstat(owned, &st) < 0)
                return ORIGIN(-errno);
        if (st.st_size == 0)
                return SEGMENT_E_UNBEGUN;
        s = page_source_new(damages);
        if (!s)
                return -ENOMEM;
        again = fcntl(owned, F_DUPFD_CLOEXEC, 3);
        if (again < 0)
                return ORIGIN(-errno);
        r = segment_take_fd(&s->raw, TAKE_FD(owned));
        if (r > 0)
                r = sealed_reader_take_fd(&s->sealed, TAKE_FD(again), damages);
        if (r != 0)
                return r;
        if (s->raw) {
                const SegmentHeader *h = &s->raw->header;

                identify(s, h->cpu, h->page_bytes, h->sequence, h->previous);
                s->fd = s->raw->fd;
                s->begin = SEGMENT_HEADER_BYTES;
                look_at_segment(s);
        } else {
                const SealedHeader *h = &s->sealed->identity;

                identify(s, h->cpu, h->page_bytes, h->sequence, h->previous);
                s->n_pages = s->sealed->n_pages;
        }
        *ret = TAKE_PTR(s);
        return 0;
}

int page_source_open_dat(PageSource **ret, const DatFile *f, uint32_t cpu, Damages *damages) {
        _cleanup_(page_source_freep) PageSource *s = page_source_new(damages);
        const DatBuffer *b = dat_file_buffer(f);
        const DatCpu *c = b->cpus;
        int r = 0;

        if (!s)
                return -ENOMEM;
        while (c < b->cpus + b->n_cpus && c->cpu != cpu)
                c++;
        if (c == b->cpus + b->n_cpus)
                return ORIGIN(-ENOENT);
        identify(s, cpu, b->page_bytes, 0, 0);
        s->is_dat = true;
        s->begin = c->at;
        s->n_pages = c->n / b->page_bytes;
        s->n_torn = c->n_cut + c->n % b->page_bytes;
        if (!b->is_packed || f->compressor == DAT_NONE)
                s->fd = f->fd;
        else {
                r = dat_pages_new(&s->packed, f, c, damages);
                if (r < 0)
                        return r;
                s->n_pages = s->packed->n_pages;
                s->n_torn = c->n_cut;
        }
        if (f->narrow_data_at > 0) {
                s->narrow = f;
                s->page_bytes = dat_file_page_bytes(f);
                s->wide = malloc(s->page_bytes);
                if (!s->wide)
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_segment(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                        Damages *damages) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r, fd;

        fd = session_dir_open_segment_file(dir, cpu, sequence);
        if (fd == -EISDIR || fd == -EBADFD)
                return SEGMENT_E_DAMAGED;
        r = fd < 0 ? fd : page_source_take_fd(&s, fd, damages);
        if (r != 0)
                return r;
        /* A file that was moved here would put its pages on the wrong CPU or in the wrong order. */
        if (s->cpu != cpu || s->sequence != sequence)
                return SEGMENT_E_DAMAGED;
        *ret = TAKE_PTR(s);
        return 0;
}

int page_source_open(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                     Damages *damages) {
        const DatFile *dat = dat_file_of_dir(dir);
        int r;

        if (damages) {
                damages->cpu = cpu;
                damages->sequence = sequence;
        }
        r = dat ? page_source_open_dat(ret, dat, cpu, damages)
                : open_segment(ret, dir, cpu, sequence, damages);
        if (r == SEGMENT_E_DAMAGED)
                damages_add(damages, DAMAGE_NO_SEGMENT);
        return r;
}

void page_source_go_ahead(PageSource *s, Ahead *a) {
        if (s->sealed)
                pieces_go_ahead(&s->sealed->decoded, a);
        else if (s->packed)
                pieces_go_ahead(&s->packed->unpacked, a);
}

int page_source_refresh(PageSource *s) {
        int r = s->raw ? segment_refresh(s->raw) : 0;

        if (r >= 0 && s->raw)
                look_at_segment(s);
        return r;
}

static int read_sealed(SealedReader *r, uint64_t i, const void **ret, uint64_t *ret_n) {
        size_t i_block = BISECT(0, r->n_found, k,
                                r->found[k].entry.first_page + r->found[k].entry.n_pages <= i);
        const SealedEntry *e = i_block < r->n_found ? &r->found[i_block].entry : NULL;
        const void *pages;
        int k;

        if (!e || i < e->first_page) {
                *ret_n = (e ? e->first_page : r->n_pages) - i;
                return SEGMENT_E_LOST;
        }
        k = sealed_reader_block(r, i_block, &pages);
        *ret_n = e->first_page + e->n_pages - i;
        if (k != 0)
                return k < 0 ? k : SEGMENT_E_LOST;
        *ret = (const char *) pages + (i - e->first_page) * r->identity.page_bytes;
        return 0;
}

/* What was recorded has no holes: a file that has some is of another kind, and may be of any size.  So many pages
 * from @i on are in one; 0: none, and data_to is where one may be. */
static _cold_ uint64_t n_in_hole(PageSource *s, uint64_t i) {
        uint64_t end = page_at(s, s->n_pages), at = page_at(s, i);
        uint64_t n = fd_hole_bytes(s->fd, at, end) / s->n_stored;

        if (n == 0) {
                s->data_from = i;
                s->data_to =
                        (fd_next_hole(s->fd, page_at(s, i + 1) - 1, end) - s->begin) / s->n_stored;
                s->data_to = MAX(s->data_to, i + 1);
                return 0;
        }
        if (i >= s->hole_to) { /* once, however often it is met */
                s->hole_to = i + n;
                damages_add(s->damages,
                            (Damage){ .part = s->is_dat ? DAMAGE_CPU : DAMAGE_HOLE,
                                      .n_pages = n,
                                      .what = "a hole in the file, where nothing was ever "
                                              "written" });
        }
        return n;
}

/* 1: there is nothing at @i any more. */
static int fill_window(PageSource *s, uint64_t i) {
        const size_t page_bytes = s->n_stored;
        uint64_t n = MIN(WINDOW_BYTES / page_bytes, s->data_to - i);
        ssize_t n_read;

        n = MAX(n, (uint64_t) 1);
        s->n_window = 0;
        if (!ARRAY_ROOM(s->window, s->n_window_room, n * page_bytes))
                return -ENOMEM;
        n_read = pread_up_to(s->fd, s->window, n * page_bytes, page_at(s, i));
        if (n_read < 0)
                return (int) n_read;
        s->first_in_window = i;
        s->n_window = (uint64_t) n_read / page_bytes;
        return s->n_window == 0;
}

static int read_plain(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        int r = 0;

        if (_unlikely_(i < s->data_from || i >= s->data_to)) {
                *ret_n = n_in_hole(s, i);
                if (*ret_n > 0)
                        return SEGMENT_E_LOST;
        }
        if (i < s->first_in_window || i >= s->first_in_window + s->n_window)
                r = fill_window(s, i);
        *ret_n = (r == 0 ? s->first_in_window + s->n_window : s->data_to) - i;
        *ret = s->window + (i - s->first_in_window) * s->n_stored;
        return r > 0 ? SEGMENT_E_LOST : r;
}

/* The page of a kernel of 32 bits as one of 64 bits would have it: its length is a word of 4 bytes, and so is the number
 * of missed events behind the payload. */
static const void *widen(PageSource *s, const uint8_t *page) {
        bool swap = s->narrow->swap;
        uint32_t begin = s->narrow->narrow_data_at, commit = load_u32(page + 8, swap);
        uint64_t n_payload = commit & PAGE_LENGTH_MASK, n_room = s->n_stored - begin;
        uint64_t wide = n_payload > n_room ? commit | PAGE_LENGTH_MASK : commit, n_missed;

        memset(s->wide, 0, s->page_bytes);
        memcpy(s->wide, page, 8);
        memcpy(s->wide + PAGE_HEADER_BYTES, page + begin, n_room);
        wide = swap ? bswap_64(wide) : wide;
        memcpy(s->wide + 8, &wide, sizeof(wide));
        if (n_payload > n_room || n_room - n_payload < 4)
                return s->wide;
        n_missed = load_u32(page + begin + n_payload, swap);
        n_missed = swap ? bswap_64(n_missed) : n_missed;
        memcpy(s->wide + PAGE_HEADER_BYTES + n_payload, &n_missed, sizeof(n_missed));
        return s->wide;
}

int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        int r = s->sealed   ? read_sealed(s->sealed, i, ret, ret_n)
                : s->packed ? dat_pages_read(s->packed, i, ret, ret_n)
                            : read_plain(s, i, ret, ret_n);

        if (_unlikely_(r == 0 && s->narrow)) {
                *ret = widen(s, *ret);
                *ret_n = 1;
        }
        return r;
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
        uint64_t low = 0, high = s->n_pages;

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
        return s->n_pages > 0 ? read_time(s, 0, swap, ret_ns) : 0;
}

/* Likewise of one CPU: 1 also if it has no pages, whose time is UINT64_MAX then. */
static int begin_cpu(const SessionDir *dir, uint32_t cpu, bool swap, uint64_t *ret_ns) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const DatFile *dat = dat_file_of_dir(dir);
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;
        int r = session_dir_list_segments(dir, cpu, &sequences, &n);

        *ret_ns = UINT64_MAX;
        if (r < 0 || n == 0)
                return r < 0 ? r : 1;
        r = page_source_open(&s, dir, cpu, sequences[0], NULL);
        if (r != 0)
                return r < 0 && r != -ENOENT ? r : r == SEGMENT_E_UNBEGUN && n == 1;
        if (s->n_pages == 0)
                return n == 1;
        r = page_source_begin(s, swap, ret_ns);
        if (r > 0 && dat)
                *ret_ns = dat_times_apply(&dat->times, cpu, *ret_ns);
        return r;
}

int page_source_begin_all(const SessionDir *dir, bool swap, uint64_t *ret_ns) {
        const DatFile *dat = dat_file_of_dir(dir);
        bool is_known = !dat || dat->times.n_cpus == 0;
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t ns;
        size_t n = 0;
        int r = session_dir_list_cpus(dir, &cpus, &n);

        *ret_ns = UINT64_MAX;
        for (size_t i = 0; r >= 0 && i < n; i++) {
                r = begin_cpu(dir, cpus[i], swap, &ns);
                is_known = is_known && r > 0;
                if (r > 0)
                        *ret_ns = MIN(*ret_ns, ns);
        }
        return r < 0 ? r : is_known;
}

int page_source_span(PageSource *s, bool swap, uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        uint64_t first = 0, last = s->n_pages, n;
        const void *page;
        PageInfo info;

        if (s->sealed)
                return span_of_blocks(s->sealed, ret_first_ns, ret_last_ns);
        if (s->fd >= 0) /* there may be any number in a hole at the end */
                last = (fd_data_end(s->fd, s->begin, page_at(s, last)) - s->begin + s->n_stored -
                        1) /
                       s->n_stored;
        for (; first < last; first += n) {
                int r = page_source_read(s, first, &page, &n);

                if (r < 0)
                        return r;
                n = r == 0 ? 1 : n;
                if (r == 0 && page_parse(&info, page, s->page_bytes, swap) == 0)
                        break;
        }
        if (first < last)
                *ret_first_ns = info.timestamp;
        while (last > first && read_time(s, last - 1, swap, ret_last_ns) <= 0)
                last--;
        return first < last ? 0 : -ENODATA;
}

PageSource *page_source_free(PageSource *s) {
        if (!s)
                return NULL;
        segment_free(s->raw);
        dat_pages_free(s->packed);
        sealed_reader_free(s->sealed);
        free(s->window);
        free(s->wide);
        return mfree(s);
}
