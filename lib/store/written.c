/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A page of zeroes is none: every page of a ring buffer has a time.  File systems leave zeroes where
 * they had promised room and could not write (ext4's and xfs's unwritten extents, holes on btrfs).
 */

#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/format.h"
#include "store/page.h"
#include "store/written.h"

#define CHUNK_BYTES PAGE_BYTES_MAX /* a multiple of every page */
#define ALIGNED_BYTES 4096

int written_make_dirty(int fd, uint64_t n_bytes) {
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

/* Of the pages in one chunk; what could not be read is shorter. */
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

uint64_t written_count_missing(int fd, uint64_t n_pages, uint32_t page_bytes, bool is_synced,
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
