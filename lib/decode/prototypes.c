/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each part is walked once to learn where its types begin, because types have different lengths and
 * refer to each other by number; numbers go on from vmlinux's in every module, and so do offsets of
 * names.  Functions are put into one hash table in the order in which the kernel would meet them.
 * What a function's parameters are is found out when it is asked for.
 */

#include "base/array.h"
#include "base/hash.h"
#include "base/unit.h"
#include "decode/prototypes.h"
#include "decode/records.h"

#define BTF_MAGIC 0xeb9f
#define HEADER_BYTES 24U
#define TYPE_BYTES 12U
#define PART_NAME_MAX 64
#define NAME_MAX_CHARS 255
#define ERROR_MAX 4095   /* linux 6.12 include/linux/err.h, MAX_ERRNO */
#define MODIFIERS_MAX 64 /* typedefs of typedefs; kernels have less than 10 */

enum {
        KIND_VOID,
        KIND_INT,
        KIND_PTR,
        KIND_ARRAY,
        KIND_STRUCT,
        KIND_UNION,
        KIND_ENUM,
        KIND_FWD,
        KIND_TYPEDEF,
        KIND_VOLATILE,
        KIND_CONST,
        KIND_RESTRICT,
        KIND_FUNC,
        KIND_FUNC_PROTO,
        KIND_VAR,
        KIND_DATASEC,
        KIND_FLOAT,
        KIND_DECL_TAG,
        KIND_TYPE_TAG,
        KIND_ENUM64,
        N_KINDS,
};

/* Bytes behind struct btf_type: once, and for each of its members; and as btf_type_str() says. */
static const struct {
        const char *name;
        uint8_t n_once, n_each;
} kinds[N_KINDS] = {
        [KIND_VOID] = { "UNKNOWN", 0, 0 },      [KIND_INT] = { "INT", 4, 0 },
        [KIND_PTR] = { "PTR", 0, 0 },           [KIND_ARRAY] = { "ARRAY", 12, 0 },
        [KIND_STRUCT] = { "STRUCT", 0, 12 },    [KIND_UNION] = { "UNION", 0, 12 },
        [KIND_ENUM] = { "ENUM", 0, 8 },         [KIND_FWD] = { "FWD", 0, 0 },
        [KIND_TYPEDEF] = { "TYPEDEF", 0, 0 },   [KIND_VOLATILE] = { "VOLATILE", 0, 0 },
        [KIND_CONST] = { "CONST", 0, 0 },       [KIND_RESTRICT] = { "RESTRICT", 0, 0 },
        [KIND_FUNC] = { "FUNC", 0, 0 },         [KIND_FUNC_PROTO] = { "FUNC_PROTO", 0, 8 },
        [KIND_VAR] = { "VAR", 4, 0 },           [KIND_DATASEC] = { "DATASEC", 0, 12 },
        [KIND_FLOAT] = { "FLOAT", 0, 0 },       [KIND_DECL_TAG] = { "DECL_TAG", 4, 0 },
        [KIND_TYPE_TAG] = { "TYPE_TAG", 0, 0 }, [KIND_ENUM64] = { "ENUM64", 0, 12 },
};

typedef struct Part {
        const uint8_t *types;
        uint32_t n_types_bytes;
        const char *names;
        uint32_t n_names;
        bool swap;
        uint32_t *at;   /* where each type begins in `types` */
        uint32_t n;     /* of them */
        uint32_t first; /* number of the first */
} Part;

typedef struct Made Made;
struct Made {
        Made *next;
        Prototype prototype;
        EnumValue *values[PROTOTYPE_PARAMS_MAX];
};

struct Prototypes {
        char *data;
        Part *parts;
        size_t n_parts;
        Hash functions; /* by a hash of the name: part << 32 | place in Part.at, plus 1 */
        Made *made;
};

/* A type as it is in the file. */
typedef struct Type {
        const Part *part;
        const uint8_t *data; /* NULL: void, or no such type */
        uint32_t kind, n_members;
        uint32_t name;
        uint32_t size_or_type;
} Type;

