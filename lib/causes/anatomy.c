/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a call took is added to its node's part of the outermost call that is open.  Which calls are forgotten is told by
 * a hash of their numbers, so that those that are left are as many of each thousand.
 */

#include "analyze/held.h"
#include "base/array.h"
#include "calls/filter.h"
#include "causes/anatomy.h"

#define RETURNED "ret"
#define VARIABLES_OF_ROOTS 64 /* are kept free for outermost calls, which are met at any time */

typedef struct Open {
        CallNode *node;
        AnatomyPart *parts;
        size_t n_parts, n_parts_room;
        AnatomyWait *waits;
        size_t n_waits, n_waits_room;
        VariableValue *values;
        size_t n_values, n_values_room;
        uint64_t number;
        struct Open *next, *next_spare;
} Open;

typedef struct Feed {
        struct Data *data;
        uint32_t source;
        uint64_t n_begun;
        struct Feed *next;
} Feed;

typedef struct Data {
        Anatomy a; /* first */
        size_t n_waits, n_waits_room, n_values, n_values_room;
        uint64_t mask; /* calls stay whose number's hash has none of these bits */
        uint32_t *places; /* by node: its part of `present`, if it has one */
        size_t n_places_room;
        const Open *present;
        Hash functions, names; /* the one that others of that name stand for: by pointer, by name */
        Hash wakers, tasks;    /* indices + 1 */
        Hash variables;        /* likewise, by node and name */
        Hash texts;            /* likewise, by what they are */
        Open *open, *spare;
        Feed *feeds;
} Data;

/* --- names ------------------------------------------------------------------------------------ */

/* The function that stands for all of the same name; NULL without memory. */
static const Function *stand_in(Data *d, const Function *function) {
        const Function *known = hash_get_ptr(&d->functions, hash_key(function));
        const HashSlot *slot;
        Alike name;

        if (_likely_(known != NULL))
                return known;
        name = alike_of(function);
        hash_each (slot, &d->names, alike_hash(&name)) {
                const Function *f = (const Function *) (uintptr_t) slot->value;
                Alike other = alike_of(f);

                if (alike_equal(&name, &other)) {
                        known = f;
                        break;
                }
        }
        if (!known && hash_add_ptr(&d->names, alike_hash(&name), known = function) < 0)
                return NULL;
        return hash_add_ptr(&d->functions, hash_key(function), known) < 0 ? NULL : known;
}

static int find_task(Data *d, const char comm[static 16], uint32_t *ret) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, comm, strnlen(comm, 16));
        const HashSlot *slot;

        hash_each (slot, &d->tasks, key)
                if (memcmp(d->a.tasks[slot->value - 1], comm, 16) == 0) {
                        *ret = (uint32_t) slot->value - 1;
                        return 0;
                }
        if (!ARRAY_GROW(d->a.tasks, d->a.n_tasks) || hash_add(&d->tasks, key, d->a.n_tasks + 1) < 0)
                return -ENOMEM;
        memcpy(d->a.tasks[d->a.n_tasks], comm, 16);
        *ret = (uint32_t) d->a.n_tasks++;
        return 0;
}

static int find_waker(Data *d, const Waker *from, uint32_t *ret) {
        Waker waker = *from;
        uint64_t key;
        const HashSlot *slot;

        if (waker.function) {
                waker.function = stand_in(d, waker.function);
                if (!waker.function)
                        return -ENOMEM;
        }
        key = hash_mix(hash_key(waker.function) ^ waker.is_irq ^ hash_key(waker.what));
        if (!waker.is_irq)
                key = hash_bytes(key ^ (uint32_t) waker.pid, waker.comm,
                                 strnlen(waker.comm, sizeof(waker.comm)));
        hash_each (slot, &d->wakers, key) {
                const Waker *w = &d->a.wakers[slot->value - 1];

                if (w->function == waker.function && w->is_irq == waker.is_irq &&
                    w->in_softirq == waker.in_softirq && w->what == waker.what &&
                    (w->is_irq ||
                     (w->pid == waker.pid && memcmp(w->comm, waker.comm, sizeof(w->comm)) == 0))) {
                        *ret = (uint32_t) slot->value;
                        return 0;
                }
        }
        if (!ARRAY_GROW(d->a.wakers, d->a.n_wakers) ||
            hash_add(&d->wakers, key, d->a.n_wakers + 1) < 0)
                return -ENOMEM;
        d->a.wakers[d->a.n_wakers++] = waker;
        *ret = (uint32_t) d->a.n_wakers;
        return 0;
}

