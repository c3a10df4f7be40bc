/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/buf.h"
#include "import/text-private.h"

static const char unknown[2 + FUNCTION_SLACK] = "?";

const Function labels_unknown = {
        .label = unknown, .n_label = 1, .n_name = 1, .root = -1, .n_unhooked = UNHOOKED_UNTOLD
};

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
                .n_unhooked = UNHOOKED_UNTOLD,
        };
        return f;
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
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, label, n_label);
        const HashSlot *slot;
        Function *f;

        hash_each (slot, &l->functions, key) {
                f = (void *) (uintptr_t) slot->value;
                if (f->n_label == n_label && memcmp(f->label, label, n_label) == 0)
                        return f;
        }
        if (_unlikely_(plain_length(label, n_label, PLAIN_WORD) < n_label))
                return get_plain(l, label, n_label, n_name);
        if (l->functions.n == LABELS_MAX)
                return NULL;
        f = function_new(label, n_label, n_name, l->functions.n + 1);
        if (f && hash_add_ptr(&l->functions, key, f) < 0) {
                free(f);
                return NULL;
        }
        return f;
}

void labels_done(Labels *l) {
        for (size_t i = 0; i < l->functions.n_slots; i++)
                free((void *) (uintptr_t) l->functions.slots[i].value);
        hash_done(&l->functions);
}
