/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SealedWriter: a closed segment rewritten as a sealed one (store/format.h)
 *
 * Needs nothing but its two descriptors: no file is opened, so that it can run locked up.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SealedSource {
        int fd;          /* a closed segment, read from its beginning */
        bool big_endian; /* its pages are */
        const char *
                formats; /* format files' texts, each with its NUL, or NULL: see block_codec_add_format() */
        size_t n_formats;
        uint32_t block_bytes; /* of pages in a block; 0: as many as the format allows */
} SealedSource;

typedef struct SealedSize {
        uint64_t n_pages, n_blocks, n_bytes; /* n_bytes: of the sealed file */
} SealedSize;

enum {
        SEALED_WRITE_E_UNFIT =
                1, /* the source is no closed segment, or not of the length it says */
        SEALED_WRITE_E_DIFFERS = 2, /* what was written does not decode to what was read */
};

/*
 * sealed_write() - all of it
 * @out_fd: an empty file, at its beginning
 *
 * Return: 0, SEALED_WRITE_E_UNFIT, -errno.
 */
int sealed_write(int out_fd, const SealedSource *source, SealedSize *ret);

/*
 * sealed_write_check() - read back what sealed_write() wrote
 * @out_fd: readable; consumed, also on failure
 *
 * Every block is decoded and held against the checksum of the raw pages, and no part may be damaged.
 * Return: 0, SEALED_WRITE_E_DIFFERS, -errno.
 */
int sealed_write_check(int out_fd, const SealedSize *size);
