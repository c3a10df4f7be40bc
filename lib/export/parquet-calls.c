/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls as a table of columns, for databases: a row each, which knows where in its tree it is.
 *
 *      tree   left  right  parent  depth  function
 *         7      1      4       -      1  udp_sendmsg
 *         7      2      3       1      2    ip_make_skb
 *         7      3      3       2      3      kfree
 *         7      4      4       1      2    dst_release
 *
 * Calls of a tree are numbered as they begin; right is the number of the last one below, so that a call is
 * below another one if its left is between the other one's left and right.  Trees are numbered as they
 * end, from 1, in each recording, and come in that order, so that a file is sorted by (tree, left).  The path is a hash
 * of the names from the root down, the same on every host; caller_path is that of the caller, so that merged calls
 * are a tree again.  All rows of a tree have the trace id of the
 * request that the root's task worked at when the root began, if it has said one (calls/stacks.h).
 *
 * A tree's rows are kept until it has ended, for only then right is known; those of a very large one in a file
 * (export/spill.h).
 */

#include <inttypes.h>

#include "base/array.h"
#include "calls/step.h"
#include "export/parquet-rows.h"
#include "meta/profile.h"

static const ParquetColumn columns[] = {
        { "host", PARQUET_TEXT, true },         { "machine_id", PARQUET_TEXT, true },
        { "boot_id", PARQUET_TEXT, true },      { "recording", PARQUET_TEXT, true },
        { "kernel", PARQUET_TEXT, true },       { "tree", PARQUET_U64, false },
        { "left", PARQUET_U32, false },         { "right", PARQUET_U32, false },
        { "parent", PARQUET_U32, true },        { "depth", PARQUET_U16, false },
        { "path", PARQUET_I64, false },         { "caller_path", PARQUET_I64, true },
        { "start_unix_ns", PARQUET_I64, true }, { "start_ns", PARQUET_I64, false },
        { "duration_ns", PARQUET_I64, false },  { "self_ns", PARQUET_I64, false },
        { "blocked_ns", PARQUET_I64, false },   { "irq_ns", PARQUET_I64, false },
        { "cpu", PARQUET_U32, true },           { "pid", PARQUET_I32, true },
        { "task", PARQUET_TEXT, true },         { "tgid", PARQUET_I32, true },
        { "user", PARQUET_TEXT, true },         { "unit", PARQUET_TEXT, true },
        { "container", PARQUET_TEXT, true },    { "pod", PARQUET_TEXT, true },
        { "cgroup", PARQUET_TEXT, true },
        { "function", PARQUET_TEXT, false },    { "caller", PARQUET_TEXT, true },
        { "module", PARQUET_TEXT, true },       { "root", PARQUET_TEXT, false },
        { "cut", PARQUET_BOOL, false },         { "retval", PARQUET_I64, true },
        { "args", PARQUET_TEXT, true },         { "what", PARQUET_TEXT, true },
        { "callers", PARQUET_TEXT, true },      { "stack", PARQUET_TEXT, true },
        { "trace_id", PARQUET_TEXT, true },     { "weight", PARQUET_F64, false },
        { "not_hooked_below", PARQUET_U32, true },
};

static const ParquetSchema schema = {
        .columns = columns,
        .n_columns = ELEMENTSOF(columns),
        .sorted = { 5, 6 }, /* tree, left */
        .n_sorted = 2,
};

#define NO_TEXT UINT32_MAX
#define RELAX_ROWS (512U << 10) /* of a tree, behind each of which its file is relaxed */

/* A function's texts. */
typedef struct Name {
        uint32_t function, module; /* module: or NO_TEXT */
} Name;

typedef struct Row {
        const Function *is_of;
        uint64_t start_ns, duration_ns, self_ns, blocked_ns, irq_ns, path;
        int64_t retval;
        uint32_t name, parent, right, cpu, args, what, callers, stack;
        uint16_t depth;
        bool has_cpu, is_cut, has_retval;
} Row;

typedef struct Tree {
        Spill spill;
        Row *rows; /* left is the index + 1 */
        size_t n;
        BesideWait *waits;
        size_t n_waits, n_waits_room;
        struct Tree *next, *next_spare;
} Tree;

/* Texts of a recording. */
enum { HOST, MACHINE_ID, BOOT_ID, RECORDING, KERNEL, CGROUP, N_TEXTS };

typedef struct State {
        ExportState s;  /* first */
        bool has_begun; /* and parts and beside are there */
        ParquetTexts texts_of_all;
        Beside beside;
        Parts parts;
        Tree *trees, *spare;
        Name *names;
        size_t n_names;
        Hash names_at; /* index + 1, by function */
        uint64_t n_trees;
        uint32_t texts[N_TEXTS]; /* of the recording; NO_TEXT: not known */
        uint32_t n_task;
        char task[16];
        bool has_task;
} State;

