/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sealed: the fixed parts of a sealed segment (store/format.h), checked and in either byte order
 *
 * What the blocks hold is not looked at here: lib/codec.
 */

#include "store/format.h"

/*
 * sealed_header_read() - from the beginning of a file
 * @ret: in this machine's byte order; with SEGMENT_E_NEWER only magic and version are meant
 *
 * Return: 0, SEGMENT_E_DAMAGED, SEGMENT_E_NEWER, -errno.
 */
int sealed_header_read(SealedHeader *ret, int fd);
/* 0 or SEGMENT_E_DAMAGED: its lengths agree with each other and are within the format's bounds. */
int sealed_block_parse(SealedBlock *ret, const void *data, size_t n);
/* Also SEGMENT_E_DAMAGED if index and footer do not fill a file of @n_file bytes to its end. */
int sealed_footer_parse(SealedFooter *ret, const void *data, size_t n, uint64_t n_file);
/* @data: the whole index, @n bytes as its @footer says.  The entries are then in this machine's
 * byte order, in place; their values are bounded by the format and follow each other. */
int sealed_index_parse(SealedEntry *data, size_t n, const SealedFooter *footer);

/* From this machine's byte order to what is written: magic, version, and checksum are filled in. */
void sealed_header_format(SealedHeader *x);
void sealed_block_format(SealedBlock *x);
void sealed_entry_format(SealedEntry *x);
/* @index: as written, n_blocks of @x. */
void sealed_footer_format(SealedFooter *x, const SealedEntry *index);

uint64_t sealed_checksum(const void *data, size_t n);
/* Little endian <-> this machine: numbers of 4 and 8 bytes, one after the other, and with '-' 8 bytes that are none. */
void segment_swap(void *p, const char *widths);
#define SEGMENT_WIDTHS "-44448--448" /* of a SegmentHeader */
