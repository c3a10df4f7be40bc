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
 * request that the root's task worked at when the root began, if it has said one (calls/trace-context.h).
 *
 * A tree's rows are kept until it has ended, for only then right is known; those of a very large one in a file
 * (export/spill.h).
 */

#include "base/grow.h"
#include "base/hash.h"
#include "calls/step.h"
#include "export/exporter.h"
#include "export/form.h"
#include "export/parquet-beside.h"
#include "export/parquet-parts.h"
#include "meta/meta.h"
#include "meta/sample.h"

enum {
        HOST,
        MACHINE_ID,
        BOOT_ID,
        RECORDING,
        KERNEL,
        TREE,
        LEFT,
        RIGHT,
        PARENT,
        DEPTH,
        PATH,
        CALLER_PATH,
        START_UNIX_NS,
        START_NS,
        DURATION_NS,
        SELF_NS,
        BLOCKED_NS,
        IRQ_NS,
        CPU,
        PID,
        TASK,
        CGROUP,
        FUNCTION,
        CALLER,
        MODULE,
        ROOT,
        CUT,
        RETVAL,
        ARGS,
        TRACE_ID,
        WEIGHT,
        NOT_HOOKED_BELOW,
};

static const ParquetColumn columns[] = {
        [HOST] = { "host", PARQUET_TEXT, true },
        [MACHINE_ID] = { "machine_id", PARQUET_TEXT, true },
        [BOOT_ID] = { "boot_id", PARQUET_TEXT, true },
        [RECORDING] = { "recording", PARQUET_TEXT, true },
        [KERNEL] = { "kernel", PARQUET_TEXT, true },
        [TREE] = { "tree", PARQUET_U64, false },
        [LEFT] = { "left", PARQUET_U32, false },
        [RIGHT] = { "right", PARQUET_U32, false },
        [PARENT] = { "parent", PARQUET_U32, true },
        [DEPTH] = { "depth", PARQUET_U16, false },
        [PATH] = { "path", PARQUET_I64, false },
        [CALLER_PATH] = { "caller_path", PARQUET_I64, true },
        [START_UNIX_NS] = { "start_unix_ns", PARQUET_I64, true },
        [START_NS] = { "start_ns", PARQUET_I64, false },
        [DURATION_NS] = { "duration_ns", PARQUET_I64, false },
        [SELF_NS] = { "self_ns", PARQUET_I64, false },
        [BLOCKED_NS] = { "blocked_ns", PARQUET_I64, false },
        [IRQ_NS] = { "irq_ns", PARQUET_I64, false },
        [CPU] = { "cpu", PARQUET_U32, true },
        [PID] = { "pid", PARQUET_I32, true },
        [TASK] = { "task", PARQUET_TEXT, true },
        [CGROUP] = { "cgroup", PARQUET_TEXT, true },
        [FUNCTION] = { "function", PARQUET_TEXT, false },
        [CALLER] = { "caller", PARQUET_TEXT, true },
        [MODULE] = { "module", PARQUET_TEXT, true },
        [ROOT] = { "root", PARQUET_TEXT, false },
        [CUT] = { "cut", PARQUET_BOOL, false },
        [RETVAL] = { "retval", PARQUET_I64, true },
        [ARGS] = { "args", PARQUET_TEXT, true },
        [TRACE_ID] = { "trace_id", PARQUET_TEXT, true },
        [WEIGHT] = { "weight", PARQUET_F64, false },
        [NOT_HOOKED_BELOW] = { "not_hooked_below", PARQUET_U32, true },
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
        uint32_t name, parent, right, cpu, args;
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

typedef struct State {
        ExportState s; /* first */
        const Form *form;
        const char *
                beside_alone; /* the table of export/parquet-beside.h that is wanted; NULL: calls */
        ParquetTexts *texts_of_all;
        Beside *beside;
        Parts *parts;
        Tree *trees, *spare;
        Name *names;
        size_t n_names;
        Hash names_at; /* index + 1, by function */
        uint64_t n_trees;
        uint32_t texts[CGROUP + 1]; /* of the recording; NO_TEXT: not known */
        uint32_t n_task;
        char task[16];
        bool has_task;
} State;

/* --- texts ------------------------------------------------------------------------------------ */

/* Of a text that may be missing, or empty, which is the same. */
static int note(State *st, size_t column, const char *text) {
        return beside_text(st->beside, text && *text ? text : NULL, text ? strlen(text) : 0,
                           &st->texts[column]);
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
        r = beside_text(st->beside, f->label, f->n_name, &name.function)
                    ?: beside_text(st->beside, module, n_module, &name.module);
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
                r = beside_text(st->beside, comm[0] ? comm : NULL, strnlen(comm, 16), &st->n_task);
                memcpy(st->task, comm, 16);
                st->has_task = r >= 0;
        }
        *ret = st->n_task;
        return r;
}

