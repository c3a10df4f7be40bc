/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A reader counts the pages that are both published and in the file, whatever the header says; whoever
 * wants them reads them from its descriptor.  The file may grow while it is read (segment_refresh()).
 */

#include <inttypes.h>
#include <sys/stat.h>

#include "base/io.h"
#include "store/sealed.h"
#include "store/segment.h"

char *segment_format_name(char name[static SEGMENT_NAME_MAX], uint64_t sequence) {
        (void) snprintf(name, SEGMENT_NAME_MAX, "%08" PRIx32 ".seg", (uint32_t) sequence);
        return name;
}

char *segment_format_path(char path[static SEGMENT_PATH_MAX], uint32_t cpu, uint64_t sequence) {
        char name[SEGMENT_NAME_MAX];

        (void) snprintf(path, SEGMENT_PATH_MAX, "cpu%" PRIu32 "/%s", cpu,
                        segment_format_name(name, sequence));
        return path;
}

bool segment_parse_name(const char *name, uint64_t *ret) {
        if (strspn(name, "0123456789abcdef") != 8 || !streq(name + 8, ".seg"))
                return false;
        *ret = strtoull(name, NULL, 16);
        return true;
}

/* What else begins with the magic. */
static int tell_others_apart(SegmentHeader *ret, int fd) {
        SealedHeader h;
        int r = sealed_header_read(&h, fd);

        if (r != 0)
                return r;
        *ret = (SegmentHeader){
                .page_bytes = h.page_bytes,
                .cpu = h.cpu,
                .sequence = h.sequence,
                .n_pages = h.n_pages,
        };
        return SEGMENT_E_SEALED;
}

int segment_read_header(int fd, SegmentHeader *ret) {
        SegmentHeader h;
        ssize_t n = pread_up_to(fd, &h, sizeof(h), 0);

        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(h) || memcmp(h.magic, SEGMENT_MAGIC, sizeof(h.magic)) != 0)
                return SEGMENT_E_DAMAGED;
        segment_swap(&h, SEGMENT_WIDTHS);
        if (h.version != SEGMENT_VERSION)
                return tell_others_apart(ret, fd);
        if (h.header_bytes != SEGMENT_HEADER_BYTES || !page_bytes_are_valid(h.page_bytes) ||
            h.cpu >= STORE_MAX_CPUS || h.sequence > UINT32_MAX || h.previous > h.sequence ||
            h.state > SEGMENT_STATE_CLOSED)
                return SEGMENT_E_DAMAGED;
        *ret = h;
        return 0;
}

/* Bytes behind the header; -EBADMSG if there is not even that; -errno. */
static int64_t body_bytes(int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        return st.st_size < SEGMENT_HEADER_BYTES ? -EBADMSG : st.st_size - SEGMENT_HEADER_BYTES;
}

/* Of @n_pages as many as have anything on disk behind them: a file may claim any length. */
static uint64_t pages_with_data(Segment *s, uint64_t n_pages) {
        const uint32_t page_bytes = s->header.page_bytes;
        uint64_t end = SEGMENT_HEADER_BYTES + n_pages * page_bytes;

        s->has_holes = fd_next_hole(s->fd, SEGMENT_HEADER_BYTES, end) < end;
        if (!s->has_holes)
                return n_pages;
        end = fd_data_end(s->fd, SEGMENT_HEADER_BYTES, end);
        return (end - SEGMENT_HEADER_BYTES + page_bytes - 1) / page_bytes;
}

/* Takes n_pages and state from the header, which has just been read, and bounds them by the file. */
static int look(Segment *s, const SegmentHeader *h) {
        int64_t n_body;
        uint64_t n_pages;
        ssize_t n;

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
        s->header.state = h->state;
        s->header.n_pages = n_pages;
        s->n_torn = (uint64_t) n_body - n_pages * s->header.page_bytes;
        return 0;
}

int segment_take_fd(Segment **ret, int fd) {
        _cleanup_(segment_freep) Segment *s = NULL;
        _cleanup_close_ int owned = fd;
        SegmentHeader h;
        int r = segment_read_header(owned, &h);

        if (r != 0)
                return r;
        s = NEW(Segment, .fd = TAKE_FD(owned), .header = h);
        if (!s)
                return -ENOMEM;
        r = look(s, &h);
        if (r < 0)
                return r == -EBADMSG ? SEGMENT_E_DAMAGED : r;
        *ret = TAKE_PTR(s);
        return 0;
}

int segment_refresh(Segment *s) {
        uint64_t n_before = s->header.n_pages;
        SegmentHeader h;
        int r = segment_read_header(s->fd, &h);

        r = r > 0 ? -EBADMSG : r ?: look(s, &h);
        return r < 0 ? r : s->header.n_pages > n_before;
}

Segment *segment_free(Segment *s) {
        if (!s)
                return NULL;
        safe_close(s->fd);
        return mfree(s);
}
