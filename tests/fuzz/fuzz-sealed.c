/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A file as a sealed segment: once as it is, and once with every checksum made right, for no
 * invented file would get past them.  Each page is either given whole or lost, every page asked for
 * is one of those, and where pages are lost there is a damage that says so.
 */

#include "pages/page-source.h"
#include "fuzz-repair.h"
#include "fuzz.h"

static void read_all(PageSource *s, const Damages *damages) {
        const size_t page_bytes = s->page_bytes;
        uint64_t n_lost = 0, n;
        unsigned sum = 0;

        for (uint64_t i = 0; i < s->n_pages; i += n) {
                const unsigned char *bytes;
                const void *pages;
                int r = page_source_read(s, i, &pages, &n);

                FUZZ_CHECK(r == 0 || r == SEGMENT_E_LOST || r == -ENOMEM);
                if (r < 0)
                        return;
                FUZZ_CHECK(n > 0 && n <= s->n_pages - i);
                if (r == SEGMENT_E_LOST) {
                        n_lost += n;
                        continue;
                }
                bytes = pages;
                for (size_t k = 0; k < n * page_bytes; k++)
                        sum += bytes[k];
        }
        FUZZ_CHECK(n_lost <= damages->n_pages);
        (void) sum;
}

static void check(const uint8_t *data, size_t n_data) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        Damages damages = {};

        if (page_source_take_fd(&s, fuzz_file(data, n_data), &damages) == 0)
                read_all(s, &damages);
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
