/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Makes a session as long as wanted: grow-session SESSION-DIR COPIES.  Behind each CPU's raw
 * segments come COPIES more of the same pages, each copy later by the length of the whole and half
 * a second.  What is in the pages but their time stays as it was recorded.  For benchmarks.
 */

#include "base/io.h"
#include "store/page.h"
#include "tests/unit/segment-map.h"

#define PAUSE_NS UINT64_C(500000000)
#define PAGES_MAX 256

typedef struct Cpu {
        uint32_t cpu;
        int dir_fd;
        uint64_t *sequences;
        size_t n_sequences;
} Cpu;

static int measure(const SessionDir *dir, const Cpu *c, uint64_t *first_ns, uint64_t *last_ns) {
        for (size_t i = 0; i < c->n_sequences; i++) {
                _cleanup_(segment_freep) Segment *s = NULL;
                int r = session_dir_open_segment(dir, c->cpu, c->sequences[i], &s);

                if (r != 0)
                        return r < 0 ? r : -EBADMSG;
                for (uint64_t k = 0; k < s->header.n_pages; k++) {
                        PageInfo info;

                        if (page_parse(&info, segment_page(s, k), s->header.page_bytes, false))
                                continue;
                        *first_ns = MIN(*first_ns, info.timestamp);
                        *last_ns = MAX(*last_ns, info.timestamp);
                }
        }
        return 0;
}

static int write_shifted(SegmentWriter *w, const Segment *s, uint64_t shift_ns) {
        size_t page_bytes = s->header.page_bytes;
        _cleanup_free_ char *pages = malloc(PAGES_MAX * page_bytes);
        int r = pages ? 0 : -ENOMEM;

        for (uint64_t i = 0, n; r == 0 && i < s->header.n_pages; i += n) {
                n = MIN(s->header.n_pages - i, (uint64_t) PAGES_MAX);
                memcpy(pages, segment_page(s, i), n * page_bytes);
                for (uint64_t k = 0; k < n; k++) {
                        uint64_t ns;

                        memcpy(&ns, pages + k * page_bytes, sizeof(ns));
                        ns += ns ? shift_ns : 0;
                        memcpy(pages + k * page_bytes, &ns, sizeof(ns));
                }
                r = write_full(w->fd, pages, n * page_bytes);
                if (r == 0)
                        segment_publish(w, n * page_bytes);
        }
        return r;
}

static int copy(const SessionDir *dir, const SessionMeta *m, const Cpu *c, uint64_t *sequence,
                uint64_t shift_ns) {
        for (size_t i = 0; i < c->n_sequences; i++) {
                _cleanup_(segment_freep) Segment *s = NULL;
                SegmentWriter *w;
                int r = session_dir_open_segment(dir, c->cpu, c->sequences[i], &s);

                if (r == 0)
                        r = segment_create(&w, c->dir_fd, *sequence + 1, *sequence, c->cpu,
                                           s->header.page_bytes, m->id);
                if (r == 0)
                        r = write_shifted(w, s, shift_ns);
                if (r == 0)
                        r = segment_writer_close(w, NULL, NULL);
                if (r != 0)
                        return r < 0 ? r : -EBADMSG;
                ++*sequence;
        }
        return 0;
}

static void multiply(CpuAccount *a, uint64_t n) {
        a->n_pages *= n;
        a->n_bytes *= n;
        a->read_events *= n;
}

static int grow(const char *path, unsigned n_copies) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t first_ns = UINT64_MAX, last_ns = 0;
        size_t n_cpus = 0;
        int r = session_dir_take_fds(&dir, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -EBADF);

        if (r == 0)
                r = session_dir_read_meta(dir, &m);
        if (r == 0)
                r = session_dir_list_cpus(dir, &cpus, &n_cpus);
        for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; r == 0 && i < n_cpus; i++) {
                        Cpu c = { .cpu = cpus[i], .dir_fd = session_dir_make_cpu(dir, cpus[i]) };
                        uint64_t sequence;

                        r = session_dir_list_segments(dir, c.cpu, &c.sequences, &c.n_sequences);
                        if (r != 0 || c.n_sequences == 0)
                                continue;
                        sequence = c.sequences[c.n_sequences - 1];
                        if (pass == 0)
                                r = measure(dir, &c, &first_ns, &last_ns);
                        for (unsigned k = 1; pass == 1 && r == 0 && k <= n_copies; k++)
                                r = copy(dir, m, &c, &sequence,
                                         k * (last_ns - first_ns + PAUSE_NS));
                        if (pass == 1 && session_meta_account(m, c.cpu))
                                multiply(session_meta_account(m, c.cpu), n_copies + 1);
                        free(c.sequences);
                        safe_close(c.dir_fd);
                }
        return r ?: session_dir_write_meta(dir, m, false);
}

int main(int argc, char **argv) {
        int r = argc == 3 ? grow(argv[1], (unsigned) atoi(argv[2])) : -EINVAL;

        if (r != 0)
                (void) fprintf(stderr, "grow-session: failed (%d)\n", r);
        return r != 0;
}
