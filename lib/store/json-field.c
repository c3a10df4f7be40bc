/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The daemon writes what it knows, and a warning may quote a byte that is not UTF-8 or be longer
 * than we would accept from a stranger.  Such a session must stay readable, so the writer brings
 * its texts into the shape that the reader accepts, and the reader can be strict.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "store/json-field.h"

/* Control characters, C0, DEL and C1 (U+0080..U+009F, in UTF-8 c2 80..9f), become '?'. */
static void text_scrub(char *s) {
        for (unsigned char *p = (unsigned char *) s; *p; p++) {
                if (*p < 0x20 || *p == 0x7f)
                        *p = '?';
                else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
                        p[0] = p[1] = '?';
        }
}

static json_t *text_to_json(const char *s, size_t max) {
        _cleanup_free_ char *copy = strndup(s, max);
        json_t *v;

        if (!copy)
                return NULL;
        text_scrub(copy);
        v = json_string(copy);
        if (v)
                return v;
        for (char *p = copy; *p; p++) /* not UTF-8, or cut within a character */
                if (*p & 0x80)
                        *p = '?';
        return json_string(copy);
}

static json_t *strv_to_json(const Strv *v, const JsonField *f) {
        json_auto_t *list = json_array();

        for (size_t i = 0; list && i < v->n && i < f->max; i++)
                if (json_array_append_new(list, text_to_json(v->items[i], f->max_text)) < 0)
                        return NULL;
        return TAKE_PTR(list);
}

static json_t *number_to_json(uint64_t n, const JsonField *f) {
        return json_integer((json_int_t) MIN(n, f->max));
}

static json_t *word_to_json(unsigned n, const JsonField *f) {
        return json_string(f->words[n < f->max ? n : f->fallback]);
}

/* A new value; NULL without memory; *@omit says that there is none to write. */
static json_t *field_to_json(const JsonField *f, const void *base, bool *omit) {
        const void *p = (const char *) base + f->offset;
        bool may_omit = f->flags & JSON_FIELD_OMIT;

        switch (f->type) {
        case JSON_FIELD_U64:
                *omit = may_omit && *(const uint64_t *) p == f->fallback;
                return *omit ? NULL : number_to_json(*(const uint64_t *) p, f);
        case JSON_FIELD_U32:
                *omit = may_omit && *(const uint32_t *) p == f->fallback;
                return *omit ? NULL : number_to_json(*(const uint32_t *) p, f);
        case JSON_FIELD_BOOL:
                *omit = may_omit && !*(const bool *) p;
                return *omit ? NULL : json_boolean(*(const bool *) p);
        case JSON_FIELD_TEXT:
                *omit = (f->flags & JSON_FIELD_NULLABLE) && !*(char *const *) p;
                return *omit ? NULL : text_to_json(*(char *const *) p ?: "", f->max_text);
        case JSON_FIELD_STRV:
                *omit = may_omit && ((const Strv *) p)->n == 0;
                return *omit ? NULL : strv_to_json(p, f);
        case JSON_FIELD_WORD:
                *omit = may_omit && *(const unsigned *) p == f->fallback;
                return *omit ? NULL : word_to_json(*(const unsigned *) p, f);
        }
        return NULL;
}

