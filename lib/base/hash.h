/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Hash: from a number to a number, by open addressing
 *
 *      slots:  | key value | free | key value | key value | free | ...    a power of two
 *
 * A key is any 64 bits: an address, a pid, a pointer (hash_key()).  Of what is told apart by more than
 * that, it is a hash (hash_bytes(), hash_mix()): then several things may have one key, and hash_each()
 * looks at all of them.  A value is never 0: the index of an item, plus 1, or a pointer.  At most half
 * of the slots are in use.  Nothing is removed, but all of it.
 *
 * A Hash of zeroes is empty.
 */

#include "base/cleanup.h"

typedef struct HashSlot {
        uint64_t key, value; /* value 0: free */
} HashSlot;

typedef struct Hash {
        HashSlot *slots;
        size_t n, n_slots;
        unsigned shift; /* 64 - log2(n_slots) */
} Hash;

static inline uint64_t hash_key(const void *p) {
        return (uintptr_t) p;
}

/* Quantiles what @x differs by over all bits. */
static inline uint64_t hash_mix(uint64_t x) {
        x *= UINT64_C(0x9e3779b97f4a7c15);
        return x ^ x >> 32;
}

#define HASH_BYTES_FIRST UINT64_C(0xcbf29ce484222325)

/* FNV-1a of @n bytes behind those that @hash is of; HASH_BYTES_FIRST: none. */
static inline uint64_t hash_bytes(uint64_t hash, const char *s, size_t n) {
        for (size_t i = 0; i < n; i++)
                hash = (hash ^ (unsigned char) s[i]) * UINT64_C(0x100000001b3);
        return hash;
}

/* The slot of @key, or the free one where it would be; @after: of several the one behind it.  NULL:
 * there are no slots yet. */
static inline HashSlot *hash_slot(const Hash *h, uint64_t key, const HashSlot *after) {
        size_t i;

        if (_unlikely_(h->n_slots == 0))
                return NULL;
        i = after ? (size_t) (after - h->slots + 1) & (h->n_slots - 1)
                  : (key * UINT64_C(0x9e3779b97f4a7c15)) >> h->shift;
        for (;; i = (i + 1) & (h->n_slots - 1)) {
                HashSlot *slot = &h->slots[i];

                if (_likely_(slot->key == key) || slot->value == 0)
                        return slot;
        }
}

/* The value of @key, of several the oldest; 0: there is none. */
static inline uint64_t hash_get(const Hash *h, uint64_t key) {
        const HashSlot *slot = hash_slot(h, key, NULL);

        return slot ? slot->value : 0;
}

static inline void *hash_get_ptr(const Hash *h, uint64_t key) {
        return (void *) (uintptr_t) hash_get(h, key);
}

/* for (each value of @key): @slot is a const HashSlot pointer of the caller's. */
#define hash_each(slot, h, key)                                                                    \
        for (slot = hash_slot((h), (key), NULL); slot && slot->value != 0;                         \
             slot = hash_slot((h), (key), slot))

/* Room for @n: 0, or -ENOMEM with all as it was. */
int hash_reserve(Hash *h, size_t n);
/* Adds one, even if the key is there.  0, or -ENOMEM with all as it was. */
int hash_add(Hash *h, uint64_t key, uint64_t value);
static inline int hash_add_ptr(Hash *h, uint64_t key, const void *value) {
        return hash_add(h, key, (uintptr_t) value);
}
/* The only value of @key from now on. */
int hash_set(Hash *h, uint64_t key, uint64_t value);
/* Empties it; the room stays. */
void hash_clear(Hash *h);
void hash_done(Hash *h);
