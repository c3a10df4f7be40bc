/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * There may be thousands of sessions, of which a few are awake: those that record, and those that have ended as long as
 * somebody uses them.  Of the others there is what session_rest() kept: they are laid down when the event that they
 * were wanted for is over.  All are read when the daemon begins, first of all those that record.  What concerns those
 * that record is a walk over an array of those that are awake; what concerns all is a walk through memory only.
 */

#include <fcntl.h>

#include "base/array.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/api/api.h"
#include "daemon/watch/watch.h"
#include "retention/boot-clock.h"
#include "retention/removed.h"
#include "store/format.h"

#define ID_CHARS 16

/* --- entries ----------------------------------------------------------------------------------- */

static void entry_free(SessionEntry *e) {
        session_rest_done(&e->rest);
        strv_done(&e->symbols);
        free(e->name);
        free(e);
}

/* 0 or -ENOMEM: it says what it said before. */
static int renew_rest(SessionEntry *e) {
        SessionRest rest;
        int r = e->session ? session_rest(e->session, &rest) : 0;

        if (r < 0 || !e->session)
                return r;
        session_rest_done(&e->rest);
        e->rest = rest;
        return 0;
}

const SessionRest *session_entry_look(SessionEntry *e) {
        (void) renew_rest(e);
        return &e->rest;
}

/* Where it is, or would be. */
static size_t place_of(const Sessions *s, const char *name) {
        return BISECT(0, s->n_entries, i, strcmp(s->entries[i]->name, name) < 0);
}

/* One that there is not yet. */
static int add_entry(Sessions *s, const char *name, SessionEntry **ret) {
        size_t i = place_of(s, name);
        SessionEntry *e = NEW(SessionEntry, .name = strdup(name));

        if (!e)
                return -ENOMEM;
        if (!e->name || !ARRAY_GROW(s->entries, s->n_entries)) {
                entry_free(e);
                return -ENOMEM;
        }
        memmove(s->entries + i + 1, s->entries + i, (s->n_entries++ - i) * sizeof(*s->entries));
        *ret = s->entries[i] = e;
        return 0;
}

/* Nobody ever needs it again. */
static void remove_entry(Sessions *s, SessionEntry *e) {
        size_t i = place_of(s, e->name);

        memmove(s->entries + i, s->entries + i + 1, (--s->n_entries - i) * sizeof(*s->entries));
        entry_free(e);
}

SessionEntry *sessions_find(const Sessions *s, const char *name) {
        size_t i = place_of(s, name);

        return i < s->n_entries && streq(s->entries[i]->name, name) ? s->entries[i] : NULL;
}

static SessionEntry *find_id(const Sessions *s, const char *id) {
        for (size_t i = 0; i < s->n_entries && !streq(id, SESSION_ID_UNKNOWN); i++) {
                SessionEntry *e = s->entries[i];

                if (streq_ptr(session_entry_look(e)->brief.id, id))
                        return e;
        }
        return NULL;
}

const char *sessions_nearest(const Sessions *s, const char *name) {
        const char **names = calloc(s->n_entries + 1, sizeof(*names)), *like;

        for (size_t i = 0; names && i < s->n_entries; i++)
                names[i] = s->entries[i]->name;
        like = names ? typo_nearest(name, names, s->n_entries) : NULL;
        free(names);
        return like;
}

static int by_start(const void *a, const void *b) {
        SessionEntry *x = *(SessionEntry *const *) a, *y = *(SessionEntry *const *) b;

        return CMP(session_entry_look(x)->brief.start_ns, session_entry_look(y)->brief.start_ns)
                       ?: strcmp(x->name, y->name);
}

int sessions_sort(const Sessions *s, SessionEntry ***ret) {
        SessionEntry **sorted = calloc(s->n_entries + 1, sizeof(*sorted));

        if (!sorted)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_entries; i++)
                sorted[i] = s->entries[i];
        qsort(sorted, s->n_entries, sizeof(*sorted), by_start);
        *ret = sorted;
        return 0;
}

/* --- awake and laid down ---------------------------------------------------------------------- */

