/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A lines file is unpacked at once; of each function the calls are read when it is asked for.
 */

#include <zstd.h>

#include "lines/lines-private.h"

#define MAGIC "ftlines\1"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
#define ZSTD_LEVEL 15
#define FRAMES_MAX 256

enum { /* of a symbol */
       FILE_IS_TRACED = 1 << 0,
       FILE_HAS_DEFINITION = 1 << 1,
       FILE_HAS_CALLS = 1 << 2,
};

enum { /* of a call */
       FILE_IS_JUMP = 1 << 0,
       FILE_IS_STATIC = 1 << 1,
};

enum { /* of calls */
       FILE_IS_TORN = 1 << 0,
};

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct FileSymbol {
        const char *file;
        size_t calls_at;
        uint32_t n_calls_bytes;
        uint32_t line;
        uint8_t flags;
} FileSymbol;

typedef struct FileObject {
        const char *module, *build_id; /* "": the kernel, not known */
        CodeSymbol *symbols;
        FileSymbol *more; /* of each */
        size_t n;
} FileObject;

struct LinesFile {
        uint8_t *data;
        size_t n_data;
        const char **strings;
        size_t n_strings;
        char *text; /* what they are in */
        const char *release, *machine;
        FileObject *objects;
        size_t n_objects;
};

/* What is read, up to its end; what would be behind it is 0. */
typedef struct Reader {
        const LinesFile *file;
        const uint8_t *at, *end;
        bool is_bad;
} Reader;

static uint64_t read_number(Reader *r) {
        uint64_t v = 0;

        for (unsigned shift = 0; r->at < r->end && shift < 64; shift += 7) {
                uint8_t c = *r->at++;

                v |= (uint64_t) (c & 0x7f) << shift;
                if (!(c & 0x80))
                        return v;
        }
        r->is_bad = true;
        return 0;
}

static uint32_t read_u32(Reader *r) {
        uint64_t v = read_number(r);

        if (v > UINT32_MAX)
                r->is_bad = true;
        return r->is_bad ? 0 : (uint32_t) v;
}

static int64_t read_signed(Reader *r) {
        uint64_t v = read_number(r);

        return (int64_t) (v >> 1) ^ -(int64_t) (v & 1);
}

/* How many follow, each of @n_least bytes at least. */
static size_t read_count(Reader *r, size_t n_least) {
        uint64_t n = read_number(r);

        if (n > (size_t) (r->end - r->at) / n_least || n >= INT32_MAX)
                r->is_bad = true;
        return r->is_bad ? 0 : (size_t) n;
}

static const char *string_at(Reader *r, uint64_t n) {
        if (n < r->file->n_strings)
                return r->file->strings[n];
        r->is_bad = true;
        return "";
}

static const char *read_string(Reader *r) {
        return string_at(r, read_number(r));
}

/* NULL for 0. */
static const char *read_string_or_none(Reader *r) {
        uint64_t n = read_number(r);

        return n > 0 ? string_at(r, n - 1) : NULL;
}

static int read_strings(LinesFile *f, Reader *r) {
        size_t n = read_count(r, 1), n_text = 0;

        f->strings = calloc(n + 1, sizeof(*f->strings));
        f->text = malloc((size_t) (r->end - r->at) + n + 1);
        if (!f->strings || !f->text)
                return -ENOMEM;
        for (size_t i = 0; i < n && !r->is_bad; i++) {
                size_t n_bytes = read_count(r, 1);

                f->strings[i] = f->text + n_text;
                memcpy(f->text + n_text, r->at, n_bytes);
                r->at += n_bytes;
                n_text += n_bytes;
                f->text[n_text++] = '\0';
        }
        f->n_strings = r->is_bad ? 0 : n;
        return 0;
}

