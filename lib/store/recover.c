/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The file's length says more than its header: a page is whole when all its bytes are in the file,
 * because splice() and write() only ever append.  The one exception is the tail, which is allocated
 * before it is read into, and one that was never read into is all zero.  The header is written
 * last, number first and state after it, so a recovery that dies half way is simply repeated.
 */

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/entry.h"
#include "store/format.h"
#include "store/page.h"
#include "store/recover.h"

int segment_drop_empty(int fd, uint32_t page_bytes, uint64_t *n_pages) {
        _cleanup_free_ char *page = malloc(page_bytes);
        uint64_t end;

        if (!page)
                return -ENOMEM;
        /* All that is behind the last data is empty, however much. */
        end = fd_data_end(fd, SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + *n_pages * page_bytes);
        *n_pages = (end - SEGMENT_HEADER_BYTES + page_bytes - 1) / page_bytes;
        for (; *n_pages > 0; (*n_pages)--) {
                uint64_t at = SEGMENT_HEADER_BYTES + (*n_pages - 1) * page_bytes;
                ssize_t n = pread_up_to(fd, page, page_bytes, at);
                PageInfo info;

                if (n < 0)
                        return (int) n;
                if ((size_t) n < page_bytes)
                        return ORIGIN(-EIO); /* somebody cuts it under our hands */
                if (page_parse(&info, page, page_bytes, false) != PAGE_E_EMPTY)
                        break;
        }
        return 0;
}

static int close_at(int fd, uint32_t page_bytes, uint64_t n_pages) {
        uint64_t n = htole64(n_pages);
        uint32_t state = htole32(SEGMENT_STATE_CLOSED);
        int r;

        if (ftruncate(fd, (off_t) (SEGMENT_HEADER_BYTES + n_pages * page_bytes)) < 0)
                return ORIGIN(-errno);
        r = pwrite_full(fd, &n, sizeof(n), offsetof(SegmentHeader, n_pages));
        if (r < 0)
                return r;
        return pwrite_full(fd, &state, sizeof(state), offsetof(SegmentHeader, state));
}

int segment_recover(int dir_fd, const char *path, uint64_t *ret_n_pages) {
        _cleanup_close_ int fd = entry_open_file(dir_fd, path, O_RDWR);
        SegmentHeader h;
        struct stat st;
        uint64_t n_pages;
        int r;

        if (fd == -EISDIR || fd == -EBADFD)
                return SEGMENT_E_DAMAGED;
        if (fd < 0)
                return fd;
        r = segment_read_header(fd, &h);
        if (r == SEGMENT_E_SEALED) {
                *ret_n_pages = h.n_pages;
                return 0;
        }
        if (r != 0)
                return r;
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if ((uint64_t) st.st_size < SEGMENT_HEADER_BYTES)
                return SEGMENT_E_DAMAGED;
        n_pages = ((uint64_t) st.st_size - SEGMENT_HEADER_BYTES) / h.page_bytes;
        if (h.state == SEGMENT_STATE_CLOSED) {
                *ret_n_pages = MIN(n_pages, h.n_pages);
                return 0;
        }
        r = segment_drop_empty(fd, h.page_bytes, &n_pages);
        if (r >= 0)
                r = close_at(fd, h.page_bytes, n_pages);
        if (r < 0)
                return r;
        *ret_n_pages = n_pages;
        return 0;
}
