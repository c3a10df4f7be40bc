/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * read() gives a page, full or not, and splice() only full ones; the last of a CPU is what all this is about.  What
 * a read has begun the next one goes on with, page by page.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/session/rescue.h"
#include "pages/page-source.h"
#include "store/page.h"
#include "store/segment.h"

#define SPARE_PAGES 16 /* more than the buffer's size says: the reader's own page, and rounding */

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

static bool is_same(const void *a, const void *b, size_t page_bytes) {
        PageInfo x, y;

        return page_parse(&x, a, page_bytes, false) == 0 &&
               page_parse(&y, b, page_bytes, false) == 0 && x.timestamp == y.timestamp &&
               x.n_payload == y.n_payload &&
               memcmp((const char *) a + PAGE_HEADER_BYTES, (const char *) b + PAGE_HEADER_BYTES,
                      x.n_payload) == 0;
}

/* @last: the page that an earlier rescue ended with, which linux 7.2 gives once more, or NULL. */
static int move_all(SegmentWriter *w, int raw_fd, uint64_t max_pages, uint32_t page_bytes,
                    const void *last, uint64_t *ret_n) {
        uint64_t n = 0;
        PageInfo info;
        int r = 1;

        while (r > 0 && n < max_pages) {
                void *room;

                r = segment_tail(w, &room);
                if (r < 0)
                        break;
                r = read_page(raw_fd, room, page_bytes);
                if (r <= 0) {
                        segment_tail_abort(w);
                        break;
                }
                if (last && is_same(room, last, page_bytes)) {
                        segment_tail_abort(w);
                        last = NULL;
                        continue;
                }
                last = NULL;
                if (n == 0 && page_parse(&info, room, page_bytes, false) == 0 && info.missed)
                        page_forget_missed(room); /* a ring has lost what came before, on purpose */
                segment_tail_commit(w);
                n++;
        }
        *ret_n = n;
        return MIN(r, 0);
}

bool rescue_get_span(const SessionDir *dir, uint32_t cpu, uint64_t sequence, uint64_t *ret_first_ns,
                     uint64_t *ret_last_ns) {
        _cleanup_(page_source_freep) PageSource *s = NULL;

        return page_source_open(&s, dir, cpu, sequence, NULL) == 0 &&
               page_source_span(s, false, ret_first_ns, ret_last_ns) == 0;
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

/* Valid as long as none is read of @s; NULL: it has none. */
static const void *find_last(PageSource *s) {
        const void *page = NULL;

        for (uint64_t k = s->n_pages, i; k > 0; k--) {
                i = k - 1;
                if (next_page(s, &i, &page) == 0)
                        return page;
        }
        return NULL;
}

/* Times alone may be damaged: whether the first page of the older segment is there as well. */
static bool begins_in(const SessionDir *dir, uint32_t cpu, uint64_t old_sequence,
                      uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *old = NULL, *s = NULL;
        const void *old_page, *page;
        uint64_t i = 0, k = 0;

        if (page_source_open(&old, dir, cpu, old_sequence, NULL) != 0 ||
            page_source_open(&s, dir, cpu, sequence, NULL) != 0 ||
            next_page(old, &i, &old_page) < 0)
                return false;
        while (next_page(s, &k, &page) == 0)
                if (is_same(page, old_page, s->page_bytes))
                        return true;
        return false;
}

/* What a daemon that died had read linux 7.2 gives once more after a second crash, and 6.12 does not. */
static void drop_repeated(const SessionDir *dir, uint32_t cpu, int cpu_dir_fd,
                          const uint64_t *sequences, size_t n, uint64_t sequence) {
        char file[SEGMENT_NAME_MAX];
        uint64_t first_ns, last_ns, old_first_ns, old_last_ns;

        if (!rescue_get_span(dir, cpu, sequence, &first_ns, &last_ns))
                return;
        for (size_t i = 0; i < n; i++)
                if (rescue_get_span(dir, cpu, sequences[i], &old_first_ns, &old_last_ns) &&
                    first_ns <= old_first_ns && last_ns >= old_last_ns &&
                    begins_in(dir, cpu, sequences[i], sequence)) {
                        segment_format_name(file, sequences[i]);
                        (void) unlinkat(cpu_dir_fd, file, 0);
                }
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
        _cleanup_(page_source_freep) PageSource *before = NULL;
        const void *last = NULL;
        SegmentWriter *w;
        size_t n = 0;
        int r, k;

        *ret_n_pages = 0;
        if (cpu_dir_fd < 0)
                return cpu_dir_fd;
        r = session_dir_list_segments(dir, cpu, &sequences, &n);
        if (r < 0)
                return r;
        sequence = n > 0 ? sequences[n - 1] + 1 : 0;
        r = segment_create(&w, cpu_dir_fd, sequence, sequence - 1, cpu, m->page_bytes, m->id);
        if (r < 0)
                return r;
        if (n > 0 && page_source_open(&before, dir, cpu, sequences[n - 1], NULL) == 0)
                last = find_last(before);
        r = move_all(w, raw_fd, max_pages, m->page_bytes, last, &n_pages);
        k = segment_writer_close(w, NULL, &segment_fd);
        if (k >= 0 && fsync(segment_fd) < 0)
                k = ORIGIN(-errno);
        if (n_pages == 0) { /* somebody has emptied it meanwhile */
                segment_format_name(file, sequence);
                (void) unlinkat(cpu_dir_fd, file, 0);
        }
        if (r >= 0 && k >= 0 && n_pages > 0)
                drop_repeated(dir, cpu, cpu_dir_fd, sequences, n, sequence);
        *ret_n_pages = n_pages;
        return r < 0 ? r : k;
}

int rescue_move_cpu(Controller *c, const BlackBox *b, size_t i, SessionDir *dir,
                    const SessionMeta *m) {
        _cleanup_close_ int fd = controller_open_black_box(c, b, b->cpus[i]);
        uint64_t n;

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        return rescue_move_pages(fd, b->cpus[i], b->cpu_bytes / b->page_bytes + SPARE_PAGES, dir, m,
                                 &n);
}
