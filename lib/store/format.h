/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a store looks like on disk
 *
 *      STORE/
 *        lock                     flock()ed by the daemon that owns the store; holds its pid
 *        ledger                   undo log of tracefs changes (daemon/ledger.h)
 *        symbols/HASH.zst         kallsyms, or a list of modules (daemon/kernel-symbols.h), zstd,
 *                                 named by the XXH3-128 of the plain text (32 hex digits)
 *        sessions/NAME/
 *          session.json           store/meta.h
 *          tracing/...            files copied from tracefs, paths as there: events/header_page,
 *                                 events/ftrace/funcgraph_entry/format, saved_cmdlines,
 *                                 printk_formats
 *          cpuN/SSSSSSSS.seg      segments, sequence in 8 hex digits from 00000000
 *        sessions/.removed-NAME   being removed: not a session any more
 *
 * Directories are 0750, files 0640.
 *
 * A segment is this header, then whole sub-buffers ("pages") exactly as
 * per_cpu/cpuN/trace_pipe_raw gave them, in order.  Header integers are little
 * endian; pages have the byte order of the recorded machine.
 *
 *      0     u8[8]  magic "ftracSEG"
 *      8     u32    version, 1
 *      12    u32    header_bytes, 4096: where the first page begins
 *      16    u32    page_bytes
 *      20    u32    cpu
 *      24    u64    sequence
 *      32    u8[16] session id (hex text, no NUL)
 *      48    u32    state: 0 being written, 1 closed
 *      52    u32    0
 *      56    u64    n_pages: pages that are complete; written after each is,
 *                   so that a reader may follow.  While state is 0 more may lie behind it in
 *                   the file.
 *      64    ...    0 up to header_bytes
 */

#include <endian.h>
#include <stdint.h>

#define SEGMENT_MAGIC "ftracSEG"
#define SEGMENT_VERSION 1
#define SEGMENT_HEADER_BYTES 4096U
#define SEGMENT_STATE_WRITING 0U
#define SEGMENT_STATE_CLOSED 1U

typedef struct SegmentHeader {
        char magic[8];
        uint32_t version, header_bytes;
        uint32_t page_bytes, cpu;
        uint64_t sequence;
        char session_id[16];
        uint32_t state, zero;
        uint64_t n_pages;
} SegmentHeader;

_Static_assert(sizeof(SegmentHeader) == 64, "the header is a file format");

#define STORE_DIR_MODE 0750
#define STORE_FILE_MODE 0640
#define PAGE_BYTES_MIN 4096U
#define PAGE_BYTES_MAX (1U << 20)
