/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is rare: slots are added, and filled anew in the order in which they stand, from a free one on,
 * so that of several values of a key the oldest is still the first. */

#include "base/hash.h"

#define N_SLOTS_FIRST 16 /* many are for few */

/* Puts it into the first free slot. */
static void put(Hash *h, uint64_t key, uint64_t value) {
        const HashSlot *slot;

        hash_each (slot, h, key)
                ;
        *(HashSlot *) slot = (HashSlot){ key, value };
        h->n++;
}

static int resize(Hash *h, size_t n_slots) {
        Hash bigger = { .n_slots = n_slots, .shift = 64 - (unsigned) __builtin_ctzl(n_slots) };
        size_t first = 0;

        bigger.slots = calloc(n_slots, sizeof(*bigger.slots));
        if (!bigger.slots)
                return -ENOMEM;
        while (first < h->n_slots && h->slots[first].value != 0)
                first++;
        for (size_t i = 0; i < h->n_slots; i++) {
                const HashSlot *slot = &h->slots[(first + i) & (h->n_slots - 1)];

                if (slot->value != 0)
                        put(&bigger, slot->key, slot->value);
        }
        free(h->slots);
        *h = bigger;
        return 0;
}

int hash_reserve(Hash *h, size_t n) {
        size_t n_slots = h->n_slots ?: N_SLOTS_FIRST;

        if (n > SIZE_MAX / 4 / sizeof(HashSlot))
                return -ENOMEM;
        while (n_slots / 2 < n)
                n_slots *= 2;
        return n_slots == h->n_slots ? 0 : resize(h, n_slots);
}

int hash_add(Hash *h, uint64_t key, uint64_t value) {
        if (h->n >= h->n_slots / 2) {
                int r = hash_reserve(h, h->n + 1);

                if (r < 0)
                        return r;
        }
        put(h, key, value);
        return 0;
}

int hash_set(Hash *h, uint64_t key, uint64_t value) {
        HashSlot *slot = hash_slot(h, key, NULL);

        if (!slot || slot->value == 0)
                return hash_add(h, key, value);
        slot->value = value;
        return 0;
}

void hash_clear(Hash *h) {
        if (h->n > 0)
                memset(h->slots, 0, h->n_slots * sizeof(*h->slots));
        h->n = 0;
}

void hash_done(Hash *h) {
        free(h->slots);
        *h = (Hash){};
}