static int read_object(LinesFile *f, Reader *r, size_t *calls_at) {
        FileObject o = { .module = read_string(r), .build_id = read_string(r) };
        uint64_t address = 0;
        size_t n = read_count(r, 4);

        o.symbols = calloc(n + 1, sizeof(*o.symbols));
        o.more = calloc(n + 1, sizeof(*o.more));
        if (!o.symbols || !o.more || !ARRAY_ADD(f->objects, f->n_objects, o)) {
                free(o.symbols);
                free(o.more);
                return -ENOMEM;
        }
        for (; o.n < n && !r->is_bad; o.n++) {
                FileSymbol *more = &o.more[o.n];

                o.symbols[o.n].name = read_string(r);
                address += read_number(r);
                o.symbols[o.n].address = address;
                o.symbols[o.n].n_bytes = read_number(r);
                more->flags = (uint8_t) read_u32(r);
                if (more->flags & FILE_HAS_DEFINITION) {
                        more->file = read_string(r);
                        more->line = read_u32(r);
                }
                if (more->flags & FILE_HAS_CALLS) {
                        more->n_calls_bytes = read_u32(r);
                        more->calls_at = *calls_at;
                        *calls_at += more->n_calls_bytes;
                }
        }
        f->objects[f->n_objects - 1].n = n;
        return 0;
}

static int read_body(LinesFile *f) {
        Reader r = { .file = f, .at = f->data, .end = f->data + f->n_data };
        size_t calls_at = 0, n;
        int e = read_strings(f, &r);

        if (e < 0)
                return e;
        f->machine = read_string(&r);
        f->release = read_string(&r);
        n = read_count(&r, 3);
        for (size_t i = 0; i < n && !r.is_bad && e >= 0; i++)
                e = read_object(f, &r, &calls_at);
        if (e < 0)
                return e;
        if (r.is_bad || calls_at != (size_t) (r.end - r.at))
                return LINES_E_NONE;
        for (size_t i = 0; i < f->n_objects; i++)
                for (size_t k = 0; k < f->objects[i].n; k++)
                        f->objects[i].more[k].calls_at += (size_t) (r.at - f->data);
        return 0;
}

bool lines_file_is(const void *data, size_t n) {
        return n >= MAGIC_BYTES && memcmp(data, MAGIC, MAGIC_BYTES - 1) == 0;
}

int lines_file_open(LinesFile **ret, const void *data, size_t n, const char **ret_problem) {
        _cleanup_(lines_file_freep) LinesFile *f = NEW(LinesFile, .data = NULL);
        const char *packed = (const char *) data + MAGIC_BYTES;
        unsigned long long n_data;
        int r;

        if (!f)
                return -ENOMEM;
        *ret_problem = "is no lines file, or of another version";
        if (n < MAGIC_BYTES || memcmp(data, MAGIC, MAGIC_BYTES) != 0)
                return LINES_E_NONE;
        *ret_problem = "is a damaged lines file";
        n_data = ZSTD_getFrameContentSize(packed, n - MAGIC_BYTES);
        if (n_data > LINES_FILE_MAX) /* nor unknown, nor an error */
                return LINES_E_NONE;
        f->data = malloc((size_t) n_data + 1);
        if (!f->data)
                return -ENOMEM;
        f->n_data = (size_t) n_data;
        if (ZSTD_decompress(f->data, f->n_data, packed, n - MAGIC_BYTES) != f->n_data)
                return LINES_E_NONE;
        r = read_body(f);
        if (r == 0)
                *ret = TAKE_PTR(f);
        return r;
}

LinesFile *lines_file_free(LinesFile *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; i < f->n_objects; i++) {
                free(f->objects[i].symbols);
                free(f->objects[i].more);
        }
        free(f->objects);
        free(f->strings);
        free(f->text);
        free(f->data);
        return mfree(f);
}

const char *lines_file_release(const LinesFile *f) {
        return f->release;
}

const char *lines_file_machine(const LinesFile *f) {
        return *f->machine ? f->machine : NULL;
}

int lines_file_find(const LinesFile *f, const char *module) {
        for (size_t i = 0; i < f->n_objects; i++)
                if (streq(f->objects[i].module, module ?: ""))
                        return (int) i;
        return -1;
}

const char *lines_file_build_id(const LinesFile *f, int object) {
        const char *id = f->objects[object].build_id;

        return *id ? id : NULL;
}

int lines_file_symbols(const LinesFile *f, int object, CodeSymbols *ret) {
        const FileObject *o = &f->objects[object];

        ret->items = malloc((o->n + 1) * sizeof(*ret->items));
        if (!ret->items)
                return -ENOMEM;
        memcpy(ret->items, o->symbols, o->n * sizeof(*ret->items));
        ret->n = o->n;
        return code_symbols_index(ret);
}

