/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each part is walked once to learn where its types begin, because types have different lengths and
 * refer to each other by number; numbers go on from vmlinux's in every module, and so do offsets of
 * names.  Functions are put into one hash table in the order in which the kernel would meet them.
 */

#include "base/array.h"
#include "base/unit.h"
#include "types/btf.h"

#define BTF_MAGIC 0xeb9f
#define HEADER_BYTES 24U
#define PART_NAME_MAX 64
#define NAME_MAX_CHARS 255

const char *const btf_kind_names[N_KINDS] = {
        [KIND_VOID] = "UNKNOWN",      [KIND_INT] = "INT",
        [KIND_PTR] = "PTR",           [KIND_ARRAY] = "ARRAY",
        [KIND_STRUCT] = "STRUCT",     [KIND_UNION] = "UNION",
        [KIND_ENUM] = "ENUM",         [KIND_FWD] = "FWD",
        [KIND_TYPEDEF] = "TYPEDEF",   [KIND_VOLATILE] = "VOLATILE",
        [KIND_CONST] = "CONST",       [KIND_RESTRICT] = "RESTRICT",
        [KIND_FUNC] = "FUNC",         [KIND_FUNC_PROTO] = "FUNC_PROTO",
        [KIND_VAR] = "VAR",           [KIND_DATASEC] = "DATASEC",
        [KIND_FLOAT] = "FLOAT",       [KIND_DECL_TAG] = "DECL_TAG",
        [KIND_TYPE_TAG] = "TYPE_TAG", [KIND_ENUM64] = "ENUM64",
};

/* Bytes behind struct btf_type: once, and for each of its members. */
static const struct {
        uint8_t once, each;
} n_behind[N_KINDS] = {
        [KIND_INT] = { 4, 0 },     [KIND_ARRAY] = { 12, 0 },   [KIND_STRUCT] = { 0, 12 },
        [KIND_UNION] = { 0, 12 },  [KIND_ENUM] = { 0, 8 },     [KIND_FUNC_PROTO] = { 0, 8 },
        [KIND_VAR] = { 4, 0 },     [KIND_DATASEC] = { 0, 12 }, [KIND_DECL_TAG] = { 4, 0 },
        [KIND_ENUM64] = { 0, 12 },
};

Type btf_read(const Part *part, const uint8_t *data) {
        uint32_t info = load_u32(data + 4, part->swap);

        return (Type){
                .part = part,
                .data = data,
                .kind = info >> 24 & 0x7f,
                .n_members = info & 0xffffff,
                .name = load_u32(data, part->swap),
                .size_or_type = load_u32(data + 8, part->swap),
        };
}

Type btf_type(const Btf *b, const Part *part, uint32_t number) {
        if (number < part->first)
                part = &b->parts[0];
        if (number < part->first || number - part->first >= part->n)
                return (Type){ .part = part };
        return btf_read(part, part->types + part->at[number - part->first]);
}

const char *btf_name(const Btf *b, const Part *part, uint32_t offset) {
        uint32_t n_base = part == &b->parts[0] ? 0 : b->parts[0].n_names;

        if (offset < n_base) {
                part = &b->parts[0];
                n_base = 0;
        }
        offset -= n_base;
        if (offset >= part->n_names ||
            !memchr(part->names + offset, 0,
                    MIN(part->n_names - offset, (uint32_t) NAME_MAX_CHARS + 1)))
                return NULL;
        return part->names + offset;
}

/* Learns where the types of a part begin.  0 or -ENOMEM. */
static int walk_types(Part *part) {
        uint32_t at = 0;

        while (part->n_types_bytes - at >= TYPE_BYTES) {
                Type t = btf_read(part, part->types + at);
                uint64_t n;

                if (t.kind >= N_KINDS)
                        break;
                n = TYPE_BYTES + n_behind[t.kind].once +
                    (uint64_t) n_behind[t.kind].each * t.n_members;
                if (n > part->n_types_bytes - at)
                        break;
                if (!ARRAY_ADD(part->at, part->n, at))
                        return -ENOMEM;
                at += (uint32_t) n;
        }
        return 0;
}

