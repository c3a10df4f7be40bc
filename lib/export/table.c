/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls as the rows of a table, in three formats
 *
 *      csv       RFC 4180 with "\n": a heading, a line for each call; what there is no value for is empty; a ' is
 *                in front of a name that a spreadsheet would run, "=1+1"
 *      ndjson    for databases, which have 64-bit integers: an object a line, each of which says what
 *                recording it is of, so that lines of a whole fleet can be one table
 *      json      for whoever reads with a program whose numbers are doubles, exact only up to 2^53 (104
 *                days in nanoseconds): one object, in which times count from `begin_ns`, which is a
 *                text, and so is `retval`
 *
 * Rows come tree by tree in the order in which calls end; `id` counts them as they begin, and `parent`
 * is the id of the caller, so that trees can be put together again.  lib/export/calls.schema.json
 * describes them for others.
 */

#include "encode/escape.h"
#include "export/exporter.h"

typedef enum Format { CSV, JSON, NDJSON } Format;

/* What is known of a function: of its own row, of rows below it if it is a root, and what ends its own rows. */
typedef struct Name {
        uint32_t n_own, n_root, n_end;
        char text[];
} Name;

typedef struct Table {
        ExportState s;
        bool has_calls;
        Hash names; /* by function */
        Buf begin;  /* of a line */
        char comm[sizeof(((Stack *) 0)->comm)];
        const Owner *owner;
        Buf task; /* of that name, and that owner; empty: of none yet */
        Buf texts; /* of the row: what it has that most have not */
} Table;

#define NUMBERS_BYTES 1024 /* all of a row but its texts */

static void add_string(Buf *out, const char *text, size_t n) {
        if (!text) {
                buf_adds(out, "null");
                return;
        }
        buf_add(out, "\"", 1);
        escape_json(out, text, n);
        buf_add(out, "\"", 1);
}

static void add_member(Buf *out, const char *name, const char *text) {
        buf_printf(out, "\"%s\":", name);
        add_string(out, text, text ? strlen(text) : 0);
        buf_add(out, ",", 1);
}

/* With the comma before it. */
static void add_text(Buf *out, Format format, const char *name, const char *text, size_t n) {
        if (format == CSV) {
                buf_add(out, ",", 1);
                if (text)
                        escape_csv(out, text, n);
                return;
        }
        buf_printf(out, ",\"%s\":", name);
        add_string(out, text, n);
}

static _cold_ const Name *make_name(Table *t, Format format, const Function *f) {
        _cleanup_buf_ Buf text = BUF_INIT;
        _cleanup_free_ Name *name = NULL;
        size_t n_module, n_own, n_root;
        const char *module = function_module(f, &n_module);

        add_text(&text, format, "function", f->label, f->n_name);
        add_text(&text, format, "module", module, n_module);
        n_own = text.n_data;
        add_text(&text, format, "root", f->label, f->n_name);
        n_root = text.n_data - n_own;
        buf_adds(&text, format == CSV ? "," : ",\"not_hooked_below\":");
        if (unhooked_is_number(f->n_unhooked))
                escape_i64(&text, f->n_unhooked);
        else if (format != CSV)
                buf_adds(&text, "null");
        name = text.error < 0 ? NULL : malloc(sizeof(*name) + text.n_data);
        if (!name || hash_add_ptr(&t->names, hash_key(f), name) < 0)
                return NULL;
        *name = (Name){ (uint32_t) n_own, (uint32_t) n_root,
                        (uint32_t) (text.n_data - n_own - n_root) };
        memcpy(name->text, text.data, text.n_data);
        return TAKE_PTR(name);
}

/* NULL without memory. */
static inline const Name *name_of(Table *t, Format format, const Function *f) {
        return hash_get_ptr(&t->names, hash_key(f)) ?: make_name(t, format, f);
}

static void add_owner(Buf *out, Format format, const char *name, const char *text) {
        bool is_there = text && *text;

        add_text(out, format, name, is_there ? text : NULL, is_there ? strlen(text) : 0);
}

