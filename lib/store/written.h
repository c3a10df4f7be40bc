/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Written: which pages of a segment the disk has, after writing back has failed
 *
 * The kernel says of a file that an error happened, not where, and takes the pages for clean.  What was
 * to be written is in the page cache until somebody needs the memory, and can be written again from
 * there; what the disk has is what reading past the page cache gives.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * written_make_dirty() - have the kernel write the file's pages once more
 * @fd: to read and write
 *
 * Writes what is there onto itself.  The pages of a segment that is still written to may be among
 * them, but no byte that its writer changes meanwhile.  0 or -errno.
 */
int written_make_dirty(int fd, uint64_t n_bytes);

/*
 * written_count_missing() - pages that are not on the disk as they are in memory
 * @n_pages:      of the segment behind @fd
 * @is_synced:    after a sync that went well only pages of zeroes are missing: memory had lost them
 * @ret_first_ns: header's time of the first of them that has one, or 0
 *
 * Where the file system cannot be read past the page cache all are missing, but after a good sync.
 */
uint64_t written_count_missing(int fd, uint64_t n_pages, uint32_t page_bytes, bool is_synced,
                               uint64_t *ret_first_ns);
