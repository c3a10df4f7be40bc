/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found by the root's pointer in a hash; the last one is asked first. */

#include "analyze/by-root.h"

struct ByRoot {
        NameSet *names;
        ByRootRow all;
        ByRootRow **rows;
        size_t n_rows, n_rows_room;
        uint32_t *slots; /* row + 1; four times n_rows_room, a power of two */
        ByRootRow *last;
};

static size_t find_slot(const ByRoot *b, const Function *root) {
        size_t n = b->n_rows_room * 4;
        uint64_t x = ((uintptr_t) root >> 4) * UINT64_C(0x9e3779b97f4a7c15);
        size_t i = (size_t) (x ^ x >> 32) & (n - 1);

        while (b->slots[i] && b->rows[b->slots[i] - 1]->root != root)
                i = (i + 1) & (n - 1);
        return i;
}

static int grow(ByRoot *b) {
        size_t n = b->n_rows_room ? b->n_rows_room * 2 : 64;
        ByRootRow **rows = realloc(b->rows, n * sizeof(*rows));
        uint32_t *slots;

        if (!rows)
                return -ENOMEM;
        b->rows = rows;
        slots = calloc(n * 4, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(b->slots);
        b->slots = slots;
        b->n_rows_room = n;
        for (size_t i = 0; i < b->n_rows; i++)
                b->slots[find_slot(b, b->rows[i]->root)] = (uint32_t) i + 1;
        return 0;
}

static ByRootRow *row_of(ByRoot *b, const Function *root) {
        ByRootRow *row;
        size_t i;

        if (b->last && b->last->root == root)
                return b->last;
        if (b->n_rows == b->n_rows_room && grow(b) < 0)
                return NULL;
        i = find_slot(b, root);
        if (b->slots[i])
                return b->last = b->rows[b->slots[i] - 1];
        row = calloc(1, sizeof(*row));
        if (!row)
                return NULL;
        row->root = root;
        b->rows[b->n_rows] = row;
        b->slots[i] = (uint32_t) ++b->n_rows;
        return b->last = row;
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
        r = spread_add(&row->spread, call->duration_ns);
        return r < 0 ? r : spread_add(&b->all.spread, call->duration_ns);
}

const ByRootRow *by_root_all(const ByRoot *b) {
        return &b->all;
}

static int compare(const void *a, const void *b) {
        const ByRootRow *x = *(ByRootRow *const *) a, *y = *(ByRootRow *const *) b;

        if (x->spread.sum != y->spread.sum)
                return x->spread.sum < y->spread.sum ? 1 : -1;
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
                spread_done(&b->rows[i]->spread);
                free(b->rows[i]);
        }
        spread_done(&b->all.spread);
        free(b->rows);
        free(b->slots);
        free(b);
        return NULL;
}
