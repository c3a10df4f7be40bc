/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a store looks like on disk
 *
 *      STORE/
 *        lock                     flock()ed by the daemon that owns the store; holds its pid (store/store.h)
 *        clock                    whether ages can be believed in this boot (retention/boot-clock.h)
 *        removed                  what became of sessions that are no more (retention/removed.h)
 *        symbols/HASH.zst         kallsyms, or a list of modules (daemon/symbols/kernel-symbols.h), zstd,
 *                                 named by the XXH3-128 of the plain text (32 hex digits)
 *        symbols/BUILD-ID.lines   lines of a kernel's source, for whoever reads, if somebody puts them there: what
 *                                 "ftracectl lines --all" writes; it stays
 *        sessions/NAME/
 *          session.json           meta/meta.h
 *          tracing/...            files copied from tracefs, paths as there: events/header_page,
 *                                 events/ftrace/funcgraph_entry/format, saved_cmdlines,
 *                                 printk_formats; and owners (owner/owners.h)
 *          cpuN/SSSSSSSS.seg      segments, sequence in 8 hex digits from 00000000
 *          stacks/cpuN-K          copies of programs' stacks (spaces/stack-copies.h), 0600 in 0700
 *          cuts                   when each sequence began (store/session-dir.h)
 *          reserve                room for its end, while it is recorded
 *        sessions/.removed-NAME   being removed: not a session any more; with .N behind it if there is one
 *        sessions/.making-NAME    being made: not a session yet
 *
 * Directories are 0750, files 0640, but lock 0600 and stacks.
 *
 * All CPUs are cut together: segments of one sequence hold the same period of the recording.  A CPU
 * that was quiet in a period has no segment of its sequence, so that sequences of one CPU may have
 * gaps; each segment says which one its CPU had before.
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
 *      52    u32    previous: 1 + the sequence of the segment before it, 0 if not known
 *      56    u64    n_pages: pages that are complete; written after each is,
 *                   so that a reader may follow.  While state is 0 more may lie behind it in
 *                   the file.
 *      64    ...    0 up to header_bytes
 *
 * A sealed segment has the same name, and takes the place of the closed one by rename().  It holds
 * the same pages, bit for bit, in blocks that can each be decoded alone:
 *
 *      header | block | block | ... | index | footer
 *
 * All its integers are little endian; every checksum is XXH3-64 of what is named.
 *
 *      header, 80 bytes
 *      0     u8[8]  magic "ftracSEG"
 *      8     u32    version, 2
 *      12    u32    header_bytes, 80: where the first block begins
 *      16    u32    page_bytes
 *      20    u32    cpu
 *      24    u64    sequence
 *      32    u8[16] session id
 *      48    u64    n_pages: in all blocks together
 *      56    u32    flags: 1 pages are big endian
 *      60    u32    previous, as it was in the segment
 *      64    u64    0
 *      72    u64    checksum of bytes 0..71
 *
 *      block: a header of 128 bytes, and the body, n_body bytes as lib/codec/block.h makes them
 *      0     u8[8]  magic "ftracBLK"
 *      8     u32    version, 2
 *      12    u32    flags: 1 pages are big endian; 2 events were missed before one of its pages
 *      16    u32    page_bytes
 *      20    u32    cpu
 *      24    u64    sequence of the segment
 *      32    u8[16] session id
 *      48    u32    block: its number, from 0
 *      52    u32    n_pages: at least 1, together at most 1 MiB
 *      56    u64    first_page: number of its first page in the segment
 *      64    u64    first_ns: timestamp of its first page, 0 if no page's header can be read
 *      72    u64    last_ns: timestamp of its last page
 *      80    u64    n_missed: events lost before its pages, where the pages say how many
 *      88    u32    n_raw: n_pages * page_bytes
 *      92    u32    n_body
 *      96    u64    checksum of the raw pages, taken before they were encoded
 *      104   u64    checksum of the body
 *      112   u64    0
 *      120   u64    checksum of bytes 0..119
 *
 *      index: as many entries of 56 bytes as there are blocks
 *      0     u64    offset of the block's header in the file
 *      8     u64    first_page        24   u64  last_ns      40   u32  n_pages    48   u32  flags
 *      16    u64    first_ns          32   u64  n_missed     44   u32  n_body     52   u32  0
 *
 *      footer, 48 bytes, ends the file
 *      0     u64    offset of the index
 *      8     u64    n_pages
 *      16    u32    n_blocks
 *      20    u32    0
 *      24    u64    checksum of the index
 *      32    u8[8]  magic "ftracEND"
 *      40    u64    checksum of bytes 0..39
 *
 * A block says all that is needed to place it, so that the header, the index and the footer can be
 * lost: blocks are then found by their magic and their header's checksum.
 *
 * Kallsyms of more than 32 KB is several frames in its zstd file, each of whole lines, and one that zstd skips:
 *
 *      index, the last frame
 *      0     u32    0x184d2a53
 *      4     u32    bytes behind this
 *      8     u64    checksum of all behind this
 *      16    u8[32] the file's HASH
 *      48    ...    for each frame before it, 32 bytes:
 *      0     u64    the least address of a symbol in it     16   u64  checksum of its text
 *      8     u64    the greatest                            24   u32  n_symbols
 *                                                           28   u32  1: a name in it begins with "__irqentry_text_"
 *
 * Whatever a later version of a segment looks like, it begins with the magic, the version, and the checksum at
 * 72 of bytes 0..71: a reader can then tell a newer file from a damaged one.
 */

