/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Intern: pointers are counted as they come, from 0 */

#include "base/array.h"
#include "base/hash.h"

typedef struct Intern {
        const void **items; /* n of them, by number */
        uint32_t n;
        Hash numbers; /* plus 1, by pointer */
} Intern;

/* 1: @item is new; 0: it is not; -ENOMEM. */
static inline int intern_add(Intern *in, const void *item, uint32_t *ret_number) {
        uint64_t number = hash_get(&in->numbers, hash_key(item));

        if (number > 0) {
                *ret_number = (uint32_t) number - 1;
                return 0;
        }
        if (!ARRAY_GROW(in->items, in->n) || hash_add(&in->numbers, hash_key(item), in->n + 1) < 0)
                return -ENOMEM;
        in->items[in->n] = item;
        *ret_number = in->n++;
        return 1;
}

static inline void intern_done(Intern *in) {
        free(in->items);
        hash_done(&in->numbers);
}
