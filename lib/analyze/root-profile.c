/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a call took is put down at its task until the outermost call has ended; then it is added up by
 * rows, and the sums go into the spreads.  When much has been put down it is added up in between, so
 * that it does not grow with the calls of one long outermost call.
 *
 * Rows are found by root and function; a function that is met for the first time there, by root and
 * name.
 */

#include "analyze/root-profile.h"
#include "base/grow.h"
#include "base/hash.h"

#define N_PARTS_MAX 4096 /* put down before they are added up in between; grows with the rows */

/* What calls of a row took in the outermost call that is open. */
typedef struct Part {
        uint32_t row;
        uint64_t n, self_ns, total_ns;
} Part;

typedef struct Open {
        Part *parts;
        size_t n, n_room;
        size_t n_compact; /* from how many on they are added up in between */
        struct Open *next, *next_spare;
} Open;

typedef struct Pointer {
        const Function *function;
        uint32_t root, row;
        bool in_irq;
} Pointer;

typedef struct RootProfileData {
        RootProfile p;     /* first */
        Pointer *pointers; /* which row a function is */
        size_t n_pointers;
        Hash roots, pointers_at, rows,
                edges;      /* indices + 1, by name, by function, by name, by both ends */
        Open *open, *spare; /* all there are, and of them those that are nobody's */
} RootProfileData;

/* --- roots, rows, edges ----------------------------------------------------------------------- */

/* Under a root, in an interrupt or not. */
static uint64_t place_key(uint64_t hash, uint32_t root, bool in_irq) {
        return hash_mix(hash) ^ (uint64_t) root << 1 ^ in_irq;
}

static uint64_t edge_key(uint32_t caller, uint32_t callee) {
        return (uint64_t) caller << 32 | callee;
}

bool root_profile_find_root(const RootProfile *p, const Alike *name, uint32_t *ret) {
        const RootProfileData *d = (const RootProfileData *) p;
        const HashSlot *slot;

        hash_each (slot, &d->roots, alike_hash(name))
                if (alike_equal(&p->roots[slot->value - 1].name, name)) {
                        *ret = (uint32_t) slot->value - 1;
                        return true;
                }
        return false;
}

static int find_root(RootProfileData *d, const Function *function, uint32_t *ret) {
        Alike name = alike_of(function);

        if (root_profile_find_root(&d->p, &name, ret))
                return 0;
        if (!ARRAY_GROW(d->p.roots, d->p.n_roots) ||
            hash_add(&d->roots, alike_hash(&name), d->p.n_roots + 1) < 0)
                return -ENOMEM;
        d->p.roots[d->p.n_roots] = (RootProfileRoot){ .name = name, .function = function };
        *ret = (uint32_t) d->p.n_roots++;
        return 0;
}

const RootProfileRow *root_profile_find(const RootProfile *p, uint32_t root, const Alike *name,
                                        bool in_irq) {
        const RootProfileData *d = (const RootProfileData *) p;
        const HashSlot *slot;

        hash_each (slot, &d->rows, place_key(alike_hash(name), root, in_irq)) {
                const RootProfileRow *row = &p->rows[slot->value - 1];

                if (row->root == root && row->in_irq == in_irq && alike_equal(&row->name, name))
                        return row;
        }
        return NULL;
}

/* Of a function that was not met there yet. */
static int find_named_row(RootProfileData *d, uint32_t root, const Frame *frame, uint32_t *ret) {
        Alike name = alike_of(frame->function);
        const RootProfileRow *row = root_profile_find(&d->p, root, &name, frame->in_irq);
        uint64_t key = place_key(alike_hash(&name), root, frame->in_irq);
        RootProfileRoot *r;

        if (row) {
                *ret = (uint32_t) (row - d->p.rows);
                return 0;
        }
        if (!ARRAY_GROW(d->p.rows, d->p.n_rows) || hash_add(&d->rows, key, d->p.n_rows + 1) < 0)
                return -ENOMEM;
        d->p.rows[d->p.n_rows] = (RootProfileRow){ .name = name,
                                                   .function = frame->function,
                                                   .root = root,
                                                   .is_irq = frame->role == ROLE_IRQ,
                                                   .in_irq = frame->in_irq };
        *ret = (uint32_t) d->p.n_rows++;
        r = &d->p.roots[root];
        *(r->last_row > 0 ? &d->p.rows[r->last_row - 1].next : &r->first_row) = *ret + 1;
        r->last_row = *ret + 1;
        r->n_rows++;
        return 0;
}

static int find_row(RootProfileData *d, uint32_t root, const Frame *frame, uint32_t *ret) {
        uint64_t key = place_key(hash_key(frame->function), root, frame->in_irq);
        const HashSlot *slot;
        int r;

        hash_each (slot, &d->pointers_at, key) {
                const Pointer *p = &d->pointers[slot->value - 1];

                if (p->function == frame->function && p->root == root &&
                    p->in_irq == frame->in_irq) {
                        *ret = p->row;
                        return 0;
                }
        }
        r = find_named_row(d, root, frame, ret);
        if (r < 0)
                return r;
        if (!ARRAY_GROW(d->pointers, d->n_pointers) ||
            hash_add(&d->pointers_at, key, d->n_pointers + 1) < 0)
                return -ENOMEM;
        d->pointers[d->n_pointers++] = (Pointer){ frame->function, root, *ret, frame->in_irq };
        return 0;
}

