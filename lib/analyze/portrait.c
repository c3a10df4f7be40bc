/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a call took is put down at its task until the outermost call has ended; then it is added up by
 * rows, and the sums go into the spreads.  When much has been put down it is added up in between, so
 * that it does not grow with the calls of one long outermost call.
 *
 * Rows are found by root and function; a function that is met for the first time there, by root and
 * name.
 */

#include "analyze/portrait.h"

#define N_PARTS_MAX 4096 /* put down before they are added up in between; grows with the rows */

/* What calls of a row took in the outermost call that is open. */
typedef struct Part {
        uint64_t number; /* of the first of them */
        uint32_t row;
        uint64_t n, self_ns, total_ns;
} Part;

typedef struct Open {
        Part *parts;
        size_t n, n_room;
        size_t n_compact; /* from how many on they are added up in between */
} Open;

/* Indices + 1, by a hash; a power of two of them, at most half in use. */
typedef struct Index {
        uint32_t *slots;
        size_t n, n_slots;
} Index;

typedef struct Pointer {
        const Function *function;
        uint32_t root, row;
        bool in_irq;
} Pointer;

typedef struct PortraitData {
        Portrait p; /* first */
        size_t n_roots_room, n_rows_room, n_edges_room;
        Pointer *pointers; /* which row a function is */
        size_t n_pointers, n_pointers_room;
        Index by_root, by_pointer, by_name, by_edge;
        Open *open; /* index + 1 is the stack's number */
        size_t n_open, n_open_room;
        uint32_t *free; /* of them, those that are nobody's */
        size_t n_free, n_free_room;
} PortraitData;

/* --- tables ----------------------------------------------------------------------------------- */

/* Room for one more. */
static int make_room(void *at, size_t n, size_t *n_room, size_t size) {
        size_t more = *n_room ? *n_room * 2 : 16;
        void *p;

        if (n < *n_room)
                return 0;
        if (more > UINT32_MAX / 2)
                return -ENOMEM;
        p = realloc(*(void **) at, more * size);
        if (!p)
                return -ENOMEM;
        *(void **) at = p;
        *n_room = more;
        return 0;
}

typedef uint64_t (*Hash)(const PortraitData *d, uint32_t i);

static uint64_t mix(uint64_t x) {
        x *= UINT64_C(0x9e3779b97f4a7c15);
        return x ^ x >> 32;
}

/* Under a root, in an interrupt or not. */
static uint64_t mix_place(uint64_t hash, uint32_t root, bool in_irq) {
        return mix(hash ^ (uint64_t) root << 48 ^ (uint64_t) in_irq << 47);
}

static uint64_t hash_pointer(const PortraitData *d, uint32_t i) {
        const Pointer *p = &d->pointers[i];

        return mix_place((uintptr_t) p->function >> 4, p->root, p->in_irq);
}

static uint64_t hash_name(const PortraitData *d, uint32_t i) {
        const PortraitRow *row = &d->p.rows[i];

        return mix_place(alike_hash(&row->name), row->root, row->in_irq);
}

static uint64_t hash_root(const PortraitData *d, uint32_t i) {
        return mix(alike_hash(&d->p.roots[i].name));
}

static uint64_t hash_edge(const PortraitData *d, uint32_t i) {
        return mix((uint64_t) d->p.edges[i].caller << 32 | d->p.edges[i].callee);
}

static void index_put(Index *index, uint64_t hash, uint32_t i) {
        size_t slot = (size_t) hash & (index->n_slots - 1);

        while (index->slots[slot])
                slot = (slot + 1) & (index->n_slots - 1);
        index->slots[slot] = i + 1;
}

/* Adds what is at @index->n of its table. */
static int index_add(const PortraitData *d, Index *index, Hash hash) {
        if (index->n >= index->n_slots / 2) {
                size_t n = index->n_slots ? index->n_slots * 2 : 64;
                uint32_t *slots = calloc(n, sizeof(*slots));

                if (!slots)
                        return -ENOMEM;
                free(index->slots);
                index->slots = slots;
                index->n_slots = n;
                for (uint32_t i = 0; i < index->n; i++)
                        index_put(index, hash(d, i), i);
        }
        index_put(index, hash(d, (uint32_t) index->n), (uint32_t) index->n);
        index->n++;
        return 0;
}

/* --- roots, rows, edges ----------------------------------------------------------------------- */

bool portrait_find_root(const Portrait *p, const Alike *name, uint32_t *ret) {
        const Index *index = &((const PortraitData *) p)->by_root;

        for (size_t i = (size_t) mix(alike_hash(name)); index->n_slots > 0; i++) {
                uint32_t root = index->slots[i & (index->n_slots - 1)];

                if (root == 0)
                        break;
                if (alike_equal(&p->roots[root - 1].name, name)) {
                        *ret = root - 1;
                        return true;
                }
        }
        return false;
}

