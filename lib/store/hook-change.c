/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/hook-change.h"
#include "store/json-field.h"

static const char *const reason_words[_HOOK_REASON_N] = {
        [HOOK_NARROWED] = "narrowed",
        [HOOK_WIDENED] = "widened",
        [HOOK_SPARED] = "spared",
};

static const char *const reason_texts[_HOOK_REASON_N] = {
        [HOOK_NARROWED] = "narrowed to what was learned",
        [HOOK_WIDENED] = "widened, to learn what is called by now",
        [HOOK_SPARED] = "without what others call often",
};

static const JsonField fields[] = {
        JSON_FIELD(HookChange, trace_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
        JSON_FIELD(HookChange, reason, WORD, .flags = JSON_FIELD_REQUIRED, .words = reason_words,
                   .max = _HOOK_REASON_N),
        JSON_FIELD(HookChange, n_hooked, U32, .max = INT32_MAX),
        JSON_FIELD(HookChange, n_ordinary, U32, .max = INT32_MAX),
};

const char *hook_reason_text(HookReason r) {
        return reason_texts[r];
}

int hook_changes_add(HookChanges *h, const HookChange *change) {
        if (h->n == HOOK_CHANGES_MAX)
                memmove(h->items, h->items + 1, --h->n * sizeof(*h->items));
        if (!ARRAY_GROW(h->items, h->n))
                return -ENOMEM;
        h->items[h->n++] = *change;
        return 0;
}

void hook_changes_done(HookChanges *h) {
        free(h->items);
        *h = (HookChanges){};
}

json_t *hook_changes_to_json(const HookChanges *h) {
        return json_fields_new_list(fields, ELEMENTSOF(fields), h->items, h->n, sizeof(*h->items));
}

int hook_changes_from_json(HookChanges *ret, const json_t *list) {
        int r = json_fields_read_list(&ret->items, &ret->n, fields, ELEMENTSOF(fields),
                                      sizeof(*ret->items), list, HOOK_CHANGES_MAX);

        for (size_t i = 1; r == 0 && i < ret->n; i++)
                if (ret->items[i].trace_ns < ret->items[i - 1].trace_ns)
                        r = HOOK_CHANGE_E_INVALID;
        return r;
}