bool lines_file_definition(const LinesFile *f, int object, uint32_t symbol, LineFrame *ret) {
        const FileObject *o = &f->objects[object];
        const FileSymbol *more = &o->more[symbol];

        if (!(more->flags & FILE_HAS_DEFINITION))
                return false;
        *ret = (LineFrame){ .function = o->symbols[symbol].name,
                            .file = more->file,
                            .line = more->line };
        return true;
}

bool lines_file_is_traced(const LinesFile *f, int object, uint32_t symbol) {
        return f->objects[object].more[symbol].flags & FILE_IS_TRACED;
}

static int read_frames(Reader *r, LinesNode *node) {
        size_t n = read_count(r, 3);

        if (n > FRAMES_MAX)
                r->is_bad = true;
        node->frames = calloc(r->is_bad ? 1 : n + 1, sizeof(*node->frames));
        if (!node->frames)
                return -ENOMEM;
        for (size_t i = 0; i < n && !r->is_bad; i++) {
                LineFrame *frame = &node->frames[node->n_frames++];

                frame->function = read_string(r);
                frame->file = read_string_or_none(r);
                frame->line = read_u32(r);
        }
        r->is_bad |= n == 0;
        node->is_resolved = true;
        return 0;
}

static int read_calls(Reader *r, LinesCaller *c, uint64_t address, size_t n_symbols) {
        size_t n = read_count(r, 6), n_nexts = 0;
        int64_t at = 0;
        int e = 0;

        c->is_torn = read_u32(r) & FILE_IS_TORN;
        c->nodes = calloc(n + 1, sizeof(*c->nodes));
        c->begins = calloc(n + 2, sizeof(*c->begins));
        if (!c->nodes || !c->begins)
                return -ENOMEM;
        for (; c->n_nodes < n && !r->is_bad && e >= 0; c->n_nodes++) {
                LinesNode *node = &c->nodes[c->n_nodes];
                uint32_t flags, target;

                address += (uint64_t) read_signed(r);
                node->address = address;
                flags = read_u32(r);
                node->is_jump = flags & FILE_IS_JUMP;
                node->is_static = flags & FILE_IS_STATIC;
                target = read_u32(r);
                node->target = target > 0 ? target - 1 : NO_SYMBOL;
                r->is_bad |= target > n_symbols;
                node->name = read_string_or_none(r);
                e = read_frames(r, node);
        }
        for (size_t i = 0; i <= n && !r->is_bad && e >= 0; i++) {
                size_t n_next = read_count(r, 1);

                c->begins[i] = (uint32_t) n_nexts;
                for (size_t k = 0; k < n_next && !r->is_bad; k++) {
                        at += read_signed(r);
                        r->is_bad |= at < 0 || at >= (int64_t) n;
                        if (!ARRAY_ADD(c->nexts, n_nexts, (uint32_t) at))
                                return -ENOMEM;
                }
                c->begins[i + 1] = (uint32_t) n_nexts;
        }
        r->is_bad |= r->at != r->end;
        return e;
}

int lines_file_caller(const LinesFile *f, int object, uint32_t symbol, LinesCaller **ret) {
        _cleanup_(lines_caller_freep) LinesCaller *c = NULL;
        const FileObject *o = &f->objects[object];
        const FileSymbol *more = &o->more[symbol];
        Reader r = { .file = f,
                     .at = f->data + more->calls_at,
                     .end = f->data + more->calls_at + more->n_calls_bytes };
        int e;

        if (!(more->flags & FILE_HAS_CALLS))
                return 0;
        c = NEW(LinesCaller, .n_nodes = 0);
        if (!c)
                return -ENOMEM;
        e = read_calls(&r, c, o->symbols[symbol].address, o->n);
        if (e < 0)
                return e;
        if (r.is_bad)
                return ORIGIN(-EBADMSG);
        *ret = TAKE_PTR(c);
        return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef struct Writer {
        Lines *l;
        Buf strings, head, calls;
        Hash known; /* of strings */
        const char **texts;
        size_t n_strings;
        uint32_t *numbers; /* of the symbols of an object in the file, plus 1 */
} Writer;

static void add_signed(Buf *out, int64_t v) {
        buf_add_varint(out, (uint64_t) v << 1 ^ (uint64_t) (v >> 63));
}

/* The number of @s. */
static uint64_t string_of(Writer *w, const char *s) {
        size_t n = strlen(s);
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, s, n);
        const HashSlot *slot;

        hash_each (slot, &w->known, key)
                if (streq(w->texts[slot->value - 1], s))
                        return slot->value - 1;
        if (!ARRAY_ADD(w->texts, w->n_strings, s) || hash_add(&w->known, key, w->n_strings) < 0) {
                w->strings.error = w->strings.error ?: -ENOMEM;
                return 0;
        }
        buf_add_varint(&w->strings, n);
        buf_add(&w->strings, s, n);
        return w->n_strings - 1;
}

