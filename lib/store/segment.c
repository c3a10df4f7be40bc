/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A reader maps the header and the pages that are both published and in the file, and nothing else:
 * no byte outside that is ever touched, whatever the header says.  The file may grow while it is
 * read (segment_refresh()).  A segment that is removed is emptied (store/discard.h), and then touching
 * what is mapped is SIGBUS: nothing here does, and whoever does not own the store reads the pages from
 * segment_fd() instead.
 */

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/entry.h"
#include "store/segment.h"

struct Segment {
        int fd;
        void *map; /* the header and n_pages pages */
        size_t n_map;
        uint64_t sequence, previous;
        uint32_t cpu, page_bytes;
        bool closed;
        uint64_t n_pages, n_torn;
};

/* Bytes behind the header; -EBADMSG if there is not even that; -errno. */
static int64_t body_bytes(int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        return st.st_size < SEGMENT_HEADER_BYTES ? -EBADMSG : st.st_size - SEGMENT_HEADER_BYTES;
}

/* Makes the mapping that of @n_pages pages. */
static int remap(Segment *s, uint64_t n_pages) {
        uint64_t n_map = SEGMENT_HEADER_BYTES + n_pages * s->page_bytes;
        void *p;

        if (n_map > SIZE_MAX)
                return ORIGIN(-EFBIG);
        if (!s->map)
                p = mmap(NULL, n_map, PROT_READ, MAP_SHARED, s->fd, 0);
        else if (n_map != s->n_map)
                p = mremap(s->map, s->n_map, n_map, MREMAP_MAYMOVE);
        else
                return 0;
        if (p == MAP_FAILED)
                return ORIGIN(-errno);
        s->map = p;
        s->n_map = n_map;
        return 0;
}

/* Pages up to where the file is on disk no more. */
static uint64_t pages_until(const Segment *s, uint64_t end) {
        return (end - SEGMENT_HEADER_BYTES + s->page_bytes - 1) / s->page_bytes;
}

/* Maps as many of @n_pages as have anything on disk behind them: a file may claim any length.  If
 * that is more than there are addresses, those before the first hole. */
static int map_pages(Segment *s, uint64_t *n_pages) {
        uint64_t end = SEGMENT_HEADER_BYTES + *n_pages * s->page_bytes;
        uint64_t hole = fd_next_hole(s->fd, SEGMENT_HEADER_BYTES, end);
        int r;

        if (hole < end)
                *n_pages = pages_until(s, fd_data_end(s->fd, SEGMENT_HEADER_BYTES, end));
        r = remap(s, *n_pages);
        if (r != -ENOMEM || hole == end)
                return r;
        *n_pages = pages_until(s, hole);
        return remap(s, *n_pages);
}

/* Takes n_pages and state from the header and bounds them by the file. */
static int look(Segment *s) {
        int64_t n_body;
        SegmentHeader h;
        uint64_t n_pages;
        ssize_t n;
        bool closed;
        int r = segment_read_header(s->fd, &h);

        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        /* The state before the number: a closed segment's number is final. */
        closed = h.state == SEGMENT_STATE_CLOSED;
        n = pread_up_to(s->fd, &n_pages, sizeof(n_pages), offsetof(SegmentHeader, n_pages));
        if (n < (ssize_t) sizeof(n_pages))
                return n < 0 ? (int) n : -EBADMSG;
        n_pages = le64toh(n_pages);
        /* The length after the number: what was published was in the file by then. */
        n_body = body_bytes(s->fd);
        if (n_body < 0)
                return (int) n_body;
        n_pages = MIN(n_pages, (uint64_t) n_body / s->page_bytes);
        r = map_pages(s, &n_pages);
        if (r < 0)
                return r;
        s->closed = closed;
        s->n_pages = n_pages;
        s->n_torn = (uint64_t) n_body - n_pages * s->page_bytes;
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
        s = malloc(sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (Segment){
                .fd = TAKE_FD(owned),
                .sequence = h.sequence,
                .previous = (uint64_t) h.previous - 1, /* 0 becomes UINT64_MAX */
                .cpu = h.cpu,
                .page_bytes = h.page_bytes,
        };
        r = remap(s, 0);
        if (r >= 0)
                r = look(s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

int segment_open(Segment **ret, int dir_fd, const char *path) {
        int fd = entry_open_file(dir_fd, path, O_RDONLY);

        if (fd == -EISDIR || fd == -EBADFD)
                return SEGMENT_E_DAMAGED;
        return fd < 0 ? fd : segment_take_fd(ret, fd);
}

int segment_refresh(Segment *s) {
        uint64_t n_before = s->n_pages;
        int r = look(s);

        return r < 0 ? r : s->n_pages > n_before;
}

int segment_fd(const Segment *s) {
        return s->fd;
}

uint32_t segment_cpu(const Segment *s) {
        return s->cpu;
}

uint64_t segment_sequence(const Segment *s) {
        return s->sequence;
}

uint64_t segment_previous(const Segment *s) {
        return s->previous;
}

uint32_t segment_page_bytes(const Segment *s) {
        return s->page_bytes;
}

bool segment_is_closed(const Segment *s) {
        return s->closed;
}

uint64_t segment_n_pages(const Segment *s) {
        return s->n_pages;
}

uint64_t segment_torn_bytes(const Segment *s) {
        return s->n_torn;
}

const void *segment_page(const Segment *s, uint64_t i) {
        assert(i < s->n_pages);

        return (const char *) s->map + SEGMENT_HEADER_BYTES + i * s->page_bytes;
}

Segment *segment_free(Segment *s) {
        if (!s)
                return NULL;
        if (s->map)
                (void) munmap(s->map, s->n_map);
        safe_close(s->fd);
        free(s);
        return NULL;
}
