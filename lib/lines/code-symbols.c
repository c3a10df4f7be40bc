/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Functions by their addresses, and by their names, of which several may have one. */

#include "lines/lines-private.h"

/* A Linux 6.12 has 18 of one name.  Those of many tell nothing, and each is gone past to add one more. */
#define SAME_NAME_MAX 128

static int compare_symbols(const void *pa, const void *pb) {
        const CodeSymbol *a = pa, *b = pb;

        return CMP(a->address, b->address) ?: strcmp(a->name, b->name);
}

int code_symbols_index(CodeSymbols *s) {
        int r = hash_reserve(&s->names, s->n);

        for (size_t i = 0; i < s->n && r >= 0; i++) {
                const char *name = s->items[i].name;
                uint64_t key = hash_bytes(HASH_BYTES_FIRST, name, strlen(name));
                const HashSlot *slot;
                unsigned n = 0;

                hash_each (slot, &s->names, key)
                        if (++n >= SAME_NAME_MAX)
                                break;
                if (n < SAME_NAME_MAX)
                        r = hash_add(&s->names, key, i + 1);
        }
        return r;
}

int code_symbols_finish(CodeSymbols *s) {
        if (s->n > 0)
                qsort(s->items, s->n, sizeof(*s->items), compare_symbols);
        /* Of what has no size, up to the next. */
        for (size_t i = s->n, next = s->n; i-- > 0;) {
                if (i + 1 < s->n && s->items[i + 1].address != s->items[i].address)
                        next = i + 1;
                if (s->items[i].n_bytes == 0 && next < s->n)
                        s->items[i].n_bytes =
                                MIN(s->items[next].address - s->items[i].address, CODE_MAX);
        }
        return code_symbols_index(s);
}

uint32_t code_symbols_at(const CodeSymbols *s, uint64_t address) {
        size_t k = BISECT(0, s->n, i, s->items[i].address < address);

        return k < s->n && s->items[k].address == address ? (uint32_t) k : NO_SYMBOL;
}

uint32_t code_symbols_named(const CodeSymbols *s, const char *name, size_t n_name,
                            bool *ret_is_only) {
        uint32_t found = NO_SYMBOL;
        const HashSlot *slot;

        *ret_is_only = true;
        hash_each (slot, &s->names, hash_bytes(HASH_BYTES_FIRST, name, n_name)) {
                const CodeSymbol *is = &s->items[slot->value - 1];

                if (strlen(is->name) != n_name || memcmp(is->name, name, n_name) != 0)
                        continue;
                if (found == NO_SYMBOL)
                        found = (uint32_t) slot->value - 1;
                else if (is->address != s->items[found].address)
                        *ret_is_only = false;
        }
        return found;
}

void code_symbols_done(CodeSymbols *s) {
        free(s->items);
        hash_done(&s->names);
}
