/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of image.c, without elfutils: no image is ever open. */

#include "lines/lines-private.h"

int image_open(Image **ret, int fd, const char *path, const char *root, const char **ret_problem) {
        safe_close(fd);
        *ret_problem = "cannot be read: this ftracectl was built without elfutils (libdw)";
        return LINES_E_NONE;
}

Image *image_free(Image *i) {
        return NULL;
}

const char *image_build_id(const Image *i) {
        return NULL;
}

const char *image_machine(const Image *i) {
        return NULL;
}

const char *image_root(const Image *i) {
        return NULL;
}

CodeMachine image_code(const Image *i) {
        return CODE_X86_64;
}

int image_symbols(Image *i, CodeSymbols *ret) {
        return 0;
}

int image_ranges(Image *i, const CodeSymbol *symbol, CodeRange **ret, size_t *ret_n) {
        return -ENOMEM;
}

const uint8_t *image_bytes(const Image *i, uint64_t address, size_t *ret_n) {
        return NULL;
}

bool image_relocated(const Image *i, uint64_t at, uint64_t *ret, const char **ret_name) {
        return false;
}

uint64_t image_key_target(const Image *i, uint64_t at) {
        return 0;
}

int image_frames(Image *i, const CodeSymbol *symbol, LinesNode *node) {
        return -ENOMEM;
}

bool image_definition(Image *i, const CodeSymbol *symbol, LineFrame *ret) {
        return false;
}
