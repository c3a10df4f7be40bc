/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found by the root's pointer in a hash; the last one is asked first. */

#include "analyze/by-root.h"
#include "base/grow.h"
#include "base/hash.h"

struct ByRoot {
        NameSet *names;
        ByRootRow all;
        ByRootRow **rows;
        size_t n_rows;
        Hash by_root; /* the rows */
        ByRootRow *last;
};

static ByRootRow *row_of(ByRoot *b, const Function *root) {
        ByRootRow *row;

        if (b->last && b->last->root == root)
                return b->last;
        row = hash_get_ptr(&b->by_root, hash_key(root));
        if (row)
                return b->last = row;
        if (!ARRAY_GROW(b->rows, b->n_rows))
                return NULL;
        row = calloc(1, sizeof(*row));
        if (!row || hash_add_ptr(&b->by_root, hash_key(root), row) < 0) {
                free(row);
                return NULL;
        }
        row->root = root;
        return b->last = b->rows[b->n_rows++] = row;
}

static int end(void *userdata, const Call *call) {
        ByRoot *b = userdata;
        int r = b->names ? name_set_has(b->names, call->frame->function) : call->is_root;
        ByRootRow *row;

        if (r <= 0)
                return r;
        row = row_of(b, call->frame->root);
        if (!row)
                return -ENOMEM;
        row->n_cut += call->is_cut;
        b->all.n_cut += call->is_cut;
        if (call->is_cut)
                return 0;
        r = quantiles_add(&row->quantiles, call->duration_ns);
        return r < 0 ? r : quantiles_add(&b->all.quantiles, call->duration_ns);
}

const ByRootRow *by_root_all(const ByRoot *b) {
        return &b->all;
}

static int compare(const void *a, const void *b) {
        const ByRootRow *x = *(ByRootRow *const *) a, *y = *(ByRootRow *const *) b;

        if (x->quantiles.sum != y->quantiles.sum)
                return x->quantiles.sum < y->quantiles.sum ? 1 : -1;
        return strcmp(x->root->label, y->root->label);
}

const ByRootRow *const *by_root_rows(ByRoot *b, size_t *ret_n) {
        if (b->n_rows > 0)
                qsort(b->rows, b->n_rows, sizeof(*b->rows), compare);
        *ret_n = b->n_rows;
        return (const ByRootRow *const *) b->rows;
}

int by_root_new(ByRoot **ret, Pairing *pairing, NameSet *names) {
        ByRoot *b = calloc(1, sizeof(*b));

        if (!b)
                return -ENOMEM;
        b->names = names;
        pairing_add_sink(pairing, NULL, end, b);
        *ret = b;
        return 0;
}

ByRoot *by_root_free(ByRoot *b) {
        if (!b)
                return NULL;
        for (size_t i = 0; i < b->n_rows; i++) {
                quantiles_done(&b->rows[i]->quantiles);
                free(b->rows[i]);
        }
        quantiles_done(&b->all.quantiles);
        free(b->rows);
        hash_done(&b->by_root);
        return mfree(b);
}