#include <endian.h>

#include "meta/json-field.h"

/* What reading, or going on with, a segment may come upon. */
enum {
        SEGMENT_E_DAMAGED =
                1, /* no segment, or a part of it contradicts itself, another or the file's size */
        SEGMENT_E_NEWER = 2,   /* of a format version that this program does not know */
        SEGMENT_E_CLOSED = 3,  /* nothing can be appended */
        SEGMENT_E_SEALED = 4,  /* its pages are in blocks (store/sealed.h, lib/codec) */
        SEGMENT_E_UNBEGUN = 5, /* empty: its writer is about to write the header, or died there */
        SEGMENT_E_LOST = 6,    /* this page cannot be read */
};

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
        uint32_t state, previous;
        uint64_t n_pages;
} SegmentHeader;

_Static_assert(sizeof(SegmentHeader) == 64, "the header is a file format");

#define SEALED_VERSION 2
#define SEALED_HEADER_BYTES 80U
#define SEALED_FLAG_BIG_ENDIAN 1U
#define SEALED_FLAG_MISSED 2U

typedef struct SealedHeader {
        char magic[8];
        uint32_t version, header_bytes;
        uint32_t page_bytes, cpu;
        uint64_t sequence;
        char session_id[16];
        uint64_t n_pages;
        uint32_t flags, previous;
        uint64_t zero, checksum;
} SealedHeader;

_Static_assert(sizeof(SealedHeader) == SEALED_HEADER_BYTES, "the header is a file format");

#define SEALED_BLOCK_MAGIC "ftracBLK"
#define SEALED_BLOCK_HEADER_BYTES 128U
#define SEALED_BLOCK_RAW_MAX (1U << 20)
#define SEALED_BLOCK_BODY_MAX (2U * SEALED_BLOCK_RAW_MAX)

typedef struct SealedBlock {
        char magic[8];
        uint32_t version, flags;
        uint32_t page_bytes, cpu;
        uint64_t sequence;
        char session_id[16];
        uint32_t block, n_pages;
        uint64_t first_page, first_ns, last_ns, n_missed;
        uint32_t n_raw, n_body;
        uint64_t raw_checksum, body_checksum, zero, checksum;
} SealedBlock;

_Static_assert(sizeof(SealedBlock) == SEALED_BLOCK_HEADER_BYTES, "the header is a file format");

typedef struct SealedEntry {
        uint64_t offset, first_page, first_ns, last_ns, n_missed;
        uint32_t n_pages, n_body, flags, zero;
} SealedEntry;

_Static_assert(sizeof(SealedEntry) == 56, "the index is a file format");

#define SEALED_FOOTER_MAGIC "ftracEND"

typedef struct SealedFooter {
        uint64_t index_offset, n_pages;
        uint32_t n_blocks, zero;
        uint64_t index_checksum;
        char magic[8];
        uint64_t checksum;
} SealedFooter;

_Static_assert(sizeof(SealedFooter) == 48, "the footer is a file format");

#define STORE_DIR_MODE 0750
#define STORE_FILE_MODE 0640
#define STORE_RESERVE_NAME "reserve"