/* --- an open call ----------------------------------------------------------------------------- */

/* NULL without memory. */
static Open *take_spare(Data *d) {
        Open *open = d->spare;

        if (open) {
                d->spare = open->next_spare;
                return open;
        }
        open = NEW(Open, .next = d->open);
        d->open = open ?: d->open;
        return open;
}

static void drop(Data *d, Open *open) {
        open->n_parts = open->n_waits = open->n_values = 0;
        open->next_spare = d->spare;
        d->spare = open;
}

static AnatomyPart *find_part(Data *d, Open *open, uint32_t node) {
        uint32_t i;

        for (i = 0; d->present != open && i < open->n_parts; i++)
                d->places[open->parts[i].node] = i;
        d->present = open;
        i = d->places[node];
        if (i < open->n_parts && open->parts[i].node == node)
                return &open->parts[i];
        if (!ARRAY_ROOM(open->parts, open->n_parts_room, open->n_parts + 1))
                return NULL;
        i = d->places[node] = (uint32_t) open->n_parts++;
        open->parts[i] = (AnatomyPart){ .node = node };
        return &open->parts[i];
}

/* The part of @node, one for each, in the order in which calls of them end first; NULL without memory. */
static inline AnatomyPart *part_of(Data *d, Open *open, uint32_t node) {
        uint32_t i = d->places[node];

        return d->present == open && i < open->n_parts && open->parts[i].node == node
                       ? &open->parts[i]
                       : find_part(d, open, node);
}

/* The data of an outermost call's frame is what is open, of other frames their node. */
static CallNode *node_of(const Stack *stack, const Frame *frame) {
        const Open *open = stack->frames[0].data;

        return frame == stack->frames ? open->node : frame->data;
}

/* Ids come one after the other; that of the tree's root, 0, is nobody's here. */
static int note_node(Data *d, const CallNode *node) {
        while (d->a.n_nodes <= node->id) {
                if (!ARRAY_GROW(d->a.nodes, d->a.n_nodes) ||
                    !ARRAY_ROOM(d->places, d->n_places_room, d->a.n_nodes + 1))
                        return -ENOMEM;
                d->places[d->a.n_nodes] = 0;
                d->a.nodes[d->a.n_nodes] = d->a.n_nodes == node->id ? node : NULL;
                d->a.n_nodes++;
        }
        return 0;
}

/* Its index, or -ENOMEM, or VARIABLES_MAX: there are too many. */
static int find_variable(Data *d, const CallNode *node, const char *name, size_t n_name,
                         bool is_text) {
        uint64_t key = hash_bytes(hash_mix(node->id * UINT64_C(2) + is_text + 1), name, n_name);
        const HashSlot *slot;
        char *copy;

        hash_each (slot, &d->variables, key) {
                const Variable *known = &d->a.variables[slot->value - 1];

                if (known->node == node->id && known->is_text == is_text &&
                    strncmp(known->name, name, n_name) == 0 && known->name[n_name] == 0)
                        return (int) (slot->value - 1);
        }
        if (d->a.n_variables >= VARIABLES_MAX - (node->level < 2 ? 0 : VARIABLES_OF_ROOTS))
                return VARIABLES_MAX;
        copy = strndup(name, n_name);
        if (!copy || !ARRAY_GROW(d->a.variables, d->a.n_variables) ||
            hash_add(&d->variables, key, d->a.n_variables + 1) < 0) {
                free(copy);
                return -ENOMEM;
        }
        d->a.variables[d->a.n_variables] =
                (Variable){ .node = node->id, .name = copy, .is_text = is_text };
        return (int) d->a.n_variables++;
}