/* --- texts ------------------------------------------------------------------------------------ */

/* Of a text that may be missing, or empty, which is the same. */
static int note(State *st, size_t which, const char *text) {
        return beside_text(&st->beside, text && *text ? text : NULL, text ? strlen(text) : 0,
                           PARQUET_ALL_ROWS, &st->texts[which]);
}

static int name_of(State *st, const Function *f, uint32_t *ret) {
        uint64_t known = hash_get(&st->names_at, hash_key(f));
        size_t n_module;
        const char *module = function_module(f, &n_module);
        Name name;
        int r;

        if (_likely_(known > 0)) {
                *ret = (uint32_t) known - 1;
                return 0;
        }
        r = beside_text(&st->beside, f->label, f->n_name, PARQUET_ALL_ROWS, &name.function)
                    ?: beside_text(&st->beside, module, n_module, PARQUET_ALL_ROWS, &name.module);
        if (r < 0)
                return r;
        if (!ARRAY_GROW(st->names, st->n_names) ||
            hash_add(&st->names_at, hash_key(f), st->n_names + 1) < 0)
                return -ENOMEM;
        st->names[st->n_names] = name;
        *ret = (uint32_t) st->n_names++;
        return 0;
}

static int find_task(State *st, const char comm[static 16], uint32_t *ret) {
        int r = 0;

        if (!st->has_task || memcmp(st->task, comm, 16) != 0) {
                r = beside_text(&st->beside, comm[0] ? comm : NULL, strnlen(comm, 16),
                                PARQUET_ALL_ROWS, &st->n_task);
                memcpy(st->task, comm, 16);
                st->has_task = r >= 0;
        }
        *ret = st->n_task;
        return r;
}

/* --- a tree ----------------------------------------------------------------------------------- */

static int find_text(State *st, const char *text, uint32_t *ret) {
        return beside_text(&st->beside, text && *text ? text : NULL, text ? strlen(text) : 0,
                           PARQUET_ALL_ROWS, ret);
}

static int find_callers(State *st, const Callers *c, uint32_t *ret) {
        return find_text(st, c ? callers_names(c) : NULL, ret);
}

/* Of the root's task when it began. */
static int find_owner(State *st, const Owner *o, PartsTree *t) {
        t->tgid = o ? o->tgid : -1;
        t->cgroup = st->texts[CGROUP];
        return find_text(st, owner_word(o, OWNER_USER), &t->user)
                       ?: find_text(st, owner_word(o, OWNER_UNIT), &t->unit)
                       ?: find_text(st, owner_word(o, OWNER_CONTAINER), &t->container)
                       ?: find_text(st, o ? o->pod : NULL, &t->pod)
                       ?: (o ? find_text(st, o->cgroup, &t->cgroup) : 0);
}

/* NULL without memory. */
static Tree *take_spare(State *st) {
        Tree *t = st->spare;

        if (t) {
                st->spare = t->next_spare;
                return t;
        }
        t = calloc(1, sizeof(*t));
        if (!t)
                return NULL;
        t->spill = SPILL_INIT;
        t->next = st->trees;
        return st->trees = t;
}

/* An outermost frame's data is its tree; every frame's user is its left. */
static int begin_call(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        State *st = userdata;
        Tree *t = caller ? stack->frames[0].data : take_spare(st);
        const Row *parent;
        Row *row;
        int r;

        if (!t || t->n >= INT32_MAX)
                return -ENOMEM;
        t->rows = spill_room(&t->spill, (t->n + 1) * sizeof(Row));
        if (!t->rows)
                return -ENOMEM;
        if (!caller)
                frame->data = t;
        row = &t->rows[t->n];
        *row = (Row){ .is_of = frame->function, .start_ns = frame->start_ns, .args = NO_TEXT, .what = NO_TEXT };
        r = name_of(st, frame->function, &row->name)
                    ?: find_callers(st, frame->callers, &row->callers)
                    ?: find_callers(st, frame->program, &row->stack);
        if (r >= 0 && frame->args)
                r = beside_text(&st->beside, frame->args, strlen(frame->args), 1, &row->args);
        if (r >= 0 && frame->object)
                r = beside_text(&st->beside, object_text(frame->object), frame->object->n_text, 1,
                                &row->what);
        if (r < 0)
                return r;
        if (caller) {
                row->parent = caller->user;
                parent = &t->rows[row->parent - 1];
                row->depth = (uint16_t) (parent->depth + 1);
                row->path = hash_bytes(parent->path, "/", 1);
        } else {
                row->depth = 1;
                row->path = HASH_BYTES_FIRST;
        }
        row->path = hash_bytes(row->path, frame->function->label, frame->function->n_name);
        frame->user = (uint32_t) ++t->n;
        return 0;
}

