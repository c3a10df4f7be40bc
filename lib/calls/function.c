/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Open addressing over pointers; a recording has some hundred functions and asks for one of them
 * at every event, nearly always hitting the first slot. */

#include <stdio.h>

#include "calls/function.h"

struct Functions {
        const Symbols *symbols;
        const Strv *roots;
        Function **slots;
        size_t n_slots; /* a power of two */
        size_t n;
};

static inline size_t slot_of(const Functions *f, uint64_t address) {
        return (size_t) ((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (f->n_slots - 1);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(a, *(char *const *) b);
}

static Function *function_new(const Functions *f, uint64_t address) {
        _cleanup_free_ char *hex = NULL;
        Symbol symbol = {};
        Function *ret;
        size_t n_name, n_label;
        char *label;

        if (!symbols_find(f->symbols, address, &symbol)) {
                if (asprintf(&hex, "0x%llx", (unsigned long long) address) < 0)
                        return NULL;
                symbol.name = hex;
        }
        n_name = strlen(symbol.name);
        n_label = n_name + (symbol.module ? strlen(symbol.module) + 3 : 0);
        ret = malloc(sizeof(*ret) + n_label + 1);
        if (!ret)
                return NULL;
        label = (char *) (ret + 1);
        if (symbol.module)
                (void) snprintf(label, n_label + 1, "%s [%s]", symbol.name, symbol.module);
        else
                memcpy(label, symbol.name, n_label + 1);
        *ret = (Function){
                .address = address,
                .label = label,
                .n_label = (uint32_t) n_label,
                .n_name = (uint32_t) n_name,
                .root = -1,
        };
        if (!hex && f->roots->n > 0) {
                char **root = bsearch(symbol.name, f->roots->items, f->roots->n, sizeof(char *),
                                      compare_names);

                if (root)
                        ret->root = (int32_t) (root - f->roots->items);
        }
        return ret;
}

static int grow(Functions *f) {
        Functions bigger = *f;

        bigger.n_slots = f->n_slots * 2;
        bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
        if (!bigger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < f->n_slots; i++)
                if (f->slots[i]) {
                        size_t k = slot_of(&bigger, f->slots[i]->address);

                        while (bigger.slots[k])
                                k = (k + 1) & (bigger.n_slots - 1);
                        bigger.slots[k] = f->slots[i];
                }
        free(f->slots);
        *f = bigger;
        return 0;
}

const Function *functions_get(Functions *f, uint64_t address) {
        size_t i = slot_of(f, address);

        for (; f->slots[i]; i = (i + 1) & (f->n_slots - 1))
                if (f->slots[i]->address == address)
                        return f->slots[i];
        if (f->n >= f->n_slots / 2) {
                if (grow(f) < 0)
                        return NULL;
                for (i = slot_of(f, address); f->slots[i];)
                        i = (i + 1) & (f->n_slots - 1);
        }
        f->slots[i] = function_new(f, address);
        if (f->slots[i])
                f->n++;
        return f->slots[i];
}

int functions_new(Functions **ret, const Symbols *symbols, const Strv *roots) {
        _cleanup_(functions_freep) Functions *f = NULL;

        f = malloc(sizeof(*f));
        if (!f)
                return -ENOMEM;
        *f = (Functions){ .symbols = symbols, .roots = roots, .n_slots = 2048 };
        f->slots = calloc(f->n_slots, sizeof(*f->slots));
        if (!f->slots)
                return -ENOMEM;
        *ret = TAKE_PTR(f);
        return 0;
}

size_t functions_n(const Functions *f) {
        return f->n;
}

Functions *functions_free(Functions *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; f->slots && i < f->n_slots; i++)
                free(f->slots[i]);
        free(f->slots);
        free(f);
        return NULL;
}