/* @session is consumed: its entry has it, or it has ended.  0 or -ENOMEM. */
static int be_awake(Sessions *s, SessionEntry *e, Session *session) {
        if (!ARRAY_ADD(s->awake, s->n_awake, session)) {
                (void) session_free(session);
                return -ENOMEM;
        }
        e->session = session;
        return 0;
}

int sessions_add(Sessions *s, Session *session) {
        SessionEntry *e;
        int r = add_entry(s, session_name(session), &e);

        if (r < 0) {
                (void) session_free(session); /* what it recorded so far is kept */
                return r;
        }
        r = be_awake(s, e, session);
        if (r < 0)
                remove_entry(s, e);
        return r;
}

static void drop_awake(Sessions *s, Session *session) {
        for (size_t i = 0; i < s->n_awake; i++)
                if (s->awake[i] == session) {
                        s->awake[i] = s->awake[--s->n_awake];
                        break;
                }
        (void) session_free(session);
}

/* 0, SESSIONS_E_NONE, -errno. */
static int wake(Sessions *s, SessionEntry *e, Session **ret) {
        Session *session;
        int r = e->session ? 0 : session_wake(&session, &s->context, &e->rest);

        if (r == -ENOENT) { /* somebody has removed it by hand */
                remove_entry(s, e);
                return SESSIONS_E_NONE;
        }
        if (r == 0 && !e->session)
                r = be_awake(s, e, session);
        *ret = e->session;
        return r > 0 ? -EBADMSG : r;
}

static void lay_down(Sessions *s, Session *session) {
        SessionEntry *e = sessions_find(s, session_name(session));
        _cleanup_strv_ Strv symbols = {};

        if (store_add_symbols_in_use(&symbols, session_meta(session)) != 0 || renew_rest(e) < 0)
                return; /* without memory it stays awake */
        strv_done(&e->symbols);
        e->symbols = TAKE(symbols, (Strv){});
        e->session = NULL;
        drop_awake(s, session);
}

void sessions_tidy(Sessions *s) {
        for (size_t i = s->n_awake; i > 0; i--)
                if (session_may_rest(s->awake[i - 1]))
                        lay_down(s, s->awake[i - 1]);
        removal_look(s->removal);
}

/* One that could not be read: it may have been mended since, or taken away.  0, SESSIONS_E_NONE, -errno. */
static int read_again(Sessions *s, SessionEntry *e) {
        Session *old = e->session, *new = NULL;
        int r = renew_rest(e) ?: session_wake(&new, &s->context, &e->rest);

        if (r != 0 && r != -ENOENT)
                return 0; /* it stays what it was */
        e->session = NULL;
        drop_awake(s, old);
        if (r == 0)
                return be_awake(s, e, new); /* where the other one was */
        remove_entry(s, e);
        return SESSIONS_E_NONE;
}

int sessions_open(Sessions *s, Session **ret, const char *name) {
        SessionEntry *e = sessions_find(s, name);
        int r = 0;

        if (!e && strlen(name) == ID_CHARS && strspn(name, "0123456789abcdef") == ID_CHARS)
                e = find_id(s, name);
        if (e && e->session && session_meta(e->session)->unreadable && session_may_rest(e->session))
                r = read_again(s, e);
        return !e ? SESSIONS_E_NONE : r != 0 ? r : wake(s, e, ret);
}

/* A worker that learns has descriptors alone; and what is being synced would be sealed under its hands. */
bool sessions_is_held(const char *name, void *userdata) {
        const SessionEntry *e = sessions_find(userdata, name);

        return e && e->session && session_is_held(e->session);
}

void sessions_segment_sealed(const char *name, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                             uint64_t n_bytes, void *userdata) {
        SessionEntry *e = sessions_find(userdata, name);

        if (e && e->session)
                session_segment_sealed(e->session, cpu, sequence, n_before, n_bytes);
        else if (e)
                session_rest_sealed(&e->rest, n_before, n_bytes);
}

/* --- from the store ------------------------------------------------------------------------------ */

static int drop_unreadable(Sessions *s, SessionEntry *e, int r) {
        if (r == -ENOMEM)
                return r;
        s->n_unreadable++;
        log_warning("Session \"%s\" in %s is left alone: its session.json cannot be read (%s).",
                    e->name, store_path(s->context.store),
                    r > 0 ? "not what ftraced writes" : origin_text(r));
        remove_entry(s, e);
        return 0;
}

