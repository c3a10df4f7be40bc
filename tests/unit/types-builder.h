/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A kernel's types made by hand (types/prototypes.h): the layout is that of linux/btf.h. */

#include <string.h>

#include "base/buf.h"
#include "unit.h"

typedef struct Types {
        Buf types, names;
        uint32_t n_before; /* bytes of names in the part before */
} Types;

static inline void types_init(Types *t, uint32_t n_before) {
        *t = (Types){ .types = BUF_INIT, .names = BUF_INIT, .n_before = n_before };
        if (n_before == 0)
                buf_add(&t->names, "", 1);
}

static inline uint32_t name_at(Types *t, const char *name) {
        uint32_t at = t->n_before + (uint32_t) t->names.n_data;

        if (!*name)
                return 0;
        buf_add(&t->names, name, strlen(name) + 1);
        return at;
}

/* struct btf_type and @n words behind it. */
static inline void add_type(Types *t, const char *name, uint32_t kind, uint32_t n_members,
                            uint32_t type, const uint32_t *words, size_t n) {
        const uint32_t head[] = { name_at(t, name), kind << 24 | n_members, type };

        buf_add(&t->types, head, sizeof(head));
        buf_add(&t->types, words, n * sizeof(*words));
}

static inline void add_part(Buf *b, const char *name, const Types *t) {
        const uint32_t head[] = {
                HOST_BIG_ENDIAN ? 0xeb9f0100 : 1 << 16 | 0xeb9f, /* u16, u8 */
                24,
                0,
                (uint32_t) t->types.n_data,
                (uint32_t) t->types.n_data,
                (uint32_t) t->names.n_data,
        };

        buf_printf(b, "%s %zu\n", name, sizeof(head) + t->types.n_data + t->names.n_data);
        buf_add(b, head, sizeof(head));
        buf_add(b, t->types.data, t->types.n_data);
        buf_add(b, t->names.data, t->names.n_data);
}
