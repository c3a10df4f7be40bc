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

/* The name's bytes, without a NUL, with an item of the list. */
static int compare_names(const void *a, const void *b) {
        const Symbol *symbol = a;
        const char *name = *(char *const *) b;
        int r = strncmp(symbol->name, name, symbol->n_name);

        return r != 0 ? r : name[symbol->n_name] ? -1 : 0;
}

static Function *function_new(const Functions *f, uint64_t address) {
        char hex[24];
        Symbol symbol;
        Function *ret;
        size_t n_label;
        char *label, **root = NULL;

        if (symbols_find(f->symbols, address, &symbol)) {
                if (f->roots->n > 0)
                        root = bsearch(&symbol, f->roots->items, f->roots->n, sizeof(char *),
                                       compare_names);
        } else {
                symbol = (Symbol){ .name = hex };
                symbol.n_name =
                        (size_t) snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long) address);
        }
        n_label = symbol.n_name + (symbol.module ? symbol.n_module + 3 : 0);
        ret = malloc(sizeof(*ret) + n_label + 1);
        if (!ret)
                return NULL;
        label = (char *) (ret + 1);
        memcpy(label, symbol.name, symbol.n_name);
        if (symbol.module) {
                memcpy(label + symbol.n_name, " [", 2);
                memcpy(label + symbol.n_name + 2, symbol.module, symbol.n_module);
                label[n_label - 1] = ']';
        }
        label[n_label] = 0;
        *ret = (Function){
                .address = address,
                .label = label,
                .n_label = (uint32_t) n_label,
                .n_name = (uint32_t) symbol.n_name,
                .root = root ? (int32_t) (root - f->roots->items) : -1,
        };
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