/* One that has ended.  It sleeps on, unless it is in the middle of something. */
static int load_one(Sessions *s, SessionEntry *e) {
        Session *session;
        int r = session_load(&session, &s->context, e->name);

        if (r != 0)
                return drop_unreadable(s, e, r);
        r = be_awake(s, e, session);
        if (r == 0 && session_may_rest(session))
                lay_down(s, session);
        return r;
}

static int take_up(Sessions *s, SessionEntry *e) {
        Session *session;
        int r = session_adopt(&session, &s->context, e->name);

        if (r == SESSION_E_NOT_LIVE)
                return load_one(s, e);
        if (r != 0)
                return drop_unreadable(s, e, r);
        return be_awake(s, e, session);
}

static int load_names(Sessions *s, const Strv *names, bool are_live) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < names->n; i++) {
                SessionEntry *e = sessions_find(s, names->items[i]);

                if (e || live_may_be(s->context.store, names->items[i]) != are_live)
                        continue;
                r = add_entry(s, names->items[i], &e);
                if (r >= 0)
                        r = are_live ? take_up(s, e) : load_one(s, e);
        }
        return r;
}

/* One message for all: whoever put them there may have had a reason. */
static void name_foreign(const Sessions *s) {
        _cleanup_strv_ Strv names = {};

        if (store_list_foreign(s->context.store, &names) >= 0 && names.n > 0)
                log_warning("In %s/sessions are %zu entries that ftraced did not make, \"%s\" for "
                            "one: left alone.",
                            store_path(s->context.store), names.n, NAME_QUOTED(names.items[0]));
}

int sessions_load(Sessions *s) {
        _cleanup_strv_ Strv names = {};
        int r;

        (void) rescue_run(s->context.controller, s->context.store); /* before anybody may arm */
        r = store_list(s->context.store, &names);
        if (r >= 0)
                r = load_names(s, &names, true);
        if (r < 0)
                return r;
        (void) fdstore_drop_rest(s->context.fdstore);
        r = load_names(s, &names, false);
        if (r >= 0)
                name_foreign(s);
        return r;
}

/* --- the room for them ----------------------------------------------------------------------- */

static void on_change(Session *session, void *userdata) {
        Sessions *s = userdata;

        if (s->changed)
                s->changed(session, s->userdata);
}

static int add_symbols(Strv *ret, void *userdata) {
        const Sessions *s = userdata;
        /* One that is about to be has its symbols already, and a task may be storing some. */
        int r = s->n_unreadable > 0                                           ? STORE_E_UNKNOWN
                : s->is_starting || background_is_busy(s->context.background) ? REMOVAL_E_LATER
                                                                              : 0;

        for (size_t i = 0; r == 0 && i < s->n_entries; i++) {
                const SessionEntry *e = s->entries[i];

                if (e->session)
                        r = store_add_symbols_in_use(ret, session_meta(e->session));
                for (size_t k = 0; r == 0 && !e->session && k < e->symbols.n; k++)
                        r = strv_add_new(ret, e->symbols.items[k]);
        }
        return r;
}

static int on_found(const char *name, Session **ret, void *userdata) {
        Sessions *s = userdata;
        int r = session_load(ret, &s->context, name); /* others may come and go meanwhile */

        r = r ?: sessions_add(s, *ret);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        on_change(*ret, s);
        return 0;
}

int sessions_init(Sessions *s, sd_event *event, Background *background, Background *sweeper,
                  Controller *controller, Store *store, FdStore *fdstore, const Limits *limits) {
        int r;

        *s = (Sessions){ .context = {
                                 .event = event,
                                 .background = background,
                                 .controller = controller,
                                 .store = store,
                                 .fdstore = fdstore,
                                 .limits = limits,
                                 .changed = on_change,
                                 .found = on_found,
                                 .admit = sessions_admit_snapshot,
                                 .userdata = s,
                         } };
        s->symbols.proc = "/proc";
        s->symbols.sys = "/sys";
        s->context.symbols = &s->symbols;
        boot_clock_note(store_fd(store));
        r = background_new(&s->context.switcher, event);
        if (r < 0)
                return r;
        background_open(s->context.switcher);
        return removal_new(&s->removal, sweeper, store, add_symbols, s);
}

