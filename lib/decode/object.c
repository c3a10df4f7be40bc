/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fields are written one behind the other, and what turns out to say nothing is taken back. */

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

#include "decode/object.h"

#define TEXT_MAX 16384 /* more than a record of a page can say; fields beyond are left out */
#define PARTS_MAX 8
#define ANY_FAMILY UINT64_MAX

typedef struct Piece {
        const char *s;
        size_t n;
} Piece;

static bool is_piece(const Piece *p, const char *s) {
        return p->n == strlen(s) && memcmp(p->s, s, p->n) == 0;
}

static bool was_read(const Piece *p) {
        return p->n > 0 && !is_piece(p, "(fault)");
}

/* @n pieces, each behind @before; in quotes if its end could be doubted. */
static void add_text(Buf *out, const char *before, const Piece *pieces, size_t n) {
        bool is_quoted = false;

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < pieces[i].n; k++)
                        is_quoted |= strchr(" ,;=(){}\"", pieces[i].s[k]) != NULL;
        buf_adds(out, is_quoted ? "\"" : "");
        for (size_t i = n; i-- > 0;) {
                const char *s = pieces[i].s, *end = s + pieces[i].n, *quote;

                buf_adds(out, i < n - 1 ? "/" : before);
                for (; (quote = memchr(s, '"', (size_t) (end - s))); s = quote + 1) {
                        buf_add_plain(out, s, (size_t) (quote - s), PLAIN_WORD);
                        buf_adds(out, "\\x22");
                }
                buf_add_plain(out, s, (size_t) (end - s), PLAIN_WORD);
        }
        buf_adds(out, is_quoted ? "\"" : "");
}

/* From the part at @field on, the innermost. */
static bool add_path(Buf *out, const ProbeField *field, const ProbeField *end,
                     const Formats *formats, const Event *e) {
        Piece pieces[PARTS_MAX];
        bool is_whole = false, is_its_own = false;
        size_t n = 0;

        for (const ProbeField *f = field; f < end && n < PARTS_MAX && f->kind == PROBE_PATH &&
                                          f->part == n && streq(f->name, field->name);
             f++, n++) {
                pieces[n].s = formats_probe_bytes(f, formats, e, &pieces[n].n);
                is_whole = is_piece(&pieces[n], "/");
                if (is_whole || !was_read(&pieces[n]))
                        break;
        }
        /* What is in no directory is its own: sockets, events. */
        while (!is_whole && n > 1 && pieces[n - 1].n == pieces[0].n &&
               memcmp(pieces[n - 1].s, pieces[0].s, pieces[0].n) == 0) {
                is_its_own = true;
                n--;
        }
        if (n > 0)
                add_text(out, is_whole ? "/" : is_its_own && n == 1 ? "" : ".../", pieces, n);
        else if (is_whole)
                buf_adds(out, "/");
        return n > 0 || is_whole;
}

static bool is_of_socket(ProbeFieldKind kind, uint64_t family, bool is_raw) {
        if (family == ANY_FAMILY)
                return true;
        switch (kind) {
        case PROBE_IP4:
                return family == AF_INET;
        case PROBE_IP6:
                return family == AF_INET6;
        case PROBE_PORT:
        case PROBE_NETWORK:
                return (family == AF_INET || family == AF_INET6) && !is_raw;
        default:
                return true;
        }
}

/* The kernel reads nothing there, and stores nothing then but for texts (linux 6.1 kernel/trace/trace_probe_tmpl.h). */
static bool is_pointer(uint64_t v) {
        return v >= 4096 && v < UINT64_MAX - 4095;
}

/* Of a family: a socket has no such port or address. */
static bool is_unset(const ProbeField *f, const Formats *formats, const Event *e) {
        static const uint8_t none[sizeof(struct in6_addr)];
        size_t n;

        if (f->kind == PROBE_IP6)
                return memcmp(formats_probe_bytes(f, formats, e, &n), none, sizeof(none)) == 0;
        return (f->kind == PROBE_PORT || f->kind == PROBE_NETWORK || f->kind == PROBE_IP4) &&
               formats_probe_number(f, formats, e) == 0;
}

