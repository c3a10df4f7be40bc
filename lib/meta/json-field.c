/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The daemon writes what it knows, and a warning may quote a byte that is not UTF-8 or be longer
 * than we would accept from a stranger.  Such a session must stay readable, so the writer brings
 * its texts into the shape that the reader accepts, and the reader can be strict.
 */

#include "base/array.h"
#include "meta/json-field.h"

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

json_t *json_strv_new(const Strv *v) {
        json_auto_t *list = json_array();

        for (size_t i = 0; list && i < v->n; i++)
                if (json_array_append_new(list, json_string(v->items[i])) < 0)
                        return NULL;
        return TAKE_PTR(list);
}

static const JsonField *field_of(const JsonTable *t, size_t i) {
        return (const void *) ((const char *) t->fields + i * t->stride);
}

static const char *word_of(const JsonField *f, uint64_t i) {
        return f->words[i * MAX(f->word_step, (size_t) 1)];
}

static bool is_zero(const char *p, size_t n) {
        while (n > 0 && p[n - 1] == 0)
                n--;
        return n == 0;
}

/* Whatever the items are. */
static JsonList get_list(const void *list) {
        JsonList l;

        memcpy(&l, list, sizeof(l));
        return l;
}

/* A number, a word's, or how many there are. */
static uint64_t value_of(const JsonField *f, const void *p) {
        switch (f->type) {
        case JSON_FIELD_U64:
                return *(const uint64_t *) p;
        case JSON_FIELD_U32:
        case JSON_FIELD_WORD:
                return *(const uint32_t *) p;
        case JSON_FIELD_BOOL:
                return *(const bool *) p;
        case JSON_FIELD_TEXT:
                return *(char *const *) p != NULL;
        case JSON_FIELD_STRV:
        case JSON_FIELD_LIST:
                return get_list(p).n;
        case JSON_FIELD_STRUCT:
                return !is_zero(p, f->table->n_bytes);
        case JSON_FIELD_NUMBERS:
                return f->max;
        }
        return 0;
}

/* A new value; NULL without memory. */
static json_t *field_to_json(const JsonField *f, const void *p) {
        uint64_t n = value_of(f, p);
        json_auto_t *list = NULL;

        switch (f->type) {
        case JSON_FIELD_U64:
        case JSON_FIELD_U32:
                return json_integer((json_int_t) MIN(n, f->max));
        case JSON_FIELD_BOOL:
                return json_boolean(n);
        case JSON_FIELD_TEXT:
                return text_to_json(*(char *const *) p ?: "", f->max_text);
        case JSON_FIELD_WORD:
                return json_string(word_of(f, n < f->max ? n : f->fallback));
        case JSON_FIELD_STRUCT:
                return json_struct_new(f->table, p);
        case JSON_FIELD_LIST:
                return json_list_new(f->table, p);
        case JSON_FIELD_STRV:
                list = json_array();
                for (size_t i = 0; list && i < MIN(n, f->max); i++)
                        if (json_array_append_new(list, text_to_json(((const Strv *) p)->items[i],
                                                                     f->max_text)) < 0)
                                return NULL;
                return TAKE_PTR(list);
        case JSON_FIELD_NUMBERS:
                list = json_array();
                for (size_t i = 0; list && i < f->max; i++)
                        if (json_array_append_new(
                                    list, json_integer((json_int_t) MIN(((const uint64_t *) p)[i],
                                                                        (uint64_t) INT64_MAX))) < 0)
                                return NULL;
                return TAKE_PTR(list);
        }
        return NULL;
}

int json_fields_write(json_t *o, const JsonTable *t, const void *base) {
        for (size_t i = 0; i < t->n_fields; i++) {
                const JsonField *f = field_of(t, i);
                const void *p = (const char *) base + f->offset;
                unsigned omit = f->type == JSON_FIELD_TEXT ? JSON_FIELD_NULLABLE : JSON_FIELD_OMIT;

                if ((f->flags & omit) && value_of(f, p) == f->fallback)
                        continue;
                if (json_object_set_new(o, f->key, field_to_json(f, p)) < 0)
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
                int r = text_from_json(&s, f, json_array_get(list, i)) ?: strv_take(v, s);

                if (r != 0)
                        return r;
        }
        return 0;
}

