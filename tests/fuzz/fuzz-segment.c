/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A file as a segment: opened, every page touched to its last byte and parsed, cut by its last
 * byte, grown again, refreshed, recovered and read again.  What segment_open() counts must be in
 * the file, and recovery must leave a closed segment that counts what it said.
 */

#include "fuzz-mutate.h"
#include "store/page.h"
#include "store/segment.h"
#include "tests/unit/segment-map.h"

static unsigned read_all(const Segment *g) {
        uint32_t page_bytes = g->header.page_bytes;
        unsigned sum = 0;

        for (uint64_t i = 0; i < g->header.n_pages; i++) {
                const unsigned char *page = segment_page(g, i);
                PageInfo info;

                for (int swap = 0; swap < 2; swap++)
                        if (page_parse(&info, page, page_bytes, swap) == 0)
                                FUZZ_CHECK(info.n_payload <= page_bytes - PAGE_HEADER_BYTES);
                sum += page[page_bytes - 1];
        }
        return sum;
}

static void check_reader(int fd, size_t n_data) {
        _cleanup_(segment_freep) Segment *g = NULL;
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

        if (segment_take_fd(&g, copy) != 0)
                return;
        FUZZ_CHECK(SEGMENT_HEADER_BYTES + g->header.n_pages * g->header.page_bytes + g->n_torn ==
                   n_data);
        (void) read_all(g);
        FUZZ_CHECK(ftruncate(fd, (off_t) n_data - 1) == 0);
        FUZZ_CHECK(segment_refresh(g) <= 0);
        FUZZ_CHECK(ftruncate(fd, (off_t) n_data) == 0);
        if (segment_refresh(g) >= 0)
                (void) read_all(g);
}

static void check_recovery(const uint8_t *data, size_t n_data) {
        char dir[] = "/dev/shm/fuzz-segment-XXXXXX";
        _cleanup_(segment_freep) Segment *g = NULL;
        _cleanup_close_ int dir_fd = -EBADF;
        uint64_t n_pages;

        /* By path, because recovery is: the only part that needs a file system. */
        if (!mkdtemp(dir))
                return;
        dir_fd = dir_open(AT_FDCWD, dir);
        FUZZ_CHECK(file_replace(dir_fd, "s", data, n_data, 0600) == 0);
        if (segment_recover(dir_fd, "s", &n_pages) == 0) {
                FUZZ_CHECK(segment_open(&g, dir_fd, "s") == 0);
                FUZZ_CHECK(g->header.state == SEGMENT_STATE_CLOSED);
                FUZZ_CHECK(g->header.n_pages == n_pages);
                (void) read_all(g);
        }
        (void) tree_remove(AT_FDCWD, dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_close_ int fd = fuzz_file(data, n_data);
        SegmentHeader h;

        if (segment_read_header(fd, &h) == 0)
                check_recovery(data, n_data);
        check_reader(fd, n_data);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_pages(data, n, max, 0, seed);
}
