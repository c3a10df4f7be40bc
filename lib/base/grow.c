/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/grow.h"

void *array_resize(void *items, size_t n_room, size_t n_max, size_t item_bytes) {
        return n_room <= n_max ? reallocarray(items, n_room, item_bytes) : NULL;
}