int json_fields_write(json_t *o, const JsonField *fields, size_t n_fields, const void *base) {
        for (const JsonField *f = fields; f < fields + n_fields; f++) {
                bool omit = false;
                json_t *v = field_to_json(f, base, &omit);

                if (!omit && json_object_set_new(o, f->key, v) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int text_from_json(char **ret, const JsonField *f, const json_t *v) {
        const char *s = json_string_value(v);
        size_t n = json_string_length(v);
        char *copy;

        if (!s || n > f->max_text || strlen(s) != n || (f->is_valid && !f->is_valid(s)))
                return JSON_FIELD_E_INVALID;
        copy = strdup(s);
        if (!copy)
                return -ENOMEM;
        text_scrub(copy);
        *ret = copy;
        return 0;
}

static int strv_from_json(Strv *v, const JsonField *f, const json_t *list) {
        size_t n = json_array_size(list);

        if (!json_is_array(list) || n > f->max)
                return JSON_FIELD_E_INVALID;
        for (size_t i = 0; i < n; i++) {
                char *s;
                int r = text_from_json(&s, f, json_array_get(list, i));

                if (r == 0)
                        r = strv_take(v, s);
                if (r != 0)
                        return r;
        }
        return 0;
}

static int number_from_json(uint64_t *ret, const JsonField *f, const json_t *v) {
        json_int_t n = json_integer_value(v);

        if (!json_is_integer(v) || n < 0 || (uint64_t) n < f->min || (uint64_t) n > f->max)
                return JSON_FIELD_E_INVALID;
        *ret = (uint64_t) n;
        return 0;
}

static int word_from_json(unsigned *ret, const JsonField *f, const json_t *v) {
        const char *s = json_string_value(v);

        for (unsigned i = 0; s && i < f->max; i++)
                if (streq(f->words[i], s)) {
                        *ret = i;
                        return 0;
                }
        return JSON_FIELD_E_INVALID;
}

static int field_from_json(void *base, const JsonField *f, const json_t *v) {
        void *p = (char *) base + f->offset;
        uint64_t n = f->fallback;
        int r = 0;

        if (json_is_null(v))
                v = NULL;
        if (!v && (f->flags & JSON_FIELD_REQUIRED))
                return JSON_FIELD_E_INVALID;

        switch (f->type) {
        case JSON_FIELD_U64:
        case JSON_FIELD_U32:
                if (v)
                        r = number_from_json(&n, f, v);
                if (r == 0 && f->type == JSON_FIELD_U64)
                        *(uint64_t *) p = n;
                else if (r == 0)
                        *(uint32_t *) p = (uint32_t) n;
                return r;
        case JSON_FIELD_BOOL:
                if (v && !json_is_boolean(v))
                        return JSON_FIELD_E_INVALID;
                *(bool *) p = json_is_true(v);
                return 0;
        case JSON_FIELD_TEXT:
                if (v)
                        return text_from_json(p, f, v);
                if (f->flags & JSON_FIELD_NULLABLE)
                        return 0;
                *(char **) p = strdup("");
                return *(char **) p ? 0 : -ENOMEM;
        case JSON_FIELD_STRV:
                return v ? strv_from_json(p, f, v) : 0;
        case JSON_FIELD_WORD:
                *(unsigned *) p = (unsigned) f->fallback;
                return v ? word_from_json(p, f, v) : 0;
        }
        return JSON_FIELD_E_INVALID;
}

int json_fields_read(void *base, const JsonField *fields, size_t n_fields, const json_t *o,
                     const char **ret_field) {
        for (const JsonField *f = fields; f < fields + n_fields; f++) {
                int r = field_from_json(base, f, json_object_get(o, f->key));

                if (r == JSON_FIELD_E_INVALID && ret_field)
                        *ret_field = f->key;
                if (r != 0)
                        return r;
        }
        return 0;
}

const char *json_fields_find_unknown(const JsonField *fields, size_t n_fields, const json_t *o) {
        const char *key;
        json_t *v;

        json_object_foreach ((json_t *) o, key, v) {
                size_t i = 0;

                while (i < n_fields && !streq(fields[i].key, key))
                        i++;
                if (i == n_fields)
                        return key;
        }
        return NULL;
}

json_t *json_fields_new(const JsonField *fields, size_t n_fields, const void *base) {
        json_auto_t *o = json_object();

        return o && json_fields_write(o, fields, n_fields, base) >= 0 ? TAKE_PTR(o) : NULL;
}

json_t *json_fields_new_list(const JsonField *fields, size_t n_fields, const void *items, size_t n,
                             size_t item_bytes) {
        json_auto_t *list = json_array();

        for (size_t i = 0; list && i < n; i++) {
                const void *item = (const char *) items + i * item_bytes;

                if (json_array_append_new(list, json_fields_new(fields, n_fields, item)) < 0)
                        return NULL;
        }
        return TAKE_PTR(list);
}

int json_fields_read_list(void *ret_items, size_t *ret_n, const JsonField *fields, size_t n_fields,
                          size_t item_bytes, const json_t *list, size_t n_max) {
        size_t n = json_array_size(list), n_room = 1;
        char *items;
        int r = 0;

        *ret_n = 0;
        memset(ret_items, 0, sizeof(items));
        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || n > n_max)
                return JSON_FIELD_E_INVALID;
        while (n_room < n)
                n_room *= 2;
        items = calloc(n_room, item_bytes);
        if (!items)
                return -ENOMEM;
        memcpy(ret_items, &items, sizeof(items));
        while (r == 0 && *ret_n < n) {
                const json_t *o = json_array_get(list, *ret_n);
                void *item = items + (*ret_n)++ * item_bytes;

                r = json_is_object(o) ? json_fields_read(item, fields, n_fields, o, NULL)
                                      : JSON_FIELD_E_INVALID;
        }
        return r;
}

void json_fields_done(const JsonField *fields, size_t n_fields, void *base) {
        for (const JsonField *f = fields; f < fields + n_fields; f++) {
                void *p = (char *) base + f->offset;

                if (f->type == JSON_FIELD_TEXT)
                        free(TAKE_PTR(*(char **) p));
                else if (f->type == JSON_FIELD_STRV)
                        strv_done(p);
        }
}
