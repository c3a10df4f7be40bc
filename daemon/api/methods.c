/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One function for each method, in the order of the interface file.  Stop and
 * Watch are answered later: they leave a Waiter behind, which every change of
 * its session's state, and for Watch a timer, looks at.
 */

#include "base/io.h"
#include "base/name.h"
#include "daemon/api/api.h"
#include "daemon/watch/watch.h"

#define WATCH_INTERVAL_US 1000000U

struct Waiter {
        Waiter *next;
        ServerCall *call;
        Session *session;
        bool is_watch; /* Watch: wants every change; Stop: wants the end */
};

/* --- waiting ---------------------------------------------------------------------------------- */

static void methods_drop_waiter(Methods *m, Waiter **at) {
        Waiter *w = POP(*at);
        Session *session = w->session;
        bool is_watched = false;

        (void) server_call_unref(w->call);
        session_keep_awake(session, false);
        free(w);

        for (w = m->waiters; w; w = w->next)
                is_watched = is_watched || (w->is_watch && w->session == session);
        session_set_watched(session, is_watched);
        for (w = m->waiters; w && !w->is_watch; w = w->next)
                ;
        if (!w)
                m->tick = sd_event_source_disable_unref(m->tick);
}

/* Tells @w of its session; whether that was its last reply. */
static bool waiter_answer(Methods *m, Waiter *w) {
        bool is_last = !session_is_live(w->session);
        json_t *news;

        if (!server_call_is_connected(w->call))
                return true;
        if (!is_last && !w->is_watch)
                return false;
        news = json_pack("{s:o, s:o*, s:s*}", "session", session_to_json(w->session), "retention",
                         is_last ? janitor_foresee(m->janitor) : NULL, "not_put_back",
                         is_last ? controller_debt(m->controller) : NULL);
        if (!news)
                return false; /* no memory now: the next change or tick tries again */
        return (is_last ? server_call_reply(w->call, news, NULL, 0)
                        : server_call_continue(w->call, news)) < 0 ||
               is_last;
}

void methods_session_changed(Methods *m, Session *session) {
        for (Waiter **at = &m->waiters; *at;) {
                bool concerned = session ? (*at)->session == session : (*at)->is_watch;

                if (concerned && waiter_answer(m, *at))
                        methods_drop_waiter(m, at);
                else
                        at = &(*at)->next;
        }
}

static int methods_on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        Methods *m = userdata;

        (void) sd_event_source_set_time_relative(source, WATCH_INTERVAL_US);
        methods_session_changed(m, NULL);
        return 0;
}

static int methods_add_waiter(Methods *m, ServerCall *call, Session *session, bool is_watch) {
        Waiter *w = NEW(Waiter, .next = m->waiters, .call = server_call_ref(call),
                        .session = session, .is_watch = is_watch);
        int r;

        if (!w)
                return -ENOMEM;
        m->waiters = w;
        session_keep_awake(session, true);
        if (!is_watch)
                return 0;
        session_set_watched(session, true);
        if (m->tick)
                return 0;
        r = sd_event_add_time_relative(m->event, &m->tick, CLOCK_MONOTONIC, WATCH_INTERVAL_US, 0,
                                       methods_on_tick, m);
        return r < 0 ? r : sd_event_source_set_enabled(m->tick, SD_EVENT_ON);
}

void methods_on_gone(uint64_t peer, void *userdata) {
        Methods *m = userdata;

        for (Waiter **at = &m->waiters; *at;)
                if (!server_call_is_connected((*at)->call))
                        methods_drop_waiter(m, at);
                else
                        at = &(*at)->next;
        methods_drop_errands(m, false);
        sessions_peer_gone(m->sessions, peer);
}

/* --- the methods ------------------------------------------------------------------------------ */

/* To the journal, too. */
static void tell_change(const ServerCall *call, JournalEvent event, const Session *s,
                        const char *done) {
        journal_tell(&(JournalEntry){ event, session_meta(s), .uid = call->who.uid,
                                      .pid = call->who.pid },
                     "Session \"%s\" is %s by %s (pid %i).", session_name(s), done,
                     FORMAT_USER(call->who.uid), (int) call->who.pid);
}

