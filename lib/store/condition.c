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
        JSON_FIELD(Condition, cause, WORD, .flags = JSON_FIELD_REQUIRED, .words = gap_cause_names,
                   .max = _GAP_CAUSE_N),
        JSON_FIELD(Condition, since_ns, U64, .max = INT64_MAX),
        JSON_FIELD(Condition, reason, TEXT, .max_text = REASON_BYTES_MAX),
};

const Condition *conditions_find(const Conditions *c, GapCause cause) {
        for (size_t i = 0; i < c->n; i++)
                if (c->items[i].cause == cause)
                        return &c->items[i];
        return NULL;
}

int conditions_set(Conditions *c, GapCause cause, uint64_t since_ns, const char *reason) {
        Condition *it = (Condition *) conditions_find(c, cause);
        char *copy;

        if (it && streq(it->reason, reason))
                return 0;
        copy = strdup(reason);
        if (!copy || (!it && !ARRAY_GROW(c->items, c->n))) {
                free(copy);
                return -ENOMEM;
        }
        if (it) {
                since_ns = it->since_ns;
                free(it->reason);
        } else
                it = &c->items[c->n++];
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

json_t *conditions_to_json(const Conditions *c) {
        return json_fields_new_list(fields, ELEMENTSOF(fields), c->items, c->n, sizeof(*c->items));
}

int conditions_from_json(Conditions *ret, const json_t *list) {
        int r = json_fields_read_list(&ret->items, &ret->n, fields, ELEMENTSOF(fields),
                                      sizeof(*ret->items), list, _GAP_CAUSE_N);

        for (size_t i = 0; r == 0 && i < ret->n; i++)
                if (conditions_find(ret, ret->items[i].cause) != &ret->items[i])
                        r = CONDITION_E_INVALID;
        return r;
}
