/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A store may have tens of thousands of sessions, and nobody is to wait until all of them have been read.
 * At first there are their names, and those that record are taken up.  Then the loop runs, and what is left
 * is looked at in slices of a few milliseconds: the survey.  Whoever names a
 * session before its turn has it looked at then.  Who needs to know all of them waits for the end
 * (sessions_are_known(), SessionsKnown), or, where he cannot, brings it about (sessions_survey_all()).
 *
 * Sessions that have ended are awake as long as somebody uses them, and laid down when the event that they
 * were wanted for is over.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/name.h"
#include "base/now.h"
#include "daemon/api/sessions-private.h"
#include "daemon/session/rescue.h"
#include "daemon/watch/live.h"
#include "store/format.h"

#define SLICE_NS (5 * NSEC_PER_MSEC)
#define ID_CHARS 16
#define KNOW_NEWEST_MAX 200  /* read at once, a quarter of a millisecond each; and so many more, */
#define KNOW_NEWEST_SPARE 50 /* for what was written to later */

/* --- awake and laid down ---------------------------------------------------------------------- */

/* Somebody has looked at it for the first time. */
static void note_known(Sessions *s, RosterEntry *e) {
        if (TAKE(e->is_known, true))
                return;
        s->n_known++;
        if (s->known && e->session)
                s->known(e->session, s->userdata);
}

static void be_awake(Sessions *s, RosterEntry *e, Session *session) {
        e->session = s->items[s->n++] = session;
        note_known(s, e);
}

int sessions_add(Sessions *s, Session *session) {
        RosterEntry *e;
        int r = roster_add(s->roster, session_name(session), &e);

        if (r >= 0)
                be_awake(s, e, session);
        return r;
}

void sessions_forget(Sessions *s, RosterEntry *e) {
        s->n_known -= e->is_known;
        roster_remove(s->roster, e);
}

static int drop_unreadable(Sessions *s, RosterEntry *e, int r) {
        s->n_unreadable++;
        log_warning("Session '%s' in %s is left alone: its session.json cannot be read (%s).",
                    e->name, store_path(s->context.store),
                    r > 0 ? "not what ftraced writes" : origin_text(r));
        sessions_forget(s, e);
        return SESSIONS_E_NONE;
}

/* Of one that is not: 0, META_E_INVALID, -errno. */
static int read_session(Sessions *s, const RosterEntry *e, Session **ret) {
        return e->is_known ? session_wake(ret, &s->context, &e->rest)
                           : session_load(ret, &s->context, e->name);
}

/* 0, SESSIONS_E_NONE, -errno. */
static int wake(Sessions *s, RosterEntry *e, Session **ret) {
        _cleanup_(session_freep) Session *session = NULL;
        char name[SESSION_NAME_MAX + 1];
        int r;

        if (e->session) {
                *ret = e->session;
                return 0;
        }
        (void) snprintf(name, sizeof(name), "%s", e->name);
        r = read_session(s, e, &session);
        e = roster_find(s->roster, name); /* a task lets the loop go on meanwhile */
        if (!e)
                return SESSIONS_E_NONE;
        if (e->session) {
                *ret = e->session;
                return 0;
        }
        if (r == 0)
                r = sessions_make_room(s);
        if (r == -ENOENT && e->is_known) {
                sessions_forget(s, e); /* somebody has removed it by hand */
                return SESSIONS_E_NONE;
        }
        if (r != 0 && r != -ENOMEM && !e->is_known)
                return drop_unreadable(s, e, r);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        *ret = session;
        be_awake(s, e, TAKE_PTR(session));
        return 0;
}

static void lay_down(Sessions *s, Session *session) {
        RosterEntry *e = roster_find(s->roster, session_name(session));
        _cleanup_strv_ Strv symbols = {};
        SessionRest rest;
        size_t i = 0;

        if (store_add_symbols_in_use(&symbols, session_meta(session)) != 0 ||
            roster_set_symbols(s->roster, e, &symbols) < 0 || session_rest(session, &rest) < 0)
                return; /* without memory it stays awake */
        session_rest_done(&e->rest);
        e->rest = rest;
        e->session = NULL;
        while (s->items[i] != session)
                i++;
        s->items[i] = s->items[--s->n];
        (void) session_free(session);
}

