/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checksum first, then values: a part that its checksum vouches for and that still cannot be was
 * made by somebody who wanted us to stumble, and is refused like damage.
 */

#include <endian.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/sealed.h"

uint64_t sealed_checksum(const void *data, size_t n) {
        return XXH3_64bits(data, n);
}

/* Of a struct whose last member is its own checksum. */
#define own_checksum(p) sealed_checksum((p), sizeof(*(p)) - sizeof((p)->checksum))

/* --- reading ---------------------------------------------------------------------------------- */

/* Little endian <-> this machine: its own inverse. */
static void header_swap(SealedHeader *h) {
        h->version = le32toh(h->version);
        h->header_bytes = le32toh(h->header_bytes);
        h->page_bytes = le32toh(h->page_bytes);
        h->cpu = le32toh(h->cpu);
        h->sequence = le64toh(h->sequence);
        h->n_pages = le64toh(h->n_pages);
        h->flags = le32toh(h->flags);
        h->previous = le32toh(h->previous);
}

static void block_swap(SealedBlock *b) {
        b->version = le32toh(b->version);
        b->flags = le32toh(b->flags);
        b->page_bytes = le32toh(b->page_bytes);
        b->cpu = le32toh(b->cpu);
        b->sequence = le64toh(b->sequence);
        b->block = le32toh(b->block);
        b->n_pages = le32toh(b->n_pages);
        b->first_page = le64toh(b->first_page);
        b->first_ns = le64toh(b->first_ns);
        b->last_ns = le64toh(b->last_ns);
        b->n_missed = le64toh(b->n_missed);
        b->n_raw = le32toh(b->n_raw);
        b->n_body = le32toh(b->n_body);
        b->raw_checksum = le64toh(b->raw_checksum);
        b->body_checksum = le64toh(b->body_checksum);
}

static void entry_swap(SealedEntry *e) {
        e->offset = le64toh(e->offset);
        e->first_page = le64toh(e->first_page);
        e->first_ns = le64toh(e->first_ns);
        e->last_ns = le64toh(e->last_ns);
        e->n_missed = le64toh(e->n_missed);
        e->n_pages = le32toh(e->n_pages);
        e->n_body = le32toh(e->n_body);
        e->flags = le32toh(e->flags);
}

static void footer_swap(SealedFooter *f) {
        f->index_offset = le64toh(f->index_offset);
        f->n_pages = le64toh(f->n_pages);
        f->n_blocks = le32toh(f->n_blocks);
        f->index_checksum = le64toh(f->index_checksum);
}

static int parse_header(SealedHeader *ret, const void *data, size_t n) {
        SealedHeader h;

        if (n < sizeof(h))
                return SEGMENT_E_DAMAGED;
        memcpy(&h, data, sizeof(h));
        if (memcmp(h.magic, SEGMENT_MAGIC, sizeof(h.magic)) != 0 ||
            le64toh(h.checksum) != own_checksum(&h))
                return SEGMENT_E_DAMAGED;
        header_swap(&h);
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
        block_swap(&b);
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
        footer_swap(&f);
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

                entry_swap(e);
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
        header_swap(x);
        x->checksum = htole64(own_checksum(x));
}

void sealed_block_format(SealedBlock *x) {
        memcpy(x->magic, SEALED_BLOCK_MAGIC, sizeof(x->magic));
        x->version = SEALED_VERSION;
        block_swap(x);
        x->checksum = htole64(own_checksum(x));
}

void sealed_entry_format(SealedEntry *x) {
        entry_swap(x);
}

void sealed_footer_format(SealedFooter *x, const SealedEntry *index) {
        memcpy(x->magic, SEALED_FOOTER_MAGIC, sizeof(x->magic));
        x->index_checksum = sealed_checksum(index, x->n_blocks * sizeof(*index));
        footer_swap(x);
        x->checksum = htole64(own_checksum(x));
}
