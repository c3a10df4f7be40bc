/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found by the root's pointer in a hash.  Calls come in the order of their ends, and are put
 * into that of their beginnings when somebody asks. */

#include "analyze/root-calls.h"
#include "base/array.h"
#include "base/hash.h"

struct RootCalls {
        RootCallsRow **rows;
        size_t n_rows;
        Hash by_root; /* the rows */
};

static RootCallsRow *row_of(RootCalls *c, const Function *root) {
        RootCallsRow *row = hash_get_ptr(&c->by_root, hash_key(root));

        if (row)
                return row;
        if (!ARRAY_GROW(c->rows, c->n_rows))
                return NULL;
        row = NEW(RootCallsRow, .root = root);
        if (!row || hash_add_ptr(&c->by_root, hash_key(root), row) < 0)
                return mfree(row);
        return c->rows[c->n_rows++] = row;
}

static int end(void *userdata, const Call *call) {
        RootCallsRow *row;

        if (!call->is_root)
                return 0;
        row = row_of(userdata, call->frame->function);
        if (!row || !ARRAY_GROW(row->calls, row->n))
                return -ENOMEM;
        row->total_ns += call->duration_ns;
        row->calls[row->n++] = (RootCall){
                .start_ns = call->frame->start_ns,
                .duration_ns = call->duration_ns,
                .task = call->stack->key,
                .cpu = call->cpu,
                .is_whole = call->has_end && !call->is_cut && !call->is_late,
        };
        return 0;
}

static int compare_starts(const void *a, const void *b) {
        const RootCall *x = a, *y = b;

        return CMP(x->start_ns, y->start_ns) ?: CMP(x->task, y->task);
}

const RootCallsRow *root_calls_most(RootCalls *c) {
        RootCallsRow *most = NULL;

        for (size_t i = 0; i < c->n_rows; i++) {
                RootCallsRow *row = c->rows[i];

                if (!most || row->total_ns > most->total_ns ||
                    (row->total_ns == most->total_ns &&
                     strcmp(row->root->label, most->root->label) < 0))
                        most = row;
        }
        if (most)
                qsort(most->calls, most->n, sizeof(*most->calls), compare_starts);
        return most;
}

uint64_t root_calls_number(const RootCalls *c, const RootCall *call) {
        uint64_t n = 0;

        for (size_t i = 0; i < c->n_rows; i++)
                for (size_t k = 0; k < c->rows[i]->n; k++)
                        n += compare_starts(&c->rows[i]->calls[k], call) <= 0;
        return n;
}

static int compare_durations(const void *a, const void *b) {
        const RootCall *x = *(const RootCall *const *) a, *y = *(const RootCall *const *) b;

        return CMP(y->duration_ns, x->duration_ns) ?: compare_starts(x, y);
}

int root_calls_slowest(const RootCallsRow *row, size_t n_max, const RootCall ***ret,
                       size_t *ret_n) {
        const RootCall **calls = calloc(row->n, sizeof(const RootCall *));
        size_t n = 0;

        if (!calls)
                return -ENOMEM;
        for (size_t i = 0; i < row->n; i++)
                if (row->calls[i].is_whole)
                        calls[n++] = &row->calls[i];
        qsort(calls, n, sizeof(*calls), compare_durations);
        *ret = calls;
        *ret_n = MIN(n_max, n / 100 + (n % 100 > 0));
        return 0;
}

int root_calls_new(RootCalls **ret, Pairing *pairing) {
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        pairing_add_sink(pairing, NULL, end, *ret);
        return 0;
}

RootCalls *root_calls_free(RootCalls *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->n_rows; i++) {
                free(c->rows[i]->calls);
                free(c->rows[i]);
        }
        free(c->rows);
        hash_done(&c->by_root);
        return mfree(c);
}