static void add_string(Writer *w, Buf *out, const char *s) {
        buf_add_varint(out, string_of(w, s));
}

static void add_string_or_none(Writer *w, Buf *out, const char *s) {
        buf_add_varint(out, s ? string_of(w, s) + 1 : 0);
}

static void add_nexts(Buf *out, const LinesCaller *c) {
        int64_t before = 0;

        for (uint32_t i = 0; i <= c->n_nodes; i++) {
                buf_add_varint(out, c->begins[i + 1] - c->begins[i]);
                for (uint32_t k = c->begins[i]; k < c->begins[i + 1]; k++) {
                        add_signed(out, (int64_t) c->nexts[k] - before);
                        before = c->nexts[k];
                }
        }
}

/* How many bytes @c takes behind what is there. */
static int add_calls(Writer *w, LinesObject *o, uint32_t symbol, LinesCaller *c, size_t *ret_n) {
        Buf *out = &w->calls;
        uint64_t address = o->symbols.items[symbol].address;
        size_t n_before = out->n_data;

        buf_add_varint(out, c->n_nodes);
        buf_add_varint(out, c->is_torn ? FILE_IS_TORN : 0);
        for (uint32_t i = 0; i < c->n_nodes; i++) {
                LinesNode *node = &c->nodes[i];
                int r = object_frames(o, symbol, node);

                if (r < 0)
                        return r;
                add_signed(out, (int64_t) (node->address - address));
                address = node->address;
                buf_add_varint(out, (node->is_jump ? FILE_IS_JUMP : 0U) |
                                            (node->is_static ? FILE_IS_STATIC : 0U));
                buf_add_varint(out, node->target != NO_SYMBOL ? w->numbers[node->target] : 0);
                add_string_or_none(w, out, node->name);
                buf_add_varint(out, node->n_frames);
                for (uint32_t k = 0; k < node->n_frames; k++) {
                        add_string(w, out, node->frames[k].function);
                        add_string_or_none(w, out, node->frames[k].file);
                        buf_add_varint(out, node->frames[k].line);
                }
        }
        add_nexts(out, c);
        *ret_n = out->n_data - n_before;
        return out->error;
}

/* Which symbols of @o are in the file: those that were asked for, what they call, and all of one address. */
static int choose(Writer *w, LinesObject *o, bool is_whole) {
        uint32_t n = 0;

        free(w->numbers);
        w->numbers = calloc(o->symbols.n + 1, sizeof(*w->numbers));
        if (!w->numbers)
                return -ENOMEM;
        for (uint32_t i = 0; i < o->symbols.n; i++) {
                LinesCaller *c;
                int r;

                if (is_whole)
                        o->marks[i] |= OBJECT_IS_WANTED;
                if (!(o->marks[i] & OBJECT_IS_WANTED))
                        continue;
                w->numbers[i] = 1;
                r = object_caller(o, i, &c);
                if (r < 0)
                        return r;
                for (uint32_t k = 0; c && k < c->n_nodes; k++)
                        if (c->nodes[k].target != NO_SYMBOL)
                                w->numbers[c->nodes[k].target] = 1;
        }
        /* A name that several have is known by its address alone: all of them, so that it is seen. */
        for (uint32_t i = 0; i < o->symbols.n && !is_whole; i++) {
                const char *name = o->symbols.items[i].name;
                const HashSlot *slot;

                if (!(o->marks[i] & OBJECT_IS_WANTED))
                        continue;
                hash_each (slot, &o->symbols.names,
                           hash_bytes(HASH_BYTES_FIRST, name, strlen(name)))
                        if (streq(o->symbols.items[slot->value - 1].name, name))
                                w->numbers[slot->value - 1] = 1;
        }
        for (uint32_t i = 0; i < o->symbols.n; i++)
                if (w->numbers[i])
                        w->numbers[i] = ++n;
        buf_add_varint(&w->head, n);
        return 0;
}