static int method_stop(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        Session *session;
        char reason[64];
        int r = methods_get_session(m, call, parameters, METHODS_CHANGE, &session, refusal);

        if (r != 0)
                return r;
        if (!session_is_live(session))
                return methods_refuse_state(
                        refusal, session,
                        "session \"%s\" does not record: it is %s (%s); \"ftracectl report "
                        "%s\" draws it",
                        session_name(session), session_state_name(session_meta(session)->state),
                        session_meta(session)->reason ?: "no reason is known",
                        session_name(session));

        r = methods_add_waiter(m, call, session, false);
        if (r < 0)
                return r;
        tell_change(call, JOURNAL_STOPPED, session, "stopped");
        (void) snprintf(reason, sizeof(reason), "stopped by %s", FORMAT_USER(call->who.uid));
        session_stop(session, reason);
        return 0;
}

/*
 * A trigger is answered with what the session has become, when all that it records is hooked, so that
 * whoever goes on then finds it all recorded.  A snapshot takes the readers a moment, and the disk another one, so
 * its call is kept until session_snapshot() and session_when_synced() tell.
 */

/* "session 'boot' is recording" and @text. */
static int refuse_state(Refusal *refusal, const Session *s, const char *text) {
        return methods_refuse_state(refusal, s, "session \"%s\" is %s%s", session_name(s),
                                    session_state_name(session_meta(s)->state), text);
}

/* The session is what the call waited for. */
static void on_ready(Session *s, int error, void *userdata) {
        ServerCall *call = userdata;

        (void) parameter_reply(call, "session", session_meta_to_json(session_meta(s)));
        (void) server_call_unref(call); /* or whoever asked has gone */
}

static int method_trigger(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Session *s;
        char who[64];
        int r = methods_get_session(userdata, call, parameters, METHODS_CHANGE, &s, refusal);

        if (r != 0)
                return r;
        (void) snprintf(who, sizeof(who), "triggered by %s", FORMAT_USER(call->who.uid));
        r = session_trigger(s, who);
        if (r == -EINVAL)
                return refuse_state(refusal, s,
                                    " and waits for no trigger; \"ftracectl arm\" "
                                    "begins one that does");
        if (r == -EBUSY)
                return refuse_state(refusal, s, ": its trigger has nothing to do now");
        if (r < 0)
                return r;
        session_when_hooked(s, on_ready, server_call_ref(call));
        return 0;
}

static void on_snapshot(Session *s, int error, void *userdata) {
        _cleanup_refusal_ Refusal refusal = {};
        ServerCall *call = userdata;
        int r = 0;

        if (error == 0) {
                session_when_synced(s, on_ready, call);
                return;
        }
        if (error == SNAPSHOT_E_EMPTY)
                r = refuse_state(&refusal, s,
                                 " and has nothing yet: none of its functions was "
                                 "called since it began, or since the last snapshot");
        else if (error == -ECANCELED)
                r = refuse_state(&refusal, s, ": it ended before the snapshot was there");
        else
                r = refusal_set_errno(&refusal, error < 0 ? -error : EIO,
                                      "no snapshot of session \"%s\" can be kept: %s",
                                      session_name(s), strerror(error < 0 ? -error : EIO));
        if (r == REFUSED)
                r = server_call_refuse(call, &refusal);
        (void) r; /* whoever asked has gone */
        (void) server_call_unref(call);
}

static int method_snapshot(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        char reason[96];
        Session *s;
        int r = methods_get_session(m, call, parameters, METHODS_CHANGE, &s, refusal);

        if (r != 0)
                return r;
        if (!session_meta(s)->spec.ring)
                return refuse_state(refusal, s,
                                    ", and it is not a ring, which alone has snapshots: what it "
                                    "has stored can be drawn while it records");
        if (session_meta(s)->state != SESSION_RECORDING)
                return refuse_state(refusal, s, ", so there is nothing to keep a snapshot of");
        r = sessions_admit_snapshot(s, refusal, m->sessions);
        if (r != 0)
                return r;
        (void) snprintf(reason, sizeof(reason), "asked for by %s", FORMAT_USER(call->who.uid));
        r = session_snapshot(s, reason, on_snapshot, server_call_ref(call));
        if (r < 0)
                (void) server_call_unref(call);
        return r;
}

static int method_describe(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Session *session;

        return methods_get_session(userdata, call, parameters, METHODS_READ_NEWER, &session,
                                   refusal)
                       ?: parameter_reply(call, "session", session_explain(session));
}

