/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checksum first, then values: a part that its checksum vouches for and that still cannot be was
 * made by somebody who wanted us to stumble, and is refused like damage.
 */

#include <endian.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/io.h"
#include "store/sealed.h"

uint64_t sealed_checksum(const void *data, size_t n) {
        return XXH3_64bits(data, n);
}

/* Of a struct whose last member is its own checksum. */
#define own_checksum(p) sealed_checksum((p), sizeof(*(p)) - sizeof((p)->checksum))

/* --- reading ---------------------------------------------------------------------------------- */

void segment_swap(void *p, const char *widths) {
        const bool swap = needs_swap(false);

        for (uint8_t *at = p; *widths; widths++)
                if (*widths == '4') {
                        uint32_t v = load_u32(at, swap);

                        at = (uint8_t *) mempcpy(at, &v, sizeof(v));
                } else {
                        uint64_t v = load_u64(at, swap && *widths == '8');

                        at = (uint8_t *) mempcpy(at, &v, sizeof(v));
                }
}

#define HEADER_WIDTHS "-44448--844"
#define BLOCK_WIDTHS "-44448--4488884488"
#define ENTRY_WIDTHS "88888444"
#define FOOTER_WIDTHS "88448"

static int parse_header(SealedHeader *ret, const void *data, size_t n) {
        SealedHeader h;

        if (n < sizeof(h))
                return SEGMENT_E_DAMAGED;
        memcpy(&h, data, sizeof(h));
        if (memcmp(h.magic, SEGMENT_MAGIC, sizeof(h.magic)) != 0 ||
            le64toh(h.checksum) != own_checksum(&h))
                return SEGMENT_E_DAMAGED;
        segment_swap(&h, HEADER_WIDTHS);
        if (h.version > SEALED_VERSION) {
                *ret = h;
                return SEGMENT_E_NEWER;
        }
        if (h.version != SEALED_VERSION || h.header_bytes != SEALED_HEADER_BYTES ||
            !page_bytes_are_valid(h.page_bytes) || h.cpu >= STORE_MAX_CPUS ||
            h.sequence > UINT32_MAX || h.previous > h.sequence ||
            h.n_pages > UINT64_MAX / h.page_bytes)
                return SEGMENT_E_DAMAGED;
        *ret = h;
        return 0;
}

int sealed_header_read(SealedHeader *ret, int fd) {
        char data[SEALED_HEADER_BYTES];
        ssize_t n = pread_up_to(fd, data, sizeof(data), 0);

        return n < 0 ? (int) n : parse_header(ret, data, (size_t) n);
}

int sealed_block_parse(SealedBlock *ret, const void *data, size_t n) {
        SealedBlock b;

        if (n < sizeof(b))
                return SEGMENT_E_DAMAGED;
        memcpy(&b, data, sizeof(b));
        if (memcmp(b.magic, SEALED_BLOCK_MAGIC, sizeof(b.magic)) != 0 ||
            le64toh(b.checksum) != own_checksum(&b))
                return SEGMENT_E_DAMAGED;
        segment_swap(&b, BLOCK_WIDTHS);
        if (b.version != SEALED_VERSION || !page_bytes_are_valid(b.page_bytes) ||
            b.cpu >= STORE_MAX_CPUS || b.sequence > UINT32_MAX || b.n_pages == 0 ||
            b.n_pages > SEALED_BLOCK_RAW_MAX / b.page_bytes ||
            b.n_raw != b.n_pages * b.page_bytes || b.n_body > SEALED_BLOCK_BODY_MAX ||
            b.first_page > UINT64_MAX / b.page_bytes - b.n_pages)
                return SEGMENT_E_DAMAGED;
        *ret = b;
        return 0;
}

int sealed_footer_parse(SealedFooter *ret, const void *data, size_t n, uint64_t n_file) {
        SealedFooter f;
        uint64_t n_index;

        if (n < sizeof(f))
                return SEGMENT_E_DAMAGED;
        memcpy(&f, data, sizeof(f));
        if (memcmp(f.magic, SEALED_FOOTER_MAGIC, sizeof(f.magic)) != 0 ||
            le64toh(f.checksum) != own_checksum(&f))
                return SEGMENT_E_DAMAGED;
        segment_swap(&f, FOOTER_WIDTHS);
        n_index = (uint64_t) f.n_blocks * sizeof(SealedEntry) + sizeof(f);
        if (f.index_offset < SEALED_HEADER_BYTES || f.index_offset > n_file ||
            n_file - f.index_offset != n_index)
                return SEGMENT_E_DAMAGED;
        *ret = f;
        return 0;
}

int sealed_index_parse(SealedEntry *data, size_t n, const SealedFooter *footer) {
        uint64_t offset = SEALED_HEADER_BYTES, page = 0;

        if (n != footer->n_blocks * sizeof(*data) ||
            sealed_checksum(data, n) != footer->index_checksum)
                return SEGMENT_E_DAMAGED;
        for (uint32_t i = 0; i < footer->n_blocks; i++) {
                SealedEntry *e = &data[i];

                segment_swap(e, ENTRY_WIDTHS);
                if (e->offset != offset || e->first_page != page || e->n_pages == 0 ||
                    e->n_pages > SEALED_BLOCK_RAW_MAX / PAGE_BYTES_MIN ||
                    e->n_body > SEALED_BLOCK_BODY_MAX)
                        return SEGMENT_E_DAMAGED;
                offset += SEALED_BLOCK_HEADER_BYTES + e->n_body;
                page += e->n_pages;
        }
        return offset == footer->index_offset && page == footer->n_pages ? 0 : SEGMENT_E_DAMAGED;
}

/* --- writing ---------------------------------------------------------------------------------- */

void sealed_header_format(SealedHeader *x) {
        memcpy(x->magic, SEGMENT_MAGIC, sizeof(x->magic));
        x->version = SEALED_VERSION;
        x->header_bytes = SEALED_HEADER_BYTES;
        segment_swap(x, HEADER_WIDTHS);
        x->checksum = htole64(own_checksum(x));
}

void sealed_block_format(SealedBlock *x) {
        memcpy(x->magic, SEALED_BLOCK_MAGIC, sizeof(x->magic));
        x->version = SEALED_VERSION;
        segment_swap(x, BLOCK_WIDTHS);
        x->checksum = htole64(own_checksum(x));
}

void sealed_entry_format(SealedEntry *x) {
        segment_swap(x, ENTRY_WIDTHS);
}

void sealed_footer_format(SealedFooter *x, const SealedEntry *index) {
        memcpy(x->magic, SEALED_FOOTER_MAGIC, sizeof(x->magic));
        x->index_checksum = sealed_checksum(index, x->n_blocks * sizeof(*index));
        segment_swap(x, FOOTER_WIDTHS);
        x->checksum = htole64(own_checksum(x));
}