static int note_wait(void *userdata, const CallWait *wait) {
        Tree *t = wait->stack->frames[0].data;

        (void) userdata;
        if (!ARRAY_ROOM(t->waits, t->n_waits_room, t->n_waits + 1))
                return -ENOMEM;
        t->waits[t->n_waits++] =
                (BesideWait){ .wait = *wait->wait, .left = wait->frame->user, .cpu = wait->cpu };
        return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_text(Parquet *p, uint32_t text) {
        parquet_put(p, text != NO_TEXT, text);
}

/* The one that its root's task has said, for @n_rows rows; NO_TEXT: none. */
static int find_trace_id(State *st, const TraceContext *c, uint32_t n_rows, uint32_t *ret) {
        char id[TRACE_ID_CHARS + 1];

        (void) snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, c->high, c->low);
        return beside_text(&st->beside, trace_context_is_set(c) ? id : NULL, TRACE_ID_CHARS, n_rows,
                           ret);
}

static int write_row(State *st, Parquet *p, const PartsTree *t, size_t i) {
        const Row *rows = t->rows, *row = &rows[i],
                  *caller = row->parent > 0 ? &rows[row->parent - 1] : NULL;
        const Name *name = &st->names[row->name];
        const SessionMeta *m = st->s.info->meta;

        for (size_t k = HOST; k <= KERNEL; k++)
                put_text(p, st->texts[k]);
        parquet_put(p, true, (int64_t) t->number);
        parquet_put(p, true, (int64_t) i + 1);
        parquet_put(p, true, row->right);
        parquet_put(p, caller, row->parent);
        parquet_put(p, true, row->depth);
        parquet_put(p, true, (int64_t) row->path);
        parquet_put(p, caller, caller ? (int64_t) caller->path : 0);
        beside_put_unix(&st->beside, p, row->start_ns);
        parquet_put(p, true, (int64_t) row->start_ns);
        parquet_put(p, true, (int64_t) row->duration_ns);
        parquet_put(p, true, (int64_t) row->self_ns);
        parquet_put(p, true, (int64_t) row->blocked_ns);
        parquet_put(p, true, (int64_t) row->irq_ns);
        parquet_put(p, row->has_cpu, row->cpu);
        parquet_put(p, t->pid >= 0, t->pid);
        put_text(p, t->task);
        parquet_put(p, t->tgid >= 0, t->tgid);
        put_text(p, t->user);
        put_text(p, t->unit);
        put_text(p, t->container);
        put_text(p, t->pod);
        put_text(p, t->cgroup);
        put_text(p, name->function);
        put_text(p, caller ? st->names[caller->name].function : NO_TEXT);
        put_text(p, name->module);
        put_text(p, st->names[rows[0].name].function);
        parquet_put(p, true, row->is_cut);
        parquet_put(p, row->has_retval, row->retval);
        put_text(p, row->args);
        put_text(p, row->what);
        put_text(p, row->callers);
        put_text(p, row->stack);
        put_text(p, t->trace_id);
        parquet_put_double(p, m ? sample_weight(m->spec.sample_ppm) : 1);
        parquet_put(p, unhooked_is_number(row->is_of->n_unhooked), row->is_of->n_unhooked);
        return parquet_end_row(p);
}

/* Of Parts. */
static int write_rows(ExportState *state, Parquet *p, const PartsTree *t) {
        State *st = (State *) state;
        int r = 0;

        for (size_t i = 0; i < t->n && r >= 0; i++) {
                r = write_row(st, p, t, i);
                if (i % RELAX_ROWS == RELAX_ROWS - 1)
                        spill_relax(t->spill);
        }
        return r;
}

static int add_rows(State *st, Tree *t, const Call *call) {
        PartsTree tree = {
                .number = st->n_trees,
                .pid = call->stack->pid,
                .n = (uint32_t) t->n,
                .rows = t->rows,
                .spill = &t->spill,
        };
        int r = find_task(st, call->stack->comm, &tree.task)
                        ?: find_owner(st, call->frame->owner, &tree)
                        ?: find_trace_id(st, &call->context, tree.n, &tree.trace_id);

        return r < 0 ? r
                     : parts_add(&st->parts, st->names[t->rows[0].name].function,
                                 call->frame->function, &tree);
}