/* --- a tree ----------------------------------------------------------------------------------- */

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
        *row = (Row){ .is_of = frame->function, .start_ns = frame->start_ns, .args = NO_TEXT };
        r = name_of(st, frame->function, &row->name);
        if (r >= 0 && frame->args && !st->beside_alone)
                r = beside_text_for(st->beside, frame->args, strlen(frame->args), 1, &row->args);
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

static void set_text(Parquet *p, size_t column, uint32_t text) {
        if (text != NO_TEXT)
                parquet_set(p, column, text);
}

/* The one that its root's task has said, for @n_rows rows; NO_TEXT: none. */
static int find_trace_id(State *st, const Call *root, uint32_t n_rows, uint32_t *ret) {
        const TraceContext *c = export_context_of(&st->s, root);

        *ret = NO_TEXT;
        if (!c)
                return 0;
        return beside_text_for(st->beside, c->trace_id, TRACE_ID_CHARS, n_rows, ret);
}

static int write_row(State *st, Parquet *p, const PartsTree *t, size_t i) {
        const Row *rows = t->rows, *row = &rows[i];
        const Name *name = &st->names[row->name];
        const SessionMeta *m = st->s.info->meta;

        for (size_t k = 0; k <= KERNEL; k++)
                set_text(p, k, st->texts[k]);
        set_text(p, CGROUP, st->texts[CGROUP]);
        parquet_set(p, TREE, (int64_t) t->number);
        parquet_set(p, LEFT, (int64_t) i + 1);
        parquet_set(p, RIGHT, row->right);
        if (row->parent > 0)
                parquet_set(p, PARENT, row->parent);
        parquet_set(p, DEPTH, row->depth);
        parquet_set(p, PATH, (int64_t) row->path);
        if (row->parent > 0)
                parquet_set(p, CALLER_PATH, (int64_t) rows[row->parent - 1].path);
        if (m && clock_tuple_is_set(&m->start))
                parquet_set(p, START_UNIX_NS, (int64_t) session_meta_realtime_ns(m, row->start_ns));
        parquet_set(p, START_NS, (int64_t) row->start_ns);
        parquet_set(p, DURATION_NS, (int64_t) row->duration_ns);
        parquet_set(p, SELF_NS, (int64_t) row->self_ns);
        parquet_set(p, BLOCKED_NS, (int64_t) row->blocked_ns);
        parquet_set(p, IRQ_NS, (int64_t) row->irq_ns);
        if (row->has_cpu)
                parquet_set(p, CPU, row->cpu);
        if (t->pid >= 0)
                parquet_set(p, PID, t->pid);
        set_text(p, TASK, t->task);
        parquet_set(p, FUNCTION, name->function);
        if (row->parent > 0)
                parquet_set(p, CALLER, st->names[rows[row->parent - 1].name].function);
        set_text(p, MODULE, name->module);
        parquet_set(p, ROOT, st->names[rows[0].name].function);
        parquet_set(p, CUT, row->is_cut);
        if (row->has_retval)
                parquet_set(p, RETVAL, row->retval);
        set_text(p, ARGS, row->args);
        set_text(p, TRACE_ID, t->trace_id);
        parquet_set_double(p, WEIGHT, m ? sample_weight(m->spec.sample_ppm) : 1);
        if (unhooked_is_number(row->is_of->n_unhooked))
                parquet_set(p, NOT_HOOKED_BELOW, row->is_of->n_unhooked);
        return st->form->end_row(p);
}

