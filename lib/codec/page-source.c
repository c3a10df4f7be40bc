/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of three readers.  Which one is decided by what the directory is, then by the file's header; a
 * file whose header is lost may still be a sealed one, whose blocks speak for themselves.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/dat-pages.h"
#include "codec/page-source.h"
#include "store/page.h"
#include "store/segment.h"

/* What was read is given back so many bytes at a time: mapped pages count as the reader's memory
 * until it does. */
#define BEHIND_BYTES ((uint64_t) 1 << 20)

struct PageSource {
        const uint8_t *behind; /* mapped pages before this one were given back; NULL: none */
        Segment *raw;          /* or */
        DatPages *dat;         /* or */
        SealedReader *sealed;
};

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

int page_source_take_fd(PageSource **ret, int fd, uint32_t *ret_version) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        _cleanup_close_ int owned = fd, again = -EBADF;
        struct stat st;
        int r;

        if (fstat(owned, &st) < 0)
                return -errno;
        if (st.st_size == 0)
                return PAGE_SOURCE_E_UNBEGUN;
        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        again = fcntl(owned, F_DUPFD_CLOEXEC, 3);
        if (again < 0)
                return -errno;
        r = segment_take_fd(&s->raw, TAKE_FD(owned));
        if (r > 0)
                r = take_sealed(&s->sealed, TAKE_FD(again), ret_version);
        if (r != 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_dat(PageSource **ret, const DatFile *f, uint32_t cpu) {
        _cleanup_(page_source_freep) PageSource *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        r = dat_pages_open(&s->dat, f, cpu);
        if (r == 0)
                *ret = TAKE_PTR(s);
        return r;
}

int page_source_open(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                     uint32_t *ret_version) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const DatFile *dat = dat_file_of_dir(dir);
        int r, fd;

        if (dat)
                return open_dat(ret, dat, cpu);
        fd = session_dir_open_segment_file(dir, cpu, sequence);
        if (fd == -EISDIR || fd == -EBADFD)
                return PAGE_SOURCE_E_DAMAGED;
        r = fd < 0 ? fd : page_source_take_fd(&s, fd, ret_version);
        if (r != 0)
                return r;
        /* A file that was moved here would put its pages on the wrong CPU or in the wrong order. */
        if (page_source_cpu(s) != cpu || page_source_sequence(s) != sequence)
                return PAGE_SOURCE_E_DAMAGED;
        *ret = TAKE_PTR(s);
        return 0;
}

int page_source_refresh(PageSource *s) {
        s->behind = NULL; /* it may be mapped elsewhere */
        return s->raw ? segment_refresh(s->raw) : 0;
}

uint32_t page_source_cpu(const PageSource *s) {
        if (s->dat)
                return dat_pages_cpu(s->dat);
        return s->raw ? segment_cpu(s->raw) : sealed_reader_cpu(s->sealed);
}

uint64_t page_source_sequence(const PageSource *s) {
        if (s->dat)
                return 0;
        return s->raw ? segment_sequence(s->raw) : sealed_reader_sequence(s->sealed);
}

uint64_t page_source_previous(const PageSource *s) {
        if (s->dat)
                return UINT64_MAX;
        return s->raw ? segment_previous(s->raw) : sealed_reader_previous(s->sealed);
}

uint32_t page_source_page_bytes(const PageSource *s) {
        if (s->dat)
                return dat_pages_page_bytes(s->dat);
        return s->raw ? segment_page_bytes(s->raw) : sealed_reader_page_bytes(s->sealed);
}

bool page_source_is_sealed(const PageSource *s) {
        return s->sealed;
}

bool page_source_is_closed(const PageSource *s) {
        return s->dat || s->sealed || segment_is_closed(s->raw);
}

uint64_t page_source_n_pages(const PageSource *s) {
        if (s->dat)
                return dat_pages_n_pages(s->dat);
        return s->raw ? segment_n_pages(s->raw) : sealed_reader_n_pages(s->sealed);
}

int page_source_has_page(const PageSource *s, uint64_t i) {
        return s->dat ? dat_pages_has(s->dat, i) : i < page_source_n_pages(s);
}

uint64_t page_source_torn_bytes(const PageSource *s) {
        if (s->dat)
                return dat_pages_torn_bytes(s->dat);
        return s->raw ? segment_torn_bytes(s->raw) : 0;
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
        *ret = (const char *) pages + (i - e->first_page) * sealed_reader_page_bytes(r);
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

int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n) {
        if (s->dat) {
                int r = dat_pages_read(s->dat, i, ret, ret_n);

                if (r == 0 && dat_pages_are_mapped(s->dat))
                        give_back(s, *ret);
                return r == DAT_PAGES_E_LOST ? PAGE_SOURCE_E_LOST : r;
        }
        if (!s->raw)
                return read_sealed(s->sealed, i, ret, ret_n);
        *ret = segment_page(s->raw, i);
        *ret_n = segment_n_pages(s->raw) - i;
        give_back(s, *ret);
        return 0;
}

/* The last block that begins at @ns or before. */
static uint64_t find_sealed(SealedReader *r, uint64_t ns) {
        size_t low = 0, high = sealed_reader_n_blocks(r);

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;

                if (sealed_reader_entry(r, middle)->first_ns <= ns)
                        low = middle;
                else
                        high = middle;
        }
        return low > 0 ? sealed_reader_entry(r, low)->first_page : 0;
}

/* When page @i begins.  1; 0: it does not say; -errno. */
static int read_time(PageSource *s, uint64_t i, bool swap, uint64_t *ret) {
        const void *page;
        PageInfo info;
        uint64_t n;
        int r = page_source_read(s, i, &page, &n);

        if (r != 0 || page_parse(&info, page, page_source_page_bytes(s), swap) != 0)
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
                return -ENODATA;
        *ret_first_ns = sealed_reader_entry(r, first)->first_ns;
        *ret_last_ns = sealed_reader_entry(r, last - 1)->last_ns;
        return 0;
}

int page_source_span(PageSource *s, bool swap, uint64_t *ret_first_ns, uint64_t *ret_last_ns) {
        uint64_t first = 0, last = page_source_n_pages(s);

        if (s->sealed)
                return span_of_blocks(s->sealed, ret_first_ns, ret_last_ns);
        while (first < last && read_time(s, first, swap, ret_first_ns) <= 0)
                first++;
        while (last > first && read_time(s, last - 1, swap, ret_last_ns) <= 0)
                last--;
        return first < last ? 0 : -ENODATA;
}

SealedReader *page_source_sealed(PageSource *s) {
        return s->sealed;
}

const SealedDamage *page_source_damages(const PageSource *s, size_t *ret_n) {
        if (s->dat)
                return dat_pages_damages(s->dat, ret_n);
        if (s->sealed)
                return sealed_reader_damages(s->sealed, ret_n);
        *ret_n = 0;
        return NULL;
}

PageSource *page_source_free(PageSource *s) {
        if (!s)
                return NULL;
        segment_free(s->raw);
        dat_pages_free(s->dat);
        sealed_reader_free(s->sealed);
        free(s);
        return NULL;
}
