/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever memory holds after a crash: as many pages as came are in the segment, bit for bit, but for the mark of
 * loss before the first; its times can be asked for.
 *
 * Input: what trace_pipe_raw gives; the first byte is how many pages may be taken.
 */

#include "daemon/session/session.h"
#include "fuzz-mutate.h"
#include "fuzz-scratch.h"
#include "pages/page-source.h"

#define PAGE 4096U

static void check_pages(const SessionDir *dir, const uint8_t *data, size_t n_data, uint64_t n) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        uint64_t first_ns, last_ns;

        FUZZ_CHECK(page_source_open(&s, dir, 3, 0, NULL) == 0);
        FUZZ_CHECK(s->n_pages == n);
        for (uint64_t i = 0; i < n; i++) {
                size_t n_page = MIN(n_data - i * PAGE, (size_t) PAGE), from = i == 0 ? 16 : 0;
                const void *page;
                uint64_t n_read;

                FUZZ_CHECK(page_source_read(s, i, &page, &n_read) == 0);
                FUZZ_CHECK(n_page <= from || memcmp((const uint8_t *) page + from,
                                                    data + i * PAGE + from, n_page - from) == 0);
        }
        (void) page_source_span(s, false, &first_ns, &last_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_fuzz_scratch_ FuzzScratch s = fuzz_scratch_new();
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_close_ int fd = -EBADF;
        uint64_t n = 0, wanted;

        if (n_data == 0)
                return 0;
        fd = fuzz_file(data + 1, n_data - 1);
        FUZZ_CHECK(session_dir_take_fds(&dir, fcntl(s.fd, F_DUPFD_CLOEXEC, 3), -EBADF) == 0);
        FUZZ_CHECK(session_meta_new(&m) == 0 && session_meta_renew_id(m) == 0);
        m->page_bytes = PAGE;
        FUZZ_CHECK(rescue_move_pages(fd, 3, *data, dir, m, &n) == 0);
        wanted = MIN((n_data - 1 + PAGE - 1) / PAGE, (size_t) *data);
        FUZZ_CHECK(n == wanted);
        if (n > 0)
                check_pages(dir, data + 1, n_data - 1, n);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_pages(data, n, max, 1, seed);
}
