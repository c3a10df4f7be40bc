/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Each has two ways, the call and the deed, which say the same of what they refuse. */

#include <signal.h>

#include "cli/contact/contact.h"
#include "cli/files/upkeep.h"
#include "cli/source/retention.h"
#include "cli/source/source.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "store/footprint.h"
#include "store/removed.h"
#include "store/vacuum.h"

#define VACUUMING "Removing sessions"

int upkeep_each(const Options *o, int (*one)(const Options *o, Client *c, const char *word)) {
        _cleanup_(client_freep) Client *c = NULL;
        int status = source_check_names(&o->words) ?: contact_unless_store(&c, o),
            result = STATUS_OK;
        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < o->words.n; i++) {
                status = one(o, c, o->words.items[i]);
                result = result ?: status;
        }
        return result;
}

/* Which only its name is known by. */
static bool store_has_newer(const Options *o, const char *word) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(store_freep) Store *store = NULL;

        return store_open(&store, options_store(o)) >= 0 &&
               store_open_session(store, word, &dir) >= 0 &&
               session_dir_read_meta(dir, &m) == META_E_NEWER;
}

int upkeep_name(char **ret, const Options *o, Client *c, const char *word) {
        _cleanup_(source_freep) Source *s = NULL;
        int status;

        if (!c && !store_has_newer(o, word)) {
                status = source_open_session(&s, o, word); /* says it if there is none */
                if (status != STATUS_OK)
                        return status;
                word = s->meta->name;
        }
        *ret = strdup(word);
        return *ret ? STATUS_OK : STATUS_FAILED;
}

static int failure(const Options *o, const char *what, const char *name, int r) {
        log_error_errno(r, "Failed to %s%s%s%s in the store %s: %m", what,
                        name ? " session \"" : "", name ?: "", name ? "\"" : "", options_store(o));
        return r == -EACCES || r == -EPERM ? STATUS_FORBIDDEN : STATUS_FAILED;
}

static int open_store(Store **ret, const Options *o, const char *what) {
        char text[STORE_OWNER_MAX];
        pid_t holder = 0;
        int r = store_open_for_writing(ret, options_store(o), &holder);

        if (r == 0)
                return STATUS_OK;
        if (r == STORE_E_LOCKED)
                return failed(STATUS_BUSY,
                              "ftraced (%s) owns the store %s; ask it, without --store.",
                              store_owner_text(text, holder), options_store(o));
        return failure(o, what, NULL, r < 0 ? r : -EPERM);
}

static int open_session(SessionDir **ret_dir, SessionMeta **ret_meta, const Store *store,
                        const Options *o, const char *name) {
        int r = store_open_session(store, name, ret_dir);

        if (r == -ENOENT)
                return failed(STATUS_NOT_FOUND,
                              "there is no session \"%s\" in %s; see \"ftracectl list\".", name,
                              options_store(o));
        if (r == 0)
                r = session_dir_read_any_meta(*ret_dir, name, ret_meta);
        return r == 0 ? STATUS_OK : failure(o, "read", name, r < 0 ? r : -EBADMSG);
}

/* --- remove ----------------------------------------------------------------------------------- */

static int refuse_to_remove(const SessionDir *dir, const SessionMeta *m, const Options *o) {
        _cleanup_free_ char *foreign = NULL, *text = NULL;
        int keep = keep_look(dir, m, &foreign);

        if (keep < 0)
                return failure(o, "look at", m->name, keep);
        if (keep == KEEP_NOT || keep == KEEP_NEWER)
                return STATUS_OK;
        if (keep_describe(&text, (Keep) keep, m->name, foreign) < 0)
                return STATUS_FAILED;
        log_error("%s.", text);
        return keep == KEEP_FOREIGN ? STATUS_FAILED : STATUS_BUSY;
}

/* For who asks for it later. */
static void note_removed(const Store *store, const char *name, const char *id, uint64_t n_bytes,
                         const char *verb) {
        char why[128];

        (void) snprintf(why, sizeof(why), "uid %u asked for it (ftracectl %s)", (unsigned) getuid(),
                        verb);
        (void) removed_note(store_fd(store), &(Removed){ .n_bytes = n_bytes,
                                                         .name = (char *) name,
                                                         .id = (char *) id,
                                                         .why = why });
}

