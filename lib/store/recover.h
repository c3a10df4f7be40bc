/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Recovery of a segment whose writer died
 *
 * Pages may lie whole in the file behind the header's n_pages: spliced, and the
 * writer killed before it could say so.  The daemon calls this at its start,
 * while it holds the store's lock, so no other writer lives.
 */

#include <stdint.h>

#include "store/segment-header.h"

/*
 * segment_recover() - count what is there, cut the torn tail, close
 * @ret_n_pages: pages that the segment has now
 *
 * Pages of zeroes at the end, allocated and never read into (PAGE_E_EMPTY), are cut with the tail.
 * A segment that is closed or sealed already is left as it is.
 * Return: 0, SEGMENT_E_DAMAGED or SEGMENT_E_NEWER (left as it is), -errno.
 */
int segment_recover(int dir_fd, const char *path, uint64_t *ret_n_pages);
/* *@n_pages without the pages of zeroes at the end of a segment's file.  0 or -errno. */
int segment_drop_empty(int fd, uint32_t page_bytes, uint64_t *n_pages);
