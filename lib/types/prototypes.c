/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a function's parameters are is found out when it is asked for. */

#include "base/array.h"
#include "types/btf.h"
#include "types/prototypes.h"

#define ERROR_MAX 4095 /* linux 6.12 include/linux/err.h, MAX_ERRNO */

/* One that was asked for. */
typedef struct Made Made;
struct Made {
        Made *next;
        Prototype prototype;
        EnumValue *values[PROTOTYPE_PARAMS_MAX];
};

struct Prototypes {
        Btf btf;
        Made *made;
};

const Btf *prototypes_btf(const Prototypes *p) {
        return &p->btf;
}

int prototypes_new(Prototypes **ret, char *data, size_t n) {
        _cleanup_(prototypes_freep) Prototypes *p = calloc(1, sizeof(*p));
        int r;

        if (!p) {
                free(data);
                return -ENOMEM;
        }
        r = btf_parse(&p->btf, data, n);
        if (r == 0)
                *ret = TAKE_PTR(p);
        return r == BTF_E_INVALID ? PROTOTYPES_E_INVALID : r;
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

                values[i].name = btf_name(&p->btf, t->part, load_u32(member, t->part->swap)) ?: "";
                values[i].value = (int32_t) load_u32(member + 4, t->part->swap);
                longest = MAX(longest, strlen(values[i].name));
        }
        param->values = values;
        param->n_values = t->n_members;
        *n_text += (uint32_t) longest;
        return 0;
}

/* One struct btf_param. */
static int fill_param(const Prototypes *p, const Part *part, const uint8_t *data, Made *made,
                      uint32_t at) {
        Param *param = &made->prototype.params[at];
        Type t = btf_resolve(&p->btf, part, load_u32(data + 4, part->swap));

        param->name = btf_name(&p->btf, part, load_u32(data, part->swap)) ?: "";
        made->prototype.n_text += (uint32_t) strlen(param->name);
        param->type_kind = btf_kind_names[MIN(t.kind, (uint32_t) N_KINDS - 1)];
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
        Type t = btf_resolve(&p->btf, proto->part, proto->size_or_type);

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

        if (!btf_function(&p->btf, name, n_name, &function))
                return NULL;
        proto = btf_type(&p->btf, function.part, function.size_or_type);
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
        btf_done(&p->btf);
        return mfree(p);
}