static int note_value(Data *d, Open *to, const CallNode *node, const char *name, size_t n_name,
                      bool is_text, ValueNumber value) {
        int i;

        if (node->level > 1 && ((!is_text && value.magnitude >= VARIABLE_NUMBER_MAX) ||
                                to->n_values >= VARIABLES_VALUES_MAX))
                return 0;
        i = find_variable(d, node, name, n_name, is_text);
        if (i < 0 || i == VARIABLES_MAX)
                return MIN(i, 0);
        if (!ARRAY_ROOM(to->values, to->n_values_room, to->n_values + 1))
                return -ENOMEM;
        to->values[to->n_values++] =
                (VariableValue){ (uint32_t) i, value.is_negative, value.magnitude };
        return 0;
}

static int note_text(Data *d, Open *to, const CallNode *node, const char *name, size_t n_name,
                     const char *text, size_t n_text) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, text, n_text), n = 0;
        const HashSlot *slot;

        hash_each (slot, &d->texts, key) {
                const char *known = d->a.texts[slot->value - 1];

                if (strncmp(known, text, n_text) == 0 && known[n_text] == 0)
                        n = slot->value;
        }
        if (n == 0) {
                char *copy;

                if (d->a.n_texts >= VARIABLES_TEXTS_MAX)
                        return 0;
                copy = strndup(text, n_text);
                if (!copy || !ARRAY_ADD(d->a.texts, d->a.n_texts, copy)) {
                        free(copy);
                        return -ENOMEM;
                }
                n = d->a.n_texts;
                if (hash_add(&d->texts, key, n) < 0)
                        return -ENOMEM;
        }
        return note_value(d, to, node, name, n_name, true,
                          (ValueNumber){ .magnitude = VARIABLE_NUMBER_MAX + n - 1 });
}

static int note_callers(Data *d, Open *to, const CallNode *node, const char *name,
                        const Callers *c) {
        return c ? note_text(d, to, node, name, strlen(name), callers_names(c),
                             strlen(callers_names(c)))
                 : 0;
}

static int note_object(Data *d, Open *to, const CallNode *node, const Object *o) {
        int r = 0;

        for (const ObjectField *f = o->fields, *end = f + o->n; f < end && r >= 0; f++) {
                const char *name = object_text(o) + f->name;

                r = f->is_number ? note_value(d, to, node, name, f->n_name, false, f->number)
                                 : note_text(d, to, node, name, f->n_name,
                                             object_text(o) + f->value, f->n_value);
        }
        return r;
}

/* NULL without memory. */
static _always_inline_ CallNode *enter(Data *d, CallNode *parent, const CallWay *way,
                                       const Function *called, uint8_t role, bool in_irq) {
        /* One that is found stands for itself. */
        CallNode *node = way ? NULL : call_node_guess(parent, called);
        const Function *function = node  ? called
                                   : way ? call_way_callee(way, NULL)
                                         : stand_in(d, called);

        if (_unlikely_(!node) && function)
                node = call_tree_child(d->a.tree, parent, function);
        if (_unlikely_(!node || (node->id >= d->a.n_nodes && note_node(d, node) < 0)))
                return NULL;
        node->n_unhooked = MAX(node->n_unhooked, called->n_unhooked);
        node->was_left_out |= called->was_left_out;
        node->is_irq |= role == ROLE_IRQ;
        node->in_irq |= in_irq;
        return node;
}

static int enter_root(Feed *feed, Open *open, const Callers *callers, const Callers *program) {
        open->number = ++feed->n_begun;
        return note_callers(feed->data, open, open->node, "callers", callers)
                       ?: note_callers(feed->data, open, open->node, "stack", program);
}

static int note_values(Data *d, Open *open, const CallNode *node, const Object *object,
                       const char *args) {
        int r = object ? note_object(d, open, node, object) : 0;
        ValueNumber value;
        const char *name;
        size_t n_name;

        while (args && r >= 0 && arguments_next(&args, &name, &n_name, &value))
                r = note_value(d, open, node, name, n_name, false, value);
        return r;
}

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Feed *feed = userdata;
        Data *d = feed->data;
        Open *open = caller ? stack->frames[0].data : take_spare(d);
        CallNode *node;
        int r = 0;

        if (!open)
                return -ENOMEM;
        node = enter(d,
                     !caller                   ? call_tree_root(d->a.tree)
                     : frame->role == ROLE_IRQ ? open->node
                                               : node_of(stack, caller),
                     frame->way, frame->function, frame->role, frame->in_irq);
        frame->data = caller ? (void *) node : open;
        if (!node)
                return -ENOMEM;
        if (!caller) {
                open->node = node;
                r = enter_root(feed, open, frame->callers, frame->program);
        }
        return r < 0 ? r : note_values(d, open, node, frame->object, frame->args);
}

