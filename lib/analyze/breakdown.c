/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Steps move frames on and off the stacks of their tasks; when a frame comes off
 * its figures go to its row and up to its caller's frame.  Rows are found by a
 * number made of what they count: a function's pointer, a hash of a module's
 * name, a process id, a CPU.
 */

#include "analyze/breakdown.h"
#include "analyze/role.h"

#define KERNEL "[kernel]"

typedef struct Known {
        const Function *function; /* NULL: free */
        Role role;
        uint32_t row; /* + 1; 0: not by function */
} Known;

struct Breakdown {
        BreakdownBy by;
        BreakdownListener listener;
        void *userdata;
        Stacks *stacks;
        Known *known; /* by function; a power of two of them */
        size_t n_known, n_known_room;
        BreakdownRow **rows;
        uint64_t *keys; /* of the rows */
        size_t n_rows, n_rows_room;
        uint32_t *slots; /* row + 1, by key; four times n_rows_room */
        uint64_t total_ns, n_calls;
        uint64_t n_begun;
};

static const char *const by_names[] = {
        [BREAKDOWN_BY_FUNCTION] = "function", [BREAKDOWN_BY_MODULE] = "module",
        [BREAKDOWN_BY_TASK] = "task",         [BREAKDOWN_BY_CPU] = "cpu",
        [BREAKDOWN_BY_ROOT] = "root",
};

int breakdown_by_from_name(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(by_names); i++)
                if (streq(by_names[i], name))
                        return (int) i;
        return -1;
}

static uint64_t mix(uint64_t x) {
        x *= UINT64_C(0x9e3779b97f4a7c15);
        return x ^ x >> 32;
}

/* --- what is known of a function -------------------------------------------------------------- */

static Known *known_slot(Known *known, size_t n, const Function *function) {
        size_t i = (size_t) mix((uintptr_t) function >> 4) & (n - 1);

        while (known[i].function && known[i].function != function)
                i = (i + 1) & (n - 1);
        return &known[i];
}

