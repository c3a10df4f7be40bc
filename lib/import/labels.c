/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Open addressing over pointers; the hash is FNV-1a's. */

#include "base/buf.h"
#include "import/labels.h"

struct Labels {
        Function **slots;
        size_t n_slots; /* a power of two */
        size_t n;
        Function *unknown;
};

static uint64_t hash_of(const char *s, size_t n) {
        uint64_t h = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < n; i++)
                h = (h ^ (unsigned char) s[i]) * UINT64_C(0x100000001b3);
        return h ^ h >> 29;
}

static size_t find(Function *const *slots, size_t n_slots, const char *label, size_t n) {
        size_t i = (size_t) hash_of(label, n) & (n_slots - 1);

        while (slots[i] && (slots[i]->n_label != n || memcmp(slots[i]->label, label, n) != 0))
                i = (i + 1) & (n_slots - 1);
        return i;
}

static Function *function_new(const char *label, size_t n_label, size_t n_name, uint64_t number) {
        Function *f = malloc(sizeof(*f) + n_label + 1 + FUNCTION_SLACK);
        char *copy;

        if (!f)
                return NULL;
        copy = (char *) (f + 1);
        memcpy(copy, label, n_label);
        memset(copy + n_label, 0, 1 + FUNCTION_SLACK);
        *f = (Function){
                .address = number,
                .label = copy,
                .n_label = (uint32_t) n_label,
                .n_name = (uint32_t) n_name,
                .root = -1,
        };
        return f;
}

static int grow(Labels *l) {
        size_t n_slots = l->n_slots * 2;
        Function **slots = calloc(n_slots, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < l->n_slots; i++)
                if (l->slots[i])
                        slots[find(slots, n_slots, l->slots[i]->label, l->slots[i]->n_label)] =
                                l->slots[i];
        free(l->slots);
        l->slots = slots;
        l->n_slots = n_slots;
        return 0;
}

/* A name that is no plain text is known by what it is shown as. */
static _cold_ const Function *get_plain(Labels *l, const char *label, size_t n_label,
                                        size_t n_name) {
        _cleanup_buf_ Buf plain = BUF_INIT;
        size_t n_plain_name;

        buf_add_plain(&plain, label, n_name, PLAIN_WORD);
        n_plain_name = plain.n_data;
        buf_add_plain(&plain, label + n_name, n_label - n_name, PLAIN_WORD);
        return plain.error < 0 ? NULL : labels_get(l, plain.data, plain.n_data, n_plain_name);
}

const Function *labels_get(Labels *l, const char *label, size_t n_label, size_t n_name) {
        size_t i = find(l->slots, l->n_slots, label, n_label);

        if (l->slots[i])
                return l->slots[i];
        if (_unlikely_(plain_length(label, n_label, PLAIN_WORD) < n_label))
                return get_plain(l, label, n_label, n_name);
        if (l->n == LABELS_MAX)
                return NULL;
        if (l->n >= l->n_slots / 2) {
                if (grow(l) < 0)
                        return NULL;
                i = find(l->slots, l->n_slots, label, n_label);
        }
        l->slots[i] = function_new(label, n_label, n_name, l->n + 1);
        l->n += l->slots[i] != NULL;
        return l->slots[i];
}

const Function *labels_unknown(const Labels *l) {
        return l->unknown;
}

size_t labels_n(const Labels *l) {
        return l->n;
}

int labels_new(Labels **ret) {
        _cleanup_(labels_freep) Labels *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->n_slots = 1024;
        l->slots = calloc(l->n_slots, sizeof(*l->slots));
        l->unknown = function_new("?", 1, 1, 0);
        if (!l->slots || !l->unknown)
                return -ENOMEM;
        *ret = TAKE_PTR(l);
        return 0;
}

Labels *labels_free(Labels *l) {
        if (!l)
                return NULL;
        for (size_t i = 0; l->slots && i < l->n_slots; i++)
                free(l->slots[i]);
        free(l->slots);
        free(l->unknown);
        free(l);
        return NULL;
}