static int add_wait(Data *d, Open *open, const CallNode *node, const SchedWait *w) {
        AnatomyWait *to;

        if (!ARRAY_ROOM(open->waits, open->n_waits_room, open->n_waits + 1))
                return -ENOMEM;
        to = &open->waits[open->n_waits++];
        *to = (AnatomyWait){ .node = node->id,
                             .away_ns = w->back_ns - MIN(w->back_ns, w->left_ns) };
        if (w->woken_ns == 0)
                return 0;
        to->queued_ns = w->back_ns - MIN(w->back_ns, w->woken_ns);
        return find_waker(d, &w->waker, &to->waker);
}

static int note_wait(void *userdata, const CallWait *wait) {
        return add_wait(((Feed *) userdata)->data, wait->stack->frames[0].data,
                        node_of(wait->stack, wait->frame), wait->wait);
}

/* --- all calls -------------------------------------------------------------------------------- */

static bool is_kept(const Data *d, uint64_t number) {
        return (hash_mix(number) & d->mask) == 0;
}

/* Forgets half of the calls. */
static void thin(Data *d) {
        size_t n = 0, n_bytes = 0, n_waits = 0, n_values = 0;

        d->mask = d->mask * 2 + 1;
        for (size_t i = 0; i < d->a.n_calls; i++) {
                AnatomyCall c = d->a.calls[i];
                size_t end =
                        i + 1 < d->a.n_calls ? d->a.calls[i + 1].first_byte : d->a.parts.n_data;
                size_t length = end - c.first_byte;

                if (!is_kept(d, c.number))
                        continue;
                memmove(d->a.parts.data + n_bytes, d->a.parts.data + c.first_byte, length);
                if (c.n_waits > 0)
                        memmove(d->a.waits + n_waits, d->a.waits + c.first_wait,
                                c.n_waits * sizeof(*d->a.waits));
                if (c.n_values > 0)
                        memmove(d->a.values + n_values, d->a.values + c.first_value,
                                c.n_values * sizeof(*d->a.values));
                c.first_byte = (uint32_t) n_bytes;
                c.first_wait = (uint32_t) n_waits;
                c.first_value = (uint32_t) n_values;
                n_bytes += length;
                n_waits += c.n_waits;
                n_values += c.n_values;
                d->a.calls[n++] = c;
        }
        d->a.n_calls = n;
        d->a.parts.n_data = n_bytes;
        d->n_waits = n_waits;
        d->n_values = n_values;
}

#define PART_BYTES_MAX 40 /* four numbers */

static char *put_number(char *p, uint64_t v) {
        for (; v >= 0x80; v >>= 7)
                *p++ = (char) (v | 0x80);
        *p++ = (char) v;
        return p;
}

static void add_parts(Buf *to, const AnatomyPart *parts, size_t n) {
        char *p = buf_reserve(to, n * PART_BYTES_MAX);
        uint32_t before = 0;

        for (size_t i = 0; p && i < n; i++) {
                const AnatomyPart *part = &parts[i];
                int64_t step = (int64_t) part->node - before;
                bool more = part->n != 1 || part->wait_ns > 0;

                p = put_number(p, ((uint64_t) step << 1 ^ (uint64_t) (step >> 63)) << 1 | more);
                p = put_number(p, part->run_ns);
                if (more) {
                        p = put_number(p, part->n);
                        p = put_number(p, part->wait_ns);
                }
                before = part->node;
        }
        if (p)
                to->n_data = (size_t) (p - to->data);
}

static int compare_values(const void *a, const void *b) {
        return CMP(((const VariableValue *) a)->variable, ((const VariableValue *) b)->variable);
}

