/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Each has two ways, the call and the deed, which say the same of what they refuse. */

#include <signal.h>

#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/source/retention.h"
#include "cli/source/source.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "retention/footprint.h"
#include "retention/removed.h"
#include "retention/vacuum.h"

#define VACUUMING "Removing sessions"

/* The name of the session that @word, a name or an id, means; a daemon knows by itself.  The caller frees *@ret. */
static int find_name(char **ret, const Options *o, Client *c, const char *word) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        /* By its name alone one is known that a newer ftraced has written. */
        bool is_known = c || (store_open(&store, options_store(o)) >= 0 &&
                              store_open_session(store, word, &dir) >= 0 &&
                              session_dir_read_meta(dir, &m) == META_E_NEWER);
        int status = is_known ? STATUS_OK : source_open_session(&s, o, word);

        if (status != STATUS_OK)
                return status;
        *ret = strdup(s ? s->meta->name : word);
        return *ret ? STATUS_OK : STATUS_FAILED;
}

int upkeep_each(const Options *o, int (*one)(const Options *o, Client *c, const char *name)) {
        _cleanup_(client_freep) Client *c = NULL;
        int status = source_check_names(&o->words) ?: contact_unless_store(&c, o),
            result = STATUS_OK;

        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < o->words.n; i++) {
                _cleanup_free_ char *name = NULL;

                status = find_name(&name, o, c, o->words.items[i]) ?: one(o, c, name);
                result = result ?: status;
        }
        return result;
}

/* --- in the store itself ---------------------------------------------------------------------- */

static int failure(const char *store, const char *what, const char *name, int r) {
        log_error_errno(r, "Failed to %s%s%s%s in the store %s: %m", what,
                        name ? " session \"" : "", name ?: "", name ? "\"" : "", store);
        return r == -EACCES || r == -EPERM ? STATUS_FORBIDDEN : STATUS_FAILED;
}

static int open_store(Store **ret, const Options *o, const char *what) {
        char text[STORE_OWNER_MAX];
        pid_t holder = 0;
        int r = store_open_for_writing(ret, options_store(o), &holder);

        if (r == STORE_E_LOCKED)
                return failed(STATUS_BUSY,
                              "ftraced (%s) owns the store %s; ask it, without --store.",
                              store_owner_text(text, holder), options_store(o));
        return r == 0 ? STATUS_OK : failure(options_store(o), what, NULL, r < 0 ? r : -EPERM);
}

/* A session of a store that is opened for writing. */
typedef struct Owned {
        Store *store;
        SessionDir *dir;
        SessionMeta *meta;
} Owned;

static void owned_done(Owned *w) {
        session_meta_free(w->meta);
        session_dir_free(w->dir);
        store_free(w->store);
}