static _cold_ int make_task(Table *t, Format format, const char *comm, const Owner *owner) {
        bool has_tgid = owner && owner->tgid >= 0;

        memcpy(t->comm, comm, sizeof(t->comm));
        t->owner = owner;
        t->task.n_data = 0;
        add_text(&t->task, format, "task", comm[0] ? comm : NULL, strnlen(comm, sizeof(t->comm)));
        buf_adds(&t->task, format == CSV ? "," : ",\"tgid\":");
        if (has_tgid)
                escape_i64(&t->task, owner->tgid);
        else if (format != CSV)
                buf_adds(&t->task, "null");
        add_owner(&t->task, format, "user", owner_word(owner, OWNER_USER));
        add_owner(&t->task, format, "unit", owner_word(owner, OWNER_UNIT));
        add_owner(&t->task, format, "container", owner_word(owner, OWNER_CONTAINER));
        return t->task.error;
}

static void add_callers(Buf *out, Format format, const char *name, const Callers *c) {
        add_text(out, format, name, c ? callers_names(c) : NULL, c ? strlen(callers_names(c)) : 0);
}

static _cold_ int add_texts(Table *t, Format format, const Frame *frame) {
        const Object *o = frame->object;

        add_text(&t->texts, format, "what", o ? object_text(o) : NULL, o ? o->n_text : 0);
        add_callers(&t->texts, format, "callers", frame->callers);
        add_callers(&t->texts, format, "stack", frame->program);
        return t->texts.error;
}

/* With the comma before it.  A value that is not there is nothing in csv. */
#define BEGIN(p, name) (format == CSV ? APPEND((p), ",") : APPEND((p), ",\"" name "\":"))
#define NONE(p) (format == CSV ? (p) : APPEND((p), "null"))
#define ADD_U64(p, name, v) append_u64(BEGIN((p), name), (v))
#define ADD_I64(p, name, v) append_i64(BEGIN((p), name), (v))

/* Behind @begin, and in front of @end. */
static _always_inline_ int add_call(Table *t, Format format, const Call *call, const char *begin,
                                    size_t n_begin, const char *end, size_t n_end) {
        const Frame *frame = call->frame;
        const Stack *stack = call->stack;
        const Name *own = name_of(t, format, frame->function),
                   *root = name_of(t, format, frame->root);
        char *p, *from;
        int r = 0;

        if (_unlikely_(t->task.n_data == 0 || t->owner != frame->owner ||
                       memcmp(t->comm, stack->comm, sizeof(t->comm)) != 0))
                r = make_task(t, format, stack->comm, frame->owner);
        if (r < 0 || !own || !root)
                return -ENOMEM;
        t->texts.n_data = 0;
        if (_unlikely_(frame->object || frame->callers || frame->program))
                r = add_texts(t, format, frame);
        if (r < 0)
                return r;
        from = p = buf_reserve(t->s.out, n_begin + n_end + NUMBERS_BYTES + t->task.n_data +
                                                 t->texts.n_data + own->n_own + root->n_root +
                                                 own->n_end);
        if (!p)
                return t->s.out->error;
        p = append(p, begin, n_begin);
        if (format != CSV)
                p = APPEND(p, "\"id\":");
        p = append_u64(p, frame->number);
        p = frame->parent ? ADD_U64(p, "parent", frame->parent) : NONE(BEGIN(p, "parent"));
        if (format == CSV)
                p = ADD_U64(p, "start_ns", frame->start_ns);
        else
                p = ADD_I64(p, "start_ns",
                            (int64_t) (frame->start_ns - (format == JSON ? t->s.begin_ns : 0)));
        p = ADD_U64(p, "duration_ns", call->duration_ns);
        p = ADD_U64(p, "self_ns", call->self_ns);
        p = ADD_U64(p, "blocked_ns", frame->blocked_ns + call->blocked_ns);
        p = ADD_U64(p, "irq_ns", frame->irq_ns);
        p = call->has_end ? ADD_U64(p, "cpu", call->cpu) : NONE(BEGIN(p, "cpu"));
        p = stack->pid >= 0 ? ADD_I64(p, "pid", stack->pid) : NONE(BEGIN(p, "pid"));
        p = append(p, t->task.data, t->task.n_data);
        p = ADD_I64(p, "depth", frame->depth);
        p = append(p, own->text, own->n_own);
        p = append(p, root->text + root->n_own, root->n_root);
        p = BEGIN(p, "cut");
        if (format == CSV)
                *p++ = call->is_cut ? '1' : '0';
        else
                p = call->is_cut ? APPEND(p, "true") : APPEND(p, "false");
        p = BEGIN(p, "retval");
        if (!call->has_retval)
                p = NONE(p);
        else if (format == JSON) {
                *p++ = '"';
                p = append_i64(p, (int64_t) call->retval);
                *p++ = '"';
        } else
                p = append_i64(p, (int64_t) call->retval);
        p = t->texts.n_data > 0 ? append(p, t->texts.data, t->texts.n_data)
            : format == CSV     ? APPEND(p, ",,,")
                                : APPEND(p, ",\"what\":null,\"callers\":null,\"stack\":null");
        p = append(p, own->text + own->n_own + own->n_root, own->n_end);
        p = append(p, end, n_end);
        t->s.out->n_data += (size_t) (p - from);
        return 0;
}