void sessions_done(Sessions *s) {
        background_settle(s->context.switcher);
        s->changed = NULL;
        s->removal = removal_free(s->removal);
        for (size_t i = 0; i < s->n_awake; i++)
                (void) session_free(s->awake[i]);
        free(s->awake);
        while (s->n_entries > 0)
                remove_entry(s, s->entries[s->n_entries - 1]);
        free(s->entries);
        (void) background_free(s->context.switcher);
        kernel_symbols_done(&s->symbols);
        *s = (Sessions){};
}

void sessions_store_symbols(Sessions *s) {
        const SymbolNames *ignored;

        (void) kernel_symbols_store(&s->symbols, store_symbols_fd(s->context.store), &ignored);
}

int sessions_remove(Sessions *s, Session *session, const char *why) {
        const SessionMeta *m = session_meta(session);
        Removed gone = { .n_bytes = session_disk_bytes(session), /* while it is there */
                         .name = m->name,
                         .id = m->id,
                         .why = (char *) why };
        int r;

        if (session_is_live(session))
                return ORIGIN(-EBUSY);
        r = removal_add(s->removal, m->name);
        if (r < 0 && r != -ENOENT)
                return r;
        r = removed_note(store_fd(s->context.store), &gone);
        if (r < 0)
                log_debug("sessions", "That \"%s\" was removed cannot be noted: %s", m->name,
                          origin_text(r));
        remove_entry(s, sessions_find(s, m->name));
        drop_awake(s, session);
        return 0;
}

/* --- what a user has --------------------------------------------------------------------------- */

AllowanceUse sessions_use_of(const Sessions *s, uid_t uid) {
        AllowanceUse use = { .uid = uid };

        for (size_t i = 0; i < s->n_entries; i++) {
                const Brief *b = &session_entry_look(s->entries[i])->brief;

                if (b->owner_uid != uid)
                        continue;
                use.n_sessions += session_state_is_live(b->state);
                use.stored_bytes += MAX(b->disk_bytes, (uint64_t) ALLOWANCE_SESSION_BYTES);
        }
        return use;
}

int sessions_admit_snapshot(const Session *session, Refusal *refusal, void *userdata) {
        uid_t uid = session_meta(session)->owner_uid;
        Sessions *s = userdata;
        const MemberLimits *l = &s->context.limits->member;
        AllowanceUse use;

        if (l->max_stored_bytes == 0 || uid == 0 || uid == geteuid())
                return 0;
        use = sessions_use_of(s, uid);
        use.n_sessions = 0; /* no more of them record than before */
        return allowance_admit(l, &use, refusal);
}

/* --- those that record -------------------------------------------------------------------------- */

bool sessions_yield(Sessions *s) {
        bool did = false;

        for (size_t i = 0; i < s->n_awake; i++)
                did = (session_is_live(s->awake[i]) && session_yield(s->awake[i])) || did;
        return did;
}

size_t sessions_signal(Sessions *s) {
        size_t n = 0, n_awake = s->n_awake; /* a snapshot adds to them */

        for (size_t i = 0; i < n_awake; i++)
                n += session_signal(s->awake[i]);
        return n;
}

void sessions_stop_all(Sessions *s, const char *reason) {
        background_settle(s->context.switcher);
        for (size_t i = 0; i < s->n_awake; i++)
                session_stop(s->awake[i], reason);
}

size_t sessions_leave_all(Sessions *s) {
        size_t n = 0;

        background_settle(s->context.switcher);
        for (size_t i = 0; i < s->n_awake; i++)
                n += session_leave(s->awake[i]);
        return n;
}

bool sessions_have_ended(const Sessions *s) {
        for (size_t i = 0; i < s->n_awake; i++)
                if (session_is_live(s->awake[i]) && !session_is_leaving(s->awake[i]))
                        return false;
        return true;
}

void sessions_peer_gone(Sessions *s, uint64_t peer) {
        for (size_t i = 0; i < s->n_awake; i++)
                if (session_is_live(s->awake[i]) && session_peer(s->awake[i]) == peer)
                        session_stop(s->awake[i], "its client left");
}

size_t sessions_n_live(const Sessions *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->n_awake; i++)
                n += session_is_live(s->awake[i]);
        return n;
}