static int remove_from_store(const Options *o, const char *name) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        uint64_t n_bytes;
        int status = open_store(&store, o, "remove a session")
                             ?: open_session(&dir, &m, store, o, name),
            r;

        if (status == STATUS_OK)
                status = refuse_to_remove(dir, m, o);
        if (status != STATUS_OK)
                return status;
        n_bytes = footprint_measure(dir).n_bytes;
        r = store_remove_session(store, name);
        if (r < 0)
                return failure(o, "remove", name, r);
        note_removed(store, name, m->id, n_bytes, "remove");
        return STATUS_OK;
}

int upkeep_remove(const Options *o, Client *c, const char *name) {
        if (!c)
                return remove_from_store(o, name);
        return contact_call_session(c, "Remove", name, NULL);
}

/* --- pin -------------------------------------------------------------------------------------- */

int upkeep_pin(const Options *o, Client *c, const char *name, bool pinned) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r, status;

        if (c)
                return contact_call(c, "Pin",
                                    json_pack("{s:s, s:b}", "session", name, "pinned", pinned),
                                    NULL, NULL);
        status = open_store(&store, o, "pin a session") ?: open_session(&dir, &m, store, o, name);
        if (status != STATUS_OK)
                return status;
        if (m->newer_version > 0)
                return failed(STATUS_FAILED, "session \"%s\" was %s.", name, m->reason);
        m->pinned = pinned;
        r = session_dir_write_meta(dir, m);
        return r < 0 ? failure(o, "pin", name, r) : STATUS_OK;
}

/* --- vacuum ----------------------------------------------------------------------------------- */

static int work_out_limits(RetainLimits *ret, const Options *o, const Store *store) {
        _cleanup_strv_ Strv problems = {};
        int r = retention_limits(ret, o, store, &problems);

        warn_each(&problems);
        return r < 0 ? failure(o, "work out the limits of the sessions", NULL, r) : STATUS_OK;
}

/* What a removal in the store itself is told to. */
typedef struct StoreWork {
        Store *store;
        Progress bar;
} StoreWork;

static int remove_one(const char *name, void *userdata) {
        StoreWork *w = userdata;

        return store_remove_session(w->store, name);
}

static void show_one(const VacuumProgress *p, void *userdata) {
        StoreWork *w = userdata;

        progress_write(&w->bar, p->done_bytes, p->total_bytes);
}

static int vacuum_store(json_t **ret, const Options *o, const RetainLimits *limits, bool dry_run) {
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_vacuum_ Vacuum v = {};
        RetainLimits l = *limits;
        StoreWork work = {};
        int status = open_store(&store, o, "remove sessions"), r;

        if (status == STATUS_OK && !l.max_use_bytes && !l.max_age_ns && !l.max_sessions)
                status = work_out_limits(&l, o, store);
        if (status != STATUS_OK)
                return status;
        work.store = store;
        progress_begin(&work.bar, o, VACUUMING);
        r = vacuum_run(&v, store, &l,
                       &(VacuumWork){ .remove = dry_run ? NULL : remove_one,
                                      .tell = show_one,
                                      .userdata = &work });
        progress_end(&work.bar);
        for (size_t i = 0; r >= 0 && !dry_run && i < v.n; i++)
                if (v.items[i].verdict != RETAIN_KEEP && v.items[i].error == 0)
                        note_removed(store, v.items[i].name, NULL, v.items[i].n_bytes, "vacuum");
        if (r < 0)
                return failure(o, "look at the sessions", NULL, r);
        *ret = vacuum_to_json(&v);
        return *ret ? STATUS_OK : failure(o, "list the sessions", NULL, -ENOMEM);
}

int upkeep_vacuum(json_t **ret, const Options *o, Client *c, const RetainLimits *limits,
                  bool dry_run) {
        _cleanup_signals_ int signals_fd = -EBADF;
        json_t *parameters;

        if (!c)
                return vacuum_store(ret, o, limits, dry_run);
        parameters =
                json_pack("{s:I, s:I, s:I, s:b}", "max_bytes", (json_int_t) limits->max_use_bytes,
                          "max_age_ns", (json_int_t) limits->max_age_ns, "max_sessions",
                          (json_int_t) limits->max_sessions, "dry_run", dry_run);
        signals_fd = signals_open();
        if (signals_fd < 0) {
                json_decref(parameters);
                return failed_errno(signals_fd, "Failed to wait for signals: %m");
        }
        return contact_follow(
                ret, o, c, "Vacuum", parameters, VACUUMING, "done_bytes", "total_bytes", signals_fd,
                "interrupted: the other sessions stay; \"ftracectl list\" shows them.");
}