static int keep(Data *d, const Feed *feed, const Open *open, const Call *call, bool is_idle) {
        AnatomyCall *c;
        int r;

        while (d->a.n_calls > 0 && is_kept(d, open->number) &&
               (d->a.parts.n_data > ANATOMY_BYTES_MAX ||
                d->n_waits + open->n_waits > ANATOMY_WAITS_MAX ||
                d->n_values + open->n_values > ANATOMY_WAITS_MAX ||
                d->a.n_calls >= ANATOMY_CALLS_MAX))
                thin(d);
        if (!is_kept(d, open->number))
                return 0;
        if (!ARRAY_GROW(d->a.calls, d->a.n_calls) ||
            !ARRAY_ROOM(d->a.waits, d->n_waits_room, d->n_waits + open->n_waits) ||
            !ARRAY_ROOM(d->a.values, d->n_values_room, d->n_values + open->n_values))
                return -ENOMEM;
        c = &d->a.calls[d->a.n_calls];
        *c = (AnatomyCall){ .number = open->number,
                            .start_ns = call->frame->start_ns,
                            .duration_ns = call->duration_ns,
                            .first_byte = (uint32_t) d->a.parts.n_data,
                            .first_wait = (uint32_t) d->n_waits,
                            .first_value = (uint32_t) d->n_values,
                            .n_parts = (uint32_t) open->n_parts,
                            .n_waits = (uint32_t) open->n_waits,
                            .n_values = (uint32_t) open->n_values,
                            .root = open->node->id,
                            .cpu = call->cpu,
                            .pid = call->stack->pid,
                            .source = feed->source,
                            .has_retval = call->has_retval,
                            .has_failed = call->has_retval && filter_is_error(call->retval),
                            .is_idle = is_idle };
        r = find_task(d, call->stack->comm, &c->task);
        if (r < 0)
                return r;
        SORT(open->values, open->n_values, compare_values);
        add_parts(&d->a.parts, open->parts, open->n_parts);
        if (d->a.parts.error < 0)
                return d->a.parts.error;
        if (open->n_waits > 0)
                memcpy(d->a.waits + d->n_waits, open->waits, open->n_waits * sizeof(*open->waits));
        if (open->n_values > 0)
                memcpy(d->a.values + d->n_values, open->values,
                       open->n_values * sizeof(*d->a.values));
        d->n_waits += open->n_waits;
        d->n_values += open->n_values;
        d->a.n_calls++;
        return 0;
}

static int note_return(Data *d, Open *open, const CallNode *node, uint64_t retval) {
        return note_value(d, open, node, RETURNED, strlen(RETURNED), false, retval_number(retval));
}

static inline int leave(Data *d, Open *open, const CallNode *node, uint64_t self_ns,
                        uint64_t blocked_ns) {
        uint64_t wait_ns = MIN(blocked_ns, self_ns);
        AnatomyPart *part = part_of(d, open, node->id);

        if (!part)
                return -ENOMEM;
        part->n++;
        part->run_ns += self_ns - wait_ns;
        part->wait_ns += wait_ns;
        return 0;
}

static int leave_root(const Feed *feed, Open *open, const Call *call) {
        Data *d = feed->data;
        int r = idle_note(&d->a.idle, open->node->function, call);

        d->a.n_all += !call->in_own_work;
        d->a.n_cut += !call->in_own_work && call->is_cut;
        if (r >= 0 && !call->in_own_work && !call->is_cut)
                r = keep(d, feed, open, call, r > 0);
        drop(d, open);
        return MIN(r, 0);
}

static int end(void *userdata, const Call *call) {
        const Feed *feed = userdata;
        Open *open = call->is_root ? call->frame->data : call->stack->frames[0].data;
        const CallNode *node = call->is_root ? open->node : call->frame->data;
        int r = call->has_retval ? note_return(feed->data, open, node, call->retval) : 0;

        if (r >= 0)
                r = leave(feed->data, open, node, call->self_ns, call->blocked_ns);
        return r < 0 || !call->is_root ? r : leave_root(feed, open, call);
}

