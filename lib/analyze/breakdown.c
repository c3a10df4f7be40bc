/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rows are found by a number made of what they count: a function's pointer, a hash of a module's
 * name, a process id, a CPU.
 */

#include "analyze/breakdown.h"
#include "analyze/held.h"
#include "base/array.h"

#define KERNEL "[kernel]"
#define UNTOLD "(not known)"
#define OTHERS "(others)"
#define NO_OWNER "(none)"

struct Breakdown {
        BreakdownBy by;
        BreakdownRow **rows;
        size_t n_rows;
        uint64_t n_told; /* of trees: their calls, before the present ones */
        Hash by_key;     /* the rows */
        BreakdownPlace place;
        void *place_userdata;
        const char *field; /* of WHAT; NULL: all */
        Hash by_function;  /* rows of places: these are not asked for at each call */
};

static const char *const by_names[] = {
        [BREAKDOWN_BY_FUNCTION] = "function", [BREAKDOWN_BY_MODULE] = "module",
        [BREAKDOWN_BY_TASK] = "task",         [BREAKDOWN_BY_CPU] = "cpu",
        [BREAKDOWN_BY_ROOT] = "root",         [BREAKDOWN_BY_CALLER] = "caller",
        [BREAKDOWN_BY_STACK] = "stack",       [BREAKDOWN_BY_WHAT] = "what",
        [BREAKDOWN_BY_UNIT] = "unit",         [BREAKDOWN_BY_CONTAINER] = "container",
        [BREAKDOWN_BY_PROCESS] = "process",   [BREAKDOWN_BY_USER] = "user",
        [BREAKDOWN_BY_FILE] = "file",         [BREAKDOWN_BY_DIR] = "dir",
        [BREAKDOWN_BY_LAYER] = "layer",
};

