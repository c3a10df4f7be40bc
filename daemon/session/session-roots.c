/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * As long as other roots are left the session goes on without those that went, says so, and takes them
 * up again when their module is back.  With the last one it ends: it could record nothing, and the
 * address that is left armed may become another function's.
 */

#include "base/log.h"
#include "daemon/session/session-roots.h"
#include "daemon/symbols/kernel-symbols.h"

struct SessionRoots {
        SessionRootsConfig config;
        SymbolWatch watch;
        bool modules_changed; /* since session_roots_look() */
};

int session_roots_new(SessionRoots **ret, const SessionRootsConfig *config) {
        *ret = NEW(SessionRoots, .config = *config, .watch.seen_ns = config->seen_ns);
        return *ret ? 0 : -ENOMEM;
}

SessionRoots *session_roots_free(SessionRoots *r) {
        return mfree(r);
}

/* --- symbols ----------------------------------------------------------------------------------- */

/* Or a removal would take the symbols along: the next look tries again. */
static void save_map(SessionRoots *o) {
        if (!o->config.save(o->config.session))
                symbol_maps_drop_last(&o->config.meta->symbol_maps);
        else
                log_info("Session '%s': modules changed; addresses mean something else from now "
                         "on.",
                         o->config.meta->name);
}

void session_roots_look_at_modules(SessionRoots *o) {
        SessionMeta *m = o->config.meta;
        ClockTuple now;
        int r;

        if (tracer_read_clocks(o->config.tracer, &now) < 0)
                return;
        r = symbol_watch_look(&o->watch, o->config.symbols, o->config.symbols_fd, m, now.trace_ns);
        if (r != 0) { /* they have changed, or may have */
                o->modules_changed = true;
                /* The kernel takes functions of a module out of the lists: that is nobody's tampering. */
                health_hold_hooks(o->config.health);
        }
        if (r == SYMBOL_WATCH_E_CHANGED)
                save_map(o);
        else if (r == -ENOSPC && m->symbol_maps.n >= SYMBOL_MAPS_MAX)
                health_warn(m,
                            "modules changed more than %u times: functions of modules that were "
                            "loaded later may have no names or wrong ones",
                            SYMBOL_MAPS_MAX);
        else if (r < 0 && o->watch.n_failures == 1)
                health_warn(m,
                            "modules may have changed, but storing /proc/kallsyms failed: %s; it "
                            "is tried again",
                            origin_text(r));
}

/* --- roots ------------------------------------------------------------------------------------- */

static void say_gone(Health *h, const Strv *gone) {
        _cleanup_free_ char *names = strv_join(gone, ", ");
        char reason[512];

        (void) snprintf(reason, sizeof(reason),
                        "%.300s went with %s: recorded again when the module is loaded again",
                        names ?: "a root", gone->n == 1 ? "its module" : "their modules");
        health_set_condition(h, GAP_ROOT_GONE, reason);
}

static void end(SessionRoots *o, const Strv *gone) {
        _cleanup_free_ char *names = strv_join(gone, ", ");
        char reason[512];

        (void) snprintf(reason, sizeof(reason),
                        "%s went with %s: nothing is left to record; load the module and start "
                        "again",
                        names && strlen(names) < 300 ? names : "all its roots",
                        gone->n == 1 ? "its module" : "their modules");
        log_warning("Session '%s' ends: %s.", o->config.meta->name, reason);
        o->config.lost(o->config.session, reason);
}

/* 0 or -errno. */
static int renew(SessionRoots *o, Strv *ret_gone, Strv *ret_back) {
        SessionMeta *m = o->config.meta;
        int r, k = 0;

        r = tracer_renew_roots(o->config.tracer, m, ret_gone, ret_back);
        if (m->state == SESSION_RECORDING)
                k = health_release_hooks(o->config.health);
        else
                health_renew_hooks(o->config.health);
        if (r < 0 || k < 0)
                (void) log_warning_errno(r < 0 ? r : k,
                                         "Session '%s': cannot look whether its roots are still "
                                         "there: %m",
                                         m->name);
        return r;
}

void session_roots_look(SessionRoots *o) {
        _cleanup_strv_ Strv gone = {}, back = {};
        Health *h = o->config.health;

        if (!TAKE(o->modules_changed, false) || o->config.meta->state != SESSION_RECORDING)
                return;
        if (renew(o, &gone, &back) < 0)
                return;
        if (gone.n == o->config.meta->roots.n) {
                end(o, &gone);
                return;
        }
        if (back.n > 0)
                health_note_gap(h, GAP_ROOT_GONE);
        if (gone.n > 0)
                say_gone(h, &gone);
        else
                health_clear_condition(h, GAP_ROOT_GONE);
        o->config.changed(o->config.session);
}