static int add_object(Writer *w, LinesObject *o, bool is_whole) {
        uint64_t address = 0;
        int r;

        add_string(w, &w->head, o->module ?: "");
        add_string(w, &w->head, o->build_id ?: "");
        r = choose(w, o, is_whole);
        for (uint32_t i = 0; i < o->symbols.n && r >= 0; i++) {
                const CodeSymbol *s = &o->symbols.items[i];
                LinesCaller *c = NULL;
                LineFrame definition;
                bool has_definition;
                size_t n_calls;

                if (!w->numbers[i])
                        continue;
                if (o->marks[i] & OBJECT_IS_WANTED)
                        r = object_caller(o, i, &c);
                if (r >= 0 && c)
                        r = add_calls(w, o, i, c, &n_calls);
                if (r < 0)
                        break;
                has_definition =
                        o->marks[i] & OBJECT_IS_WANTED && object_definition(o, i, &definition);
                add_string(w, &w->head, s->name);
                buf_add_varint(&w->head, s->address - address);
                address = s->address;
                buf_add_varint(&w->head, s->n_bytes);
                buf_add_varint(&w->head, (object_is_traced(o, i) ? FILE_IS_TRACED : 0U) |
                                                 (has_definition ? FILE_HAS_DEFINITION : 0U) |
                                                 (c ? FILE_HAS_CALLS : 0U));
                if (has_definition) {
                        add_string(w, &w->head, definition.file);
                        buf_add_varint(&w->head, definition.line);
                }
                if (c)
                        buf_add_varint(&w->head, n_calls);
        }
        return r;
}

static int add_packed(Buf *out, const Buf *body) {
        size_t n_room = ZSTD_compressBound(body->n_data), n;
        char *p;

        buf_add(out, MAGIC, MAGIC_BYTES);
        p = buf_reserve(out, n_room);
        if (!p)
                return out->error;
        n = ZSTD_compress(p, n_room, body->data, body->n_data, ZSTD_LEVEL);
        if (ZSTD_isError(n))
                return -ENOMEM;
        buf_advance(out, n, false);
        return out->error;
}

static void writer_done(Writer *w) {
        buf_done(&w->strings);
        buf_done(&w->head);
        buf_done(&w->calls);
        hash_done(&w->known);
        free(w->texts);
        free(w->numbers);
}

int lines_write(Lines *l, bool is_whole, Buf *out) {
        _cleanup_(writer_done)
                Writer w = { .l = l, .strings = BUF_INIT, .head = BUF_INIT, .calls = BUF_INIT };
        _cleanup_buf_ Buf body = BUF_INIT;
        const LinesObject *kernel = l->objects[0];
        uint32_t n_objects = 0;
        int r = 0;

        add_string(&w, &w.head,
                   l->recording.machine
                           ?: kernel->image ? image_machine(kernel->image) ?: ""
                                            : "");
        add_string(&w, &w.head, l->recording.release ?: "");
        for (size_t i = 0; i < l->n_objects; i++)
                n_objects += l->objects[i]->origin != NULL;
        buf_add_varint(&w.head, n_objects);
        for (size_t i = 0; i < l->n_objects && r >= 0; i++)
                if (l->objects[i]->origin)
                        r = add_object(&w, l->objects[i], is_whole);
        if (r < 0)
                return r;
        buf_add_varint(&body, w.n_strings);
        buf_add(&body, w.strings.data, w.strings.n_data);
        buf_add(&body, w.head.data, w.head.n_data);
        buf_add(&body, w.calls.data, w.calls.n_data);
        return w.strings.error ?: w.head.error ?: w.calls.error ?: body.error ?: add_packed(out, &body);
}
