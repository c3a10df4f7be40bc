/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A reader counts the pages that are both published and in the file, whatever the header says; whoever
 * wants them reads them from its descriptor.  The file may grow while it is read (segment_refresh()).
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "store/page.h"
#include "store/segment.h"

#define CHUNK_BYTES PAGE_BYTES_MAX /* a multiple of every page */
#define ALIGNED_BYTES 4096

/* Bytes behind the header; -EBADMSG if there is not even that; -errno. */
static int64_t body_bytes(int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        return st.st_size < SEGMENT_HEADER_BYTES ? -EBADMSG : st.st_size - SEGMENT_HEADER_BYTES;
}

/* Of @n_pages as many as have anything on disk behind them: a file may claim any length. */
static uint64_t pages_with_data(const Segment *s, uint64_t n_pages) {
        const uint32_t page_bytes = s->header.page_bytes;
        uint64_t end = SEGMENT_HEADER_BYTES + n_pages * page_bytes;

        if (fd_next_hole(s->fd, SEGMENT_HEADER_BYTES, end) == end)
                return n_pages;
        end = fd_data_end(s->fd, SEGMENT_HEADER_BYTES, end);
        return (end - SEGMENT_HEADER_BYTES + page_bytes - 1) / page_bytes;
}

/* Takes n_pages and state from the header and bounds them by the file. */
static int look(Segment *s) {
        int64_t n_body;
        SegmentHeader h;
        uint64_t n_pages;
        ssize_t n;
        int r = segment_read_header(s->fd, &h);

        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        /* The state before the number: a closed segment's number is final. */
        n = pread_up_to(s->fd, &n_pages, sizeof(n_pages), offsetof(SegmentHeader, n_pages));
        if (n < (ssize_t) sizeof(n_pages))
                return n < 0 ? (int) n : -EBADMSG;
        n_pages = le64toh(n_pages);
        /* The length after the number: what was published was in the file by then. */
        n_body = body_bytes(s->fd);
        if (n_body < 0)
                return (int) n_body;
        n_pages = pages_with_data(s, MIN(n_pages, (uint64_t) n_body / s->header.page_bytes));
        s->header.state = h.state;
        s->header.n_pages = n_pages;
        s->n_torn = (uint64_t) n_body - n_pages * s->header.page_bytes;
        return 0;
}

int segment_take_fd(Segment **ret, int fd) {
        _cleanup_(segment_freep) Segment *s = NULL;
        _cleanup_close_ int owned = fd;
        SegmentHeader h;
        int64_t n_body = body_bytes(owned);
        int r;

        if (n_body < 0)
                return n_body == -EBADMSG ? SEGMENT_E_DAMAGED : (int) n_body;
        r = segment_read_header(owned, &h);
        if (r != 0)
                return r;
        s = NEW(Segment, .fd = TAKE_FD(owned), .header = h);
        if (!s)
                return -ENOMEM;
        r = look(s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

int segment_refresh(Segment *s) {
        uint64_t n_before = s->header.n_pages;
        int r = look(s);

        return r < 0 ? r : s->header.n_pages > n_before;
}

Segment *segment_free(Segment *s) {
        if (!s)
                return NULL;
        safe_close(s->fd);
        return mfree(s);
}

/* --- after writing back has failed -------------------------------------------------------------- */

int segment_make_dirty(int fd, uint64_t n_bytes) {
        _cleanup_free_ char *chunk = malloc(CHUNK_BYTES);

        if (!chunk)
                return -ENOMEM;
        for (uint64_t at = 0; at < n_bytes;) {
                ssize_t n = pread_up_to(fd, chunk, MIN(n_bytes - at, (uint64_t) CHUNK_BYTES), at);
                int r;

                if (n <= 0)
                        return (int) n;
                r = pwrite_full(fd, chunk, (size_t) n, at);
                if (r < 0)
                        return r;
                at += (uint64_t) n;
        }
        return 0;
}

/* Past the page cache; a descriptor or -errno. */
static int open_disk(int fd) {
        char path[64];
        int disk_fd;

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", fd);
        disk_fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
        return disk_fd < 0 ? ORIGIN(-errno) : disk_fd;
}

/*
 * Of the pages in one chunk; what could not be read is shorter.  A page of zeroes is none: every page of a
 * ring buffer has a time.  File systems leave zeroes where they had promised room and could not write
 * (ext4's and xfs's unwritten extents, holes on btrfs).
 */
static uint64_t compare(const char *memory, size_t n_memory, const char *disk, size_t n_disk,
                        size_t n, uint32_t page_bytes, uint64_t *first_ns) {
        uint64_t n_missing = 0;

        for (size_t at = 0; at < n; at += page_bytes) {
                PageInfo info;
                int k = at + page_bytes <= n_memory
                                ? page_parse(&info, memory + at, page_bytes, false)
                                : PAGE_E_EMPTY;

                if (k != PAGE_E_EMPTY && at + page_bytes <= n_disk &&
                    memcmp(memory + at, disk + at, page_bytes) == 0)
                        continue;
                n_missing++;
                if (k == 0 && *first_ns == 0)
                        *first_ns = info.timestamp;
        }
        return n_missing;
}

uint64_t segment_count_missing(int fd, uint64_t n_pages, uint32_t page_bytes, bool is_synced,
                               uint64_t *ret_first_ns) {
        _cleanup_close_ int disk_fd = is_synced ? -EBADF : open_disk(fd);
        _cleanup_free_ char *memory = malloc(CHUNK_BYTES), *disk = NULL;
        uint64_t n_missing = 0;
        void *aligned;

        *ret_first_ns = 0;
        if (!memory || posix_memalign(&aligned, ALIGNED_BYTES, CHUNK_BYTES) != 0)
                return n_pages;
        disk = aligned;
        for (uint64_t page = 0; page < n_pages; page += CHUNK_BYTES / page_bytes) {
                uint64_t at = SEGMENT_HEADER_BYTES + page * page_bytes;
                size_t n = (size_t) MIN((n_pages - page) * page_bytes, (uint64_t) CHUNK_BYTES);
                ssize_t n_memory = pread_up_to(fd, memory, n, at),
                        n_disk = disk_fd < 0 ? -1 : pread_up_to(disk_fd, disk, n, at);

                if (is_synced) {
                        memcpy(disk, memory, n);
                        n_disk = n_memory;
                }
                n_missing +=
                        compare(memory, (size_t) MAX(n_memory, (ssize_t) 0), disk,
                                (size_t) MAX(n_disk, (ssize_t) 0), n, page_bytes, ret_first_ns);
        }
        return n_missing;
}
