/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A header is taken if every field of it can be; what else begins with the magic is a sealed segment, or a
 * newer program's.
 */

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/sealed.h"
#include "store/segment-header.h"

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

        switch (r) {
        case 0:
                *ret = (SegmentHeader){
                        .page_bytes = h.page_bytes,
                        .cpu = h.cpu,
                        .sequence = h.sequence,
                        .n_pages = h.n_pages,
                };
                return SEGMENT_E_SEALED;
        case SEALED_E_NEWER:
                return SEGMENT_E_NEWER;
        case SEALED_E_DAMAGED:
                return SEGMENT_E_DAMAGED;
        default:
                return r;
        }
}

int segment_read_header(int fd, SegmentHeader *ret) {
        SegmentHeader h;
        ssize_t n = pread_up_to(fd, &h, sizeof(h), 0);

        if (n < 0)
                return (int) n;
        if ((size_t) n < sizeof(h) || memcmp(h.magic, SEGMENT_MAGIC, sizeof(h.magic)) != 0)
                return SEGMENT_E_DAMAGED;
        h.version = le32toh(h.version);
        h.header_bytes = le32toh(h.header_bytes);
        h.page_bytes = le32toh(h.page_bytes);
        h.cpu = le32toh(h.cpu);
        h.sequence = le64toh(h.sequence);
        h.state = le32toh(h.state);
        h.previous = le32toh(h.previous);
        h.n_pages = le64toh(h.n_pages);
        if (h.version != SEGMENT_VERSION)
                return tell_others_apart(ret, fd);
        if (h.header_bytes != SEGMENT_HEADER_BYTES || !page_bytes_are_valid(h.page_bytes) ||
            h.cpu >= STORE_MAX_CPUS || h.sequence > UINT32_MAX || h.previous > h.sequence ||
            h.state > SEGMENT_STATE_CLOSED)
                return SEGMENT_E_DAMAGED;
        *ret = h;
        return 0;
}
