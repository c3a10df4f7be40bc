/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Time runs from the page's header on: a record has the time since the one
 * before it in its head's upper 27 bits, and a time extend before it if that is
 * too little.  A page ends where time would have to go back, and before a loss,
 * which only a page's header can tell.
 */

#include <endian.h>

#include "codec/page-maker.h"
#include "store/page.h"

#define TYPE_TIME_EXTEND 30
#define DELTA_BITS 27
#define DELTA_MASK ((1U << DELTA_BITS) - 1)
#define SHORT_MAX (28 * 4) /* bytes whose length fits the head */
#define MISSED_FLAG (UINT64_C(1) << 31)
#define STORED_FLAG (UINT64_C(1) << 30)

static uint8_t *put_u32(const PageMaker *m, uint8_t *p, uint32_t v) {
        v = m->big_endian ? htobe32(v) : htole32(v);
        memcpy(p, &v, sizeof(v));
        return p + sizeof(v);
}

static void put_u64(const PageMaker *m, uint8_t *p, uint64_t v) {
        v = m->big_endian ? htobe64(v) : htole64(v);
        memcpy(p, &v, sizeof(v));
}

static uint8_t *put_head(const PageMaker *m, uint8_t *p, uint32_t type, uint64_t delta) {
        uint32_t low = (uint32_t) delta & DELTA_MASK;

        return put_u32(m, p, m->big_endian ? type << DELTA_BITS | low : low << 5 | type);
}

int page_maker_init(PageMaker *ret, size_t page_bytes, bool big_endian) {
        uint8_t *page = malloc(page_bytes);

        if (!page)
                return -ENOMEM;
        *ret = (PageMaker){ .page = page, .page_bytes = page_bytes, .big_endian = big_endian };
        return 0;
}

/* The number of missed events stands behind the records. */
static size_t room(const PageMaker *m) {
        return m->page_bytes - (m->missed && m->n_missed > 0 ? sizeof(uint64_t) : 0);
}

int page_maker_add(PageMaker *m, uint64_t timestamp_ns, const void *data, size_t n) {
        uint64_t delta = m->n > 0 ? timestamp_ns - m->last_ns : 0;
        bool is_extended = delta >> DELTA_BITS, is_short = n > 0 && n <= SHORT_MAX;
        size_t n_needed = (is_extended ? 8 : 0) + (is_short ? 4 : 8) + n;
        uint8_t *p;

        if (m->n > 0 &&
            (timestamp_ns < m->last_ns || delta >> (DELTA_BITS + 32) || m->n + n_needed > room(m)))
                return PAGE_MAKER_E_FULL;
        if (m->n == 0) {
                /* A record as long as a page leaves no room for the number. */
                if (PAGE_HEADER_BYTES + n_needed > room(m))
                        m->n_missed = 0;
                m->n = PAGE_HEADER_BYTES;
                m->begin_ns = timestamp_ns;
        }
        p = m->page + m->n;
        if (is_extended) {
                p = put_head(m, p, TYPE_TIME_EXTEND, delta);
                p = put_u32(m, p, (uint32_t) (delta >> DELTA_BITS));
                delta = 0;
        }
        p = put_head(m, p, is_short ? (uint32_t) n / 4 : 0, delta);
        if (!is_short)
                p = put_u32(m, p, (uint32_t) n + 4);
        memcpy(p, data, n);
        m->n += n_needed;
        m->last_ns = timestamp_ns;
        return 0;
}

int page_maker_lose(PageMaker *m, uint64_t n) {
        if (m->n > 0)
                return PAGE_MAKER_E_FULL;
        m->n_missed = m->missed && (m->n_missed == 0 || n == 0) ? 0 : m->n_missed + n;
        m->missed = true;
        return 0;
}

const void *page_maker_finish(PageMaker *m) {
        uint64_t commit = m->n - PAGE_HEADER_BYTES;

        if (m->n == 0)
                return NULL;
        memset(m->page + m->n, 0, m->page_bytes - m->n);
        if (m->missed)
                commit |= MISSED_FLAG | (m->n_missed > 0 ? STORED_FLAG : 0);
        if (m->missed && m->n_missed > 0)
                put_u64(m, m->page + m->n, m->n_missed);
        put_u64(m, m->page, m->begin_ns);
        put_u64(m, m->page + 8, commit);
        m->n = 0;
        m->missed = false;
        m->n_missed = 0;
        return m->page;
}

void page_maker_done(PageMaker *m) {
        free(m->page);
        *m = (PageMaker){};
}