int breakdown_by_from_name(const char *name) {
        return text_find(by_names, ELEMENTSOF(by_names), name);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The same of several roots. */
static const char *callers_of(const Breakdown *p, const Frame *frame) {
        const Callers *c = p->by == BREAKDOWN_BY_STACK ? frame->program : frame->callers;

        return c ? callers_names(c) : UNTOLD;
}

static const char *owner_of(const Breakdown *p, const Frame *frame) {
        const char *word = owner_word(frame->owner, (OwnerWord) (p->by - BREAKDOWN_BY_UNIT));

        return !word ? UNTOLD : *word ? word : NO_OWNER;
}

/* What is counted of a call's own object; NULL: it has none, or not the field. */
static const char *own_object(const Breakdown *p, const Frame *frame, size_t *ret_n) {
        const ObjectField *f = p->field ? object_find(frame->object, p->field) : NULL;

        if (p->by != BREAKDOWN_BY_WHAT || !frame->object || (p->field && !f))
                return NULL;
        *ret_n = f ? f->n_value : frame->object->n_text;
        return object_text(frame->object) + (f ? f->value : 0);
}

static void name_row(const Breakdown *p, BreakdownRow *row, const Frame *frame, const Stack *stack,
                     const char *text, size_t n_text) {
        const Function *f = frame->function;
        char *comm = (char *) (row + 1);
        size_t n_module;

        row->n_unhooked = f->n_unhooked;
        if (p->by == BREAKDOWN_BY_CPU) {
                row->cpu = frame->cpu;
                return;
        }
        if (p->by == BREAKDOWN_BY_CALLER || p->by == BREAKDOWN_BY_STACK ||
            breakdown_is_of_owners(p->by)) {
                row->name =
                        breakdown_is_of_owners(p->by) ? owner_of(p, frame) : callers_of(p, frame);
                row->n_name = (uint32_t) strlen(row->name);
                return;
        }
        if (p->by == BREAKDOWN_BY_WHAT) {
                row->name = memcpy(comm, text, n_text);
                row->n_name = (uint32_t) n_text;
                return;
        }
        if (p->by == BREAKDOWN_BY_TASK) {
                memcpy(comm, stack->comm, sizeof(stack->comm));
                row->name = comm;
                row->n_name = (uint32_t) strlen(comm);
                row->pid = stack->pid;
                return;
        }
        if (p->by >= BREAKDOWN_BY_FILE) {
                row->name = p->place(p->place_userdata, f, &n_module);
                row->n_name = (uint32_t) n_module;
                return;
        }
        row->module = function_module(f, &n_module);
        row->n_module = (uint32_t) n_module;
        if (p->by == BREAKDOWN_BY_MODULE) {
                row->name = row->module ?: KERNEL;
                row->n_name = row->module ? row->n_module : (uint32_t) strlen(KERNEL);
        } else {
                row->function = f;
                row->name = f->label;
                row->n_name = f->n_name;
        }
}

static uint64_t row_key(const Breakdown *p, const Frame *frame, const Stack *stack) {
        const Function *f = frame->function;
        const char *place;
        size_t n;

        switch (p->by) {
        case BREAKDOWN_BY_FILE:
        case BREAKDOWN_BY_DIR:
        case BREAKDOWN_BY_LAYER:
                place = p->place(p->place_userdata, f, &n);
                return hash_bytes(HASH_BYTES_FIRST, place, n);
        case BREAKDOWN_BY_MODULE:
                return hash_bytes(HASH_BYTES_FIRST, f->label + f->n_name, f->n_label - f->n_name);
        case BREAKDOWN_BY_TASK:
                return (uint64_t) (stack->pid == 0 ? 0 : stack->key);
        case BREAKDOWN_BY_CPU:
                return frame->cpu;
        case BREAKDOWN_BY_UNIT:
        case BREAKDOWN_BY_CONTAINER:
        case BREAKDOWN_BY_PROCESS:
        case BREAKDOWN_BY_USER:
                return hash_bytes(HASH_BYTES_FIRST, owner_of(p, frame), strlen(owner_of(p, frame)));
        case BREAKDOWN_BY_CALLER:
        case BREAKDOWN_BY_STACK:
                return hash_bytes(HASH_BYTES_FIRST, callers_of(p, frame),
                                  strlen(callers_of(p, frame)));
        default:
                return hash_key(f);
        }
}

/* The row that a call belongs to; NULL without memory. */
static BreakdownRow *find_row(Breakdown *p, const Frame *frame, const Stack *stack,
                              const Frame *caller) {
        const Function *f = frame->function;
        size_t n_text = 0, n_copied;
        const char *text = own_object(p, frame, &n_text);
        BreakdownRow *row;
        uint64_t key;

        if (breakdown_counts_trees(p->by) && caller && !text)
                return caller->row;
        row = p->place ? hash_get_ptr(&p->by_function, hash_key(f)) : NULL;
        if (row)
                return row;
        if (p->by == BREAKDOWN_BY_WHAT && !text) {
                text = UNTOLD;
                n_text = strlen(UNTOLD);
        }
        key = text ? hash_bytes(HASH_BYTES_FIRST, text, n_text) : row_key(p, frame, stack);
        row = hash_get_ptr(&p->by_key, key);
        if (text && !row && p->n_rows >= BREAKDOWN_OBJECTS_MAX) {
                text = OTHERS;
                n_text = strlen(OTHERS);
                key = hash_bytes(HASH_BYTES_FIRST, text, n_text);
                row = hash_get_ptr(&p->by_key, key);
        }
        if (row) {
                if (p->by == BREAKDOWN_BY_MODULE || p->place)
                        row->n_unhooked = MAX(row->n_unhooked, f->n_unhooked);
                return p->place && hash_add_ptr(&p->by_function, hash_key(f), row) < 0 ? NULL : row;
        }
        if (!ARRAY_GROW(p->rows, p->n_rows))
                return NULL;
        n_copied = p->by == BREAKDOWN_BY_TASK ? sizeof(stack->comm) : n_text;
        row = calloc(1, sizeof(*row) + n_copied);
        if (!row || hash_add_ptr(&p->by_key, key, row) < 0 ||
            (p->place && hash_add_ptr(&p->by_function, hash_key(f), row) < 0))
                return mfree(row);
        name_row(p, row, frame, stack, text, n_text);
        return p->rows[p->n_rows++] = row;
}

/* --- calls ------------------------------------------------------------------------------------ */

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Breakdown *p = userdata;

        frame->row = find_row(p, frame, stack, caller);
        if (!frame->row)
                return -ENOMEM;
        /* Mostly nothing of the row is open, in any task. */
        for (const Frame *f = ((BreakdownRow *) frame->row)->n_open++ > 0 ? caller : NULL;
             f && !frame->is_nested; f = f > stack->frames ? f - 1 : NULL)
                frame->is_nested = f->row == frame->row;
        return 0;
}

static bool is_of_trees(BreakdownBy by) {
        return by == BREAKDOWN_BY_TASK || by == BREAKDOWN_BY_CPU || breakdown_counts_trees(by) ||
               breakdown_is_of_owners(by);
}

