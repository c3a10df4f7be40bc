/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Block: some ring-buffer pages in few bytes
 *
 * Lossless, bit for bit, whatever is in the pages.  A block stands for itself: it is decoded without
 * the blocks before it and without the formats that its encoder knew.  All integers are little
 * endian:
 *
 *      0   u8   kind      BLOCK_PLAIN: the pages as they are
 *                         BLOCK_ZSTD: one zstd frame of the pages
 *                         BLOCK_COLUMNS: u8 number of kinds of records, their layouts
 *                         (codec/model.h), the records' parts by column (codec/columns.h)
 *      1   u8[3]          0
 *      4   u32  n_pages
 *      8   u32  page_bytes
 *      12  u32  n_body    bytes of the body
 *      16  u64  sum       XXH3-64 of all pages as they were
 *      24       body
 *
 * Nothing may follow the body.
 */

#include "base/buf.h"
#include "base/cleanup.h"

#define BLOCK_HEADER_BYTES 24U
#define BLOCK_BYTES_MAX ((size_t) 1 << 20) /* of pages: a single one of any size fits */

enum {
        BLOCK_PLAIN = 0,
        BLOCK_ZSTD = 1,
        BLOCK_COLUMNS = 2,
};

/* Scratch memory, zstd's contexts and the layout of records, for many blocks, one after the other:
 * not for two threads at once. */
typedef struct BlockCodec BlockCodec;

enum {
        BLOCK_E_DAMAGED = 1, /* not a block of these pages, or not what was encoded */
};

/*
 * block_codec_new() - a codec for pages of one size
 * @page_bytes: a power of two, PAGE_BYTES_MIN..PAGE_BYTES_MAX (store/format.h)
 * @swap:       the pages' byte order is not this machine's; concerns encoding only
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int block_codec_new(BlockCodec **ret, uint32_t page_bytes, bool swap);
BlockCodec *block_codec_free(BlockCodec *c);
DEFINE_CLEANUP(BlockCodec *, block_codec_free);

/*
 * block_codec_add_format() - tell where the fields of a record lie
 * @text: an events/.../format file, @n bytes, taken as hostile
 *
 * Optional: what is known of the records makes later blocks smaller and is stored in each of them.
 * A text that is not understood, or of an event that is of no use here, changes nothing.
 *
 * Return: 0, -ENOMEM.
 */
int block_codec_add_format(BlockCodec *c, const char *text, size_t n);

/*
 * block_encode() - append one block to @out
 * @pages: @n_pages pages, at least one and BLOCK_BYTES_MAX bytes at most
 * @out:   grows, so it has no descriptor; after a failure it is as before
 *
 * Return: 0, -EINVAL (no pages, or too many), -ENOMEM, or @out's own error.
 */
int block_encode(BlockCodec *c, const void *pages, size_t n_pages, Buf *out);

/*
 * block_decode() - the pages of a block
 * @data:      the whole block and nothing else, taken as hostile
 * @ret_pages: room for @n_pages pages; what is in it after a failure is undefined
 *
 * Return: 0, BLOCK_E_DAMAGED (also if it holds another number or size of pages), -ENOMEM.
 */
int block_decode(BlockCodec *c, const void *data, size_t n, void *ret_pages, size_t n_pages);
/* XXH3-64 of the pages of a block that was decoded without damage. */
uint64_t block_sum(const void *data);
