/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A handful of entries, found by their cause. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/strv.h"
#include "store/condition.h"
#include "store/json-field.h"

#define REASON_BYTES_MAX 4096

static const JsonField fields[] = {
        { .key = "since_ns",
          .type = JSON_FIELD_U64,
          .offset = offsetof(Condition, since_ns),
          .max = INT64_MAX },
        { .key = "reason",
          .type = JSON_FIELD_TEXT,
          .offset = offsetof(Condition, reason),
          .max_text = REASON_BYTES_MAX },
};

const Condition *conditions_find(const Conditions *c, GapCause cause) {
        for (size_t i = 0; i < c->n; i++)
                if (c->items[i].cause == cause)
                        return &c->items[i];
        return NULL;
}

static int append(Conditions *c, Condition **ret) {
        if (!ARRAY_GROW(c->items, c->n))
                return -ENOMEM;
        *ret = &c->items[c->n++];
        **ret = (Condition){};
        return 0;
}

int conditions_set(Conditions *c, GapCause cause, uint64_t since_ns, const char *reason) {
        Condition *it = (Condition *) conditions_find(c, cause);
        char *copy;
        int r = 0;

        if (it && streq(it->reason, reason))
                return 0;
        copy = strdup(reason);
        if (!copy)
                return -ENOMEM;
        if (it)
                since_ns = it->since_ns;
        else
                r = append(c, &it);
        if (r < 0) {
                free(copy);
                return r;
        }
        free(it->reason);
        *it = (Condition){ .cause = cause, .since_ns = since_ns, .reason = copy };
        return 1;
}

bool conditions_clear(Conditions *c, GapCause cause) {
        Condition *it = (Condition *) conditions_find(c, cause);

        if (!it)
                return false;
        free(it->reason);
        c->n--;
        memmove(it, it + 1, (size_t) (c->items + c->n - it) * sizeof(*it));
        return true;
}

void conditions_done(Conditions *c) {
        for (size_t i = 0; i < c->n; i++)
                free(c->items[i].reason);
        free(c->items);
        *c = (Conditions){};
}

static json_t *condition_to_json(const Condition *it) {
        json_t *o = json_object();

        if (o && (json_object_set_new(o, "cause", json_string(gap_cause_name(it->cause))) < 0 ||
                  json_fields_write(o, fields, ELEMENTSOF(fields), it) < 0)) {
                json_decref(o);
                return NULL;
        }
        return o;
}

json_t *conditions_to_json(const Conditions *c) {
        json_t *list = json_array();

        for (size_t i = 0; list && i < c->n; i++)
                if (json_array_append_new(list, condition_to_json(&c->items[i])) < 0) {
                        json_decref(list);
                        return NULL;
                }
        return list;
}

int conditions_from_json(Conditions *ret, const json_t *list) {
        size_t n = json_array_size(list);

        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || n > _GAP_CAUSE_N)
                return CONDITION_E_INVALID;
        for (size_t i = 0; i < n; i++) {
                const json_t *o = json_array_get(list, i);
                const char *name = json_string_value(json_object_get(o, "cause")), *field;
                int cause = name ? gap_cause_from_name(name) : -EINVAL;
                Condition *it;
                int r;

                if (cause < 0 || conditions_find(ret, (GapCause) cause))
                        return CONDITION_E_INVALID;
                r = append(ret, &it);
                if (r < 0)
                        return r;
                it->cause = (GapCause) cause;
                r = json_fields_read(it, fields, ELEMENTSOF(fields), o, &field);
                if (r != 0)
                        return r < 0 ? r : CONDITION_E_INVALID;
        }
        return 0;
}