static int find_root(PortraitData *d, const Function *function, uint32_t *ret) {
        Alike name = alike_of(function);
        int r;

        if (portrait_find_root(&d->p, &name, ret))
                return 0;
        if (make_room(&d->p.roots, d->p.n_roots, &d->n_roots_room, sizeof(*d->p.roots)) < 0)
                return -ENOMEM;
        d->p.roots[d->p.n_roots] = (PortraitRoot){ .name = name, .function = function };
        r = index_add(d, &d->by_root, hash_root);
        if (r < 0)
                return r;
        *ret = (uint32_t) d->p.n_roots++;
        return 0;
}

const PortraitRow *portrait_find(const Portrait *p, uint32_t root, const Alike *name, bool in_irq) {
        const PortraitData *d = (const PortraitData *) p;
        const Index *index = &d->by_name;
        uint64_t hash = mix_place(alike_hash(name), root, in_irq);

        for (size_t i = (size_t) hash; index->n_slots > 0; i++) {
                uint32_t slot = index->slots[i & (index->n_slots - 1)];
                const PortraitRow *row;

                if (slot == 0)
                        break;
                row = &p->rows[slot - 1];
                if (row->root == root && row->in_irq == in_irq && alike_equal(&row->name, name))
                        return row;
        }
        return NULL;
}

static int find_row(PortraitData *d, uint32_t root, const Frame *frame, uint32_t *ret) {
        const Function *function = frame->function;
        const PortraitRow *row;
        Pointer pointer = { .function = function, .root = root, .in_irq = frame->in_irq };
        Alike name;
        int r;

        if (make_room(&d->pointers, d->n_pointers, &d->n_pointers_room, sizeof(pointer)) < 0)
                return -ENOMEM;
        d->pointers[d->n_pointers] = pointer; /* for the hash */
        for (size_t i = (size_t) hash_pointer(d, (uint32_t) d->n_pointers);
             d->by_pointer.n_slots > 0; i++) {
                uint32_t slot = d->by_pointer.slots[i & (d->by_pointer.n_slots - 1)];

                if (slot == 0)
                        break;
                if (d->pointers[slot - 1].function == function &&
                    d->pointers[slot - 1].root == root &&
                    d->pointers[slot - 1].in_irq == pointer.in_irq) {
                        *ret = d->pointers[slot - 1].row;
                        return 0;
                }
        }
        name = alike_of(function);
        row = portrait_find(&d->p, root, &name, pointer.in_irq);
        if (!row) {
                if (make_room(&d->p.rows, d->p.n_rows, &d->n_rows_room, sizeof(*row)) < 0)
                        return -ENOMEM;
                d->p.rows[d->p.n_rows] = (PortraitRow){ .name = name,
                                                        .function = function,
                                                        .root = root,
                                                        .is_irq = frame->role == ROLE_IRQ,
                                                        .in_irq = frame->in_irq };
                r = index_add(d, &d->by_name, hash_name);
                if (r < 0)
                        return r;
                row = &d->p.rows[d->p.n_rows++];
        }
        d->pointers[d->n_pointers].row = *ret = (uint32_t) (row - d->p.rows);
        r = index_add(d, &d->by_pointer, hash_pointer);
        if (r < 0)
                return r;
        d->n_pointers++;
        return 0;
}

bool portrait_has_edge(const Portrait *p, uint32_t caller, uint32_t callee) {
        const Index *index = &((const PortraitData *) p)->by_edge;
        uint64_t hash = mix((uint64_t) caller << 32 | callee);

        for (size_t i = (size_t) hash; index->n_slots > 0; i++) {
                uint32_t slot = index->slots[i & (index->n_slots - 1)];

                if (slot == 0)
                        break;
                if (p->edges[slot - 1].caller == caller && p->edges[slot - 1].callee == callee)
                        return true;
        }
        return false;
}

