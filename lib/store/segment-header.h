/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Segment header: what the name and the first block of a segment's file say of it (store/format.h)
 */

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"

#define SEGMENT_NAME_MAX 16 /* "0000002a.seg" and its NUL, with room to spare */
/* The file name of a sequence below 2^32; returns @name. */
char *segment_format_name(char name[static SEGMENT_NAME_MAX], uint64_t sequence);
/* The same with its directory, "cpu3/0000002a.seg", as a session has it. */
#define SEGMENT_PATH_MAX (16 + SEGMENT_NAME_MAX)
char *segment_format_path(char path[static SEGMENT_PATH_MAX], uint32_t cpu, uint64_t sequence);
bool segment_parse_name(const char *name, uint64_t *ret); /* false: it is none */

enum {
        SEGMENT_E_DAMAGED =
                1, /* not a segment, or its header contradicts itself or the file's size */
        SEGMENT_E_CLOSED = 2, /* nothing can be appended */
        SEGMENT_E_SEALED =
                3,           /* a sealed one: its pages are in blocks (store/sealed.h, lib/codec) */
        SEGMENT_E_NEWER = 4, /* of a format version that this program does not know */
};

/* Reads and checks the header of a file, in this machine's byte order; the file's size is not
 * looked at.  Of a sealed one page_bytes, cpu, sequence and n_pages are set, too.  0, SEGMENT_E_*, -errno. */
int segment_read_header(int fd, SegmentHeader *ret);
