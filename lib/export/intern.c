/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Open addressing with a quarter of the slots in use at most. */

#include "export/intern.h"

static uint32_t *slot_of(const Intern *in, const void *item) {
        size_t n = (size_t) in->n_room * 4;
        size_t i = (size_t) ((uint64_t) (uintptr_t) item * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
                   (n - 1);

        while (in->slots[i] && in->items[in->slots[i] - 1] != item)
                i = (i + 1) & (n - 1);
        return &in->slots[i];
}

static int grow(Intern *in) {
        uint32_t n = in->n_room ? in->n_room * 2 : 256;
        const void **items = realloc(in->items, n * sizeof(*items));
        uint32_t *slots;

        if (!items)
                return -ENOMEM;
        in->items = items;
        slots = calloc((size_t) n * 4, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(in->slots);
        in->slots = slots;
        in->n_room = n;
        for (uint32_t i = 0; i < in->n; i++)
                *slot_of(in, in->items[i]) = i + 1;
        return 0;
}

int intern_add(Intern *in, const void *item, uint32_t *ret_number) {
        uint32_t *slot = in->n_room ? slot_of(in, item) : NULL;

        if (slot && *slot) {
                *ret_number = *slot - 1;
                return 0;
        }
        if (in->n == in->n_room) {
                if (grow(in) < 0)
                        return -ENOMEM;
                slot = slot_of(in, item);
        }
        in->items[in->n] = item;
        *ret_number = in->n;
        *slot = ++in->n;
        return 1;
}

void intern_done(Intern *in) {
        free(in->items);
        free(in->slots);
        *in = (Intern){};
}
