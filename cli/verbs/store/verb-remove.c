/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What removes sessions, and what keeps them from being removed. */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"

static int remove_one(const Options *o, Client *c, const char *name) {
        int status = upkeep_remove(o, c, name);

        if (status == STATUS_OK)
                talk(o, "Removed %s.", name);
        return status;
}

int verb_remove(const Options *o) {
        return upkeep_each(o, remove_one);
}

static int pin(const Options *o, Client *c, const char *name) {
        int status = upkeep_pin(o, c, name, !o->off);

        if (status == STATUS_OK)
                talk(o, "%s %s.", name,
                     o->off ? "may be removed"
                            : "is not removed any more, until \"ftracectl pin --off\"");
        return status;
}

int verb_pin(const Options *o) {
        return upkeep_each(o, pin);
}

/* --- vacuum ----------------------------------------------------------------------------------- */

/* What went is a result; what stayed although it might have gone is said with it. */
static void describe(Buf *out, const json_t *items, const char *what) {
        const json_t *item;
        size_t i;

        json_array_foreach (items, i, item) {
                json_int_t n_bytes = json_integer_value(json_object_get(item, "n_bytes"));
                const char *name = json_string_value(json_object_get(item, "name"));
                const char *reason = json_string_value(json_object_get(item, "reason"));

                if (name && reason)
                        buf_printf(out, "%s %s (%s): %s.\n", what, name,
                                   FORMAT_BYTES((uint64_t) n_bytes), reason);
        }
}

int verb_vacuum(const Options *o) {
        RetainLimits limits = { .max_use_bytes = o->spec.max_bytes,
                                .max_age_ns = o->vacuum_age_ns,
                                .max_sessions = o->limit == UINT64_MAX ? 0 : o->limit };
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_(client_freep) Client *c = NULL;
        json_auto_t *reply = NULL;
        json_int_t n_freed;
        int status =
                contact_unless_store(&c, o) ?: upkeep_vacuum(&reply, o, c, &limits, o->dry_run);

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(reply));
        describe(&out, json_object_get(reply, "removed"), o->dry_run ? "Would remove" : "Removed");
        describe(&out, json_object_get(reply, "kept"), "Kept");
        n_freed = json_integer_value(json_object_get(reply, "freed_bytes"));
        buf_printf(&out, "%s %s.\n", o->dry_run ? "That would free" : "Freed",
                   FORMAT_BYTES((uint64_t) n_freed));
        return stdout_end(&out);
}
