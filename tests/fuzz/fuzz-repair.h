/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Every checksum of a sealed segment made right, for no invented file would get past them. */

#include <endian.h>
#include <string.h>

#include "store/sealed.h"

static inline void fuzz_put_u64(uint8_t *p, uint64_t v) {
        v = htole64(v);
        memcpy(p, &v, sizeof(v));
}

static inline void fuzz_repair_blocks(uint8_t *data, size_t n_data) {
        uint8_t *end = data + n_data, *p = data;
        const size_t n_magic = strlen(SEALED_BLOCK_MAGIC);

        while ((p = memmem(p, (size_t) (end - p), SEALED_BLOCK_MAGIC, n_magic))) {
                SealedBlock b;
                size_t n_room;

                if ((size_t) (end - p) < sizeof(b))
                        return;
                memcpy(&b, p, sizeof(b));
                n_room = (size_t) (end - p) - sizeof(b);
                if (le32toh(b.n_body) <= n_room)
                        fuzz_put_u64(p + offsetof(SealedBlock, body_checksum),
                                     sealed_checksum(p + sizeof(b), le32toh(b.n_body)));
                fuzz_put_u64(p + offsetof(SealedBlock, checksum),
                             sealed_checksum(p, offsetof(SealedBlock, checksum)));
                p += n_magic;
        }
}

static inline void fuzz_repair_index(uint8_t *data, size_t n_data) {
        SealedFooter f;
        uint8_t *p;

        if (n_data < sizeof(f))
                return;
        p = data + n_data - sizeof(f);
        memcpy(&f, p, sizeof(f));
        if (le64toh(f.index_offset) < n_data - sizeof(f))
                fuzz_put_u64(p + offsetof(SealedFooter, index_checksum),
                             sealed_checksum(data + le64toh(f.index_offset),
                                             n_data - sizeof(f) - le64toh(f.index_offset)));
        fuzz_put_u64(p + offsetof(SealedFooter, checksum),
                     sealed_checksum(p, offsetof(SealedFooter, checksum)));
}

/* Of at least SEALED_HEADER_BYTES. */
static inline void fuzz_repair_sealed(uint8_t *data, size_t n_data) {
        fuzz_repair_blocks(data, n_data);
        fuzz_repair_index(data, n_data);
        fuzz_put_u64(data + offsetof(SealedHeader, checksum),
                     sealed_checksum(data, offsetof(SealedHeader, checksum)));
}
