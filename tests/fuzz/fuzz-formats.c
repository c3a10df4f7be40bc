/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever texts claim to be format files: they are taken or refused with a
 * reason, and what is taken is fit to decode with.
 *
 * Input: header_page, NUL, entry's format, NUL, exit's format.
 */

#include "decode/formats.h"
#include "fuzz.h"
#include "store/format.h"

static void check_field(const Field *f, uint32_t n_bytes) {
        FUZZ_CHECK(f->size == 0 || f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
        FUZZ_CHECK((uint32_t) f->offset + f->size <= n_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = malloc(size + 3);
        const char *texts[3], *problem = NULL;
        Formats f;
        int r;

        FUZZ_CHECK(text);
        if (size > 0)
                memcpy(text, data, size);
        memset(text + size, 0, 3);
        texts[0] = text;
        for (size_t i = 1; i < 3; i++) {
                texts[i] = texts[i - 1] + strlen(texts[i - 1]) + 1;
                if (texts[i] > text + size)
                        texts[i] = text + size;
        }
        r = formats_parse(&f, texts[0], texts[1], texts[2], false, &problem);
        FUZZ_CHECK(r == 0 || r == FORMATS_E_INVALID);
        FUZZ_CHECK((r != 0) == (problem != NULL));
        if (r != 0)
                return 0;
        FUZZ_CHECK(f.page_bytes >= PAGE_BYTES_MIN && f.page_bytes <= PAGE_BYTES_MAX);
        FUZZ_CHECK(f.type.size == 2 && f.entry_id != f.exit_id);
        check_field(&f.entry.func, f.entry.n_bytes);
        check_field(&f.entry.depth, f.entry.n_bytes);
        check_field(&f.pid, f.entry.n_bytes);
        check_field(&f.exit.func, f.exit.n_bytes);
        check_field(&f.exit.depth, f.exit.n_bytes);
        check_field(&f.exit.overrun, f.exit.n_bytes);
        check_field(&f.exit.calltime, f.exit.n_bytes);
        check_field(&f.exit.rettime, f.exit.n_bytes);
        check_field(&f.exit.retval, f.exit.n_bytes);
        return 0;
}