/* Of Parts. */
static int write_rows(void *userdata, Parquet *p, const PartsTree *t) {
        State *st = userdata;
        int r = 0;

        for (size_t i = 0; i < t->n && r >= 0; i++) {
                r = write_row(st, p, t, i);
                if (i % RELAX_ROWS == RELAX_ROWS - 1)
                        spill_relax(t->spill);
        }
        return r;
}

static int write_waits(State *st, const Tree *t, const Call *call) {
        int r = 0;

        for (size_t i = 0; i < t->n_waits && r >= 0; i++)
                r = beside_wait(st->beside, &t->waits[i], st->n_trees, call->stack,
                                t->rows[t->waits[i].left - 1].is_of);
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
                        ?: find_trace_id(st, call, tree.n, &tree.trace_id);

        return r < 0 ? r
                     : parts_add(st->parts, st->names[t->rows[0].name].function,
                                 call->frame->function, &tree);
}

static int write_tree(State *st, Tree *t, const Call *call) {
        int r;

        st->n_trees++;
        r = st->beside_alone ? 0 : add_rows(st, t, call);
        if (r >= 0)
                r = write_waits(st, t, call);
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

/* Functions of another recording may be where those of the last one were. */
static void forget_source(State *st) {
        hash_clear(&st->names_at);
        st->n_names = 0;
        st->n_trees = 0;
        st->has_task = false;
}

static int new_parts(State *st) {
        static const uint32_t sorted[] = { TREE, LEFT };
        const PartsConfig config = {
                .state = &st->s,
                .form = st->form,
                .texts = st->texts_of_all,
                .columns = columns,
                .n_columns = ELEMENTSOF(columns),
                .sorted = sorted,
                .n_sorted = ELEMENTSOF(sorted),
                .row_bytes = sizeof(Row),
                .write = write_rows,
                .userdata = st,
        };

        return parts_new(&st->parts, &config);
}

static int init(State *st, Pairing *pairing, const Form *form, const char *beside_alone) {
        const ExportInfo *info = st->s.info;
        const SessionMeta *m = info->meta;
        int r = st->texts_of_all ? 0 : parquet_texts_new(&st->texts_of_all);

        st->form = form;
        st->beside_alone = beside_alone;
        forget_source(st);
        if (r >= 0 && !st->parts && !beside_alone)
                r = new_parts(st);
        if (r >= 0 && !st->beside)
                r = beside_new(&st->beside, &st->s, st->texts_of_all, form, beside_alone);
        if (r >= 0)
                r = note(st, HOST, info->host)
                            ?: note(st, MACHINE_ID, m ? m->machine_id : NULL)
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
        return init(userdata, pairing, &form_parquet, NULL);
}

static int init_tsv(void *userdata, Pairing *pairing) {
        return init(userdata, pairing, &form_tsv, NULL);
}

static int init_tsv_waits(void *userdata, Pairing *pairing) {
        return init(userdata, pairing, &form_tsv, "waits");
}

static int init_tsv_losses(void *userdata, Pairing *pairing) {
        return init(userdata, pairing, &form_tsv, "losses");
}

static int step(void *userdata, const Step *step) {
        State *st = userdata;

        return step->kind == STEP_LOST ? beside_loss(st->beside, step) : 0;
}

static int finish_files(State *st) {
        int r = st->parts ? parts_finish(st->parts) : 0;

        if (r >= 0)
                r = beside_finish(st->beside);
        st->parts = parts_free(st->parts);
        st->beside = beside_free(st->beside);
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
        parts_free(st->parts);
        beside_free(st->beside);
        parquet_texts_free(st->texts_of_all);
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

const Exporter exporter_tsv_waits = {
        .name = "tsv-waits",
        .summary = "when calls waited and who woke them, as text, for databases",
        .takes_many = true,
        .n_bytes = sizeof(State),
        .init = init_tsv_waits,
        .step = step,
        .end_source = end_source,
        .end = end,
        .done = done,
};

const Exporter exporter_tsv_losses = {
        .name = "tsv-losses",
        .summary = "where events were lost, as text, for databases",
        .takes_many = true,
        .n_bytes = sizeof(State),
        .init = init_tsv_losses,
        .step = step,
        .end_source = end_source,
        .end = end,
        .done = done,
};
