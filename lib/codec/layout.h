/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Layout: where a call's record keeps what can be predicted
 *
 * A kind is one event of function_graph that begins with the common fields as every kernel has
 * them (u16 type at 0, s32 pid at 4) and has `func` and `depth`; an exit may have `calltime` and
 * `rettime`.  Everything else in its payload is "rest": 4-byte words that are expected to be what
 * they were the last time.
 *
 * Source: linux 6.1 and 7.2 kernel/trace/trace_entries.h, and the format files of their kernels.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_KINDS 3U        /* funcgraph_entry, fgraph_retaddr_entry, funcgraph_exit */
#define LAYOUT_BYTES_MAX 112U  /* of a payload: the longest whose length is in the head */
#define LAYOUT_STORED_BYTES 16 /* of one kind in a block */

typedef struct RecordKind {
        uint16_t id;
        bool is_exit, has_times, depth_is_long;
        uint8_t n_bytes; /* payload, a multiple of 4; 0: as long as the fields need, or longer */
        uint8_t func, depth, calltime, rettime; /* offsets */
        uint8_t n_rest;
        uint8_t rest[LAYOUT_BYTES_MAX / 4]; /* offsets */
} RecordKind;

enum { LAYOUT_E_INVALID = 1 };

/* Reads the text of a format file: 0, or LAYOUT_E_INVALID if it is none of these events or cannot
 * be used.  n_bytes and the rest are left to layout_set_length(). */
int layout_parse(RecordKind *ret, const char *text, size_t n);
/* The payload is @n_bytes long; LAYOUT_E_INVALID if the fields are not in it. */
int layout_set_length(RecordKind *k, size_t n_bytes);

/* LAYOUT_STORED_BYTES: u16 id, u8 flags (1 exit, 2 times, 4 long depth), u8 n_bytes, func, depth,
 * calltime, rettime, then zeroes. */
void layout_store(const RecordKind *k, uint8_t *ret);
int layout_load(RecordKind *ret, const uint8_t *data);
