/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>

#include "base/buf.h"
#include "calls/step.h"

/* --- a copy ----------------------------------------------------------------------------------- */

/* The step, what a text says of it, its arguments, and then the strings, one behind the other. */
static const char *put(char **at, const char *s, size_t n) {
        char *copy = *at;

        if (!s)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = 0;
        *at += n + 1;
        return copy;
}

static size_t length(const char *s) {
        return s ? strlen(s) : 0;
}

void *step_copy(const Step *step, size_t n_before, Step **ret_step) {
        const StepText *said = step->said;
        size_t n_comm = length(step->comm), n_text = length(step->text);
        size_t n_args = step->n_args * sizeof(*step->args);
        size_t n_said = said ? sizeof(*said) : 0;
        size_t n_strings = n_comm + 1 + n_text + 1;
        char *block, *at;
        StepText *text = NULL;
        Object *object = object_copy(step->object);
        Step *copy;

        if (step->object && !object)
                return NULL;
        if (said)
                n_strings += (size_t) said->n_args + said->n_note + said->n_change +
                             said->n_begin_marker + said->n_end_marker + said->n_text + 6;
        n_before = (n_before + 15) / 16 * 16;
        block = malloc(n_before + sizeof(*copy) + n_said + n_args + n_strings);
        if (!block) {
                free(object);
                return NULL;
        }
        copy = (void *) (block + n_before);
        *copy = *step;
        copy->object = object;
        at = (char *) (copy + 1);
        if (said) {
                text = (void *) at;
                at += sizeof(*text);
                *text = *said;
                copy->said = text;
        }
        if (n_args > 0) {
                copy->args = memcpy(at, step->args, n_args);
                at += n_args;
        }
        copy->comm = put(&at, step->comm, n_comm);
        copy->text = put(&at, step->text, n_text);
        if (said) {
                text->args = put(&at, said->args, said->n_args);
                text->note = put(&at, said->note, said->n_note);
                text->change = put(&at, said->change, said->n_change);
                text->begin_marker = put(&at, said->begin_marker, said->n_begin_marker);
                text->end_marker = put(&at, said->end_marker, said->n_end_marker);
                text->text = put(&at, said->text, said->n_text);
        }
        *ret_step = copy;
        return block;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* The kernel's own rules, of linux 7.2: earlier ones printed unsigned numbers in decimal and did not
 * name the values of enumerations. */

#define VALUE_ROOM 24 /* "0x", 16 digits; a sign and 19; what stands around it */

static char *append_hex(char *p, uint64_t v) {
        char digits[16];
        size_t n = 0;

        do {
                digits[n++] = "0123456789abcdef"[v & 15];
                v >>= 4;
        } while (v);
        p = APPEND(p, "0x");
        while (n > 0)
                *p++ = digits[--n];
        return p;
}

static char *append_decimal(char *p, uint64_t v) {
        if ((int64_t) v < 0) {
                *p++ = '-';
                v = -v;
        }
        return append_number(p, v, 1, ' ');
}

size_t arguments_room(const Step *step) {
        const Prototype *prototype = step->n_args > 0 ? step->function->prototype : NULL;
        size_t n_object = step->object ? step->object->n_text + 2 : 0;

        return n_object +
               (prototype ? prototype->n_text + prototype->n_params * (size_t) (2 * VALUE_ROOM) +
                                    step->n_args * (size_t) VALUE_ROOM + 16
                          : 2);
}

static char *append_enum(char *p, const Param *param, uint64_t value) {
        p = append_decimal(p, value);
        for (uint32_t i = 0; i < param->n_values; i++)
                if ((uint64_t) (int64_t) param->values[i].value == value) {
                        p = APPEND(p, " [");
                        p = append(p, param->values[i].name, strlen(param->values[i].name));
                        *p++ = ']';
                        break;
                }
        return p;
}

/* What is in more than one register; *@at becomes the last of them.  False: there were not enough. */
static bool append_words(char **p, const Step *step, const Param *param, uint32_t *at) {
        *(*p)++ = '(';
        *p = append(*p, param->type_kind, strlen(param->type_kind));
        *p = APPEND(*p, ")[");
        *p = append_hex(*p, step->args[*at]);
        for (uint64_t n = sizeof(uint64_t); n < param->n_bytes; n += sizeof(uint64_t)) {
                *(*p)++ = ':';
                if (++*at == step->n_args) {
                        *p = APPEND(*p, "...]");
                        return false;
                }
                *p = append_hex(*p, step->args[*at]);
        }
        *(*p)++ = ']';
        return true;
}

char *arguments_append(char *p, const Step *step) {
        const Prototype *prototype = step->n_args > 0 ? step->function->prototype : NULL;
        const Object *object = step->object;
        uint32_t at = 0;

        *p++ = '(';
        for (uint32_t i = 0; prototype && i < prototype->n_params; i++, at++) {
                const Param *param = &prototype->params[i];

                if (i > 0)
                        p = APPEND(p, ", ");
                if (at == step->n_args) {
                        p = APPEND(p, "...");
                        break;
                }
                p = append(p, param->name, strlen(param->name));
                *p++ = '=';
                switch (param->kind) {
                case PARAM_UNKNOWN:
                        *p++ = '?';
                        p = append_hex(p, step->args[at]);
                        break;
                case PARAM_HEX:
                        p = append_hex(p, step->args[at]);
                        break;
                case PARAM_DECIMAL:
                        p = append_decimal(p, step->args[at]);
                        break;
                case PARAM_ENUM:
                        p = append_enum(p, param, step->args[at]);
                        break;
                case PARAM_OTHER:
                        if (!append_words(&p, step, param, &at))
                                i = prototype->n_params;
                        break;
                }
        }
        if (object) {
                p = p[-1] == '(' ? p : APPEND(p, ", ");
                p = append(p, object_text(object), object->n_text);
        }
        *p++ = ')';
        return p;
}

/* 32 bits with the sign set are an int's, and so are 64 that extend one. */
ValueNumber retval_number(uint64_t v) {
        int64_t as_int = v >> 31 == 1 ? (int32_t) (uint32_t) v : (int64_t) v;

        if (v >> 31 == 1 || v >= (uint64_t) INT32_MIN)
                return (ValueNumber){ true, (uint64_t) -as_int };
        return (ValueNumber){ false, v };
}

/* What is then an error (the last 4095 numbers) is decimal. */
char *retval_append(char *p, uint64_t retval, bool hex) {
        ValueNumber number = retval_number(retval);

        return !hex && number.is_negative && number.magnitude <= 4095
                       ? append_decimal(p, -number.magnitude)
                       : append_hex(p, retval);
}

bool arguments_next(const char **at, const char **ret_name, size_t *ret_n_name, ValueNumber *ret) {
        const char *p = *at;

        while (*p) {
                const char *name;
                size_t n;

                p += strspn(p, "( ");
                name = p;
                p += strcspn(p, "= ");
                n = (size_t) (p - name);
                if (*p != '=')
                        continue;
                p++;
                if (*p == '"') {
                        p++;
                        p += strcspn(p, "\"");
                }
                p += *p == '?';
                *ret = (ValueNumber){ .is_negative = *p == '-' };
                p += ret->is_negative;
                if (isdigit((unsigned char) *p)) {
                        char *end;

                        errno = 0;
                        ret->magnitude = strtoull(p, &end, 0);
                        p = end;
                        if (errno == 0 && n > 0) {
                                *at = p;
                                *ret_name = name;
                                *ret_n_name = n;
                                return true;
                        }
                }
                p += strcspn(p, " ");
        }
        *at = p;
        return false;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Fields are written one behind the other, and what turns out to say nothing is taken back. */

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
        bool is_whole = false;
        size_t n = 0;

        for (const ProbeField *f = field; f < end && n < PARTS_MAX && f->kind == PROBE_PATH &&
                                          f->part == n && streq(f->name, field->name);
             f++, n++) {
                pieces[n].s = formats_probe_bytes(f, formats, e, &pieces[n].n);
                is_whole = is_piece(&pieces[n], "/");
                if (is_whole || !was_read(&pieces[n]))
                        break;
        }
        if (n > 0)
                add_text(out, is_whole ? "/" : ".../", pieces, n);
        else if (is_whole)
                buf_adds(out, "/");
        return n > 0 || is_whole;
}

static bool is_of_family(ProbeFieldKind kind, uint64_t family) {
        if (family == ANY_FAMILY)
                return true;
        switch (kind) {
        case PROBE_IP4:
                return family == AF_INET;
        case PROBE_IP6:
                return family == AF_INET6;
        case PROBE_NETWORK:
                return family == AF_INET || family == AF_INET6;
        default:
                return true;
        }
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
        uint32_t n = 0;
        Object *o;

        *ret = NULL;
        text->n_data = 0;
        for (const ProbeField *f = p->fields; f < end; f++) {
                if (f->kind == PROBE_FAMILY)
                        family = formats_probe_number(f, formats, e);
                else if (is_of_family(f->kind, family))
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
