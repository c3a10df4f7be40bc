/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Arrays that grow by one item at a time, whose room is the next power of two: nothing but the
 * number of items has to be remembered.
 */

#include <stddef.h>
#include <stdlib.h>

/* Room for one more than @n items: the array, moved or not, or NULL without memory; @items stays
 * valid then.  Only for arrays that grew by this alone. */
static inline void *grow_array(void *items, size_t n, size_t item_bytes) {
        return (n & (n - 1)) == 0 ? reallocarray(items, n ? n * 2 : 1, item_bytes) : items;
}
