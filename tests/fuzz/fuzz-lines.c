/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever claims to be a lines file, or a kernel with debug information: it is refused, or it can be asked for every
 * function, and each call has frames and numbers that are there.
 *
 * Input: an ELF file, or the body of a lines file as it is before it is compressed.
 */

#include <zstd.h>

#include "fuzz.h"
#include "lines/lines-private.h"

#define SYMBOLS_MAX 200 /* of an ELF file, which takes long */

static void check_caller(const LinesCaller *c, size_t n_symbols) {
        FUZZ_CHECK(c->is_torn || c->begins[0] == 0);
        for (uint32_t i = 0; i < c->n_nodes; i++) {
                FUZZ_CHECK(c->nodes[i].target == NO_SYMBOL || c->nodes[i].target < n_symbols);
                for (uint32_t k = 0; k < c->nodes[i].n_frames; k++)
                        FUZZ_CHECK(strlen(c->nodes[i].frames[k].function) < SIZE_MAX);
        }
        for (uint32_t i = 0; i <= c->n_nodes; i++) {
                FUZZ_CHECK(c->begins[i] <= c->begins[i + 1]);
                for (uint32_t k = c->begins[i]; k < c->begins[i + 1]; k++)
                        FUZZ_CHECK(c->nexts[k] <= c->n_nodes);
        }
}

static void read_file(const void *data, size_t n) {
        _cleanup_(lines_file_freep) LinesFile *f = NULL;
        const char *problem;

        if (lines_file_open(&f, data, n, &problem) != 0)
                return;
        for (int i = 0, last = lines_file_find(f, NULL); i <= last; i++) {
                _cleanup_(code_symbols_done) CodeSymbols symbols = {};

                FUZZ_CHECK(lines_file_symbols(f, i, &symbols) == 0);
                for (uint32_t k = 0; k < symbols.n; k++) {
                        _cleanup_(lines_caller_freep) LinesCaller *c = NULL;
                        LineFrame frame;
                        bool is_only;

                        FUZZ_CHECK(code_symbols_named(&symbols, symbols.items[k].name,
                                                      strlen(symbols.items[k].name),
                                                      &is_only) != NO_SYMBOL);
                        if (lines_file_definition(f, i, k, &frame))
                                FUZZ_CHECK(frame.file);
                        if (lines_file_caller(f, i, k, &c) == 0 && c)
                                check_caller(c, symbols.n);
                }
        }
}

static void read_elf(const uint8_t *data, size_t n) {
        _cleanup_(image_freep) Image *image = NULL;
        _cleanup_(code_symbols_done) CodeSymbols symbols = {};
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        _cleanup_free_ uint8_t *marks = NULL;
        const char *problem;

        FUZZ_CHECK(fd >= 0 && write_full(fd, data, n) == 0);
        if (image_open(&image, fd, "fuzz", NULL, &problem) != 0)
                return;
        FUZZ_CHECK(image_symbols(image, &symbols) == 0);
        marks = calloc(symbols.n + 1, 1);
        FUZZ_CHECK(marks);
        image_find_pointed(image, &symbols, marks, 1);
        for (uint32_t k = 0; k < MIN(symbols.n, (size_t) SYMBOLS_MAX); k++) {
                _cleanup_(lines_caller_freep) LinesCaller *c = NULL;
                LineFrame frame;

                FUZZ_CHECK(walk_caller(&c, image, &symbols, k) == 0);
                for (uint32_t i = 0; i < c->n_nodes; i++)
                        FUZZ_CHECK(image_frames(image, &symbols.items[k], &c->nodes[i]) == 0);
                check_caller(c, symbols.n);
                (void) image_definition(image, &symbols.items[k], &frame);
                (void) walk_is_traced(image, &symbols, k);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        size_t n_room = ZSTD_compressBound(size), n;
        _cleanup_free_ char *packed = malloc(n_room + 8);

        if (size >= 4 && memcmp(data, "\177ELF", 4) == 0) {
                read_elf(data, size);
                return 0;
        }
        FUZZ_CHECK(packed);
        memcpy(packed, LINES_FILE_MAGIC, 8);
        n = ZSTD_compress(packed + 8, n_room, data, size, 1);
        FUZZ_CHECK(!ZSTD_isError(n));
        read_file(packed, n + 8);
        return 0;
}
