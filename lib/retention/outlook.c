/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who goes, when, and why, in this order, whatever of it there is. */

#include "base/buf.h"
#include "base/name.h"
#include "base/unit.h"
#include "meta/json-field.h"
#include "retention/outlook.h"

#define NUMBER(k, member, ...) JSON_FIELD_AS(k, Outlook, member, U64, .max = INT64_MAX, __VA_ARGS__)

#define FOREVER_NS ((uint64_t) INT64_MAX) /* as it is written; more does not exist */

static const char *const whys[_RETAIN_VERDICT_N] = {
        [RETAIN_KEEP] = "none",          [RETAIN_TOO_OLD] = "MaxRetentionSec",
        [RETAIN_TOO_MANY] = "sessions",  [RETAIN_OVER_USE] = "MaxUse",
        [RETAIN_OVER_FREE] = "KeepFree",
};

static const JsonField fields[] = {
        NUMBER("used_bytes", used_bytes),
        NUMBER("free_bytes", free_bytes),
        NUMBER("growth_bytes", growth_bytes),
        NUMBER("max_use_bytes", limits.max_use_bytes),
        NUMBER("keep_free_bytes", limits.keep_free_bytes),
        NUMBER("max_age_ns", limits.max_age_ns),
        NUMBER("min_age_ns", limits.min_age_ns),
        JSON_FIELD_AS("full", Outlook, is_full, BOOL),
        JSON_FIELD(Outlook, next, TEXT, .flags = JSON_FIELD_NULLABLE | JSON_FIELD_OMIT,
                   .max_text = SESSION_NAME_MAX, .is_valid = session_name_is_valid),
        NUMBER("next_bytes", next_bytes, .flags = JSON_FIELD_OMIT),
        NUMBER("not_before_ns", not_before_ns, .flags = JSON_FIELD_OMIT),
        NUMBER("at_ns", at_ns, .flags = JSON_FIELD_OMIT),
        JSON_FIELD_AS("rule", Outlook, why, WORD, .words = whys, .max = _RETAIN_VERDICT_N),
        NUMBER("n_going", n_going),
        JSON_FIELD(Outlook, going, STRV, .max = OUTLOOK_NAMES, .max_text = SESSION_NAME_MAX,
                   .is_valid = session_name_is_valid),
};

static const JsonTable table = JSON_TABLE(Outlook, fields);

void outlook_done(Outlook *o) {
        json_fields_done(&table, o);
        *o = (Outlook){};
}

json_t *outlook_to_json(const Outlook *o) {
        return json_fields_new(&table, o);
}

int outlook_from_json(Outlook *ret, const json_t *json) {
        _cleanup_outlook_ Outlook o = {};
        int r = json_is_object(json) ? json_fields_read(&o, &table, json, NULL) : OUTLOOK_E_INVALID;

        if (r == 0)
                *ret = TAKE(o, (Outlook){});
        return r;
}

bool outlook_is_tight(const Outlook *o) {
        return o->is_full || o->why != RETAIN_KEEP;
}

/* --- words -------------------------------------------------------------------------------------- */

/* "r1 (4.2M) is removed next, not before 2026-11-23 15:42:10, then r2, r3 and 4 others" */
static void add_going(Buf *b, const Outlook *o) {
        buf_printf(b, "%s (%s)", o->next, FORMAT_BYTES(o->next_bytes));
        if (o->not_before_ns >= FOREVER_NS)
                buf_adds(b,
                         " would be removed next, but stays for good (MinRetentionSec=infinity)");
        else if (o->not_before_ns > 0)
                buf_printf(b, " is removed next, at %s", FIGURE_DATE(o->not_before_ns));
        else
                buf_adds(b, " is removed next");
        for (size_t i = 1; i < o->going.n; i++)
                buf_printf(b, "%s%s",
                           i == 1                ? ", then "
                           : i + 1 == o->n_going ? " and "
                                                 : ", ",
                           o->going.items[i]);
        if (o->n_going > MAX(o->going.n, (size_t) 1))
                buf_printf(b, " and %llu others",
                           (unsigned long long) (o->n_going - MAX(o->going.n, (size_t) 1)));
}