static int note_edge(PortraitData *d, uint32_t caller, uint32_t callee) {
        if (portrait_has_edge(&d->p, caller, callee))
                return 0;
        if (make_room(&d->p.edges, d->p.n_edges, &d->n_edges_room, sizeof(*d->p.edges)) < 0)
                return -ENOMEM;
        d->p.edges[d->p.n_edges] = (PortraitEdge){ caller, callee };
        if (index_add(d, &d->by_edge, hash_edge) < 0)
                return -ENOMEM;
        d->p.n_edges++;
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A frame's user is its row. */
static int begin(void *userdata, const Stack *stack, const Frame *caller, Frame *frame,
                 const Step *step) {
        PortraitData *d = userdata;
        uint32_t root = 0;
        int r = 0;

        (void) step;
        if (caller)
                root = d->p.rows[caller->user].root;
        else
                r = find_root(d, frame->function, &root);
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

static Open *open_of(PortraitData *d, Stack *stack) {
        if (stack->number > 0)
                return &d->open[stack->number - 1];
        if (d->n_free > 0) {
                stack->number = d->free[--d->n_free];
                return &d->open[stack->number - 1];
        }
        if (make_room(&d->open, d->n_open, &d->n_open_room, sizeof(*d->open)) < 0)
                return NULL;
        d->open[d->n_open] = (Open){ .n_compact = N_PARTS_MAX };
        stack->number = (uint32_t) ++d->n_open;
        return &d->open[stack->number - 1];
}

static int release(PortraitData *d, Stack *stack) {
        if (make_room(&d->free, d->n_free, &d->n_free_room, sizeof(*d->free)) < 0)
                return -ENOMEM;
        d->free[d->n_free++] = stack->number;
        stack->number = 0;
        return 0;
}

static int compare_parts(const void *a, const void *b) {
        const Part *x = a, *y = b;

        return (x->row > y->row) - (x->row < y->row);
}

/* One part for each row, of those from @first on. */
static void compact(Open *open, size_t first) {
        size_t n = first;

        if (open->n - first < 2)
                return;
        qsort(open->parts + first, open->n - first, sizeof(*open->parts), compare_parts);
        for (size_t i = first + 1; i < open->n; i++) {
                Part *sum = &open->parts[n];
                const Part *part = &open->parts[i];

                if (sum->row != part->row) {
                        open->parts[++n] = *part;
                        continue;
                }
                sum->number = MIN(sum->number, part->number);
                sum->n += part->n;
                sum->self_ns += part->self_ns;
                sum->total_ns += part->total_ns;
        }
        open->n = n + 1;
}

/* What an outermost call consisted of; its own parts are the last ones. */
static int add_up(PortraitData *d, Open *open, const Call *call) {
        PortraitRoot *root = &d->p.roots[d->p.rows[call->frame->user].root];
        size_t first = open->n;
        int r = 0;

        /* An interrupt before a late return stands beside what it interrupted. */
        while (first > 0 && open->parts[first - 1].number >= call->frame->number)
                first--;
        if (call->is_cut) {
                root->n_cut++;
        } else {
                compact(open, first);
                for (size_t i = first; i < open->n && r >= 0; i++) {
                        const Part *part = &open->parts[i];
                        PortraitRow *row = &d->p.rows[part->row];

                        row->n += part->n;
                        r = spread_add(&row->self_ns, part->self_ns);
                        if (r >= 0)
                                r = spread_add(&row->total_ns, part->total_ns);
                }
                if (r >= 0)
                        r = spread_add(&root->duration_ns, call->duration_ns);
        }
        open->n = first;
        return r;
}

static int end(void *userdata, const Call *call) {
        PortraitData *d = userdata;
        Open *open = open_of(d, call->stack);
        const Frame *frame = call->frame;
        int r;

        if (!open || make_room(&open->parts, open->n, &open->n_room, sizeof(*open->parts)) < 0)
                return -ENOMEM;
        open->parts[open->n++] = (Part){ .number = frame->number,
                                         .row = frame->user,
                                         .n = !frame->is_nested,
                                         .self_ns = call->self_ns,
                                         .total_ns = frame->is_nested ? 0 : call->duration_ns };
        if (!call->is_root) {
                if (open->n >= open->n_compact) {
                        compact(open, 0);
                        open->n_compact = MAX(open->n * 2, (size_t) N_PARTS_MAX);
                }
                return 0;
        }
        r = add_up(d, open, call);
        return r >= 0 && open->n == 0 ? release(d, call->stack) : r;
}

int portrait_new(Portrait **ret, Pairing *pairing) {
        PortraitData *d = calloc(1, sizeof(*d));

        if (!d)
                return -ENOMEM;
        pairing_add_sink(pairing, begin, end, d);
        *ret = &d->p;
        return 0;
}

Portrait *portrait_free(Portrait *p) {
        PortraitData *d = (PortraitData *) p;

        if (!d)
                return NULL;
        for (size_t i = 0; i < p->n_roots; i++)
                spread_done(&p->roots[i].duration_ns);
        for (size_t i = 0; i < p->n_rows; i++) {
                spread_done(&p->rows[i].self_ns);
                spread_done(&p->rows[i].total_ns);
        }
        for (size_t i = 0; i < d->n_open; i++)
                free(d->open[i].parts);
        free(p->roots);
        free(p->rows);
        free(p->edges);
        free(d->pointers);
        free(d->by_pointer.slots);
        free(d->by_root.slots);
        free(d->by_name.slots);
        free(d->by_edge.slots);
        free(d->open);
        free(d->free);
        free(d);
        return NULL;
}
