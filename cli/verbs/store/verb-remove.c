/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What removes sessions, and what keeps them from being removed.  A store that no daemon has gets a private one for
 * it, so that there is one way to do it. */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

/* For each session that the command line names, of which is then said what became of it; the first failure is the exit
 * status. */
static int call_each(const Options *o, const char *method, bool is_pin, const char *before,
                     const char *behind) {
        _cleanup_(client_freep) Client *c = NULL;
        int result = source_check_names(&o->words) ?: contact_keeper(&c, o);

        for (size_t i = 0; c && i < o->words.n; i++) {
                const char *name = o->words.items[i];
                json_t *pinned = is_pin ? json_boolean(!o->off) : NULL;
                int status = contact_call(
                        c, method, json_pack("{s:s, s:o*}", "session", name, "pinned", pinned),
                        NULL, NULL);

                if (status == STATUS_OK)
                        talk(o, "%s%s%s.", before, name, behind);
                result = result ?: status;
        }
        return result;
}

int verb_remove(const Options *o) {
        return call_each(o, "Remove", false, "Removed ", "");
}

int verb_pin(const Options *o) {
        return call_each(o, "Pin", true, "",
                         o->off ? " may be removed"
                                : " is not removed any more, until \"ftracectl pin --off\"");
}

/* --- vacuum ----------------------------------------------------------------------------------- */

/* The last reply, of several that tell how far it is.  An exit status. */
static int vacuum(json_t **ret, const Options *o, Client *c) {
        _cleanup_progress_ Progress bar;
        uint64_t limit = o->limit == UINT64_MAX ? 0 : o->limit;
        json_t *parameters =
                json_pack("{s:I, s:I, s:I, s:b}", "max_bytes", (json_int_t) o->spec.max_bytes,
                          "max_age_ns", (json_int_t) o->vacuum_age_ns, "max_sessions",
                          (json_int_t) limit, "dry_run", o->dry_run);
        bool continues = true;
        int r = client_send(c, "Vacuum", parameters, true);

        progress_begin(&bar, o, "Removing sessions");
        while (r == 0 && continues) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;
                json_int_t n_done, n_total;

                r = client_receive(c, &reply, NULL, &continues, &refusal, -EBADF, -1);
                if (r != 0 || !continues)
                        progress_end(&bar);
                if (r != 0)
                        return contact_failure(c, r, &refusal);
                if (json_unpack(reply, "{s:{s:I, s:I}}", "progress", "done_bytes", &n_done,
                                "total_bytes", &n_total) == 0)
                        progress_write(&bar, (uint64_t) n_done, (uint64_t) n_total);
                if (!continues)
                        *ret = TAKE_PTR(reply);
        }
        return r == 0 ? STATUS_OK : contact_failure(c, r, NULL);
}

/* What went is a result; what stayed although it might have gone is said with it. */
static void describe(Buf *out, const json_t *items, const char *what) {
        const json_t *item;
        size_t i;

        json_array_foreach (items, i, item) {
                const char *name = json_string_value(json_object_get(item, "name"));
                const char *reason = json_string_value(json_object_get(item, "reason"));

                if (name && reason)
                        buf_printf(out, "%s %s (%s): %s.\n", what, name,
                                   FORMAT_BYTES(json_number(item, "n_bytes")), reason);
        }
}

int verb_vacuum(const Options *o) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_(client_freep) Client *c = NULL;
        json_auto_t *reply = NULL;
        int status = contact_keeper(&c, o) ?: vacuum(&reply, o, c);

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(reply));
        describe(&out, json_object_get(reply, "removed"), o->dry_run ? "Would remove" : "Removed");
        describe(&out, json_object_get(reply, "kept"), "Kept");
        buf_printf(&out, "%s %s.\n", o->dry_run ? "That would free" : "Freed",
                   FORMAT_BYTES(json_number(reply, "freed_bytes")));
        return stdout_end(&out);
}
