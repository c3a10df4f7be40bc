/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Ring-buffer page header
 *
 * What one read of per_cpu/cpuN/trace_pipe_raw returns begins so, and this is the only part of a
 * page the daemon ever looks at.  Byte order of the recorded machine; offsets in bytes (64 bit).
 *
 *      0   u64  timestamp  trace clock before the first event
 *      8   u64  commit     low 27 bits: payload length; bit 31 events were missed before this page;
 *                          bit 30 their number follows the payload as a long
 *      16       payload    events
 *
 * Source: linux 6.1 kernel/trace/ring_buffer.c, struct buffer_data_page, ring_buffer_read_page(),
 * RB_MISSED_EVENTS, RB_MISSED_STORED; the running kernel's truth is events/header_page.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_HEADER_BYTES 16U
#define PAGE_LENGTH_MASK                                                                           \
        ((UINT64_C(1) << 27) - 1) /* of commit; linux 6.1 kernel/trace/ring_buffer.c */

typedef struct PageInfo {
        uint64_t timestamp;
        uint32_t n_payload; /* bytes */
        bool missed;        /* events were lost before this page */
        uint64_t n_missed;  /* how many; 0: the kernel had no room to say */
} PageInfo;

enum {
        PAGE_E_TORN = 1,  /* the length does not fit the page */
        PAGE_E_EMPTY = 2, /* all zero: preallocated, never written */
};

/*
 * page_parse()
 * @data:   one page, @n_data bytes, at least PAGE_HEADER_BYTES
 * @swap:   whether its byte order is not this machine's
 *
 * Return: 0, PAGE_E_TORN, PAGE_E_EMPTY.
 */
int page_parse(PageInfo *ret, const void *data, size_t n_data, bool swap);
/* Makes a page of this machine say that nothing was lost before it: where a recording begins in the
 * middle on purpose. */
void page_forget_missed(void *data);