static int table_init(void *userdata, Pairing *pairing) {
        Table *t = userdata;

        (void) pairing;
        t->begin = t->task = t->texts = BUF_INIT;
        return 0;
}

static void table_done(void *userdata) {
        Table *t = userdata;

        for (size_t i = 0; i < t->names.n_slots; i++)
                free((void *) (uintptr_t) t->names.slots[i].value);
        hash_done(&t->names);
        buf_done(&t->begin);
        buf_done(&t->task);
        buf_done(&t->texts);
}

static const char heading[] =
        "id,parent,start_ns,duration_ns,self_ns,blocked_ns,irq_ns,cpu,pid,task,tgid,user,unit,"
        "container,depth,function,module,root,cut,retval,what,callers,stack,not_hooked_below\n";

static int csv_begin(void *userdata) {
        buf_adds(((ExportState *) userdata)->out, heading);
        return 0;
}

static int csv_call(void *userdata, const Call *call) {
        return add_call(userdata, CSV, call, "", 0, "\n", 1);
}

static int ndjson_call(void *userdata, const Call *call) {
        Table *t = userdata;

        if (_unlikely_(t->begin.n_data == 0)) {
                buf_add(&t->begin, "{", 1);
                add_member(&t->begin, "recording", t->s.info->recording);
                add_member(&t->begin, "host", t->s.info->host);
        }
        return t->begin.error
                       ?: add_call(t, NDJSON, call, t->begin.data, t->begin.n_data, "}\n", 2);
}

static int json_begin(void *userdata) {
        const ExportState *s = userdata;

        buf_adds(s->out, "{\"format\":\"ftraced-calls\",\"version\":1,");
        add_member(s->out, "recording", s->info->recording);
        add_member(s->out, "host", s->info->host);
        add_member(s->out, "kernel", s->info->kernel);
        add_member(s->out, "filters", s->info->filters);
        buf_printf(s->out, "\"approximate_start\":%s,\"begin_ns\":\"%llu\",\"calls\":[",
                   s->info->is_timeless ? "true" : "false", (unsigned long long) s->begin_ns);
        return 0;
}

static int json_call(void *userdata, const Call *call) {
        Table *t = userdata;
        bool had_calls = TAKE(t->has_calls, true);

        return add_call(t, JSON, call, had_calls ? ",\n{" : "\n{", 2 + (size_t) had_calls, "}", 1);
}

static int json_end(void *userdata) {
        const ExportState *s = userdata;

        buf_printf(s->out, "\n],\"losses\":%llu,\"events_lost\":%llu}\n",
                   (unsigned long long) s->n_losses, (unsigned long long) s->n_lost);
        return 0;
}

const Exporter exporter_csv = {
        .name = "csv",
        .summary = "a table of calls, a line each",
        .n_bytes = sizeof(Table),
        .call = csv_call,
        .begin = csv_begin,
        .init = table_init,
        .done = table_done,
};

const Exporter exporter_json = {
        .name = "json",
        .summary = "calls as one JSON object, its numbers exact as doubles",
        .n_bytes = sizeof(Table),
        .call = json_call,
        .begin = json_begin,
        .end = json_end,
        .init = table_init,
        .done = table_done,
};

const Exporter exporter_ndjson = {
        .name = "ndjson",
        .summary = "calls as JSON, an object a line, for databases",
        .n_bytes = sizeof(Table),
        .call = ndjson_call,
        .init = table_init,
        .done = table_done,
};
