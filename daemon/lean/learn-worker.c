/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Files are mapped or opened first, then the process locks itself up, and only then looks at a page.
 * A source that cannot be read to its end makes the whole answer worthless, as functions would be
 * missing from it.
 */

#include <signal.h>
#include <sys/prctl.h>

#include "base/io.h"
#include "daemon/lean/lean.h"
#include "daemon/process/sandbox.h"
#include "learn/function-counts.h"
#include "pages/page-source.h"

#define MEMORY_BYTES_MAX (UINT64_C(2) << 30)
#define JOB_BYTES_MAX 65536
#define SYMBOLS_BYTES_MAX ((size_t) 256 << 20)
#define SOURCES_MAX 4096

typedef struct Sources {
        PageSource **segments;
        size_t n;
} Sources;

static int count_segment(FunctionCounts *t, PageSource *s) {
        uint64_t n_pages = s->n_pages, n;
        size_t page_bytes = s->page_bytes;

        for (uint64_t i = 0; i < n_pages; i += n) {
                const void *pages;
                int r = page_source_read(s, i, &pages, &n);

                if (r < 0)
                        return r;
                if (r > 0) /* lost, or dropped by a ring */
                        continue;
                for (uint64_t k = 0; k < n; k++) {
                        r = function_counts_add_page(t, (const char *) pages + k * page_bytes,
                                                     page_bytes);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int count_pages(FunctionCounts *t, int fd, uint32_t page_bytes) {
        _cleanup_free_ char *page = malloc(page_bytes);

        if (!page)
                return -ENOMEM;
        for (uint64_t at = 0;; at += page_bytes) {
                ssize_t n = pread_up_to(fd, page, page_bytes, at);
                int r;

                if (n < 0)
                        return (int) n;
                if ((size_t) n < page_bytes)
                        return 0;
                r = function_counts_add_page(t, page, page_bytes);
                if (r < 0)
                        return r;
        }
}

static int work(const LearnWorkerJob *job, const char *formats, const Sources *sources) {
        _cleanup_(symbols_freep) Symbols *symbols = NULL;
        _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
        _cleanup_buf_ Buf out = BUF_TO_FD(LEARN_WORKER_FD_OUT);
        size_t n;
        char *text;
        int r = fd_read(LEARN_WORKER_FD_SYMBOLS, &text, &n, SYMBOLS_BYTES_MAX);

        if (r >= 0)
                r = symbols_new(&symbols, text, n);
        if (r >= 0)
                r = function_counts_new(&t, &(FunctionCountsConfig){
                                                    .format = formats,
                                                    .field = job->field,
                                                    .exit_format = formats[job->n_format]
                                                                           ? formats + job->n_format
                                                                           : NULL,
                                                    .symbols = symbols,
                                                    .is_interrupt = waiting_is_interrupt,
                                                    .from_ns = job->from_ns,
                                                    .to_ns = job->to_ns });
        for (size_t i = 0; r >= 0 && i < sources->n; i++)
                r = count_segment(t, sources->segments[i]);
        for (size_t i = 0; r >= 0 && !sources->segments && i < job->n_sources; i++)
                r = count_pages(t, LEARN_WORKER_FD_PAGES + (int) i, job->page_bytes);
        if (r >= 0)
                r = function_counts_name(t, &out);
        return r < 0 ? r : buf_flush(&out);
}

static int open_segments(Sources *ret, const LearnWorkerJob *job) {
        ret->segments = calloc(job->n_sources + 1, sizeof(PageSource *));
        if (!ret->segments)
                return -ENOMEM;
        for (size_t i = 0; i < job->n_sources; i++) {
                int r = page_source_take_fd(&ret->segments[ret->n], LEARN_WORKER_FD_PAGES + (int) i,
                                            NULL);

                if (r < 0)
                        return r;
                ret->n += r == 0; /* else there is nothing in it yet, or it is damaged */
        }
        return 0;
}

static void sources_done(Sources *s) {
        for (size_t i = 0; i < s->n; i++)
                (void) page_source_free(s->segments[i]);
        free(s->segments);
}

int learn_worker(void) {
        _cleanup_(sources_done) Sources sources = {};
        _cleanup_free_ char *text = NULL;
        LearnWorkerJob job;
        size_t n;

        /* Should the daemon die, nobody would wait for us. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) prctl(PR_SET_NAME, "ftraced-learn");
        if (fd_read(LEARN_WORKER_FD_JOB, &text, &n, JOB_BYTES_MAX) < 0 || n < sizeof(job))
                return EXIT_FAILURE;
        memcpy(&job, text, sizeof(job));
        job.field[sizeof(job.field) - 1] = 0;
        if (job.n_sources > SOURCES_MAX || job.n_format == 0 || n < sizeof(job) + job.n_format ||
            (job.page_bytes == 0 && open_segments(&sources, &job) < 0) ||
            sandbox(SANDBOX_SOON, MEMORY_BYTES_MAX, LEARN_WORKER_MAX_OUT) < 0)
                return EXIT_FAILURE;
        return work(&job, text + sizeof(job), &sources) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
