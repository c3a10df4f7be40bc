/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Btf: the kernel's types as they are in the file (types/prototypes.h), for the modules of this room
 *
 * Types and names are found by number and offset, functions by name.  All that is read is hostile.
 */

#include "base/bytes.h"
#include "base/hash.h"

#define TYPE_BYTES 12U
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

extern const char *const btf_kind_names[N_KINDS]; /* as btf_type_str() says */

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

typedef struct Btf {
        char *data;
        Part *parts;
        size_t n_parts;
        Hash functions; /* by a hash of the name: part << 32 | place in Part.at, plus 1 */
} Btf;

/* A type as it is in the file. */
typedef struct Type {
        const Part *part;
        const uint8_t *data; /* NULL: void, or no such type */
        uint32_t kind, n_members;
        uint32_t name;
        uint32_t size_or_type;
} Type;

enum { BTF_E_INVALID = 1 };
/* Consumes @data, also on failure.  0, BTF_E_INVALID, -ENOMEM; then btf_done() as well. */
int btf_parse(Btf *b, char *data, size_t n);
void btf_done(Btf *b);
Type btf_read(const Part *part, const uint8_t *data);
Type btf_type(const Btf *b, const Part *part, uint32_t number);
/* Without typedefs and qualifiers. */
Type btf_resolve(const Btf *b, const Part *part, uint32_t number);
/* NULL: the offset is wild, or the name too long. */
const char *btf_name(const Btf *b, const Part *part, uint32_t offset);
bool btf_function(const Btf *b, const char *name, size_t n_name, Type *ret);
