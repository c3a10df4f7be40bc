/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What is written of a caller are the calls of functions that are in the file, and those of pointers.  The others are
 * gone past.
 */

#include <zstd.h>

#include "lines/lines-private.h"

#define ZSTD_LEVEL 15

typedef struct Writer {
        Lines *l;
        Buf strings, head, calls;
        Hash known; /* of strings */
        const char **texts;
        size_t n_strings, n_symbols;
        uint32_t *numbers; /* of the symbols of an object in the file, plus 1 */
} Writer;

static void add_signed(Buf *out, int64_t v) {
        buf_add_varint(out, (uint64_t) v << 1 ^ (uint64_t) (v >> 63));
}

/* The number of @s, of which what is too long is cut off. */
static uint64_t string_of(Writer *w, const char *s) {
        size_t n = strnlen(s, FILE_STRING_MAX);
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, s, n);
        const HashSlot *slot;

        hash_each (slot, &w->known, key)
                if (strncmp(w->texts[slot->value - 1], s, FILE_STRING_MAX) == 0)
                        return slot->value - 1;
        if (!ARRAY_ADD(w->texts, w->n_strings, s) || hash_add(&w->known, key, w->n_strings) < 0) {
                w->strings.error = w->strings.error ?: -ENOMEM;
                return 0;
        }
        buf_add(&w->strings, s, n);
        buf_add(&w->strings, "", 1);
        return w->n_strings - 1;
}

static void add_string(Writer *w, Buf *out, const char *s) {
        buf_add_varint(out, string_of(w, s));
}

static void add_string_or_none(Writer *w, Buf *out, const char *s) {
        buf_add_varint(out, s ? string_of(w, s) + 1 : 0);
}

/* Whether the call is in the file: what calls a symbol that is not there tells nothing. */
static bool is_kept(const Writer *w, const LinesNode *node) {
        return node->target == NO_SYMBOL || w->numbers[node->target] > 0;
}

/* What can be met next in the file, of each call in it and the beginning: past those that are not there. */
static int add_nexts(Writer *w, const LinesCaller *c) {
        _cleanup_free_ uint32_t *numbers = calloc((size_t) c->n_nodes + 1, sizeof(*numbers));
        _cleanup_free_ uint32_t *stack = calloc((size_t) c->n_nodes + 1, sizeof(*stack));
        _cleanup_free_ uint32_t *seen = calloc((size_t) c->n_nodes + 1, sizeof(*seen));
        _cleanup_buf_ Buf nexts = BUF_INIT;
        int64_t before = 0;
        uint32_t n_kept = 0;

        if (!numbers || !stack || !seen)
                return -ENOMEM;
        for (uint32_t i = 0; i < c->n_nodes; i++)
                numbers[i] = is_kept(w, &c->nodes[i]) ? n_kept++ : NO_SYMBOL;
        numbers[c->n_nodes] = n_kept;
        for (uint32_t i = 0; i <= c->n_nodes; i++) {
                uint32_t n = 0, n_next = 0, at = i;

                if (numbers[i] == NO_SYMBOL)
                        continue;
                do {
                        for (uint32_t k = c->begins[at]; k < c->begins[at + 1]; k++) {
                                uint32_t next = c->nexts[k];

                                if (seen[next] == i + 1)
                                        continue;
                                seen[next] = i + 1;
                                if (numbers[next] == NO_SYMBOL) {
                                        stack[n++] = next;
                                        continue;
                                }
                                add_signed(&nexts, (int64_t) numbers[next] - before);
                                before = numbers[next];
                                n_next++;
                        }
                } while (n > 0 && (at = stack[--n], true));
                buf_add_varint(&w->calls, n_next);
                buf_add(&w->calls, nexts.data, nexts.n_data);
                nexts.n_data = 0;
        }
        return nexts.error;
}

