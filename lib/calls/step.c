/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "base/array.h"
#include "base/buf.h"
#include "calls/step.h"

const char *step_text(const Step *s) {
        StepLate *late = s->kind == STEP_OTHER ? s->late : NULL;

        if (late && !late->text)
                late->text = foreign_print(late->foreign, late->event);
        return late ? late->text : s->text;
}

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
        const char *other = step_text(step);
        size_t n_comm = length(step->comm), n_text = length(other);
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
        copy->text = put(&at, other, n_text);
        copy->late = NULL;
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