static void add_reason(Buf *b, const Outlook *o) {
        switch (o->why) {
        case RETAIN_TOO_OLD:
                buf_printf(b, "it was kept longer ago than %s (MaxRetentionSec=)",
                           FORMAT_DURATION(o->limits.max_age_ns));
                break;
        case RETAIN_OVER_USE:
                buf_printf(b, "all recordings take %s", FORMAT_BYTES(o->used_bytes));
                if (o->growth_bytes > 0)
                        buf_printf(b, " and those that record may take %s more",
                                   FORMAT_BYTES(o->growth_bytes));
                buf_printf(b, ", of %s (MaxUse=)", FORMAT_BYTES(o->limits.max_use_bytes));
                break;
        default:
                buf_printf(b, "%s of the disk is free", FORMAT_BYTES(o->free_bytes));
                if (o->growth_bytes > 0)
                        buf_printf(b, ", of which those that record may take %s",
                                   FORMAT_BYTES(o->growth_bytes));
                buf_printf(b, ", and %s should be (KeepFree=)",
                           FORMAT_BYTES(o->limits.keep_free_bytes));
        }
}

/* "next to be removed: r1 (4.2M), after 2026-11-23 15:42:10, if all recordings exceed 16M (MaxUse=; now 9M)" */
static void add_prospect(Buf *b, const Outlook *o) {
        const char *separator = ", ";

        buf_printf(b, "next to be removed: %s (%s)", o->next, FORMAT_BYTES(o->next_bytes));
        if (o->not_before_ns > 0 && o->not_before_ns < FOREVER_NS)
                buf_printf(b, ", after %s", FIGURE_DATE(o->not_before_ns));
        if (o->limits.max_use_bytes > 0) {
                buf_printf(b, "%sif all recordings exceed %s (MaxUse=; now %s)", separator,
                           FORMAT_BYTES(o->limits.max_use_bytes), FORMAT_BYTES(o->used_bytes));
                separator = ", or ";
        }
        if (o->limits.keep_free_bytes > 0) {
                buf_printf(b, "%sif less than %s is free (KeepFree=; now %s)", separator,
                           FORMAT_BYTES(o->limits.keep_free_bytes), FORMAT_BYTES(o->free_bytes));
                separator = ", or ";
        }
        if (o->at_ns > 0 && o->at_ns < FOREVER_NS)
                buf_printf(b, "%sat %s, %s after it was kept (MaxRetentionSec=)", separator,
                           FIGURE_DATE(o->at_ns), FORMAT_DURATION(o->limits.max_age_ns));
}

int outlook_describe(char **ret, const Outlook *o) {
        _cleanup_buf_ Buf b = BUF_INIT;
        bool has_rule = o->limits.max_use_bytes || o->limits.keep_free_bytes || o->at_ns;

        if (o->is_full)
                buf_printf(&b, "the store is full, %s is free: no recording begins%s",
                           FORMAT_BYTES(o->free_bytes), o->next ? "; " : "");
        if (!o->next || (o->why == RETAIN_KEEP && !has_rule))
                buf_adds(&b, o->is_full ? "" : "no recording is removed by itself");
        else if (o->why == RETAIN_KEEP)
                add_prospect(&b, o);
        else {
                add_going(&b, o);
                buf_adds(&b, ": ");
                add_reason(&b, o);
        }
        return buf_take_string(&b, ret);
}

int outlook_advise(char **ret, const Outlook *o) {
        *ret = NULL;
        if (o->is_full && o->next)
                return text_format(ret,
                                   "make room on the store's disk, or remove what is not needed: "
                                   "\"ftracectl remove %s\"",
                                   o->next);
        if (outlook_is_tight(o) && o->next)
                return text_format(ret,
                                   "keep what is wanted with \"ftracectl pin %s\" or \"ftracectl "
                                   "fetch\", remove what is not, or see ftraced.conf(5)",
                                   o->next);
        return o->is_full ? text_format(ret, "make room on the store's disk") : 0;
}