static int method_open(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_close_ int symbols_fd = -EBADF;
        int fds[2];
        Session *session;
        json_t *reply;
        int r = methods_get_session(m, call, parameters, METHODS_READ, &session, refusal);

        if (r != 0)
                return r;
        session_save_tasks(session);
        r = store_open_session(m->store, session_name(session), &dir);
        if (r < 0)
                return refusal_set_errno(
                        refusal, -r, "the data of session \"%s\" in %s cannot be opened: %s",
                        session_name(session), store_path(m->store), origin_text(r));

        /* Opened again: who is handed a descriptor shares its offset. */
        if (store_symbols_fd(m->store) >= 0)
                symbols_fd = dir_open(store_symbols_fd(m->store), ".");
        reply = json_pack("{s:o, s:i, s:o*}", "session", session_explain(session), "directory", 0,
                          "symbols", symbols_fd >= 0 ? json_integer(1) : NULL);
        if (!reply)
                return -ENOMEM;
        methods_tell_reading(m, call, session_meta(session));
        fds[0] = session_dir_fd(dir);
        fds[1] = symbols_fd;
        return server_call_reply(call, reply, fds, symbols_fd >= 0 ? 2 : 1);
}

static int method_watch(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        Session *session;
        int r = methods_get_session(m, call, parameters, METHODS_READ, &session, refusal);

        if (r != 0)
                return r;
        r = methods_add_waiter(m, call, session, true);
        if (r < 0)
                return r;
        /* It stands first in the list.  An ended session is answered once and for all. */
        if (waiter_answer(m, m->waiters))
                methods_drop_waiter(m, &m->waiters);
        return 0;
}

/* Whether something stands against removing an ended session. */
static int refuse_to_remove(Session *session, Refusal *refusal) {
        _cleanup_free_ char *foreign = NULL, *text = NULL;
        const char *name = session_name(session);
        int r, keep = session_look_keep(session, &foreign);

        if (keep < 0)
                return refusal_set_errno(refusal, -keep, "session \"%s\" cannot be looked at: %s",
                                         name, origin_text(keep));
        if (keep == KEEP_NOT || keep == KEEP_UNKNOWN)
                return 0;
        r = keep_describe(&text, (Keep) keep, name, foreign);
        if (r < 0)
                return r;
        if (keep == KEEP_FOREIGN)
                return methods_refuse_state(refusal, session, "%s", text);
        return refusal_set_of(refusal, REFUSAL_BUSY, "holder", name, "%s", text);
}

static int method_remove(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        _cleanup_free_ char *name = NULL;
        Session *session;
        char why[96];
        int r = methods_get_session(m, call, parameters, METHODS_CHANGE_NEWER, &session, refusal);

        if (r != 0)
                return r;
        if (session_is_live(session))
                return methods_refuse_state(
                        refusal, session,
                        "session \"%s\" still records; end it with \"ftracectl stop %s\" first",
                        session_name(session), session_name(session));

        r = refuse_to_remove(session, refusal);
        if (r != 0)
                return r;
        name = strdup(session_name(session));
        tell_change(call, JOURNAL_REMOVED, session, "removed");
        (void) snprintf(why, sizeof(why), "%s asked for it (ftracectl remove)",
                        FORMAT_USER(call->who.uid));
        r = sessions_remove(m->sessions, session, why);
        if (r < 0)
                return refusal_set_errno(refusal, -r,
                                         "session \"%s\" cannot be removed from %s: %s",
                                         name ?: "?", store_path(m->store), origin_text(r));
        return server_call_reply(call, NULL, NULL, 0);
}

static int method_pin(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        bool pinned = json_is_true(json_object_get(parameters, "pinned"));
        Methods *m = userdata;
        Session *session;
        int r = methods_get_session(m, call, parameters, METHODS_CHANGE, &session, refusal);

        if (r != 0)
                return r;
        r = session_set_pinned(session, pinned);
        if (r < 0)
                return refusal_set_errno(
                        refusal, -r, "session.json of session \"%s\" in %s cannot be written: %s",
                        session_name(session), store_path(m->store), origin_text(r));
        return parameter_reply(call, "session", session_to_json(session));
}

static int list_functions(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        _cleanup_close_ int fd = -EBADF;
        json_t *reply;
        size_t n;

        fd = controller_list_functions(m->controller, &n);
        if (fd < 0)
                return refusal_set_errno(
                        refusal, -fd,
                        "the functions that can be traced cannot be read: %s; \"ftracectl "
                        "doctor\" says what stands in the way",
                        origin_text(fd));
        reply = json_pack("{s:i, s:I}", "functions", 0, "n", (json_int_t) n);
        return reply ? server_call_reply(call, reply, &fd, 1) : -ENOMEM;
}

static int method_list_functions(ServerCall *call, json_t *parameters, Refusal *refusal,
                                 void *userdata) {
        Methods *m = userdata;

        /* To read them takes a while; to hand them out does not, and waits for nobody. */
        return controller_has_functions(m->controller)
                       ? list_functions(call, parameters, refusal, m)
                       : methods_run_aside(m, call, parameters, list_functions);
}

