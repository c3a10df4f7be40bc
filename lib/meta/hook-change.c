/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "meta/hook-change.h"

static const char *const reason_words[_HOOK_REASON_N] = {
        [HOOK_NARROWED] = "narrowed", [HOOK_WIDENED] = "widened", [HOOK_SPARED] = "spared",
        [HOOK_MODULES] = "modules",   [HOOK_THINNED] = "thinned", [HOOK_RESTORED] = "restored",
};

static const char *const reason_texts[_HOOK_REASON_N] = {
        [HOOK_NARROWED] = "narrowed to what was learned",
        [HOOK_WIDENED] = "widened, to learn what is called by now",
        [HOOK_SPARED] = "without what others call often",
        [HOOK_MODULES] = "with the modules that were loaded meanwhile",
        [HOOK_THINNED] = "thinned for the sake of other work",
        [HOOK_RESTORED] = "restored",
};

static const JsonField fields[] = {
        JSON_FIELD(HookChange, trace_ns, U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX),
        JSON_FIELD(HookChange, reason, WORD, .flags = JSON_FIELD_REQUIRED, .words = reason_words,
                   .max = _HOOK_REASON_N),
        JSON_FIELD(HookChange, n_hooked, U32, .max = INT32_MAX),
        JSON_FIELD(HookChange, n_known, U32, .flags = JSON_FIELD_OMIT, .max = INT32_MAX),
};

static bool is_later(const void *items, size_t i) {
        const HookChange *c = items;

        return i == 0 || c[i].trace_ns >= c[i - 1].trace_ns;
}

const JsonTable hook_change_table =
        JSON_TABLE(HookChange, fields, .n_max = HOOK_CHANGES_MAX, .fits = is_later);

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
