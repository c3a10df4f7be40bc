/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * read() gives a page, full or not, and splice() only full ones; the last of a CPU is what all this is about.  What
 * a read has begun the next one goes on with, page by page.
 */

#include <xxhash.h>

#include "base/array.h"
#include "daemon/session/session.h"
#include "pages/page-source.h"
#include "store/page.h"
#include "store/segment.h"

/* 1: a page, or the part of one that there is; 0: there is none; -errno. */
static int read_page(int fd, uint8_t *room, size_t page_bytes) {
        size_t n = 0;

        while (n < page_bytes) {
                ssize_t k = read(fd, room + n, page_bytes - n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0 && errno != EAGAIN && errno != ENODEV)
                        return ORIGIN(-errno);
                if (k <= 0) /* linux 6.12 gives 0 where earlier ones gave -EAGAIN */
                        break;
                n += (size_t) k;
        }
        return n > 0;
}

/* 0: it is damaged, and like no other. */
static uint64_t hash_of(const void *page, size_t page_bytes) {
        PageInfo p;

        return page_parse(&p, page, page_bytes, false) == 0
                       ? XXH3_64bits_withSeed((const char *) page + PAGE_HEADER_BYTES, p.n_payload,
                                              p.timestamp)
                       : 0;
}

/* Of the pages of earlier rescues, of which linux 7.2 gives the last once more, and all after a second crash. */
typedef struct Earlier {
        uint64_t *hashes;
        size_t n;
} Earlier;

static void earlier_done(Earlier *e) {
        free(e->hashes);
}

static int compare_hashes(const void *a, const void *b) {
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
}

static bool is_repeated(const Earlier *e, const void *page, size_t page_bytes) {
        uint64_t hash = hash_of(page, page_bytes);

        return hash != 0 && e->n > 0 &&
               bsearch(&hash, e->hashes, e->n, sizeof(hash), compare_hashes);
}

static int move_all(SegmentWriter *w, int raw_fd, uint64_t max_pages, uint32_t page_bytes,
                    const Earlier *earlier, uint64_t *ret_n) {
        uint64_t n = 0;
        PageInfo info;
        int r = 1;

        for (uint64_t i = 0; r > 0 && n < max_pages && i < max_pages + earlier->n; i++) {
                void *room;

                r = segment_tail(w, &room);
                if (r < 0)
                        break;
                r = read_page(raw_fd, room, page_bytes);
                if (r <= 0 || is_repeated(earlier, room, page_bytes)) {
                        segment_tail_abort(w);
                        continue;
                }
                if (n == 0 && page_parse(&info, room, page_bytes, false) == 0 && info.missed)
                        page_forget_missed(room); /* a ring has lost what came before, on purpose */
                segment_tail_commit(w);
                n++;
        }
        *ret_n = n;
        return MIN(r, 0);
}

/* 0, and @ret_page until another one is read; the first from @i on, which goes on behind it. */
static int next_page(PageSource *s, uint64_t *i, const void **ret_page) {
        uint64_t n_read;
        PageInfo info;

        while (*i < s->n_pages)
                if (page_source_read(s, (*i)++, ret_page, &n_read) == 0 &&
                    page_parse(&info, *ret_page, s->page_bytes, false) == 0)
                        return 0;
        return ORIGIN(-ENODATA);
}

static int add_earlier(Earlier *e, const SessionDir *dir, uint32_t cpu, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const void *page;
        uint64_t i = 0;

        if (page_source_open(&s, dir, cpu, sequence, NULL) != 0)
                return 0;
        while (next_page(s, &i, &page) == 0)
                if (!ARRAY_ADD(e->hashes, e->n, hash_of(page, s->page_bytes)))
                        return -ENOMEM;
        return 0;
}

bool rescue_find_seam(const SessionDir *dir, uint32_t cpu, uint64_t ns, uint64_t *ret_next_ns) {
        _cleanup_free_ uint64_t *sequences = NULL;
        bool is_before = false;
        size_t n = 0;

        if (session_dir_list_segments(dir, cpu, &sequences, &n) < 0)
                return false;
        *ret_next_ns = UINT64_MAX;
        for (size_t i = 0; i < n; i++) {
                _cleanup_(page_source_freep) PageSource *s = NULL;
                const void *page;
                uint64_t k = 0;
                PageInfo info;

                if (page_source_open(&s, dir, cpu, sequences[i], NULL) != 0)
                        continue;
                while (next_page(s, &k, &page) == 0 &&
                       page_parse(&info, page, s->page_bytes, false) == 0) {
                        if (info.timestamp > ns) {
                                *ret_next_ns = info.timestamp;
                                return is_before;
                        }
                        is_before = true;
                }
        }
        return is_before;
}

int rescue_move_pages(int raw_fd, uint32_t cpu, uint64_t max_pages, SessionDir *dir,
                      const SessionMeta *m, uint64_t *ret_n_pages) {
        _cleanup_free_ uint64_t *sequences = NULL;
        _cleanup_close_ int cpu_dir_fd = session_dir_make_cpu(dir, cpu), segment_fd = -EBADF;
        char file[SEGMENT_NAME_MAX];
        uint64_t sequence, n_pages;
        _cleanup_(earlier_done) Earlier earlier = {};
        SegmentWriter *w;
        size_t n = 0;
        int r, k;

        *ret_n_pages = 0;
        if (cpu_dir_fd < 0)
                return cpu_dir_fd;
        r = session_dir_list_segments(dir, cpu, &sequences, &n);
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = add_earlier(&earlier, dir, cpu, sequences[i]);
        if (r < 0)
                return r;
        SORT(earlier.hashes, earlier.n, compare_hashes);
        sequence = n > 0 ? sequences[n - 1] + 1 : 0;
        r = segment_create(&w, cpu_dir_fd, sequence, sequence - 1, cpu, m->page_bytes, m->id);
        if (r < 0)
                return r;
        r = move_all(w, raw_fd, max_pages, m->page_bytes, &earlier, &n_pages);
        k = segment_writer_close(w, NULL, &segment_fd);
        if (k >= 0 && fsync(segment_fd) < 0)
                k = ORIGIN(-errno);
        if (n_pages == 0) { /* somebody has emptied it meanwhile */
                segment_format_name(file, sequence);
                (void) unlinkat(cpu_dir_fd, file, 0);
        }
        *ret_n_pages = n_pages;
        return r ?: k;
}
