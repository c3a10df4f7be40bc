/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * PageMaker: records become ring-buffer pages again
 *
 * As the kernel writes them (store/page.h, decode/records.h), in the byte order of the machine that
 * recorded them, with other records before and behind them: for a recording that holds a part of another one.
 */

#include "base/cleanup.h"

typedef struct PageMaker {
        uint8_t *page;
        size_t page_bytes;
        bool big_endian;
        size_t n; /* bytes that are used, the header among them; 0: nothing is in it */
        uint64_t begin_ns, last_ns;
        bool missed; /* before the page, or, while it is empty, before the next record */
        uint64_t n_missed;
} PageMaker;

/* 0 or -ENOMEM. */
int page_maker_init(PageMaker *ret, size_t page_bytes, bool big_endian);

enum { PAGE_MAKER_E_FULL = 1 };
/*
 * page_maker_add()
 * @data: the record's @n bytes, a multiple of 4 that is no more than a page of this size can hold
 *
 * Return: 0, or PAGE_MAKER_E_FULL: page_maker_finish() first.
 */
int page_maker_add(PageMaker *m, uint64_t timestamp_ns, const void *data, size_t n);
/* Events are missing before the next record; @n: how many, 0: not known.  0, PAGE_MAKER_E_FULL. */
int page_maker_lose(PageMaker *m, uint64_t n);
/* The page, whole and valid until the next call; NULL: there is none. */
const void *page_maker_finish(PageMaker *m);
void page_maker_done(PageMaker *m);
#define _cleanup_page_maker_ _cleanup_(page_maker_done)