static int end(void *userdata, const Call *call) {
        const Breakdown *p = userdata;
        const Frame *frame = call->frame;
        BreakdownRow *row = frame->row;
        size_t n;
        bool counts = !breakdown_counts_trees(p->by) || frame->is_root || own_object(p, frame, &n);

        row->n_open--;
        row->n += counts;
        row->n_cut += counts && call->is_cut;
        row->n_calls++;
        row->n_children += frame->n_children;
        row->self_ns += call->self_ns;
        row->self_irq_ns += frame->in_irq ? call->self_ns : 0;
        row->self_blocked_ns += call->blocked_ns;
        if (!frame->is_nested) {
                row->n_outer++;
                row->n_below += frame->n_below;
                row->total_ns += call->duration_ns;
                row->irq_ns += frame->irq_ns;
                row->softirq_ns += frame->softirq_ns;
                row->wake_ns += frame->wake_ns;
                row->aside_ns += frame->aside_ns;
                row->blocked_ns += frame->blocked_ns + call->blocked_ns;
        }
        if (call->is_cut || (is_of_trees(p->by) && !frame->is_root && !own_object(p, frame, &n)))
                return 0;
        return quantiles_add(&row->quantiles, call->duration_ns);
}

/* Rows of functions.  Below another one of its row is what comes before the end of the last that is not. */
static int add_trees(void *userdata, const CallTrees *t) {
        Breakdown *p = userdata;
        int r = 0;

        for (uint32_t i = 1; i < t->n && r >= 0; i++) {
                uint32_t call = t->order ? t->order[i] : i;
                const HeldCall *c = &t->calls[call];
                const CallSums *s = &t->sums[call];
                BreakdownRow *row = hash_get_ptr(&p->by_key, hash_key(c->function));

                if (_unlikely_(!row))
                        row = find_row(p, &(Frame){ .function = c->function }, NULL, NULL);
                if (!row)
                        return -ENOMEM;
                row->n++;
                row->n_cut += c->is_cut;
                row->n_calls++;
                row->n_children += s->n_children;
                row->self_ns += s->self_ns;
                row->self_irq_ns += s->in_irq ? s->self_ns : 0;
                row->self_blocked_ns += s->self_blocked_ns;
                if (p->n_told + i >= row->nested_until) {
                        row->nested_until = p->n_told + s->end;
                        row->n_outer++;
                        row->n_below += s->n_below;
                        row->total_ns += c->duration_ns;
                        row->blocked_ns += s->blocked_ns + s->self_blocked_ns;
                        row->irq_ns += s->irq_ns;
                        row->softirq_ns += s->softirq_ns;
                        row->wake_ns += s->wake_ns;
                        row->aside_ns += s->aside_ns;
                }
                if (!c->is_cut)
                        r = quantiles_add(&row->quantiles, c->duration_ns);
        }
        p->n_told += t->n;
        return r;
}

static int compare_rows(const void *a, const void *b) {
        const BreakdownRow *x = *(BreakdownRow *const *) a, *y = *(BreakdownRow *const *) b;
        int order = CMP(y->self_ns, x->self_ns) ?: CMP(y->total_ns, x->total_ns);

        if (order == 0 && (!x->name || !y->name))
                return CMP(x->cpu, y->cpu);
        return order ?: memcmp(x->name, y->name, MIN(x->n_name, y->n_name))
                       ?: CMP(x->n_name, y->n_name);
}

const BreakdownRow *const *breakdown_rows(Breakdown *p, size_t *ret_n) {
        SORT(p->rows, p->n_rows, compare_rows);
        *ret_n = p->n_rows;
        return (const BreakdownRow *const *) p->rows;
}

int breakdown_new(Breakdown **ret, BreakdownBy by, Pairing *pairing) {
        *ret = NEW(Breakdown, .by = by);
        if (!*ret)
                return -ENOMEM;
        pairing_add_sink_of_trees(pairing, begin, end,
                                  by == BREAKDOWN_BY_FUNCTION ? add_trees : NULL, *ret);
        return 0;
}

void breakdown_set_field(Breakdown *p, const char *name) {
        p->field = name;
}

void breakdown_set_place(Breakdown *p, BreakdownPlace place, void *userdata) {
        p->place = place;
        p->place_userdata = userdata;
}

Breakdown *breakdown_free(Breakdown *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n_rows; i++) {
                quantiles_done(&p->rows[i]->quantiles);
                free(p->rows[i]);
        }
        free(p->rows);
        hash_done(&p->by_key);
        hash_done(&p->by_function);
        return mfree(p);
}