/* Ends @call, and who called it, up to @caller. */
static _always_inline_ int leave_up_to(Data *d, Open *open, const CallTrees *t, uint32_t call,
                                       uint32_t caller) {
        int r = 0;

        for (; call != caller && r >= 0; call = t->calls[call].parent) {
                const HeldCall *c = &t->calls[call];
                const CallNode *node = t->room[call];

                for (uint32_t i = c->waits; i != 0 && r >= 0; i = t->waits[i - 1].prev)
                        r = add_wait(d, open, node, &t->waits[i - 1].wait);
                if (_unlikely_(c->has_retval) && r >= 0)
                        r = note_return(d, open, node, c->retval);
                if (r >= 0)
                        r = leave(d, open, node, t->sums[call].self_ns,
                                  t->sums[call].self_blocked_ns);
        }
        return r;
}

static int add_tree(Feed *feed, const CallTrees *t, uint32_t first, uint32_t end) {
        Data *d = feed->data;
        Open *open = take_spare(d);
        uint32_t last = HELD_TASK;
        int r = open ? 0 : -ENOMEM;
        Frame frame;
        Call root;

        for (uint32_t place = first; place <= end && r >= 0; place++) {
                uint32_t i = place < end ? call_trees_at(t, place) : HELD_TASK;
                const HeldCall *c = &t->calls[i];
                CallNode *node;

                r = leave_up_to(d, open, t, last, c->parent);
                if (place == end || r < 0)
                        break;
                node = enter(d,
                             place == first        ? call_tree_root(d->a.tree)
                             : c->role == ROLE_IRQ ? open->node
                                                   : t->room[c->parent],
                             c->way, c->function, c->role, t->sums[i].in_irq);
                if (!node)
                        return -ENOMEM;
                t->room[i] = node;
                last = i;
                if (place == first) {
                        open->node = node;
                        r = enter_root(feed, open, c->callers, c->program);
                }
                if (r >= 0 && _unlikely_(c->object || c->args))
                        r = note_values(d, open, node, c->object, c->args);
        }
        if (r < 0)
                return r;
        root = call_trees_root(t, first, &frame);
        return leave_root(feed, open, &root);
}

static int add_trees(void *userdata, const CallTrees *t) {
        int r = 0;

        for (uint32_t first = 1, end; first < t->n && r >= 0; first = end) {
                end = t->sums[call_trees_at(t, first)].end;
                r = add_tree(userdata, t, first, end);
        }
        return r;
}

int anatomy_add_source(Anatomy *a, Pairing *pairing) {
        Data *d = (Data *) a;
        Feed *feed = NEW(Feed, .data = d, .source = a->n_sources++, .next = d->feeds);

        if (!feed)
                return -ENOMEM;
        d->feeds = feed;
        pairing_add_sink_of_trees(pairing, begin, end, add_trees, feed);
        pairing_set_wait(pairing, note_wait, feed);
        pairing->keeps_arguments = true;
        return 0;
}

int anatomy_new(Anatomy **ret) {
        _cleanup_free_ Data *d = calloc(1, sizeof(*d));

        if (!d || call_tree_new(&d->a.tree, NULL) < 0)
                return -ENOMEM;
        d->a.parts = BUF_INIT;
        *ret = &TAKE_PTR(d)->a;
        return 0;
}

Anatomy *anatomy_free(Anatomy *a) {
        Data *d = (Data *) a;

        if (!a)
                return NULL;
        for (Open *open; (open = POP(d->open));) {
                free(open->parts);
                free(open->waits);
                free(open->values);
                free(open);
        }
        for (Feed *feed; (feed = POP(d->feeds));)
                free(feed);
        call_tree_free(a->tree);
        free(a->nodes);
        free(a->calls);
        buf_done(&a->parts);
        free(a->waits);
        free(a->values);
        for (size_t i = 0; i < a->n_variables; i++)
                free(a->variables[i].name);
        free(a->variables);
        for (size_t i = 0; i < a->n_texts; i++)
                free(a->texts[i]);
        free(a->texts);
        hash_done(&d->variables);
        hash_done(&d->texts);
        idle_done(&a->idle);
        free(a->wakers);
        free(a->tasks);
        free(d->places);
        hash_done(&d->functions);
        hash_done(&d->names);
        hash_done(&d->wakers);
        hash_done(&d->tasks);
        return mfree(d);
}
