/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prototypes: the parameters of the kernel's functions, and what type they return
 *
 * From the kernel's own account of its types, /sys/kernel/btf/vmlinux and one such file for each
 * module, which a recording with arguments names (SessionMeta.types) and the store keeps as one
 * file, each part with a line before it:
 *
 *      vmlinux 6312345\n<bytes>nf_conntrack 43210\n<bytes>...
 *
 * modules in the order in which they were loaded, which is the order in which the kernel looks for
 * a name in them (linux 7.2 kernel/bpf/btf.c, bpf_find_btf_id()).  Of several functions of one name
 * it takes the first, and so does this.
 *
 * Source: linux 7.2 include/uapi/linux/btf.h.  Kinds of type that came later than that (20 and up)
 * end the reading of their part, since their length is not known.
 */

#include "base/cleanup.h"

typedef enum ParamKind {
        PARAM_HEX,     /* pointers and unsigned numbers */
        PARAM_DECIMAL, /* signed numbers */
        PARAM_ENUM,    /* the same, with a name for some */
        PARAM_UNKNOWN, /* void, and what refers to no type */
        PARAM_OTHER,   /* a structure by value and the like, over one or more words */
} ParamKind;

typedef struct EnumValue {
        const char *name;
        int32_t value;
} EnumValue;

typedef struct Param {
        const char *name; /* "" if it has none */
        ParamKind kind;
        const char *type_kind; /* OTHER: "STRUCT", "ENUM64", ... */
        uint32_t n_bytes;      /* OTHER */
        const EnumValue *values;
        uint32_t n_values; /* ENUM */
} Param;

#define PROTOTYPE_PARAMS_MAX 16 /* more than can be recorded; the rest is not kept */

typedef struct Prototype {
        Param params[PROTOTYPE_PARAMS_MAX];
        uint8_t n_return_bytes; /* of what it returns, 1 to 8; 0: that is no number */
        bool is_void;
        bool has_sign; /* what it returns */
        uint32_t n_params;
        uint32_t n_text; /* more than all its names together, in bytes */
} Prototype;

typedef struct Prototypes Prototypes;

enum { PROTOTYPES_E_INVALID = 1 };
/*
 * prototypes_new()
 * @data: consumed, also on failure; hostile
 *
 * Return: 0, PROTOTYPES_E_INVALID (not such a file, or no part can be read), -ENOMEM.
 */
int prototypes_new(Prototypes **ret, char *data, size_t n);
/* NULL: there is none, or no memory for it.  Lives as long as @p. */
const Prototype *prototypes_find(Prototypes *p, const char *name, size_t n_name);
/* What is in a register of which a return value fills a part; false: @p returns nothing.  Without a prototype, NULL, as
 * linux 7.2's print_graph_retval() guesses: a number of 32 bits that is an error is an int. */
bool prototype_narrow(const Prototype *p, uint64_t *value);
/* For this room. */
const struct Btf *prototypes_btf(const Prototypes *p);
Prototypes *prototypes_free(Prototypes *p);
DEFINE_CLEANUP(Prototypes *, prototypes_free);