static Type read_type(const Part *part, const uint8_t *data) {
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

static Type find_type(const Prototypes *p, const Part *part, uint32_t number) {
        if (number < part->first)
                part = &p->parts[0];
        if (number < part->first || number - part->first >= part->n)
                return (Type){ .part = part };
        return read_type(part, part->types + part->at[number - part->first]);
}

/* NULL: the offset is wild, or the name too long. */
static const char *find_name(const Prototypes *p, const Part *part, uint32_t offset) {
        uint32_t n_base = part == &p->parts[0] ? 0 : p->parts[0].n_names;

        if (offset < n_base) {
                part = &p->parts[0];
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
                Type t = read_type(part, part->types + at);
                uint64_t n;

                if (t.kind >= N_KINDS)
                        break;
                n = TYPE_BYTES + kinds[t.kind].n_once +
                    (uint64_t) kinds[t.kind].n_each * t.n_members;
                if (n > part->n_types_bytes - at)
                        break;
                if (!ARRAY_ADD(part->at, part->n, at))
                        return -ENOMEM;
                at += (uint32_t) n;
        }
        return 0;
}

/* One file of /sys/kernel/btf.  0, PROTOTYPES_E_INVALID, -ENOMEM. */
static int parse_part(Part *ret, const uint8_t *data, size_t n) {
        uint32_t n_header, type_at, n_types, name_at, n_names;
        bool swap;

        if (n < HEADER_BYTES)
                return PROTOTYPES_E_INVALID;
        swap = load_u16(data, false) != BTF_MAGIC;
        if (load_u16(data, swap) != BTF_MAGIC)
                return PROTOTYPES_E_INVALID;
        n_header = load_u32(data + 4, swap);
        type_at = load_u32(data + 8, swap);
        n_types = load_u32(data + 12, swap);
        name_at = load_u32(data + 16, swap);
        n_names = load_u32(data + 20, swap);
        if (n_header > n || type_at > n - n_header || n_types > n - n_header - type_at ||
            name_at > n - n_header || n_names > n - n_header - name_at)
                return PROTOTYPES_E_INVALID;
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

static int parse_parts(Prototypes *p, size_t n_data) {
        const char *at = p->data, *end = at + n_data;

        while (at < end) {
                Part part = {};
                size_t n;
                int r;

                if (!parse_line(&at, end, &n))
                        return PROTOTYPES_E_INVALID;
                r = parse_part(&part, (const uint8_t *) at, n);
                at += n;
                if (r < 0 || (r != 0 && p->n_parts == 0)) {
                        free(part.at);
                        return r;
                }
                if (r != 0)
                        continue;
                part.first = 1 + (p->n_parts > 0 ? p->parts[0].n : 0);
                if (!ARRAY_ADD(p->parts, p->n_parts, part)) {
                        free(part.at);
                        return -ENOMEM;
                }
        }
        return p->n_parts > 0 ? 0 : PROTOTYPES_E_INVALID;
}

static bool find_function(const Prototypes *p, const char *name, size_t n_name, Type *ret) {
        const HashSlot *slot;

        hash_each (slot, &p->functions, hash_bytes(HASH_BYTES_FIRST, name, n_name)) {
                const Part *part = &p->parts[slot->value >> 32];
                Type t = read_type(part, part->types + part->at[(uint32_t) slot->value - 1]);
                const char *other = find_name(p, part, t.name);

                if (other && strncmp(name, other, n_name) == 0 && !other[n_name]) {
                        *ret = t;
                        return true;
                }
        }
        return false;
}

static int index_functions(Prototypes *p) {
        for (size_t i = 0; i < p->n_parts; i++)
                for (uint32_t k = 0; k < p->parts[i].n; k++) {
                        Type t = read_type(&p->parts[i], p->parts[i].types + p->parts[i].at[k]);
                        const char *name =
                                t.kind == KIND_FUNC ? find_name(p, t.part, t.name) : NULL;

                        size_t n = name ? strlen(name) : 0;

                        if (!name || find_function(p, name, n, &t))
                                continue;
                        if (hash_add(&p->functions, hash_bytes(HASH_BYTES_FIRST, name, n),
                                     (uint64_t) i << 32 | (k + 1)) < 0)
                                return -ENOMEM;
                }
        return 0;
}

int prototypes_new(Prototypes **ret, char *data, size_t n) {
        _cleanup_(prototypes_freep) Prototypes *p = calloc(1, sizeof(*p));
        int r;

        if (!p) {
                free(data);
                return -ENOMEM;
        }
        p->data = data;
        r = parse_parts(p, n) ?: index_functions(p);
        if (r == 0)
                *ret = TAKE_PTR(p);
        return r;
}

static int fill_values(const Prototypes *p, const Type *t, Made *made, uint32_t at,
                       uint32_t *n_text) {
        Param *param = &made->prototype.params[at];
        EnumValue *values = calloc(t->n_members ?: 1, sizeof(*values));
        size_t longest = 0;

        if (!values)
                return -ENOMEM;
        made->values[at] = values;
        for (uint32_t i = 0; i < t->n_members; i++) {
                const uint8_t *member = t->data + TYPE_BYTES + (size_t) 8 * i;

                values[i].name = find_name(p, t->part, load_u32(member, t->part->swap)) ?: "";
                values[i].value = (int32_t) load_u32(member + 4, t->part->swap);
                longest = MAX(longest, strlen(values[i].name));
        }
        param->values = values;
        param->n_values = t->n_members;
        *n_text += (uint32_t) longest;
        return 0;
}

static Type skip_modifiers(const Prototypes *p, const Part *part, uint32_t number) {
        Type t = find_type(p, part, number);

        for (int i = 0;
             i < MODIFIERS_MAX && t.data &&
             (t.kind == KIND_TYPEDEF || t.kind == KIND_VOLATILE || t.kind == KIND_CONST ||
              t.kind == KIND_RESTRICT || t.kind == KIND_TYPE_TAG);
             i++)
                t = find_type(p, part, t.size_or_type);
        return t;
}

/* One struct btf_param. */
static int fill_param(const Prototypes *p, const Part *part, const uint8_t *data, Made *made,
                      uint32_t at) {
        Param *param = &made->prototype.params[at];
        Type t = skip_modifiers(p, part, load_u32(data + 4, part->swap));

        param->name = find_name(p, part, load_u32(data, part->swap)) ?: "";
        made->prototype.n_text += (uint32_t) strlen(param->name);
        param->type_kind = kinds[MIN(t.kind, (uint32_t) N_KINDS - 1)].name;
        if (!t.data || t.kind == KIND_VOID)
                param->kind = PARAM_UNKNOWN;
        else if (t.kind == KIND_PTR)
                param->kind = PARAM_HEX;
        else if (t.kind == KIND_INT)
                param->kind = load_u32(t.data + TYPE_BYTES, t.part->swap) >> 24 & 1 ? PARAM_DECIMAL
                                                                                    : PARAM_HEX;
        else if (t.kind == KIND_ENUM) {
                param->kind = PARAM_ENUM;
                return fill_values(p, &t, made, at, &made->prototype.n_text);
        } else {
                param->kind = PARAM_OTHER;
                param->n_bytes = t.size_or_type;
        }
        return 0;
}

static void fill_return(const Prototypes *p, const Type *proto, Prototype *to) {
        Type t = skip_modifiers(p, proto->part, proto->size_or_type);

        to->is_void = proto->size_or_type == 0;
        if (!t.data)
                return;
        if (t.kind == KIND_PTR)
                to->n_return_bytes = sizeof(uint64_t);
        else if ((t.kind == KIND_INT || t.kind == KIND_ENUM) && t.size_or_type <= sizeof(uint64_t))
                to->n_return_bytes = (uint8_t) t.size_or_type;
        if (t.kind == KIND_INT)
                to->has_sign = load_u32(t.data + TYPE_BYTES, t.part->swap) >> 24 & 1;
        else if (t.kind == KIND_ENUM)
                to->has_sign = load_u32(t.data + 4, t.part->swap) >> 31;
}

bool prototype_narrow(const Prototype *p, uint64_t *value) {
        unsigned n_spare;

        if (p && p->is_void)
                return false;
        if (!p || p->n_return_bytes == 0) {
                if (*value <= UINT32_MAX && *value >= (uint32_t) -ERROR_MAX)
                        *value |= ~(uint64_t) UINT32_MAX;
                return true;
        }
        n_spare = 8 * (unsigned) (sizeof(*value) - p->n_return_bytes);
        *value <<= n_spare;
        *value = p->has_sign ? (uint64_t) ((int64_t) *value >> n_spare) : *value >> n_spare;
        return true;
}

static void made_free(Made *made) {
        for (size_t i = 0; i < PROTOTYPE_PARAMS_MAX; i++)
                free(made->values[i]);
        free(made);
}

const Prototype *prototypes_find(Prototypes *p, const char *name, size_t n_name) {
        Type function, proto;
        Made *made;

        if (!find_function(p, name, n_name, &function))
                return NULL;
        proto = find_type(p, function.part, function.size_or_type);
        if (!proto.data || proto.kind != KIND_FUNC_PROTO)
                return NULL;
        made = calloc(1, sizeof(*made));
        if (!made)
                return NULL;
        fill_return(p, &proto, &made->prototype);
        made->prototype.n_params = MIN(proto.n_members, (uint32_t) PROTOTYPE_PARAMS_MAX);
        for (uint32_t i = 0; i < made->prototype.n_params; i++)
                if (fill_param(p, proto.part, proto.data + TYPE_BYTES + (size_t) 8 * i, made, i) <
                    0) {
                        made_free(made);
                        return NULL;
                }
        made->next = p->made;
        p->made = made;
        return &made->prototype;
}

Prototypes *prototypes_free(Prototypes *p) {
        if (!p)
                return NULL;
        for (Made *made; (made = POP(p->made));)
                made_free(made);
        for (size_t i = 0; i < p->n_parts; i++)
                free(p->parts[i].at);
        free(p->parts);
        hash_done(&p->functions);
        free(p->data);
        return mfree(p);
}
