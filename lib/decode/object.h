/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Object: what a call works on, as the fields that a probe has recorded of it (decode/formats.h)
 *
 *      dport=53, daddr=127.0.0.1, file="/srv/a, b"
 *
 * One block, which memcpy() copies: where the fields are in the text, and the text, which is plain.  Addresses and ports
 * of another family than the socket's are left out, and those that it has not, and texts that the kernel could not read.  A path is "/log/x" from
 * its filesystem's root on, and ".../log/x" if that is farther up than was recorded.
 */

#include "base/buf.h"
#include "decode/formats.h"

/* What a register held, with its sign: -11, 0xffff888003d5c000. */
typedef struct ValueNumber {
        bool is_negative;
        uint64_t magnitude;
} ValueNumber;

typedef struct ObjectField {
        uint32_t name, n_name;   /* in the text */
        uint32_t value, n_value; /* likewise, without quotes */
        bool is_number;
        ValueNumber number;
} ObjectField;

typedef struct Object {
        uint32_t n, n_text; /* n_text: without its NUL */
        ObjectField fields[];
} Object;

/* What an event of @p says; *@ret, for free(), is NULL if that is nothing.  @text: room, of which the caller makes use
 * again.  0 or -ENOMEM. */
int object_new(Object **ret, Buf *text, const ProbeFormat *p, const Formats *formats,
               const Event *e);
/* NULL of NULL, and without memory. */
Object *object_copy(const Object *o);

static inline const char *object_text(const Object *o) {
        return (const char *) (o->fields + o->n);
}

/* The field @name; NULL: there is none, as in an @o that is NULL. */
const ObjectField *object_find(const Object *o, const char *name);
