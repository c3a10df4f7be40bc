/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Pages, a format and symbols as the kernel never gives them: counting ends, and each line of the
 * result is a name and a count, or a caller of that function.  Input: "FORMAT\0SYMBOLS\0PAGE".
 */

#include "fuzz.h"
#include "learn/function-counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *format = fuzz_text(data, n_data);
        _cleanup_(symbols_freep) Symbols *symbols = NULL;
        _cleanup_(function_counts_freep) FunctionCounts *t = NULL;
        _cleanup_buf_ Buf out = {};
        size_t at = strlen(format), n_lines = 0, n_symbols;
        char *text;

        at += at < n_data;
        text = fuzz_text(data + at, n_data - at);
        n_symbols = strlen(text);
        FUZZ_CHECK(symbols_new(&symbols, text, n_symbols) == 0);
        at += n_symbols;
        at += at < n_data;
        if (function_counts_new(&t, &(FunctionCountsConfig){ .format = format,
                                                             .field = "func",
                                                             .exit_format = format,
                                                             .symbols = symbols,
                                                             .to_ns = UINT64_MAX }) < 0)
                return 0;
        FUZZ_CHECK(function_counts_add_page(t, data + at, n_data - at) == 0);
        FUZZ_CHECK(function_counts_name(t, &out) == 0);
        for (const char *s = out.data ?: "", *end = s + out.n_data; s < end; n_lines++) {
                const char *space = memchr(s, ' ', (size_t) (end - s)),
                           *newline = memchr(s, '\n', (size_t) (end - s));

                FUZZ_CHECK(space && newline && space < newline);
                /* A caller's line begins with a blank, and belongs to a function's. */
                FUZZ_CHECK(space > s || (n_lines > 0 && newline > s + 1));
                s = newline + 1;
        }
        return 0;
}
