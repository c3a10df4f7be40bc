/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Only the tracer itself is switched off, before anything else is written: what else its buffer is
 * set to is either saved with the session's own changes, or of no matter to it.
 */

#include "daemon/admission/admission.h"
#include "daemon/tracefs/control.h"

/* What the tracer in @dir is; "nop" if there is none, or no such buffer any more. */
static int read_tracer(const Tracefs *fs, const char *dir, char **ret) {
        int r = control_read(fs->fd, TRACEFS_PATH("%scurrent_tracer", dir), ret);

        if (r != -ENOENT && r != -ENODEV)
                return r;
        *ret = strdup("nop");
        return *ret ? 0 : -ENOMEM;
}

static int warn(const Tracefs *fs, const char *dir, const char *tracer, Strv *warnings) {
        _cleanup_free_ char *where = tracefs_where(fs, dir);

        if (!where)
                return -ENOMEM;
        return strv_addf(warnings,
                         "%s of %s, somebody else's tracer, is switched off while this records, "
                         "and on again afterwards%s",
                         tracer, where, *dir ? "" : "; its unread events are lost");
}

int override_find(const Tracefs *fs, bool instances, const Strv *ours, Strv *dirs, Strv *warnings,
                  Refusal *refusal) {
        _cleanup_strv_ Strv users = {};
        int r = instances ? tracefs_find_graph_users(fs, &users) : strv_add(&users, "");

        if (r < 0)
                return r;
        for (size_t i = 0; i < users.n; i++) {
                _cleanup_strv_ Strv holders = {};
                _cleanup_free_ char *tracer = NULL;
                const char *dir = users.items[i];

                if (strv_contains(ours, dir))
                        continue;
                r = read_tracer(fs, dir, &tracer) ?: tracefs_find_pipe_holders(fs, dir, &holders);
                if (r < 0)
                        return r;
                if (holders.n > 0)
                        return refuse_held_pipe(fs, dir, refusal);
                if (streq(tracer, "nop"))
                        continue;
                r = strv_add(dirs, dir) ?: warn(fs, dir, tracer, warnings);
                if (r < 0)
                        return r;
        }
        return 0;
}

int override_plan(Plan *p, const Strv *dirs) {
        for (size_t i = 0; i < dirs->n; i++) {
                const char *dir = dirs->items[i], *path = TRACEFS_PATH("%scurrent_tracer", dir);
                _cleanup_free_ char *tracer = NULL;
                int r = read_tracer(p->fs, dir, &tracer);

                if (r >= 0 && streq(tracer, "nop"))
                        continue;
                r = r ?: ledger_claim(p->ledger, LEDGER_SHARED, LEDGER_TRACER, path, tracer,
                                      *dir ? "nop" : "nop\nfunction_graph")
                            ?: plan_step(p, PLAN_SET, path, tracer, "nop", NULL);
                if (r < 0)
                        return r;
        }
        return 0;
}
