/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A segment that is not sealed, mapped: for whoever holds its pages against something. */

#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "store/entry.h"
#include "store/segment.h"
#include "store/session-dir.h"

/* As segment_take_fd(). */
__attribute__((unused)) static int segment_open(Segment **ret, int dir_fd, const char *path) {
        int fd = entry_open_file(dir_fd, path, O_RDONLY);

        return fd < 0 ? fd : segment_take_fd(ret, fd);
}

__attribute__((unused)) static int session_dir_open_segment(const SessionDir *d, uint32_t cpu,
                                                            uint64_t sequence, Segment **ret) {
        int fd = session_dir_open_segment_file(d, cpu, sequence);

        return fd < 0 ? fd : segment_take_fd(ret, fd);
}

/* Page @i and all behind it; until the next call with another file, or of another length. */
__attribute__((unused)) static const void *segment_page(const Segment *s, uint64_t i) {
        static struct stat of;
        static char *map = MAP_FAILED;
        struct stat st;
        int r = fstat(s->fd, &st);

        assert(i < s->header.n_pages && r >= 0);
        if (map == MAP_FAILED || st.st_ino != of.st_ino || st.st_dev != of.st_dev ||
            st.st_size != of.st_size) {
                if (map != MAP_FAILED)
                        (void) munmap(map, (size_t) of.st_size);
                map = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_SHARED, s->fd, 0);
                assert(map != MAP_FAILED);
                of = st;
        }
        return map + SEGMENT_HEADER_BYTES + i * s->header.page_bytes;
}