/* A field's value; false: there is none. */
static bool add_value(Buf *out, const ProbeField *f, const ProbeField *end, const Formats *formats,
                      const Event *e) {
        uint64_t v = f->kind < PROBE_STRING && f->kind != PROBE_IP6
                             ? formats_probe_number(f, formats, e)
                             : 0;
        uint32_t ip4 = htonl((uint32_t) v);
        char ip[INET6_ADDRSTRLEN] = "";
        Piece piece;

        switch (f->kind) {
        case PROBE_UNSIGNED:
        case PROBE_SIGNED:
        case PROBE_PORT:
        case PROBE_NETWORK:
                buf_printf(out, f->at.is_signed ? "%" PRId64 : "%" PRIu64, v);
                return true;
        case PROBE_HEX:
                buf_printf(out, "0x%" PRIx64, v);
                return true;
        case PROBE_DEVICE:
                buf_printf(out, "%u:%u", (unsigned) (v >> 20), (unsigned) (v & 0xfffff));
                return true;
        case PROBE_IP4:
                buf_adds(out, inet_ntop(AF_INET, &ip4, ip, sizeof(ip)));
                return true;
        case PROBE_IP6:
                piece.s = formats_probe_bytes(f, formats, e, &piece.n);
                buf_adds(out, inet_ntop(AF_INET6, piece.s, ip, sizeof(ip)));
                return true;
        case PROBE_STRING:
                piece.s = formats_probe_bytes(f, formats, e, &piece.n);
                if (was_read(&piece))
                        add_text(out, "", &piece, 1);
                return was_read(&piece);
        case PROBE_PATH:
                return f->part == 0 && add_path(out, f, end, formats, e);
        case PROBE_FAMILY:
        case PROBE_SOCKET:
        case PROBE_THROUGH:
                break;
        }
        return false;
}

/* False: it says nothing; the text is as it was then. */
static bool add_field(ObjectField *ret, Buf *text, const ProbeField *f, const ProbeField *end,
                      const Formats *formats, const Event *e) {
        size_t before = text->n_data;
        ObjectField to = { .is_number = f->kind <= PROBE_NETWORK, .n_name = f->n_name };

        buf_adds(text, before > 0 ? ", " : "");
        to.name = (uint32_t) text->n_data;
        buf_printf(text, "%s=", f->name);
        to.value = (uint32_t) text->n_data;
        if (!add_value(text, f, end, formats, e) || text->n_data > TEXT_MAX || text->error < 0) {
                text->n_data = before;
                return false;
        }
        to.n_value = (uint32_t) text->n_data - to.value;
        if (to.n_value > 1 && text->data[to.value] == '"') {
                to.value++;
                to.n_value -= 2;
        }
        if (to.is_number) {
                uint64_t v = formats_probe_number(f, formats, e);

                to.number.is_negative = f->at.is_signed && (int64_t) v < 0;
                to.number.magnitude = to.number.is_negative ? -v : v;
        }
        *ret = to;
        return true;
}

int object_new(Object **ret, Buf *text, const ProbeFormat *p, const Formats *formats,
               const Event *e) {
        const ProbeField *end = p->fields + p->n_fields;
        ObjectField fields[PROBE_FIELDS_MAX];
        uint64_t family = ANY_FAMILY;
        bool was_read = true, is_raw = false;
        uint32_t n = 0;
        Object *o;

        *ret = NULL;
        text->n_data = 0;
        for (const ProbeField *f = p->fields; f < end; f++) {
                if (f->kind == PROBE_THROUGH)
                        was_read = (was_read || f == p->fields || f[-1].kind != PROBE_THROUGH) &&
                                   is_pointer(formats_probe_number(f, formats, e));
                else if (!was_read && f->kind < PROBE_STRING)
                        continue;
                else if (f->kind == PROBE_FAMILY)
                        family = formats_probe_number(f, formats, e);
                else if (f->kind == PROBE_SOCKET)
                        is_raw = formats_probe_number(f, formats, e) == SOCK_RAW;
                else if (is_of_socket(f->kind, family, is_raw) &&
                         (family == ANY_FAMILY || !is_unset(f, formats, e)))
                        n += add_field(&fields[n], text, f, end, formats, e);
        }
        if (n == 0 || text->error < 0)
                return text->error;
        o = malloc(sizeof(*o) + n * sizeof(*fields) + text->n_data + 1);
        if (!o)
                return -ENOMEM;
        *o = (Object){ .n = n, .n_text = (uint32_t) text->n_data };
        memcpy(o->fields, fields, n * sizeof(*fields));
        *append((char *) (o->fields + n), text->data, text->n_data) = 0;
        *ret = o;
        return 0;
}

Object *object_copy(const Object *o) {
        size_t n_bytes = o ? sizeof(*o) + o->n * sizeof(*o->fields) + o->n_text + 1 : 0;
        Object *copy = o ? malloc(n_bytes) : NULL;

        return copy ? memcpy(copy, o, n_bytes) : NULL;
}

const ObjectField *object_find(const Object *o, const char *name) {
        size_t n = strlen(name);

        for (uint32_t i = 0; o && i < o->n; i++)
                if (o->fields[i].n_name == n &&
                    memcmp(object_text(o) + o->fields[i].name, name, n) == 0)
                        return &o->fields[i];
        return NULL;
}