/* One file of /sys/kernel/btf.  0, BTF_E_INVALID, -ENOMEM. */
static int parse_part(Part *ret, const uint8_t *data, size_t n) {
        uint32_t n_header, type_at, n_types, name_at, n_names;
        bool swap;

        if (n < HEADER_BYTES)
                return BTF_E_INVALID;
        swap = load_u16(data, false) != BTF_MAGIC;
        if (load_u16(data, swap) != BTF_MAGIC)
                return BTF_E_INVALID;
        n_header = load_u32(data + 4, swap);
        type_at = load_u32(data + 8, swap);
        n_types = load_u32(data + 12, swap);
        name_at = load_u32(data + 16, swap);
        n_names = load_u32(data + 20, swap);
        if (n_header > n || type_at > n - n_header || n_types > n - n_header - type_at ||
            name_at > n - n_header || n_names > n - n_header - name_at)
                return BTF_E_INVALID;
        *ret = (Part){
                .types = data + n_header + type_at,
                .n_types_bytes = n_types,
                .names = (const char *) data + n_header + name_at,
                .n_names = n_names,
                .swap = swap,
        };
        return walk_types(ret);
}

/* "NAME BYTES\n".  False: it is none. */
static bool parse_line(const char **at, const char *end, size_t *ret_n) {
        const char *newline =
                memchr(*at, '\n', MIN((size_t) (end - *at), (size_t) PART_NAME_MAX + 24));
        const char *space = newline ? memchr(*at, ' ', (size_t) (newline - *at)) : NULL;
        char number[24];
        uint64_t n;

        if (!space || newline - space > (ptrdiff_t) sizeof(number))
                return false;
        (void) snprintf(number, sizeof(number), "%.*s", (int) (newline - space - 1), space + 1);
        if (parse_u64(number, (uint64_t) (end - newline - 1), &n) < 0)
                return false;
        *at = newline + 1;
        *ret_n = n;
        return true;
}

static int parse_parts(Btf *b, size_t n_data) {
        const char *at = b->data, *end = at + n_data;

        while (at < end) {
                Part part = {};
                size_t n;
                int r;

                if (!parse_line(&at, end, &n))
                        return BTF_E_INVALID;
                r = parse_part(&part, (const uint8_t *) at, n);
                at += n;
                if (r < 0 || (r != 0 && b->n_parts == 0)) {
                        free(part.at);
                        return r;
                }
                if (r != 0)
                        continue;
                part.first = 1 + (b->n_parts > 0 ? b->parts[0].n : 0);
                if (!ARRAY_ADD(b->parts, b->n_parts, part)) {
                        free(part.at);
                        return -ENOMEM;
                }
        }
        return b->n_parts > 0 ? 0 : BTF_E_INVALID;
}

bool btf_function(const Btf *b, const char *name, size_t n_name, Type *ret) {
        const HashSlot *slot;

        hash_each (slot, &b->functions, hash_bytes(HASH_BYTES_FIRST, name, n_name)) {
                const Part *part = &b->parts[slot->value >> 32];
                Type t = btf_read(part, part->types + part->at[(uint32_t) slot->value - 1]);
                const char *other = btf_name(b, part, t.name);

                if (other && strncmp(name, other, n_name) == 0 && !other[n_name]) {
                        *ret = t;
                        return true;
                }
        }
        return false;
}

static int index_functions(Btf *b) {
        for (size_t i = 0; i < b->n_parts; i++)
                for (uint32_t k = 0; k < b->parts[i].n; k++) {
                        Type t = btf_read(&b->parts[i], b->parts[i].types + b->parts[i].at[k]);
                        const char *name = t.kind == KIND_FUNC ? btf_name(b, t.part, t.name) : NULL;

                        size_t n = name ? strlen(name) : 0;

                        if (!name || btf_function(b, name, n, &t))
                                continue;
                        if (hash_add(&b->functions, hash_bytes(HASH_BYTES_FIRST, name, n),
                                     (uint64_t) i << 32 | (k + 1)) < 0)
                                return -ENOMEM;
                }
        return 0;
}

Type btf_resolve(const Btf *b, const Part *part, uint32_t number) {
        Type t = btf_type(b, part, number);

        for (int i = 0;
             i < MODIFIERS_MAX && t.data &&
             (t.kind == KIND_TYPEDEF || t.kind == KIND_VOLATILE || t.kind == KIND_CONST ||
              t.kind == KIND_RESTRICT || t.kind == KIND_TYPE_TAG);
             i++)
                t = btf_type(b, part, t.size_or_type);
        return t;
}

int btf_parse(Btf *b, char *data, size_t n) {
        b->data = data;
        return parse_parts(b, n) ?: index_functions(b);
}

void btf_done(Btf *b) {
        for (size_t i = 0; i < b->n_parts; i++)
                free(b->parts[i].at);
        free(b->parts);
        hash_done(&b->functions);
        free(b->data);
}
