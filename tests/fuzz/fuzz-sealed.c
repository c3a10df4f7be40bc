/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A file as a sealed segment: once as it is, and once with every checksum made right, for no
 * invented file would get past them.  Each page is either given whole or lost, every page asked for
 * is one of those, and where pages are lost there is a damage that says so.
 */

#include <endian.h>
#include <sys/mman.h>

#include "base/io.h"
#include "codec/page-source.h"
#include "fuzz.h"

static void read_all(PageSource *s) {
        const size_t page_bytes = page_source_page_bytes(s);
        uint64_t n_lost = 0, n_named = 0, n;
        const SealedDamage *damages;
        unsigned sum = 0;
        size_t n_damages;

        for (uint64_t i = 0; i < page_source_n_pages(s); i += n) {
                const unsigned char *bytes;
                const void *pages;
                int r = page_source_read(s, i, &pages, &n);

                FUZZ_CHECK(r == 0 || r == PAGE_SOURCE_E_LOST || r == -ENOMEM);
                if (r < 0)
                        return;
                FUZZ_CHECK(n > 0 && n <= page_source_n_pages(s) - i);
                if (r == PAGE_SOURCE_E_LOST) {
                        n_lost += n;
                        continue;
                }
                bytes = pages;
                for (size_t k = 0; k < n * page_bytes; k++)
                        sum += bytes[k];
        }
        damages = page_source_damages(s, &n_damages);
        for (size_t i = 0; i < n_damages; i++)
                n_named += damages[i].n_pages;
        FUZZ_CHECK(n_lost <= n_named);
        (void) sum;
}

static void check(const uint8_t *data, size_t n_data) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int fd = memfd_create("sealed", MFD_CLOEXEC);

        FUZZ_CHECK(fd >= 0);
        FUZZ_CHECK(pwrite_full(fd, data, n_data, 0) == 0);
        if (page_source_take_fd(&s, fd, NULL) == 0)
                read_all(s);
}

static void put_u64(uint8_t *p, uint64_t v) {
        v = htole64(v);
        memcpy(p, &v, sizeof(v));
}

static void repair_blocks(uint8_t *data, size_t n_data) {
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
                        put_u64(p + offsetof(SealedBlock, body_checksum),
                                sealed_checksum(p + sizeof(b), le32toh(b.n_body)));
                put_u64(p + offsetof(SealedBlock, checksum),
                        sealed_checksum(p, offsetof(SealedBlock, checksum)));
                p += n_magic;
        }
}

static void repair_index(uint8_t *data, size_t n_data) {
        SealedFooter f;
        uint8_t *p;

        if (n_data < sizeof(f))
                return;
        p = data + n_data - sizeof(f);
        memcpy(&f, p, sizeof(f));
        if (le64toh(f.index_offset) < n_data - sizeof(f))
                put_u64(p + offsetof(SealedFooter, index_checksum),
                        sealed_checksum(data + le64toh(f.index_offset),
                                        n_data - sizeof(f) - le64toh(f.index_offset)));
        put_u64(p + offsetof(SealedFooter, checksum),
                sealed_checksum(p, offsetof(SealedFooter, checksum)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ uint8_t *repaired = malloc(n_data ?: 1);

        FUZZ_CHECK(repaired);
        check(data, n_data);
        if (n_data < SEALED_HEADER_BYTES)
                return 0;
        memcpy(repaired, data, n_data);
        repair_blocks(repaired, n_data);
        repair_index(repaired, n_data);
        put_u64(repaired + offsetof(SealedHeader, checksum),
                sealed_checksum(repaired, offsetof(SealedHeader, checksum)));
        check(repaired, n_data);
        return 0;
}