/* How many bytes @c takes behind what is there. */
static int add_calls(Writer *w, LinesObject *o, uint32_t symbol, LinesCaller *c, size_t *ret_n) {
        Buf *out = &w->calls;
        uint64_t address = o->symbols.items[symbol].address;
        size_t n_before = out->n_data;
        uint32_t n_kept = 0;
        int r = 0;

        for (uint32_t i = 0; i < c->n_nodes; i++)
                n_kept += is_kept(w, &c->nodes[i]);
        buf_add_varint(out, n_kept);
        buf_add_varint(out, c->is_torn ? FILE_IS_TORN : 0);
        for (uint32_t i = 0; i < c->n_nodes && r >= 0; i++) {
                LinesNode *node = &c->nodes[i];

                if (!is_kept(w, node))
                        continue;
                r = object_frames(o, symbol, node);
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
        if (r >= 0)
                r = add_nexts(w, c);
        *ret_n = out->n_data - n_before;
        return r < 0 ? r : out->error;
}

/* Which symbols of @o are in the file: those that were asked for, and what has the name or the address of one. */
static int choose(Writer *w, LinesObject *o, bool is_whole) {
        const CodeSymbol *items = o->symbols.items;
        uint32_t n = 0;

        free(w->numbers);
        w->numbers = calloc(o->symbols.n + 1, sizeof(*w->numbers));
        if (!w->numbers)
                return -ENOMEM;
        for (uint32_t i = 0; i < o->symbols.n; i++) {
                const HashSlot *slot;

                if (is_whole)
                        o->marks[i] |= OBJECT_IS_WANTED;
                if (!(o->marks[i] & OBJECT_IS_WANTED))
                        continue;
                for (uint32_t k = code_symbols_at(&o->symbols, items[i].address);
                     k < o->symbols.n && items[k].address == items[i].address; k++)
                        w->numbers[k] = 1;
                hash_each (slot, &o->symbols.names,
                           hash_bytes(HASH_BYTES_FIRST, items[i].name, strlen(items[i].name)))
                        if (streq(items[slot->value - 1].name, items[i].name))
                                w->numbers[slot->value - 1] = 1;
        }
        for (uint32_t i = 0; i < o->symbols.n; i++)
                if (w->numbers[i])
                        w->numbers[i] = ++n;
        buf_add_varint(&w->head, n);
        w->n_symbols += n;
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
                size_t n_calls = 0;

                if (!w->numbers[i])
                        continue;
                if (is_whole || o->marks[i] & OBJECT_HAS_CALLER)
                        r = object_caller(o, i, &c);
                if (r >= 0 && c && c->n_nodes > FILE_CALLS_MAX)
                        c = NULL; /* they are not known, then */
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
                                                 (object_is_pointed(o, i) ? FILE_IS_POINTED : 0U) |
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

        buf_add(out, LINES_FILE_MAGIC, LINES_FILE_MAGIC_BYTES);
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
        const char *machine, *release;
        uint32_t n_objects = 0;
        int r = 0;

        machine = kernel->image ? image_machine(kernel->image) : lines_file_machine(kernel->file);
        release = kernel->file ? kernel->file->release : "";
        add_string(&w, &w.head, l->recording.machine ?: machine ?: "");
        add_string(&w, &w.head, l->recording.release ?: release);
        for (size_t i = 0; i < l->n_objects; i++)
                n_objects += l->objects[i]->origin != NULL;
        buf_add_varint(&w.head, n_objects);
        for (size_t i = 0; i < l->n_objects && r >= 0; i++)
                if (l->objects[i]->origin)
                        r = add_object(&w, l->objects[i], is_whole);
        if (r < 0)
                return r;
        if (w.n_strings > FILE_STRINGS_MAX || n_objects > FILE_OBJECTS_MAX ||
            w.n_symbols > FILE_SYMBOLS_MAX ||
            w.strings.n_data + w.head.n_data + w.calls.n_data > LINES_FILE_MAX - 16)
                return ORIGIN(-EFBIG);
        buf_add_varint(&body, w.n_strings);
        buf_add(&body, w.strings.data, w.strings.n_data);
        buf_add(&body, w.head.data, w.head.n_data);
        buf_add(&body, w.calls.data, w.calls.n_data);
        return w.strings.error ?: w.head.error ?: w.calls.error ?: body.error ?: add_packed(out, &body);
}
