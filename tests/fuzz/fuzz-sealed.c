/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A file as a sealed segment: once as it is, and once with every checksum made right, for no
 * invented file would get past them.  Each page is either given whole or lost, every page asked for
 * is one of those, and where pages are lost there is a damage that says so.
 */

#include "pages/page-source.h"
#include "fuzz-repair.h"
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

        if (page_source_take_fd(&s, fuzz_file(data, n_data), NULL) == 0)
                read_all(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ uint8_t *repaired = fuzz_copy(data, n_data);

        check(data, n_data);
        if (n_data < SEALED_HEADER_BYTES)
                return 0;
        fuzz_repair_sealed(repaired, n_data);
        check(repaired, n_data);
        return 0;
}
