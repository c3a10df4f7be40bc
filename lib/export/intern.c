/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/array.h"
#include "export/intern.h"

int intern_add(Intern *in, const void *item, uint32_t *ret_number) {
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

void intern_done(Intern *in) {
        free(in->items);
        hash_done(&in->numbers);
        *in = (Intern){};
}
