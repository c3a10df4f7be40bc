/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Changes of state are told from deep inside a session, and what is removed is freed, so the look is
 * put off until the loop is free.  Many changes at once are one look.  Jobs wait in a line, and the
 * first goes through
 *
 *      WAITING until all sessions are known, and what was removed before is off the disk, so that what is
 *              free can be believed
 *      LOOKING at those that would go, for a reason to keep them
 *      REMOVING one after the other
 *
 * in slices of a few milliseconds.  While the disk has to forget a session (daemon/upkeep/removal.h) it rests.
 * What is known of all sessions is in memory.
 */

#include <time.h>

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/api/janitor.h"

#define ACCURACY_US (60 * 1000000ULL) /* at most; a tenth of what is kept */
#define SLICE_NS (10 * NSEC_PER_MSEC)
#define LOOK_NS (15 * NSEC_PER_SEC) /* at what others leave of the disk, while something records */
#define YIELD_NS NSEC_PER_SEC       /* from one segment that a ring lets go of to the next */
#define TELL_NS (100 * NSEC_PER_MSEC)

typedef struct Job {
        ServerCall *call; /* that asked for it; NULL: it looks by itself */
        RetainLimits limits;
        bool dry_run;
} Job;

typedef struct Waiting Waiting;
struct Waiting {
        Waiting *next;
        Job job;
};

struct Janitor {
        Store *store;
        Sessions *sessions;
        const Limits *limits;
        sd_event_source *soon, *timer;
        bool is_asked_only;
        bool is_to_look;  /* by itself */
        bool is_yielding; /* rings are, for want of room */
        uint64_t
                next_yield_ns; /* CLOCK_MONOTONIC: not before, however often somebody asks for room */
        Waiting *waiting;

        /* of the job that is under way */
        enum { NOTHING, WAITING, LOOKING, REMOVING } phase;
        Job job;
        bool is_called_off;
        Vacuum vacuum;
        VacuumProgress progress;
        size_t i_item;
        bool is_clearing; /* the item before */
        bool rests;       /* until on_cleared() */
        uint64_t clearing_from_bytes, next_tell_ns;
};

/* --- a job ------------------------------------------------------------------------------------ */

static bool janitor_begin(Janitor *j) {
        Waiting *w = POP(j->waiting);

        if (w) {
                j->job = w->job;
                free(w);
        } else if (TAKE(j->is_to_look, false))
                j->job = (Job){ .limits = vacuum_limits(j->limits) };
        else
                return false;
        j->is_called_off = j->is_clearing = false;
        j->i_item = 0;
        j->next_tell_ns = 0;
        j->phase = WAITING;
        return true;
}

/* Sets the timer to when the next session may go, or is too old, if ever one is; and to when it looks
 * at what others leave of the disk. */
