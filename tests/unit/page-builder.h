/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ring-buffer pages made by hand, in the layouts of three kernels, and whole
 * recordings made of such pages.
 */

#include "scratch.h"
#include "store/session-dir.h"

/* What the kernel's files say; taken from Debian's 6.1.192, 6.12.117 and 7.2.13. */
typedef struct Layout {
        const char *kernel;
        const char *header_page, *entry, *exit; /* texts of the format files */
        uint16_t entry_id, exit_id;
        size_t n_entry, n_exit; /* bytes of a record */
        size_t n_depth;         /* bytes of an entry's depth */
} Layout;

enum { LAYOUT_6_1, LAYOUT_6_12, LAYOUT_7_2, N_LAYOUTS };
extern const Layout layouts[N_LAYOUTS];

#define BUILT_PAGE_BYTES 4096U

typedef struct Page {
        const Layout *layout;
        bool big_endian;
        uint64_t last_ns;
        uint32_t n_payload;
        uint8_t bytes[BUILT_PAGE_BYTES];
} Page;

void page_begin(Page *p, const Layout *layout, uint64_t timestamp_ns);
/* Records; a time extend goes before one that is 2^27 ns or more after the last. */
void page_record(Page *p, uint64_t timestamp_ns, const void *data, size_t n);
void page_enter(Page *p, uint64_t timestamp_ns, int32_t pid, uint64_t func, int32_t depth);
/* @timestamp_ns is the return's on both clocks; it began @duration_ns before. */
void page_leave(Page *p, uint64_t timestamp_ns, int32_t pid, uint64_t func, int32_t depth,
                uint64_t duration_ns);
/* A record's first word and what follows it, as they are. */
void page_word(Page *p, uint32_t word);
uint32_t page_head(const Page *p, uint32_t type_len, uint32_t delta);
/* Marks events lost before the page; after its last record.  0: not known how many. */
void page_set_missed(Page *p, uint64_t n);

/* Functions of the kallsyms that recordings are made with. */
#define F_ROOT 0xffffffff81000000   /* udp_sendmsg */
#define F_CHILD 0xffffffff81000100  /* ip_make_skb */
#define F_LEAF 0xffffffff81000200   /* kfree */
#define F_BREAK 0xffffffff810002c0  /* do_el1_brk64 */
#define F_READER 0xffffffff810002e0 /* copy_from_kernel_nofault */
#define F_MODULE 0xffffffffc0000010 /* ovl_open [overlay] */
#define F_UNKNOWN 0xfffffffff0000000

typedef struct Recording {
        Scratch scratch;
        int symbols_fd;
        SessionDir *dir;
        SessionMeta *meta; /* sealed, root udp_sendmsg, 2 possible CPUs */
} Recording;

void recording_init(Recording *r, const Layout *layout);
/* A closed segment of @n pages, which the account of @cpu takes in. */
void recording_add(Recording *r, uint32_t cpu, uint64_t sequence, const Page *pages, size_t n);
/* The same when @previous, not the sequence before it, was this CPU's last. */
void recording_add_after(Recording *r, uint32_t cpu, uint64_t sequence, uint64_t previous,
                         const Page *pages, size_t n);
void recording_done(Recording *r);
#define _cleanup_recording_ _cleanup_(recording_done)
/* One until the end of the block. */
#define RECORDING(r, layout)                                                                       \
        _cleanup_recording_ Recording r;                                                           \
        recording_init(&r, (layout))
#define RECORDING_TEST(name, layout) TEST_WITH(name, (Recording * r), RECORDING(r, layout), &r)