void sessions_lay_down(Sessions *s) {
        for (size_t i = s->n; i > 0; i--)
                if (session_may_rest(s->items[i - 1]))
                        lay_down(s, s->items[i - 1]);
}

/* --- one of them ------------------------------------------------------------------------------ */

static bool may_be_id(const char *name) {
        return strlen(name) == ID_CHARS && strspn(name, "0123456789abcdef") == ID_CHARS;
}

int sessions_open(Sessions *s, Session **ret, const char *name) {
        RosterEntry *e = roster_find(s->roster, name);
        int r = e ? wake(s, e, ret) : SESSIONS_E_NONE;

        if (r != SESSIONS_E_NONE || !may_be_id(name))
                return r;
        sessions_survey_all(s); /* session.json has the ids */
        e = roster_find_id(s->roster, name);
        return e ? wake(s, e, ret) : SESSIONS_E_NONE;
}

Session *sessions_find(Sessions *s, const char *name) {
        Session *session;

        return sessions_open(s, &session, name) == 0 ? session : NULL;
}

bool sessions_is_held(const Sessions *s, const char *name) {
        const RosterEntry *e = roster_find(s->roster, name);

        return e && e->session &&
               (session_is_learned(e->session) || session_is_syncing(e->session));
}

void sessions_segment_sealed(Sessions *s, const char *name, uint32_t cpu, uint64_t sequence,
                             uint64_t n_before, uint64_t n_bytes) {
        RosterEntry *e = roster_find(s->roster, name);

        if (e && e->session)
                session_segment_sealed(e->session, cpu, sequence, n_before, n_bytes);
        else if (e && e->is_known)
                session_rest_sealed(&e->rest, n_before, n_bytes);
}

uint64_t sessions_disk_bytes(Sessions *s) {
        uint64_t n_bytes = 0;

        for (size_t i = 0; i < roster_n(s->roster); i++) {
                const RosterEntry *e = roster_get(s->roster, i);

                n_bytes += e->session ? session_disk_bytes(e->session) : e->rest.footprint.n_bytes;
        }
        return n_bytes;
}

const Roster *sessions_roster(const Sessions *s) {
        return s->roster;
}

/* --- all of them ------------------------------------------------------------------------------ */

bool sessions_are_known(const Sessions *s, size_t *ret_n_known, size_t *ret_n) {
        if (ret_n_known)
                *ret_n_known = s->n_known;
        if (ret_n)
                *ret_n = roster_n(s->roster);
        return !s->survey;
}

static void survey_end(Sessions *s) {
        s->survey = sd_event_source_disable_unref(s->survey);
        sessions_name_foreign(s);
        if (s->known)
                s->known(NULL, s->userdata);
}

/* Whether there was one.  It sleeps on, unless it is in the middle of something. */
static bool survey_one(Sessions *s) {
        RosterEntry *e;
        Session *session;
        int r;

        if (s->n_known >= roster_n(s->roster))
                return false;
        if (s->i_survey >= roster_n(s->roster))
                s->i_survey = 0; /* a removal has moved one */
        e = roster_get(s->roster, s->i_survey);
        if (e->is_known) {
                s->i_survey++;
                return true;
        }
        r = wake(s, e, &session);
        if (r == 0 && session_may_rest(session))
                lay_down(s, session);
        if (r <= 0) /* else another one may be in its place */
                s->i_survey++;
        return true;
}

static void survey_some(Sessions *s, uint64_t until_ns) {
        bool has_more = true;

        while (has_more && now_ns(CLOCK_MONOTONIC) < until_ns)
                has_more = survey_one(s);
        if (!has_more && s->survey)
                survey_end(s);
}

static int on_survey(sd_event_source *source, uint64_t usec, void *userdata) {
        Sessions *s = userdata;

        survey_some(s, now_ns(CLOCK_MONOTONIC) + SLICE_NS);
        return s->survey ? sd_event_source_set_enabled(s->survey, SD_EVENT_ONESHOT) : 0;
}

void sessions_survey_all(Sessions *s) {
        while (s->survey)
                survey_some(s, UINT64_MAX);
}