static int write_tree(State *st, Tree *t, const Call *call) {
        int r;

        st->n_trees++;
        r = add_rows(st, t, call);
        for (size_t i = 0; i < t->n_waits && r >= 0; i++)
                r = beside_wait(&st->beside, &t->waits[i], st->n_trees, call->stack,
                                t->rows[t->waits[i].left - 1].is_of);
        t->n = t->n_waits = 0;
        spill_shrink(&t->spill);
        t->next_spare = st->spare;
        st->spare = t;
        return r;
}

static int end_call(void *userdata, const Call *call) {
        State *st = userdata;
        const Frame *frame = call->frame;
        Tree *t = call->is_root ? frame->data : call->stack->frames[0].data;
        Row *row = &t->rows[frame->user - 1];

        row->duration_ns = call->duration_ns;
        row->self_ns = call->self_ns;
        row->blocked_ns = frame->blocked_ns + call->blocked_ns;
        row->irq_ns = frame->irq_ns;
        row->retval = (int64_t) call->retval;
        row->has_retval = call->has_retval;
        row->cpu = call->cpu;
        row->has_cpu = call->has_end;
        row->is_cut = call->is_cut;
        row->right = (uint32_t) t->n; /* what has begun since is below it */
        return call->is_root ? write_tree(st, t, call) : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int init(State *st, Pairing *pairing, bool is_tsv) {
        const ExportInfo *info = st->s.info;
        const SessionMeta *m = info->meta;
        int r;

        if (!TAKE(st->has_begun, true)) {
                st->beside =
                        (Beside){ .state = &st->s, .texts = &st->texts_of_all, .text = BUF_INIT };
                st->parts = (Parts){ .state = &st->s,
                                     .is_tsv = is_tsv,
                                     .texts = &st->texts_of_all,
                                     .schema = &schema,
                                     .row_bytes = sizeof(Row),
                                     .write = write_rows,
                                     .spill = SPILL_INIT };
        }
        /* Functions of another recording may be where those of the last one were. */
        hash_clear(&st->names_at);
        st->n_names = st->n_trees = 0;
        st->has_task = false;
        r = note(st, HOST, info->host) ?: note(st, MACHINE_ID, m ? m->machine_id : NULL)
                    ?: note(st, BOOT_ID, m ? m->boot_id : NULL)
                    ?: note(st, RECORDING, info->recording)
                    ?: note(st, KERNEL, info->kernel);
        /* Whose calls are recorded is known if only those of one are. */
        if (r >= 0)
                r = note(st, CGROUP, m && m->spec.cgroups.n == 1 ? m->spec.cgroups.items[0] : NULL);
        if (r < 0)
                return r;
        pairing_add_sink(pairing, begin_call, end_call, st);
        pairing_set_wait(pairing, note_wait, st);
        pairing->keeps_arguments = true;
        return 0;
}

static int init_parquet(void *userdata, Pairing *pairing) {
        return init(userdata, pairing, false);
}

static int init_tsv(void *userdata, Pairing *pairing) {
        return init(userdata, pairing, true);
}

static int step(void *userdata, const Step *step) {
        State *st = userdata;

        return step->kind == STEP_LOST ? beside_loss(&st->beside, step) : 0;
}

static void forget_files(State *st) {
        if (!TAKE(st->has_begun, false))
                return;
        parts_done(&st->parts);
        beside_done(&st->beside);
}

static int finish_files(State *st) {
        int r = parts_finish(&st->parts);

        if (r >= 0)
                r = beside_finish(&st->beside);
        forget_files(st);
        return r;
}

/* Partitions are of one recording each. */
static int end_source(void *userdata) {
        State *st = userdata;

        return st->s.info->is_partitioned ? finish_files(st) : 0;
}

static int end(void *userdata) {
        State *st = userdata;

        return st->s.info->is_partitioned ? 0 : finish_files(st);
}

static void done(void *userdata) {
        State *st = userdata;

        for (Tree *t = st->trees, *next; t; t = next) {
                next = t->next;
                spill_done(&t->spill);
                free(t->waits);
                free(t);
        }
        forget_files(st);
        parquet_texts_done(&st->texts_of_all);
        free(st->names);
        hash_done(&st->names_at);
}

const Exporter exporter_parquet = {
        .name = "parquet",
        .summary = "a table of calls by columns, for databases",
        .is_binary = true,
        .takes_many = true,
        .has_others = true,
        .has_contexts = true,
        .n_bytes = sizeof(State),
        .init = init_parquet,
        .step = step,
        .end_source = end_source,
        .end = end,
        .done = done,
};

const Exporter exporter_tsv = {
        .name = "tsv",
        .summary = "the rows of parquet as text, for databases",
        .takes_many = true,
        .has_contexts = true,
        .n_bytes = sizeof(State),
        .init = init_tsv,
        .step = step,
        .end_source = end_source,
        .end = end,
        .done = done,
};