static void set_timer(Janitor *j) {
        RetainLimits limits = vacuum_limits(j->limits);
        uint64_t next_ns = vacuum_next_ns(&j->vacuum, &limits), now = now_ns(CLOCK_REALTIME);

        if (sessions_n_live(j->sessions) > 0)
                next_ns = MIN(next_ns, now + LOOK_NS);
        if (j->is_yielding)
                next_ns = MIN(next_ns, now + YIELD_NS);
        if (next_ns == UINT64_MAX) {
                (void) sd_event_source_set_enabled(j->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time_relative(
                j->timer, (next_ns > now ? next_ns - now : 0) / NSEC_PER_USEC + 1);
        (void) sd_event_source_set_enabled(j->timer, SD_EVENT_ONESHOT);
}

/* Nothing is left that may go, and the disk is full all the same. */
static void let_rings_yield(Janitor *j, const Vacuum *v) {
        bool was_yielding = j->is_yielding, has_room = v->free_bytes >= RETAIN_FLOOR_BYTES;
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (now < j->next_yield_ns)
                return;
        j->next_yield_ns = now + YIELD_NS;
        for (size_t i = 0; i < v->n; i++)
                has_room = has_room || v->items[i].verdict != RETAIN_KEEP;
        j->is_yielding = !has_room && sessions_yield(j->sessions);
        if (j->is_yielding && !was_yielding)
                log_warning("The disk of %s is full, and nothing there may go: rings drop their "
                            "oldest segments.",
                            store_path(j->store));
        if (j->is_yielding)
                set_timer(j);
}

static void answer(const Janitor *j, ServerCall *call, const Vacuum *v, int error) {
        json_t *reply = error < 0 ? NULL : vacuum_to_json(v);

        if (error >= 0 && !server_call_is_connected(call))
                log_notice("A vacuum of uid %u was ended when its client left.",
                           (unsigned) server_call_uid(call));
        if (reply)
                (void) server_call_reply(call, reply, NULL, 0);
        else {
                _cleanup_refusal_ Refusal refusal = {};

                error = error < 0 ? -error : ENOMEM;
                if (refusal_set_errno(&refusal, error, "the sessions in %s cannot be looked at: %s",
                                      store_path(j->store), origin_text(error)) == REFUSED)
                        (void) server_call_refuse(call, &refusal);
        }
        (void) server_call_unref(call);
}

/* The job is over; @error: 0 or -errno. */
static void janitor_finish(Janitor *j, int error) {
        _cleanup_vacuum_ Vacuum v = TAKE(j->vacuum, (Vacuum){});
        ServerCall *call = TAKE_PTR(j->job.call);

        j->phase = NOTHING;
        if (call) {
                answer(j, call, &v, error);
                return;
        }
        if (error >= 0)
                let_rings_yield(j, &v);
        if (error < 0)
                log_warning_errno(error, "Cannot look for sessions to remove: %m");
}

static json_t *progress_to_json(const VacuumProgress *p) {
        return json_pack("{s:{s:I, s:I, s:I, s:I}}", "progress", "done", (json_int_t) p->n_done,
                         "total", (json_int_t) p->n_total, "done_bytes",
                         (json_int_t) MIN(p->done_bytes, p->total_bytes), "total_bytes",
                         (json_int_t) p->total_bytes);
}

/* Tells who asked how far it is, now and then.  Whether to go on: if not, no other session is removed. */
static bool janitor_goes_on(Janitor *j) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        ServerCall *call = j->job.call;
        json_t *reply;

        if (!call || now < j->next_tell_ns)
                return true;
        j->next_tell_ns = now + TELL_NS;
        if (!server_call_is_connected(call) || !server_call_wants_more(call))
                return server_call_is_connected(call);
        reply = progress_to_json(&j->progress);
        return !reply || server_call_continue(call, reply) >= 0;
}

/* From memory, whether it is awake or not. */
static VacuumItem item_of(const RosterEntry *e) {
        const SessionRest *rest = &e->rest;
        Session *s = e->session;
        bool is_pinned = s ? session_meta(s)->pinned : rest->brief.pinned;

        return (VacuumItem){
                .name = e->name,
                .n_bytes = s ? session_disk_bytes(s) : rest->footprint.n_bytes,
                .kept_ns = s ? session_meta_kept_ns(session_meta(s)) : rest->kept_ns,
                .growth_bytes = s ? session_growth_bytes(s) : 0,
                .is_live = s && (session_meta(s)->state == SESSION_NEW || session_is_live(s)),
                .keep = is_pinned ? KEEP_PINNED : KEEP_NOT,
        };
}

static int list_sessions(const Janitor *j, Vacuum *v) {
        const Roster *roster = sessions_roster(j->sessions);
        _cleanup_free_ RosterEntry **sorted = NULL;
        int r = roster_sort(roster, &sorted);

        for (size_t i = 0; r == 0 && i < roster_n(roster); i++) {
                VacuumItem item = item_of(sorted[i]);

                r = vacuum_add(v, &item);
        }
        return r;
}

static int janitor_list(Janitor *j) {
        int r = list_sessions(j, &j->vacuum);

        return r < 0 ? r : vacuum_decide(&j->vacuum, j->store, &j->job.limits);
}

/* A Keep, or -errno. */
static int look_at(Janitor *j, VacuumItem *item, Session **ret) {
        *ret = sessions_find(j->sessions, item->name);
        if (!*ret)
                return ORIGIN(-ENOENT); /* removed meanwhile */
        if (session_is_live(*ret))
                return KEEP_IN_USE;
        free(TAKE_PTR(item->foreign));
        return session_look_keep(*ret, &item->foreign);
}

/* At one of those that would go; when that was the last one the decision is made again. */
static int janitor_look_at_next(Janitor *j) {
        VacuumItem *item = vacuum_next(&j->vacuum);
        Session *s;
        int r;

        if (!item) {
                j->progress = vacuum_progress_of(&j->vacuum);
                j->phase = REMOVING;
                j->is_called_off = !janitor_goes_on(j);
                return 0;
        }
        r = look_at(j, item, &s);
        if (r == -ENOMEM)
                return r;
        item->is_looked_at = true;
        if (r != KEEP_NOT)
                item->keep = r < 0 ? KEEP_IN_USE : (Keep) r;
        return vacuum_next(&j->vacuum) ? 0 : vacuum_decide(&j->vacuum, j->store, &j->job.limits);
}

/* The rule, or who asked. */
static int describe_why(const Janitor *j, const VacuumItem *item, char **ret) {
        if (!j->job.call)
                return vacuum_describe_verdict(ret, &j->vacuum, item, &j->job.limits);
        return asprintf(ret, "uid %u asked for it (ftracectl vacuum)",
                        (unsigned) server_call_uid(j->job.call)) < 0
                       ? -ENOMEM
                       : 0;
}

static int remove_item(Janitor *j, VacuumItem *item) {
        _cleanup_free_ char *why = NULL;
        char size[UNIT_TEXT_MAX];
        Session *s;
        int r;

        if (j->job.dry_run)
                return 0;
        r = describe_why(j, item, &why);
        if (r >= 0)
                r = look_at(j, item, &s);
        if (r == KEEP_NOT)
                r = sessions_remove(j->sessions, s, why);
        else if (r > 0) {
                item->keep = (Keep) r; /* since the decision */
                r = -EBUSY;
        }
        if (r < 0)
                log_warning("Session '%s' (%s) cannot be removed: %s", item->name,
                            format_bytes(size, item->n_bytes), origin_text(r));
        else
                log_info("Session '%s' (%s) removed: %s.", item->name,
                         format_bytes(size, item->n_bytes), why);
        return r;
}

/* Whether there is more to do. */
static bool janitor_remove_some(Janitor *j) {
        if (j->is_clearing) {
                j->rests = !removal_is_done(sessions_removal(j->sessions), &j->progress.done_bytes);
                if (j->rests)
                        return true;
                j->is_clearing = false;
                j->progress.n_done++;
                j->progress.done_bytes =
                        j->clearing_from_bytes + j->vacuum.items[j->i_item++].n_bytes;
        }
        for (; j->i_item < j->vacuum.n; j->i_item++) {
                VacuumItem *item = &j->vacuum.items[j->i_item];

                if (item->verdict == RETAIN_KEEP)
                        continue;
                if (j->is_called_off) {
                        item->verdict = RETAIN_KEEP;
                        continue;
                }
                vacuum_went(&j->vacuum, item, remove_item(j, item));
                if (j->job.dry_run)
                        continue;
                j->clearing_from_bytes = j->progress.done_bytes;
                j->is_clearing = true;
                return true;
        }
        return false;
}

static void janitor_work(Janitor *j, uint64_t until_ns) {
        bool has_more = true;
        int r = 0;

        j->rests = false;
        do
                switch (j->phase) {
                case NOTHING:
                        has_more = janitor_begin(j);
                        break;
                case WAITING:
                        j->rests = !sessions_are_known(j->sessions, NULL, NULL) ||
                                   !removal_is_done(sessions_removal(j->sessions), NULL);
                        if (j->rests)
                                break;
                        r = janitor_list(j);
                        if (r >= 0 && !j->job.call)
                                set_timer(j);
                        j->phase = LOOKING;
                        break;
                case LOOKING:
                        r = janitor_look_at_next(j);
                        break;
                case REMOVING:
                        if (!janitor_remove_some(j))
                                janitor_finish(j, 0);
                        break;
                }
        while (r >= 0 && has_more && !j->rests && now_ns(CLOCK_MONOTONIC) < until_ns);
        if (r < 0)
                janitor_finish(j, r);
        if (j->phase == REMOVING && !janitor_goes_on(j))
                j->is_called_off = true;
}

static int on_soon(sd_event_source *source, uint64_t usec, void *userdata) {
        Janitor *j = userdata;

        janitor_work(j, now_ns(CLOCK_MONOTONIC) + SLICE_NS);
        return sd_event_source_set_enabled(
                source, janitor_is_busy(j) && !j->rests ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void janitor_go_on(Janitor *j) {
        if (j && j->rests)
                (void) sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
}

static void on_cleared(void *userdata) {
        janitor_go_on(userdata);
}

/* --- asking ----------------------------------------------------------------------------------- */

bool janitor_is_busy(const Janitor *j) {
        return j && (j->phase != NOTHING || j->waiting || j->is_to_look);
}

void janitor_look(Janitor *j) {
        if (!j || j->is_asked_only)
                return;
        j->is_to_look = true;
        (void) sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        janitor_look(userdata);
        return 0;
}

int janitor_vacuum(Janitor *j, ServerCall *call, const RetainLimits *limits, bool dry_run) {
        Waiting *w = NEW(Waiting, .job = { server_call_ref(call), *limits, dry_run }),
                **at = &j->waiting;

        if (!w)
                return -ENOMEM;
        while (*at)
                at = &(*at)->next;
        *at = w;
        (void) sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
        return 0;
}

/* --- what is to come ---------------------------------------------------------------------------- */

static int foresee(const Janitor *j, Outlook *ret) {
        RetainLimits limits = vacuum_limits(j->limits);
        _cleanup_vacuum_ Vacuum v = {};
        int r = sessions_are_known(j->sessions, NULL, NULL) ? list_sessions(j, &v) : -EAGAIN;

        return r < 0 ? r : vacuum_foresee(ret, &v, j->store, &limits);
}

json_t *janitor_foresee(Janitor *j) {
        _cleanup_outlook_ Outlook o = {};

        return j && !j->is_asked_only && foresee(j, &o) >= 0 ? outlook_to_json(&o) : NULL;
}

void janitor_check(Janitor *j, json_t *checks) {
        _cleanup_free_ char *text = NULL, *fix = NULL;
        _cleanup_outlook_ Outlook o = {};

        if (!j || j->is_asked_only || foresee(j, &o) < 0 || outlook_describe(&text, &o) < 0 ||
            outlook_advise(&fix, &o) < 0)
                return;
        (void) json_array_append_new(checks,
                                     json_pack("{ss ss ss ss*}", "name", "retention", "state",
                                               outlook_is_tight(&o) ? "warning" : "good", "text",
                                               text, "fix", fix));
}

/* Before all sessions are known: there is so much that it matters to nobody what they take. */
static bool has_plenty(const Janitor *j) {
        uint64_t least = MAX(j->limits->keep_free_bytes, RETAIN_FLOOR_BYTES);

        return !sessions_are_known(j->sessions, NULL, NULL) && store_free_bytes(j->store) > least;
}

/* Whether another recording may begin; what may go for it goes. */
static int has_room(Refusal *refusal, void *userdata) {
        _cleanup_free_ char *text = NULL, *fix = NULL;
        _cleanup_outlook_ Outlook o = {};
        Janitor *j = userdata;
        int r;

        if (j->is_asked_only || has_plenty(j))
                return 0;
        sessions_survey_all(j->sessions);
        r = foresee(j, &o);
        if (r < 0)
                return r == -ENOMEM ? r : 0; /* what is wrong with the store others say better */
        if (retain_is_full(&o.limits, o.used_bytes, o.free_bytes))
                janitor_look(j); /* else what goes for it is told with its begin */
        if (!o.is_full)
                return 0;
        r = outlook_describe(&text, &o);
        if (r >= 0)
                r = outlook_advise(&fix, &o);
        return r < 0 ? r
                     : refusal_set_errno(refusal, ENOSPC, "cannot record in %s: %s: %s; %s",
                                         store_path(j->store), strerror(ENOSPC), text,
                                         fix ?: "make room there");
}

int janitor_new(Janitor **ret, sd_event *event, Store *store, Sessions *sessions,
                const Limits *limits, bool is_asked_only) {
        _cleanup_(janitor_freep) Janitor *j = NEW(Janitor, .store = store, .sessions = sessions,
                                                  .limits = limits, .is_asked_only = is_asked_only);
        uint64_t accuracy_us;
        int r;

        if (!j)
                return -ENOMEM;
        accuracy_us = MIN(limits->max_retention_ns ?: UINT64_MAX, limits->min_retention_ns) /
                      NSEC_PER_USEC / 10;
        r = sd_event_add_time(event, &j->soon, CLOCK_MONOTONIC, 0, 0, on_soon, j);
        if (r >= 0)
                r = sd_event_source_set_enabled(j->soon, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time(event, &j->timer, CLOCK_BOOTTIME, UINT64_MAX,
                                      MIN(accuracy_us, ACCURACY_US), on_timer, j);
        if (r < 0)
                return r;
        removal_set_handler(sessions_removal(sessions), on_cleared, j);
        sessions_set_room(sessions, has_room, j);
        janitor_look(j);
        *ret = TAKE_PTR(j);
        return 0;
}

Janitor *janitor_free(Janitor *j) {
        if (!j)
                return NULL;
        removal_set_handler(sessions_removal(j->sessions), NULL, NULL);
        sessions_set_room(j->sessions, NULL, NULL);
        if (j->phase != NOTHING)
                janitor_finish(j, -ECANCELED);
        j->is_to_look = false;
        while (j->waiting) {
                (void) janitor_begin(j);
                janitor_finish(j, -ECANCELED);
        }
        (void) sd_event_source_disable_unref(j->soon);
        (void) sd_event_source_disable_unref(j->timer);
        return mfree(j);
}