/* One that is not known, and when its session.json was written. */
typedef struct Candidate {
        char name[SESSION_NAME_MAX + 1];
        uint64_t written_ns;
} Candidate;

static int latest_first(const void *a, const void *b) {
        const Candidate *x = a, *y = b;

        return x->written_ns > y->written_ns ? -1 : x->written_ns < y->written_ns;
}

static int list_candidates(const Sessions *s, Candidate **ret, size_t *ret_n) {
        size_t n_all = roster_n(s->roster), n = 0;
        Candidate *c = calloc(n_all + 1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        for (size_t i = 0; i < n_all; i++) {
                const RosterEntry *e = roster_get(s->roster, i);
                char path[NAME_MAX + 32];
                struct stat st;

                (void) snprintf(path, sizeof(path), "%s/session.json", e->name);
                if (e->is_known || fstatat(store_sessions_fd(s->context.store), path, &st,
                                           AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                (void) snprintf(c[n].name, sizeof(c[n].name), "%s", e->name);
                c[n++].written_ns =
                        (uint64_t) st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec;
        }
        if (n > 0)
                qsort(c, n, sizeof(*c), latest_first);
        *ret = c;
        *ret_n = n;
        return 0;
}

/* How many of those that are known began after @after_ns. */
static size_t count_since(const Sessions *s, uint64_t after_ns) {
        size_t n = 0;

        for (size_t i = 0; i < roster_n(s->roster); i++) {
                const RosterEntry *e = roster_get(s->roster, i);

                n += e->is_known && roster_start_ns(e) > after_ns;
        }
        return n;
}

/* What was written last before another one began is older than that one: session.json is written when a
 * session has begun, and later. */
bool sessions_know_newest(Sessions *s, size_t n) {
        _cleanup_free_ Candidate *candidates = NULL;
        size_t n_candidates, i = 0;

        if (!s->survey)
                return true;
        if (n > KNOW_NEWEST_MAX || list_candidates(s, &candidates, &n_candidates) < 0)
                return false;
        for (; i < n_candidates && i < n + KNOW_NEWEST_SPARE; i++) {
                RosterEntry *e = roster_find(s->roster, candidates[i].name);
                Session *session;

                if (i >= n && count_since(s, candidates[i].written_ns) >= n)
                        return true;
                if (e && !e->is_known && wake(s, e, &session) == 0 && session_may_rest(session))
                        lay_down(s, session);
        }
        return i == n_candidates || count_since(s, candidates[i].written_ns) >= n;
}

/* One that records has either file until it has ended (daemon/session/session-adopt.c, daemon/upkeep/disk-usage.h). */
static bool may_be_live(const Sessions *s, const char *name) {
        static const char *const files[] = { LIVE_NAME, STORE_RESERVE_NAME };
        char path[NAME_MAX + 32];
        struct stat st;

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                (void) snprintf(path, sizeof(path), "%s/%s", name, files[i]);
                if (fstatat(store_sessions_fd(s->context.store), path, &st, AT_SYMLINK_NOFOLLOW) >=
                    0)
                        return true;
        }
        return false;
}

static int take_up(Sessions *s, RosterEntry *e) {
        Session *session;
        int r = sessions_make_room(s);

        if (r < 0)
                return r;
        r = session_adopt(&session, &s->context, e->name);
        if (r == 0)
                be_awake(s, e, session);
        else if (r == SESSION_E_NOT_LIVE)
                r = wake(s, e, &session);
        else if (r != -ENOMEM)
                r = drop_unreadable(s, e, r);
        return MIN(r, 0);
}

static int take_up_all(Sessions *s) {
        _cleanup_strv_ Strv names = {};
        int r = store_list(s->context.store, &names);

        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                RosterEntry *e;

                r = roster_add(s->roster, names.items[i], &e);
                if (r >= 0 && may_be_live(s, e->name))
                        r = take_up(s, e);
        }
        return r;
}

int sessions_load(Sessions *s) {
        int r;

        (void) rescue_run(s->context.controller, s->context.store); /* before anybody may arm */
        r = take_up_all(s);
        if (r < 0)
                return r;
        (void) fdstore_drop_rest(s->context.fdstore);
        return sd_event_add_time(s->context.event, &s->survey, CLOCK_MONOTONIC, 0, 0, on_survey, s);
}
