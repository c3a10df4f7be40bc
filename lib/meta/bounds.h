/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Bounds: what a recording may have, whoever wrote it
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STORE_MAX_CPUS 8192
#define PAGE_BYTES_MIN 4096U
#define PAGE_BYTES_MAX (1U << 20)
#define SYMBOL_HASH_CHARS 32 /* XXH3-128 of the plain text, hex (store/symbol-file.h) */

static inline bool page_bytes_are_valid(uint32_t n) {
        return n >= PAGE_BYTES_MIN && n <= PAGE_BYTES_MAX && (n & (n - 1)) == 0;
}

static inline bool symbol_hash_is_valid(const char *hash) {
        return strspn(hash, "0123456789abcdef") == SYMBOL_HASH_CHARS &&
               hash[SYMBOL_HASH_CHARS] == 0;
}