static Known *breakdown_know(Breakdown *p, const Function *function) {
        Known *k = p->n_known_room ? known_slot(p->known, p->n_known_room, function) : NULL;

        if (k && k->function)
                return k;
        if (p->n_known >= p->n_known_room / 2) {
                size_t n = p->n_known_room ? p->n_known_room * 2 : 1024;
                Known *bigger = calloc(n, sizeof(*bigger));

                if (!bigger)
                        return NULL;
                for (size_t i = 0; i < p->n_known_room; i++)
                        if (p->known[i].function)
                                *known_slot(bigger, n, p->known[i].function) = p->known[i];
                free(p->known);
                p->known = bigger;
                p->n_known_room = n;
                k = known_slot(p->known, n, function);
        }
        *k = (Known){ .function = function, .role = role_of(function) };
        p->n_known++;
        return k;
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t row_slot(const Breakdown *p, uint64_t key) {
        size_t n = p->n_rows_room * 4, i = (size_t) mix(key) & (n - 1);

        while (p->slots[i] && p->keys[p->slots[i] - 1] != key)
                i = (i + 1) & (n - 1);
        return i;
}

static int grow_rows(Breakdown *p) {
        size_t n = p->n_rows_room ? p->n_rows_room * 2 : 256;
        BreakdownRow **rows = realloc(p->rows, n * sizeof(*rows));
        uint64_t *keys;
        uint32_t *slots;

        if (!rows)
                return -ENOMEM;
        p->rows = rows;
        keys = realloc(p->keys, n * sizeof(*keys));
        if (!keys)
                return -ENOMEM;
        p->keys = keys;
        slots = calloc(n * 4, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        free(p->slots);
        p->slots = slots;
        p->n_rows_room = n;
        for (size_t i = 0; i < p->n_rows; i++)
                p->slots[row_slot(p, p->keys[i])] = (uint32_t) i + 1;
        return 0;
}

static void name_function(BreakdownRow *row, const Function *f) {
        row->function = f;
        row->name = f->label;
        row->n_name = f->n_name;
        if (f->n_label > f->n_name + 3) {
                row->module = f->label + f->n_name + 2;
                row->n_module = f->n_label - f->n_name - 3;
        }
}

static void name_row(const Breakdown *p, BreakdownRow *row, const Function *f, const Stack *stack,
                     const Step *step) {
        char *comm = (char *) (row + 1);

        switch (p->by) {
        case BREAKDOWN_BY_FUNCTION:
        case BREAKDOWN_BY_ROOT:
                name_function(row, f);
                break;
        case BREAKDOWN_BY_MODULE:
                name_function(row, f);
                row->function = NULL;
                row->name = row->module ?: KERNEL;
                row->n_name = row->module ? row->n_module : (uint32_t) strlen(KERNEL);
                break;
        case BREAKDOWN_BY_TASK:
                memcpy(comm, stack->comm, sizeof(stack->comm));
                row->name = comm;
                row->n_name = (uint32_t) strlen(comm);
                row->pid = stack->pid;
                break;
        case BREAKDOWN_BY_CPU:
                row->cpu = step->cpu;
                break;
        }
}

static uint64_t module_key(const Function *f) {
        uint64_t h = UINT64_C(0xcbf29ce484222325);

        for (uint32_t i = f->n_name; i < f->n_label; i++)
                h = (h ^ (unsigned char) f->label[i]) * UINT64_C(0x100000001b3);
        return h;
}

static uint64_t row_key(const Breakdown *p, const Function *f, const Stack *stack,
                        const Step *step) {
        switch (p->by) {
        case BREAKDOWN_BY_MODULE:
                return module_key(f);
        case BREAKDOWN_BY_TASK:
                return (uint64_t) (stack->pid == 0 ? 0 : stack->key);
        case BREAKDOWN_BY_CPU:
                return step->cpu;
        default:
                return (uintptr_t) f;
        }
}

/* The number of the row that a call of @f belongs to, plus 1; 0 without memory. */
static uint32_t find_row(Breakdown *p, const Function *f, const Stack *stack, const Step *step) {
        uint64_t key;
        BreakdownRow *row;
        size_t i;

        if (p->by == BREAKDOWN_BY_ROOT && stack->n > 0)
                return stack->frames[0].user;
        key = row_key(p, f, stack, step);
        i = p->n_rows_room ? row_slot(p, key) : 0;
        if (p->n_rows_room && p->slots[i])
                return p->slots[i];
        if (p->n_rows == p->n_rows_room) {
                if (grow_rows(p) < 0)
                        return 0;
                i = row_slot(p, key);
        }
        row = calloc(1, sizeof(*row) + (p->by == BREAKDOWN_BY_TASK ? sizeof(stack->comm) : 0));
        if (!row)
                return 0;
        name_row(p, row, f, stack, step);
        p->rows[p->n_rows] = row;
        p->keys[p->n_rows] = key;
        p->slots[i] = (uint32_t) ++p->n_rows;
        return p->slots[i];
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Fills what a new frame of a call at @step inherits and is counted under. */
static int classify(Breakdown *p, const Stack *stack, const Step *step, Frame *frame) {
        Known *known = breakdown_know(p, frame->function);
        uint32_t n = stack->n;

        if (!known)
                return -ENOMEM;
        frame->user = known->row;
        if (frame->user == 0) {
                frame->user = find_row(p, frame->function, stack, step);
                if (frame->user == 0)
                        return -ENOMEM;
                if (p->by == BREAKDOWN_BY_FUNCTION)
                        known->row = frame->user;
        }
        frame->role = (uint8_t) known->role;
        if (step->said && step->said->irq_begin)
                frame->role = ROLE_IRQ;
        /* What is open at the same depth has ended, and is nobody's caller. */
        while (n > 0 && stack->frames[n - 1].depth >= frame->depth)
                n--;
        frame->is_root = n == 0;
        frame->number = ++p->n_begun;
        frame->parent = n > 0 ? stack->frames[n - 1].number : 0;
        frame->in_irq = frame->role == ROLE_IRQ || (n > 0 && stack->frames[n - 1].in_irq);
        for (uint32_t i = 0; i < n && !frame->is_nested; i++)
                frame->is_nested = stack->frames[i].user == frame->user;
        return 0;
}

static bool is_of_trees(const Breakdown *p) {
        return p->by == BREAKDOWN_BY_TASK || p->by == BREAKDOWN_BY_CPU ||
               p->by == BREAKDOWN_BY_ROOT;
}

static int add_to_row(const Breakdown *p, const Frame *frame, const BreakdownCall *call) {
        BreakdownRow *row = p->rows[frame->user - 1];
        bool counts = p->by != BREAKDOWN_BY_ROOT || frame->is_root;

        row->n += counts;
        row->n_cut += counts && call->is_cut;
        row->self_ns += call->self_ns;
        row->self_irq_ns += frame->in_irq ? call->self_ns : 0;
        row->self_blocked_ns += call->blocked_ns;
        if (!frame->is_nested) {
                row->total_ns += call->duration_ns;
                row->irq_ns += frame->irq_ns;
                row->blocked_ns += frame->blocked_ns + call->blocked_ns;
        }
        if (call->is_cut || (is_of_trees(p) && !frame->is_root))
                return 0;
        return spread_add(&row->spread, call->duration_ns);
}

/* @frame has come off @stack, or was never on it. */
static int end_call(Breakdown *p, Stack *stack, const Frame *frame, const Step *step,
                    uint64_t duration_ns, bool is_cut) {
        Frame *caller = stack_caller(stack, frame->depth);
        BreakdownCall call = {
                .frame = frame,
                .stack = stack,
                .step = step,
                .duration_ns = duration_ns,
                .self_ns = duration_ns - MIN(duration_ns, frame->below_ns),
                .irq_ns = frame->role == ROLE_IRQ ? duration_ns : frame->irq_ns,
                .is_cut = is_cut,
                .is_root = frame->is_root,
        };
        int r;

        if (frame->role == ROLE_WAIT && !frame->has_waited)
                call.blocked_ns = call.self_ns;
        p->n_calls++;
        p->total_ns += frame->is_root ? duration_ns : 0;
        r = add_to_row(p, frame, &call);
        if (p->listener)
                p->listener(p->userdata, &call);
        if (caller) {
                caller->below_ns += duration_ns;
                caller->blocked_ns += frame->blocked_ns + call.blocked_ns;
                caller->irq_ns += call.irq_ns;
                caller->n_below += frame->n_below + 1;
                caller->has_waited |= frame->has_waited || frame->role == ROLE_WAIT;
        }
        return r;
}

/* What has ended unseen took until its task's last step, and no less than what it called. */
static int end_unseen(Breakdown *p, Stack *stack, const Frame *frame, const Step *step) {
        uint64_t until_ns = stack->last_ns - MIN(stack->last_ns, frame->start_ns);

        return end_call(p, stack, frame, step, MAX(until_ns, frame->below_ns), true);
}

/* A kernel that has stamped a return before its call says more than any call can take. */
static uint64_t duration_of(const Step *step) {
        uint64_t duration_ns = step_duration_ns(step);

        return duration_ns > INT64_MAX ? 0 : duration_ns;
}

static int breakdown_call(Breakdown *p, Stack *stack, const Step *step) {
        Frame frame, *pushed;
        int r = 0;

        while (r >= 0 && stack_pop_before_call(stack, step->depth, &frame))
                r = end_unseen(p, stack, &frame, step);
        if (r < 0)
                return r;
        frame = (Frame){ .function = step->function,
                         .depth = step->depth,
                         .start_ns = step->timestamp_ns };
        r = classify(p, stack, step, &frame);
        if (r < 0)
                return r;
        frame.n_line = step->said ? step->said->line : 0;
        if (step->kind == STEP_LEAF)
                return end_call(p, stack, &frame, step, duration_of(step), false);
        pushed = stack_push(stack, step->function, step->depth);
        if (!pushed)
                return -ENOMEM;
        *pushed = frame;
        return 0;
}

static int breakdown_leave(Breakdown *p, Stack *stack, const Step *step) {
        Frame frame, *found;
        bool is_cut = false;
        int r = 0;

        while (r >= 0 && stack_pop_deeper(stack, step->depth, &frame))
                r = end_unseen(p, stack, &frame, step);
        if (r < 0)
                return r;
        found = stack_find(stack, step->depth, step->function);
        if (found) {
                frame = *found;
                stack_remove(stack, found);
        } else {
                frame = (Frame){ .function = step->function,
                                 .depth = step->depth,
                                 .start_ns = step->timestamp_ns -
                                             MIN(step->timestamp_ns, duration_of(step)) };
                is_cut = true;
                r = classify(p, stack, step, &frame);
                /* Its own time is not known, and 0 at least. */
                frame.below_ns = duration_of(step);
        }
        return r < 0 ? r : end_call(p, stack, &frame, step, duration_of(step), is_cut);
}

int breakdown_step(Breakdown *p, const Step *step) {
        Stack *stack;
        int r;

        if (step->kind == STEP_TASK)
                return stacks_name_task(p->stacks, step);
        if (!step_is_call(step))
                return 0;
        stack = stacks_get(p->stacks, step);
        if (!stack)
                return -ENOMEM;
        if (stack->comm[0] == 0 && step->comm)
                memcpy(stack->comm, step->comm, strnlen(step->comm, sizeof(stack->comm) - 1));
        r = step->kind == STEP_LEAVE ? breakdown_leave(p, stack, step)
                                     : breakdown_call(p, stack, step);
        stack->last_ns = MAX(stack->last_ns, step->timestamp_ns);
        return r;
}

int breakdown_finish(Breakdown *p) {
        int r = 0;

        for (size_t i = 0; i < stacks_n(p->stacks); i++) {
                Stack *stack = stacks_at(p->stacks, i);

                while (r >= 0 && stack->n > 0) {
                        Frame frame = stack->frames[--stack->n];

                        r = end_unseen(p, stack, &frame, NULL);
                }
        }
        return r;
}

static int compare_rows(const void *a, const void *b) {
        const BreakdownRow *x = *(BreakdownRow *const *) a, *y = *(BreakdownRow *const *) b;
        int order;

        if (x->self_ns != y->self_ns)
                return x->self_ns < y->self_ns ? 1 : -1;
        if (x->total_ns != y->total_ns)
                return x->total_ns < y->total_ns ? 1 : -1;
        if (!x->name || !y->name)
                return (x->cpu > y->cpu) - (x->cpu < y->cpu);
        order = memcmp(x->name, y->name, MIN(x->n_name, y->n_name));
        return order ?: (x->n_name > y->n_name) - (x->n_name < y->n_name);
}

const BreakdownRow *const *breakdown_rows(Breakdown *p, size_t *ret_n) {
        if (p->n_rows > 0)
                qsort(p->rows, p->n_rows, sizeof(*p->rows), compare_rows);
        *ret_n = p->n_rows;
        return (const BreakdownRow *const *) p->rows;
}

uint64_t breakdown_total_ns(const Breakdown *p) {
        return p->total_ns;
}

uint64_t breakdown_n_calls(const Breakdown *p) {
        return p->n_calls;
}

void breakdown_set_listener(Breakdown *p, BreakdownListener listener, void *userdata) {
        p->listener = listener;
        p->userdata = userdata;
}

int breakdown_new(Breakdown **ret, BreakdownBy by) {
        _cleanup_(breakdown_freep) Breakdown *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        p->by = by;
        r = stacks_new(&p->stacks);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(p);
        return 0;
}

Breakdown *breakdown_free(Breakdown *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n_rows; i++) {
                spread_done(&p->rows[i]->spread);
                free(p->rows[i]);
        }
        free(p->rows);
        free(p->keys);
        free(p->slots);
        free(p->known);
        stacks_free(p->stacks);
        free(p);
        return NULL;
}
