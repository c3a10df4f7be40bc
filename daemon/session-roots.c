/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Roots whose module goes.  As long as others are left the session goes on without them, says so, and
 * takes them up again when their module is back.  With the last one it ends: it could record nothing,
 * and the address that is left armed may become another function's.
 */

#include <stdio.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/session-private.h"

static void say_gone(Session *s, const Strv *gone) {
        _cleanup_free_ char *names = strv_join(gone, ", ");
        char reason[512];

        (void) snprintf(reason, sizeof(reason),
                        "%.300s went with %s: recorded again when the module is loaded again",
                        names ?: "a root", gone->n == 1 ? "its module" : "their modules");
        health_set_condition(s->health, GAP_ROOT_GONE, reason);
}

static void end(Session *s, const Strv *gone) {
        _cleanup_free_ char *names = strv_join(gone, ", ");
        char reason[512];

        (void) snprintf(reason, sizeof(reason),
                        "%s went with %s: nothing is left to record; load the module and start "
                        "again",
                        names && strlen(names) < 300 ? names : "all its roots",
                        gone->n == 1 ? "its module" : "their modules");
        log_warning("Session '%s' ends: %s.", s->meta->name, reason);
        session_stop(s, reason);
}

void session_look_at_roots(Session *s) {
        _cleanup_strv_ Strv gone = {}, back = {};
        int r, k = 0;

        if (session_hooks_change(s)) /* the next look */
                return;
        if (!TAKE(s->modules_changed, false) || s->meta->state != SESSION_RECORDING)
                return;
        /* The kernel takes functions of a module out of the filter: that is nobody's tampering. */
        if (s->meta->n_hooked > 0)
                health_end_watch(s->health);
        r = tracer_renew_roots(s->tracer, s->meta, &gone, &back);
        if (s->meta->n_hooked > 0 && s->meta->state == SESSION_RECORDING)
                k = health_watch_again(s->health);
        if (r < 0 || k < 0)
                (void) log_warning_errno(r < 0 ? r : k,
                                         "Session '%s': cannot look whether its roots are still "
                                         "there: %m",
                                         s->meta->name);
        if (r < 0)
                return;
        if (gone.n == s->meta->roots.n) {
                end(s, &gone);
                return;
        }
        if (back.n > 0)
                health_note_gap(s->health, GAP_ROOT_GONE);
        if (gone.n > 0)
                say_gone(s, &gone);
        else
                health_clear_condition(s->health, GAP_ROOT_GONE);
        session_save(s);
        s->context->changed(s, s->context->userdata);
}
