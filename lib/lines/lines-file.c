/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A lines file is unpacked at once; of each function the calls are read when it is asked for.
 */

#include <zstd.h>

#include "lines/lines-private.h"

#define FRAMES_MAX 256

/* --- reading ---------------------------------------------------------------------------------- */

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

/* How many follow, each of @n_least bytes at least; no more than @n_max. */
static size_t read_count(Reader *r, size_t n_least, size_t n_max) {
        uint64_t n = read_number(r);

        if (n > (size_t) (r->end - r->at) / n_least || n > n_max)
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
        size_t n = read_count(r, 1, FILE_STRINGS_MAX);

        f->strings = calloc(n + 1, sizeof(*f->strings));
        if (!f->strings)
                return -ENOMEM;
        for (size_t i = 0; i < n && !r->is_bad; i++) {
                const uint8_t *end = memchr(r->at, 0, (size_t) (r->end - r->at));

                f->strings[i] = (const char *) r->at;
                if (end && end - r->at <= FILE_STRING_MAX)
                        r->at = end + 1;
                else
                        r->is_bad = true;
        }
        f->n_strings = r->is_bad ? 0 : n;
        return 0;
}

static int read_object(LinesFile *f, Reader *r, size_t *calls_at) {
        FileObject o = { .module = read_string(r), .build_id = read_string(r) };
        uint64_t address = 0;
        size_t n = read_count(r, 4, FILE_SYMBOLS_MAX - f->n_symbols);

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
        f->n_symbols += n;
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
        n = read_count(&r, 3, FILE_OBJECTS_MAX);
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

int lines_file_open(LinesFile **ret, const void *data, size_t n, const char **ret_problem) {
        _cleanup_(lines_file_freep) LinesFile *f = NEW(LinesFile, .data = NULL);
        const char *packed = (const char *) data + LINES_FILE_MAGIC_BYTES;
        unsigned long long n_data;
        int r;

        if (!f)
                return -ENOMEM;
        *ret_problem = "is no lines file, or of another version";
        if (n < LINES_FILE_MAGIC_BYTES ||
            memcmp(data, LINES_FILE_MAGIC, LINES_FILE_MAGIC_BYTES) != 0)
                return LINES_E_NONE;
        *ret_problem = "is a damaged lines file";
        n_data = ZSTD_getFrameContentSize(packed, n - LINES_FILE_MAGIC_BYTES);
        if (n_data > LINES_FILE_MAX || /* nor unknown, nor an error */
            n_data > MAX(n * LINES_FILE_RATIO_MAX, LINES_FILE_SMALL))
                return LINES_E_NONE;
        f->data = malloc_huge((size_t) n_data + 1);
        if (!f->data)
                return -ENOMEM;
        f->n_data = (size_t) n_data;
        if (ZSTD_decompress(f->data, f->n_data, packed, n - LINES_FILE_MAGIC_BYTES) != f->n_data)
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
        free(f->data);
        return mfree(f);
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

static int read_frames(Reader *r, LinesNode *node) {
        size_t n = read_count(r, 3, FRAMES_MAX);

        node->frames = calloc(n + 1, sizeof(*node->frames));
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
        size_t n = read_count(r, 6, FILE_CALLS_MAX), n_nexts = 0;
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
                size_t n_next = read_count(r, 1, n + 1);

                c->begins[i] = (uint32_t) n_nexts;
                for (size_t k = 0; k < n_next && !r->is_bad; k++) {
                        at += read_signed(r);
                        r->is_bad |= at < 0 || at > (int64_t) n;
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
