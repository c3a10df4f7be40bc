/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A handful of entries, found by their cause. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/strv.h"
#include "store/condition.h"

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

static bool has_a_cause_of_its_own(const void *items, size_t i) {
        const Condition *c = items;

        for (size_t k = 0; k < i; k++)
                if (c[k].cause == c[i].cause)
                        return false;
        return true;
}

const JsonTable condition_table =
        JSON_TABLE(Condition, fields, .n_max = _GAP_CAUSE_N, .fits = has_a_cause_of_its_own);

void conditions_done(Conditions *c) {
        json_list_done(&condition_table, c);
}