static int field_from_json(void *p, const JsonField *f, const json_t *v) {
        uint64_t n = f->fallback;

        if (json_is_null(v))
                v = NULL;
        if (!v && (f->flags & JSON_FIELD_REQUIRED))
                return JSON_FIELD_E_INVALID;

        switch (f->type) {
        case JSON_FIELD_U64:
        case JSON_FIELD_U32:
                if (v)
                        n = (uint64_t) json_integer_value(v);
                if (v && (!json_is_integer(v) || n < f->min || n > f->max)) /* negative: beyond */
                        return JSON_FIELD_E_INVALID;
                if (f->type == JSON_FIELD_U64)
                        *(uint64_t *) p = n;
                else
                        *(uint32_t *) p = (uint32_t) n;
                return 0;
        case JSON_FIELD_BOOL:
                *(bool *) p = json_is_true(v);
                return v && !json_is_boolean(v) ? JSON_FIELD_E_INVALID : 0;
        case JSON_FIELD_TEXT:
                if (v)
                        return text_from_json(p, f, v);
                if (f->flags & JSON_FIELD_NULLABLE)
                        return 0;
                *(char **) p = strdup("");
                return *(char **) p ? 0 : -ENOMEM;
        case JSON_FIELD_STRV:
                return v ? strv_from_json(p, f, v) : 0;
        case JSON_FIELD_NUMBERS:
                for (size_t i = 0; i < f->max; i++) {
                        const json_t *number = json_array_get(v, i);

                        if (!json_is_integer(number) || json_integer_value(number) < 0)
                                return JSON_FIELD_E_INVALID;
                        ((uint64_t *) p)[i] = (uint64_t) json_integer_value(number);
                }
                return json_array_size(v) == f->max ? 0 : JSON_FIELD_E_INVALID;
        case JSON_FIELD_WORD:
                *(unsigned *) p = (unsigned) n;
                if (!v)
                        return 0;
                for (unsigned i = 0; i < f->max; i++)
                        if (streq(word_of(f, i), json_string_value(v) ?: "")) {
                                *(unsigned *) p = i;
                                return 0;
                        }
                return JSON_FIELD_E_INVALID;
        case JSON_FIELD_STRUCT:
                return json_struct_read(p, f->table, v);
        case JSON_FIELD_LIST:
                return json_list_read(p, f->table, v);
        }
        return JSON_FIELD_E_INVALID;
}

int json_fields_read(void *base, const JsonTable *t, const json_t *o, const char **ret_field) {
        for (size_t i = 0; i < t->n_fields; i++) {
                const JsonField *f = field_of(t, i);
                int r = field_from_json((char *) base + f->offset, f, json_object_get(o, f->key));

                if (r == JSON_FIELD_E_INVALID && ret_field)
                        *ret_field = f->key;
                if (r != 0)
                        return r;
        }
        return 0;
}

const char *json_fields_find_unknown(const JsonTable *t, const json_t *o) {
        const char *key;
        json_t *v;

        json_object_foreach ((json_t *) o, key, v) {
                size_t i = 0;

                while (i < t->n_fields && !streq(field_of(t, i)->key, key))
                        i++;
                if (i == t->n_fields)
                        return key;
        }
        return NULL;
}

json_t *json_fields_new(const JsonTable *t, const void *base) {
        json_auto_t *o = json_object();

        return o && json_fields_write(o, t, base) >= 0 ? TAKE_PTR(o) : NULL;
}

void json_fields_done(const JsonTable *t, void *base) {
        for (size_t i = 0; i < t->n_fields; i++) {
                const JsonField *f = field_of(t, i);
                void *p = (char *) base + f->offset;

                if (f->type == JSON_FIELD_TEXT)
                        free(TAKE_PTR(*(char **) p));
                else if (f->type == JSON_FIELD_STRV)
                        strv_done(p);
                else if (f->type == JSON_FIELD_STRUCT) {
                        json_fields_done(f->table, p);
                        memset(p, 0, f->table->n_bytes);
                } else if (f->type == JSON_FIELD_LIST)
                        json_list_done(f->table, p);
        }
}

json_t *json_struct_new(const JsonTable *t, const void *base) {
        return is_zero(base, t->n_bytes) ? json_null() : json_fields_new(t, base);
}

int json_struct_read(void *base, const JsonTable *t, const json_t *v) {
        if (!v || json_is_null(v))
                return 0;
        return json_is_object(v) ? json_fields_read(base, t, v, NULL) : JSON_FIELD_E_INVALID;
}

json_t *json_list_new(const JsonTable *t, const void *list) {
        json_auto_t *array = json_array();
        JsonList l = get_list(list);

        for (size_t i = 0; array && i < l.n; i++) {
                const void *item = (const char *) l.items + i * t->n_bytes;

                if (json_array_append_new(array, t->is_plain ? field_to_json(t->fields, item)
                                                             : json_fields_new(t, item)) < 0)
                        return NULL;
        }
        return TAKE_PTR(array);
}

int json_list_read(void *list, const JsonTable *t, const json_t *v) {
        size_t n = json_array_size(v), n_room = 1;
        JsonList l = {};
        int r = 0;

        memcpy(list, &l, sizeof(l));
        if (!v || json_is_null(v))
                return 0;
        if (!json_is_array(v) || n > t->n_max)
                return JSON_FIELD_E_INVALID;
        while (n_room < n)
                n_room *= 2;
        l.items = calloc(n_room, t->n_bytes);
        if (!l.items)
                return -ENOMEM;
        while (r == 0 && l.n < n) {
                const json_t *o = json_array_get(v, l.n);
                void *item = (char *) l.items + l.n++ * t->n_bytes;

                if (t->is_plain)
                        r = field_from_json(item, t->fields, o);
                else
                        r = json_is_object(o) ? json_fields_read(item, t, o, NULL)
                                              : JSON_FIELD_E_INVALID;
                if (r == 0 && t->fits && !t->fits(l.items, l.n - 1))
                        r = JSON_FIELD_E_INVALID;
        }
        memcpy(list, &l, sizeof(l));
        return r;
}

void json_list_done(const JsonTable *t, void *list) {
        JsonList l = get_list(list);

        for (size_t i = 0; i < l.n; i++)
                json_fields_done(t, (char *) l.items + i * t->n_bytes);
        free(l.items);
        memset(list, 0, sizeof(l));
}
