/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * JsonField: one member of a struct and the JSON key it is kept under
 *
 * A table of these reads and writes a struct, so that the bounds of what is
 * accepted stand beside the names.  What is written can always be read back:
 * numbers beyond the range, lists beyond their length and texts beyond their
 * size are cut when they are written and refused when they are read.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

/* What a recording may have, whoever wrote it. */
#define STORE_MAX_CPUS 8192
#define PAGE_BYTES_MIN 4096U
#define PAGE_BYTES_MAX (1U << 20)
#define SYMBOL_HASH_CHARS 32 /* XXH3-128 of the plain text, hex (store/symbol-file.h) */

static inline bool page_bytes_are_valid(uint32_t n) {
        return n >= PAGE_BYTES_MIN && n <= PAGE_BYTES_MAX && (n & (n - 1)) == 0;
}

static inline bool symbol_hash_is_valid(const char *hash) {
        return strspn(hash, "0123456789abcdef") == SYMBOL_HASH_CHARS &&
               hash[SYMBOL_HASH_CHARS] == 0;
}

typedef enum JsonFieldType {
        JSON_FIELD_U64,
        JSON_FIELD_U32, /* also for uid_t and, with max INT32_MAX, pid_t */
        JSON_FIELD_BOOL,
        JSON_FIELD_TEXT, /* char *, malloc()ed */
        JSON_FIELD_STRV,
        JSON_FIELD_NUMBERS, /* uint64_t[max], all of them */
        JSON_FIELD_WORD,    /* an enum, unsigned; @words[value] is its word */
        JSON_FIELD_STRUCT,  /* a struct of @table; null in JSON while all of it is zero */
        JSON_FIELD_LIST,    /* a JsonList of @table */
} JsonFieldType;

/* Any `struct { X *items; size_t n; }`, or two such members in a row.  Grows by ARRAY_GROW(). */
typedef struct JsonList {
        void *items;
        size_t n;
} JsonList;

typedef struct JsonTable JsonTable;

enum {
        JSON_FIELD_REQUIRED = 1 << 0, /* absent or null is refused */
        JSON_FIELD_OMIT = 1 << 1,     /* left out while it has its default */
        JSON_FIELD_NULLABLE = 1 << 2, /* an absent text stays NULL; without this it is "" */
};

typedef struct JsonField {
        const char *key;
        JsonFieldType type;
        unsigned flags;
        size_t offset;
        uint64_t min;      /* of a number */
        uint64_t max;      /* of a number (at most INT64_MAX), or entries in a list or in @words */
        uint64_t fallback; /* of an absent number or word */
        size_t max_text;   /* bytes of a text, or of each in a list */
        bool (*is_valid)(const char *); /* of a text, or of each in a list; NULL: any text */
        const char *const *words;
        size_t word_step; /* from one word to the next, if more is told of each; 0: 1 */
        const JsonTable *table;
} JsonField;

/* All of a struct. */
struct JsonTable {
        const JsonField *fields;
        size_t n_fields, stride; /* bytes from one to the next, which more may be told of */
        size_t n_bytes;          /* of the struct */
        size_t n_max;            /* in a list ... */
        bool is_plain;           /* ... of the only field's values, without objects around them */
        /* Whether the @i-th of a list may stand behind those before it; NULL: any may. */
        bool (*fits)(const void *items, size_t i);
};

/* A row whose key is the member's name; _AS: another key. */
#define JSON_FIELD(object, member, kind, ...)                                                      \
        JSON_FIELD_AS(#member, object, member, kind, __VA_ARGS__)
#define JSON_FIELD_AS(name, object, member, kind, ...)                                             \
        {                                                                                          \
                .key = (name), .type = JSON_FIELD_##kind, .offset = offsetof(object, member),      \
                __VA_ARGS__                                                                        \
        }

#define JSON_TABLE(object, rows, ...)                                                              \
        {                                                                                          \
                .fields = (rows), .n_fields = ELEMENTSOF(rows), .stride = sizeof((rows)[0]),       \
                .n_bytes = sizeof(object), __VA_ARGS__                                             \
        }

json_t *json_strv_new(const Strv *v); /* NULL: no memory, or one that is not UTF-8 */
int json_fields_write(json_t *o, const JsonTable *t, const void *base); /* 0 or -ENOMEM */

/*
 * json_fields_read() - fill the members of a struct
 * @base: zeroed by the caller, who frees what it then holds also after a failure
 *
 * Control characters in a text without is_valid become '?', so that no reader's terminal obeys
 * them.
 * Return: 0, JSON_FIELD_E_INVALID (*@ret_field, which may be NULL, is the key, a constant), -ENOMEM.
 */
enum { JSON_FIELD_E_INVALID = 1 };
int json_fields_read(void *base, const JsonTable *t, const json_t *o, const char **ret_field);

/* The first key of @o that is not in the table (lives as long as @o), or NULL. */
const char *json_fields_find_unknown(const JsonTable *t, const json_t *o);

json_t *json_fields_new(const JsonTable *t, const void *base); /* NULL without memory */
void json_fields_done(const JsonTable *t,
                      void *base); /* frees; of texts, lists and structs nothing is left */

/* What a JSON_FIELD_STRUCT is written as, and read from: NULL and null leave it as it is. */
json_t *json_struct_new(const JsonTable *t, const void *base);
int json_struct_read(void *base, const JsonTable *t, const json_t *v);

/* The same of a JSON_FIELD_LIST, whose @list is a JsonList. */
json_t *json_list_new(const JsonTable *t, const void *list);
/*
 * json_list_read()
 * @list: set also after a failure, and the caller frees
 * @v:    hostile; NULL and null are an empty one
 *
 * Return: 0, JSON_FIELD_E_INVALID (also of more than n_max), -ENOMEM.
 */
int json_list_read(void *list, const JsonTable *t, const json_t *v);
void json_list_done(const JsonTable *t, void *list);