/* Adds a CheckResult of sessions that cannot be read, if there are any. */
static void check_readable(const Sessions *s, json_t *checks) {
        const char *name = NULL, *why = NULL;
        char others[32] = "";
        size_t n = 0;

        for (size_t i = 0; i < s->n_entries; i++) {
                const Brief *b = &session_entry_look(s->entries[i])->brief;

                if (b->unreadable && n++ == 0) {
                        name = b->name;
                        why = b->unreadable;
                }
        }
        if (n > 1)
                (void) snprintf(others, sizeof(others), "; and %zu more", n - 1);
        if (n > 0)
                (void) json_array_append_new(
                        checks,
                        json_pack("{ss ss ss++++ ss++}", "name", "recordings", "state", "warning",
                                  "text", "session ", name, " is ", why, others, "fix",
                                  startswith(why, "damaged") ? "ftracectl remove "
                                                             : "ftracectl show ",
                                  name, ""));
}

static int check(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;

        json_t *checks = controller_check(m->controller);

        if (checks && json_array_append_new(checks, methods_check_rights(m, call)) < 0) {
                json_decref(checks);
                return -ENOMEM;
        }
        if (checks)
                janitor_check(m->janitor, checks);
        if (checks)
                check_readable(m->sessions, checks);
        return parameter_reply(call, "checks", checks);
}

static int method_check(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return methods_run_aside(userdata, call, parameters, check);
}

static uint64_t get_number(const json_t *parameters, const char *name) {
        return (uint64_t) json_integer_value(json_object_get(parameters, name));
}

static int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        RetainLimits l = { .max_use_bytes = get_number(parameters, "max_bytes"),
                           .max_age_ns = get_number(parameters, "max_age_ns"),
                           .max_sessions = get_number(parameters, "max_sessions") };

        if (!l.max_use_bytes && !l.max_age_ns && !l.max_sessions)
                l = vacuum_limits(m->limits);
        return janitor_vacuum(m->janitor, call, &l,
                              json_is_true(json_object_get(parameters, "dry_run")));
}

#define PARAMETERS(...) ((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })
#define SESSION "session: string"

static const ServerMethod table[] = {
        { "org.ftraced.GetStatus", method_get_status, PARAMETERS("brief: ?bool"),
          .for_members = true },
        { "org.ftraced.Start", method_start,
          PARAMETERS("name: ?string", "profile: ?string", "spec: ?Spec", "attach: ?bool",
                     "force: ?bool"),
          .for_members = true },
        { "org.ftraced.DryRun", method_dry_run,
          PARAMETERS("name: ?string", "profile: ?string", "spec: ?Spec", "force: ?bool"),
          .for_members = true },
        { "org.ftraced.ListProfiles", method_list_profiles, PARAMETERS(), .for_members = true },
        { "org.ftraced.GetProfile", method_get_profile, PARAMETERS("profile: string"),
          .for_members = true },
        { "org.ftraced.Stop", method_stop, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.Trigger", method_trigger, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.Snapshot", method_snapshot, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.List", method_list, PARAMETERS("newest: ?int"), .for_members = true },
        { "org.ftraced.ListBriefs", method_list_briefs, PARAMETERS("newest: ?int"),
          .for_members = true },
        { "org.ftraced.Describe", method_describe, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.Open", method_open, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.Watch", method_watch, PARAMETERS(SESSION), .needs_more = true,
          .for_members = true },
        { "org.ftraced.Remove", method_remove, PARAMETERS(SESSION), .for_members = true },
        { "org.ftraced.Pin", method_pin, PARAMETERS(SESSION, "pinned: bool"), .for_members = true },
        { "org.ftraced.Vacuum", method_vacuum,
          PARAMETERS("max_bytes: ?int", "max_age_ns: ?int", "max_sessions: ?int",
                     "dry_run: ?bool") },
        { "org.ftraced.ListFunctions", method_list_functions, PARAMETERS(), .for_members = true },
        { "org.ftraced.Check", method_check, PARAMETERS(), .for_members = true },
};

const ServerMethod *methods_table(size_t *ret_n) {
        *ret_n = ELEMENTSOF(table);
        return table;
}

void methods_done(Methods *m) {
        for (Waiter *w; (w = POP(m->waiters));) {
                (void) server_call_unref(w->call);
                free(w);
        }
        listings_done(m);
        methods_drop_errands(m, true);
        (void) sd_event_source_disable_unref(m->errand_turn);
        (void) sd_event_source_disable_unref(m->errand_tick);
        (void) sd_event_source_disable_unref(m->tick);
}
