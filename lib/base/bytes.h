/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Numbers as another machine has them in memory, which need not be aligned. */

#include "base/cleanup.h"

/* True if those of a machine of that byte order are the other way round on this one. */
static inline bool needs_swap(bool big_endian) {
        return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline uint16_t load_u16(const void *p, bool swap) {
        uint16_t v;

        memcpy(&v, p, sizeof(v));
        return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const void *p, bool swap) {
        uint32_t v;

        memcpy(&v, p, sizeof(v));
        return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *p, bool swap) {
        uint64_t v;

        memcpy(&v, p, sizeof(v));
        return swap ? __builtin_bswap64(v) : v;
}