bool root_profile_has_edge(const RootProfile *p, uint32_t caller, uint32_t callee) {
        return hash_get(&((const RootProfileData *) p)->edges, edge_key(caller, callee)) != 0;
}

static int note_edge(RootProfileData *d, uint32_t caller, uint32_t callee) {
        RootProfileRoot *root;
        uint32_t number;

        if (root_profile_has_edge(&d->p, caller, callee))
                return 0;
        if (!ARRAY_GROW(d->p.edges, d->p.n_edges) ||
            hash_add(&d->edges, edge_key(caller, callee), 1) < 0)
                return -ENOMEM;
        d->p.edges[d->p.n_edges++] = (RootProfileEdge){ .caller = caller, .callee = callee };
        root = &d->p.roots[d->p.rows[caller].root];
        number = (uint32_t) d->p.n_edges;
        *(root->last_edge > 0 ? &d->p.edges[root->last_edge - 1].next : &root->first_edge) = number;
        root->last_edge = number;
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* NULL without memory. */
static Open *take_spare(RootProfileData *d) {
        Open *open = d->spare;

        if (open) {
                d->spare = open->next_spare;
                return open;
        }
        open = NEW(Open, .n_compact = N_PARTS_MAX, .next = d->open);
        d->open = open ?: d->open;
        return open;
}

/* A frame's user is its row; the data of an outermost one is what is open. */
static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        RootProfileData *d = userdata;
        uint32_t root = 0;
        int r = 0;

        if (caller)
                root = d->p.rows[caller->user].root;
        else {
                frame->data = take_spare(d);
                r = frame->data ? find_root(d, frame->function, &root) : -ENOMEM;
        }
        if (r >= 0)
                r = find_row(d, root, frame, &frame->user);
        if (r < 0 || !caller)
                return r;
        for (uint32_t i = 0; i < stack->n && !frame->is_nested; i++)
                frame->is_nested = stack->frames[i].user == frame->user &&
                                   stack->frames[i].depth < frame->depth;
        /* Nobody calls an interrupt. */
        if (frame->role == ROLE_IRQ || caller->user == frame->user)
                return 0;
        return note_edge(d, caller->user, frame->user);
}

static int compare_parts(const void *a, const void *b) {
        return CMP(((const Part *) a)->row, ((const Part *) b)->row);
}

/* One part for each row. */
static void compact(Open *open) {
        size_t n = 0;

        if (open->n < 2)
                return;
        qsort(open->parts, open->n, sizeof(*open->parts), compare_parts);
        for (size_t i = 1; i < open->n; i++) {
                Part *sum = &open->parts[n];
                const Part *part = &open->parts[i];

                if (sum->row != part->row) {
                        open->parts[++n] = *part;
                        continue;
                }
                sum->n += part->n;
                sum->self_ns += part->self_ns;
                sum->total_ns += part->total_ns;
        }
        open->n = n + 1;
}

/* What an outermost call consisted of. */
static int add_up(RootProfileData *d, Open *open, const Call *call) {
        RootProfileRoot *root = &d->p.roots[d->p.rows[call->frame->user].root];
        int r = 0;

        if (call->is_cut) {
                root->n_cut++;
                return 0;
        }
        compact(open);
        for (size_t i = 0; i < open->n && r >= 0; i++) {
                const Part *part = &open->parts[i];
                RootProfileRow *row = &d->p.rows[part->row];

                row->n += part->n;
                r = quantiles_add(&row->self_ns, part->self_ns);
                if (r >= 0)
                        r = quantiles_add(&row->total_ns, part->total_ns);
        }
        return r < 0 ? r : quantiles_add(&root->duration_ns, call->duration_ns);
}

static int end(void *userdata, const Call *call) {
        Open *open = call->stack->frames[0].data;
        const Frame *frame = call->frame;
        RootProfileData *d = userdata;

        if (!ARRAY_ROOM(open->parts, open->n_room, open->n + 1))
                return -ENOMEM;
        open->parts[open->n++] = (Part){ .row = frame->user,
                                         .n = !frame->is_nested,
                                         .self_ns = call->self_ns,
                                         .total_ns = frame->is_nested ? 0 : call->duration_ns };
        if (call->is_root) {
                int r = add_up(d, open, call);

                open->n = 0;
                open->next_spare = d->spare;
                d->spare = open;
                return r;
        }
        if (open->n >= open->n_compact) {
                compact(open);
                open->n_compact = MAX(open->n * 2, (size_t) N_PARTS_MAX);
        }
        return 0;
}

int root_profile_new(RootProfile **ret, Pairing *pairing) {
        RootProfileData *d = calloc(1, sizeof(*d));

        if (!d)
                return -ENOMEM;
        pairing_add_sink(pairing, begin, end, d);
        *ret = &d->p;
        return 0;
}

RootProfile *root_profile_free(RootProfile *p) {
        RootProfileData *d = (RootProfileData *) p;

        if (!d)
                return NULL;
        for (size_t i = 0; i < p->n_roots; i++)
                quantiles_done(&p->roots[i].duration_ns);
        for (size_t i = 0; i < p->n_rows; i++) {
                quantiles_done(&p->rows[i].self_ns);
                quantiles_done(&p->rows[i].total_ns);
        }
        for (Open *open; (open = POP(d->open));) {
                free(open->parts);
                free(open);
        }
        free(p->roots);
        free(p->rows);
        free(p->edges);
        free(d->pointers);
        hash_done(&d->roots);
        hash_done(&d->pointers_at);
        hash_done(&d->rows);
        hash_done(&d->edges);
        return mfree(d);
}