static int owned_open(Owned *w, const Options *o, const char *name, const char *what) {
        int status = open_store(&w->store, o, what), r;

        if (status != STATUS_OK)
                return status;
        r = store_open_session(w->store, name, &w->dir);
        if (r == -ENOENT)
                return failed(STATUS_NOT_FOUND,
                              "there is no session \"%s\" in %s; see \"ftracectl list\".", name,
                              options_store(o));
        if (r == 0)
                r = session_dir_read_any_meta(w->dir, name, &w->meta);
        return r == 0 ? STATUS_OK : failure(options_store(o), "read", name, r < 0 ? r : -EBADMSG);
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

int upkeep_remove(const Options *o, Client *c, const char *name) {
        _cleanup_(owned_done) Owned w = {};
        _cleanup_free_ char *foreign = NULL, *text = NULL;
        uint64_t n_bytes;
        int status, keep, r;

        if (c)
                return contact_call_session(c, "Remove", name, NULL);
        status = owned_open(&w, o, name, "remove a session");
        if (status != STATUS_OK)
                return status;
        keep = keep_look(w.dir, w.meta, &foreign);
        if (keep < 0)
                return failure(options_store(o), "look at", name, keep);
        if (keep != KEEP_NOT && keep != KEEP_NEWER) {
                if (keep_describe(&text, (Keep) keep, w.meta->name, foreign) >= 0)
                        log_error("%s.", text);
                return keep == KEEP_FOREIGN ? STATUS_FAILED : STATUS_BUSY;
        }
        n_bytes = footprint_measure(w.dir).n_bytes;
        r = store_remove_session(w.store, name);
        if (r < 0)
                return failure(options_store(o), "remove", name, r);
        note_removed(w.store, name, w.meta->id, n_bytes, "remove");
        return STATUS_OK;
}

int upkeep_pin(const Options *o, Client *c, const char *name, bool pinned) {
        _cleanup_(owned_done) Owned w = {};
        int r, status;

        if (c)
                return contact_call(c, "Pin",
                                    json_pack("{s:s, s:b}", "session", name, "pinned", pinned),
                                    NULL, NULL);
        status = owned_open(&w, o, name, "pin a session");
        if (status != STATUS_OK)
                return status;
        if (w.meta->newer_version > 0)
                return failed(STATUS_FAILED, "session \"%s\" was %s.", name, w.meta->reason);
        w.meta->pinned = pinned;
        r = session_dir_write_meta(w.dir, w.meta, false);
        return r < 0 ? failure(options_store(o), "pin", name, r) : STATUS_OK;
}

/* --- vacuum ----------------------------------------------------------------------------------- */

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
        _cleanup_strv_ Strv problems = {};
        _cleanup_vacuum_ Vacuum v = {};
        RetainLimits l = *limits;
        StoreWork work = {};
        int status = open_store(&store, o, "remove sessions"), r = 0;

        if (status != STATUS_OK)
                return status;
        if (!l.max_use_bytes && !l.max_age_ns && !l.max_sessions)
                r = retention_limits(&l, o, store, &problems);
        warn_each(&problems);
        if (r < 0)
                return failure(options_store(o), "work out the limits of the sessions", NULL, r);
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
                return failure(options_store(o), "look at the sessions", NULL, r);
        *ret = vacuum_to_json(&v);
        return *ret ? STATUS_OK : failure(options_store(o), "list the sessions", NULL, -ENOMEM);
}

static int ask_vacuum(json_t **ret, const Options *o, Client *c, json_t *parameters) {
        _cleanup_signals_ int signals_fd = signals_open();
        _cleanup_progress_ Progress bar;
        int r = signals_fd < 0 ? signals_fd
                               : client_send(c, "Vacuum", json_incref(parameters), true);

        progress_begin(&bar, o, VACUUMING);
        while (r == 0) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;
                json_int_t n_done, n_total;
                bool continues = false;

                r = client_receive(c, &reply, NULL, &continues, &refusal, signals_fd, -1);
                if (r == CLIENT_E_INTERRUPTED && !signals_want_end(signals_fd)) {
                        r = 0;
                        continue;
                }
                if (r != 0 || !continues)
                        progress_end(&bar);
                if (r == CLIENT_E_INTERRUPTED)
                        return failed(128 + SIGINT, "interrupted: the other sessions stay; "
                                                    "\"ftracectl list\" shows them.");
                if (r != 0)
                        return contact_failure(c, r, &refusal);
                if (!continues) {
                        *ret = TAKE_PTR(reply);
                        return STATUS_OK;
                }
                if (json_unpack(reply, "{s:{s:I, s:I}}", "progress", "done_bytes", &n_done,
                                "total_bytes", &n_total) == 0)
                        progress_write(&bar, (uint64_t) n_done, (uint64_t) n_total);
        }
        return contact_failure(c, r, NULL);
}

int upkeep_vacuum(json_t **ret, const Options *o, Client *c, const RetainLimits *limits,
                  bool dry_run) {
        json_auto_t *parameters =
                json_pack("{s:I, s:I, s:I, s:b}", "max_bytes", (json_int_t) limits->max_use_bytes,
                          "max_age_ns", (json_int_t) limits->max_age_ns, "max_sessions",
                          (json_int_t) limits->max_sessions, "dry_run", dry_run);

        return c ? ask_vacuum(ret, o, c, parameters) : vacuum_store(ret, o, limits, dry_run);
}
