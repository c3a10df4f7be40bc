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

typedef enum JsonFieldType {
        JSON_FIELD_U64,
        JSON_FIELD_U32, /* also for uid_t and, with max INT32_MAX, pid_t */
        JSON_FIELD_BOOL,
        JSON_FIELD_TEXT, /* char *, malloc()ed */
        JSON_FIELD_STRV,
        JSON_FIELD_WORD, /* an enum, unsigned; @words[value] is its word */
} JsonFieldType;

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
} JsonField;

/* Sets the members of @o.  0 or -ENOMEM. */
int json_fields_write(json_t *o, const JsonField *fields, size_t n_fields, const void *base);

/*
 * json_fields_read() - fill the members of a struct
 * @base: zeroed by the caller, who frees what it then holds also after a failure
 *
 * Control characters in a text without is_valid become '?', so that no reader's terminal obeys
 * them.  Return: 0, JSON_FIELD_E_INVALID (*@ret_field is the key, a constant), -ENOMEM.
 */
enum { JSON_FIELD_E_INVALID = 1 };
int json_fields_read(void *base, const JsonField *fields, size_t n_fields, const json_t *o,
                     const char **ret_field);

/* The first key of @o that is not in the table (lives as long as @o), or NULL. */
const char *json_fields_find_unknown(const JsonField *fields, size_t n_fields, const json_t *o);
