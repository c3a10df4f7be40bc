/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where a reader that died had come to is not written down anywhere: it is what is there.  The
 * length of the last segment's file, the bytes in the pipe and the position of the raw descriptor
 * are kept by the kernel, each changes at the same moment as the bytes move, and together they say
 * it to the byte, also when a page is half in the file and half in the pipe.
 */

#include <fcntl.h>

#include "daemon/record/reader.h"

/*
 * Bytes of a page that a read() cut short has delivered: the descriptor's position then is no
 * multiple of a page, and splice() refuses until the rest was read (linux 6.1
 * kernel/trace/trace.c, tracing_buffers_read() and tracing_buffers_splice_read()).
 */
static size_t reader_find_tail(const Reader *r) {
        char path[64], line[64];
        _cleanup_fclose_ FILE *f = NULL;
        unsigned long long position = 0;

        (void) snprintf(path, sizeof(path), "/proc/self/fdinfo/%i", r->raw_fd);
        f = fopen(path, "re");
        if (f && fgets(line, sizeof(line), f))
                (void) sscanf(line, "pos: %llu", &position);
        return (size_t) (position % r->shared->page_bytes);
}

/* Throws away @n bytes from the pipe: the rest of a page whose beginning is not in the segment. */
static int reader_discard(Reader *r, size_t n) {
        char buffer[4096];

        while (n > 0) {
                ssize_t k = read(r->pipe_fds[0], buffer, MIN(n, sizeof(buffer)));

                if (k < 0 && errno == EINTR)
                        continue;
                if (k <= 0)
                        return k < 0 ? ORIGIN(-errno) : -EIO;
                n -= (size_t) k;
                r->n_piped -= (size_t) k;
        }
        return 0;
}

/* The rest of a page that read() has begun goes where its beginning is, or nowhere. */
static int reader_resume_tail(Reader *r, size_t n_tail) {
        _cleanup_free_ void *rest = NULL;
        void *tail;
        int k;

        if (r->segment) {
                k = segment_tail(r->segment, &tail);
                if (k < 0)
                        return k;
                r->tail = tail;
                r->n_tail = n_tail;
                return 0;
        }
        rest = malloc(r->shared->page_bytes);
        if (!rest)
                return -ENOMEM;
        (void) !read(r->raw_fd, rest, r->shared->page_bytes - n_tail);
        atomic_fetch_add(&r->counters.pages_lost, 1);
        return 0;
}

/* All CPUs go on with the newest sequence that any of them had come to. */
static void reader_resume_sequence(Reader *r, uint64_t last) {
        uint64_t next = r->segment ? last : last + 1;

        if (r->segment) {
                uint64_t n_begun = r->segment->n_bytes % r->shared->page_bytes;

                r->sequence = last;
                atomic_store(&r->counters.open_sequence, last);
                atomic_fetch_add(&r->counters.n_bytes, n_begun);
                atomic_fetch_add(&r->shared->n_bytes, n_begun);
        } else
                r->previous = last;
        if (atomic_load(&r->shared->sequence) < next)
                atomic_store(&r->shared->sequence, next);
}

int reader_resume(Reader *r) {
        _cleanup_free_ uint64_t *sequences = NULL;
        SegmentRest rest = { .n_piped = r->n_piped, .n_tail = reader_find_tail(r) };
        size_t n = 0, n_torn = 0;
        int k = session_dir_list_segments(r->shared->dir, r->cpu, &sequences, &n);

        if (k < 0 && k != -ENOENT)
                return k;
        if (n > 0) {
                r->cpu_dir_fd = session_dir_make_cpu(r->shared->dir, r->cpu);
                if (r->cpu_dir_fd < 0)
                        return r->cpu_dir_fd;
        }
        while (n > 0) {
                char name[SEGMENT_NAME_MAX];

                k = segment_append(&r->segment, r->cpu_dir_fd, sequences[n - 1], r->cpu,
                                   r->shared->page_bytes, r->shared->session_id, &rest, &n_torn);
                if (k != -ENODATA)
                        break;
                n--;
                if (unlinkat(r->cpu_dir_fd, segment_format_name(name, sequences[n]), 0) < 0)
                        return ORIGIN(-errno);
        }
        if (n > 0 && k < 0)
                return k;
        if (n > 0)
                reader_resume_sequence(r, sequences[n - 1]);

        /* A page without its other half.  Without a segment all of its beginning is missing. */
        k = n_torn > 0 || !r->segment ? reader_discard(r, r->n_piped % r->shared->page_bytes) : 0;
        if (k < 0)
                return k;
        if (n_torn > 0 || r->n_piped != rest.n_piped)
                atomic_fetch_add(&r->counters.pages_lost, 1);
        return rest.n_tail > 0 ? reader_resume_tail(r, rest.n_tail) : 0;
}
