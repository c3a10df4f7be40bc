/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Changes of state are told from deep inside a session, and what is removed is freed, so a look is put off until the
 * loop is free; many changes at once are one look.  A job is a task of the sweeper, which comes to the loop every few
 * milliseconds, so that nobody waits for it, and the next one is done when it is.  What is known of all sessions is in
 * memory; the disk is asked for a reason to keep those that would go.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "base/name.h"
#include "daemon/api/api.h"

#define SLICE_NS (10 * NSEC_PER_MSEC)
#define LOOK_NS (15 * NSEC_PER_SEC) /* at what others leave of the disk, while something records */
#define YIELD_NS NSEC_PER_SEC       /* from one segment that a ring lets go of to the next */
#define TELL_NS (100 * NSEC_PER_MSEC)

typedef struct JanitorJob {
        Janitor *janitor;
        ServerCall *call; /* that asked for it; NULL: it looks by itself */
        RetainLimits limits;
        bool dry_run;
        bool is_called_off;
        uint64_t until_ns, next_tell_ns; /* of this slice; CLOCK_MONOTONIC */
        Vacuum vacuum;
        VacuumProgress progress;
} JanitorJob;

static Store *store_of(const Janitor *j) {
        return j->sessions->context.store;
}

/* Sets the timer to when the next session may go, or is too old, if ever one is; and to when it looks
 * at what others leave of the disk. */
static void set_timer(Janitor *j, const Vacuum *v) {
        RetainLimits limits = vacuum_limits(j->sessions->context.limits);
        uint64_t next_ns = vacuum_next_ns(v, &limits), now = now_ns(CLOCK_REALTIME);

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
                log_warning("The disk of %s is full, and no session there may be removed: rings "
                            "drop their oldest segments.",
                            store_path(store_of(j)));
        if (j->is_yielding)
                set_timer(j, v);
}

/* --- a job ------------------------------------------------------------------------------------ */

/* The loop goes on, unless it has just done so. */
static void take_turns(JanitorJob *job) {
        if (now_ns(CLOCK_MONOTONIC) < job->until_ns)
                return;
        background_leave();
        background_return();
        job->until_ns = now_ns(CLOCK_MONOTONIC) + SLICE_NS;
}

static int list_sessions(const Janitor *j, Vacuum *v) {
        _cleanup_free_ SessionEntry **sorted = NULL;
        size_t n = j->sessions->n_entries;
        int r = sessions_sort(j->sessions, &sorted);

        for (size_t i = 0; r == 0 && i < n; i++) {
                const SessionRest *rest = session_entry_look(sorted[i]);
                const Brief *b = &rest->brief;
                Session *s = sorted[i]->session; /* or it rests */

                r = vacuum_add(v, &(RetainItem){
                                          .name = sorted[i]->name,
                                          .n_bytes = b->disk_bytes,
                                          .kept_ns = rest->kept_ns,
                                          .growth_bytes = s ? session_growth_bytes(s) : 0,
                                          .is_live = s && (b->state == SESSION_NEW ||
                                                           session_state_is_live(b->state)),
                                          .keep = b->pinned ? KEEP_PINNED
                                                  : b->newer_version > 0 || b->unreadable
                                                          ? KEEP_UNKNOWN
                                                          : KEEP_NOT,
                                  });
        }
        return r;
}

/* A Keep, or -errno. */
static int look_at(Janitor *j, RetainItem *item, Session **ret) {
        int r = sessions_open(j->sessions, ret, item->name);

        if (r != 0)
                return r < 0 ? r : ORIGIN(-ENOENT); /* removed meanwhile */
        if (session_is_live(*ret))
                return KEEP_IN_USE;
        free(TAKE_PTR(item->foreign));
        return session_look_keep(*ret, &item->foreign);
}

/* At those that would go, until nothing is new. */
static int choose(Janitor *j, JanitorJob *job) {
        Vacuum *v = &job->vacuum;
        int r = list_sessions(j, v);

        if (r >= 0)
                r = vacuum_decide(v, store_of(j), &job->limits);
        if (r >= 0 && !job->call)
                set_timer(j, v);
        for (RetainItem *item; r >= 0 && (item = vacuum_next(v));) {
                Session *s;

                take_turns(job);
                if (j->is_ending)
                        return -ECANCELED;
                r = look_at(j, item, &s);
                if (r == -ENOMEM)
                        return r;
                item->is_looked_at = true;
                if (r != KEEP_NOT)
                        item->keep = r < 0 ? KEEP_IN_USE : (Keep) r;
                r = vacuum_next(v) ? 0 : vacuum_decide(v, store_of(j), &job->limits);
        }
        return r;
}

/* Tells who asked how far it is, now and then.  If he has gone no other session is removed. */
static void tell(const Janitor *j, JanitorJob *job) {
        const VacuumProgress *p = &job->progress;
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        ServerCall *call = job->call;
        json_t *reply;

        if (j->is_ending || (call && !server_call_is_connected(call)))
                job->is_called_off = true;
        else if (call && now >= job->next_tell_ns && call->wants_more) {
                job->next_tell_ns = now + TELL_NS;
                reply = json_pack("{s:{s:I, s:I, s:I, s:I}}", "progress", "done",
                                  (json_int_t) p->n_done, "total", (json_int_t) p->n_total,
                                  "done_bytes", (json_int_t) MIN(p->done_bytes, p->total_bytes),
                                  "total_bytes", (json_int_t) p->total_bytes);
                if (reply && server_call_continue(call, reply) < 0)
                        job->is_called_off = true;
        }
}

/* The rule, or who asked. */
static int describe_why(const JanitorJob *job, const RetainItem *item, char **ret) {
        if (!job->call)
                return vacuum_describe_verdict(ret, &job->vacuum, item, &job->limits);
        return asprintf(ret, "%s asked for it (ftracectl vacuum)",
                        FORMAT_USER(job->call->who.uid)) < 0
                       ? -ENOMEM
                       : 0;
}

static int remove_item(Janitor *j, const JanitorJob *job, RetainItem *item) {
        _cleanup_free_ char *why = NULL;
        Session *s;
        int r = describe_why(job, item, &why);

        if (r >= 0)
                r = look_at(j, item, &s);
        if (r == KEEP_NOT)
                r = sessions_remove(j->sessions, s, why);
        else if (r > 0) {
                item->keep = (Keep) r; /* since the decision */
                r = -EBUSY;
        }
        if (r < 0)
                log_warning("Session \"%s\" (%s) cannot be removed: %s", item->name,
                            FORMAT_BYTES(item->n_bytes), origin_text(r));
        else
                log_info("Session \"%s\" (%s) removed: %s.", item->name,
                         FORMAT_BYTES(item->n_bytes), why);
        return r;
}

/* One after the other, each until it is off the disk: what is free can be believed then. */
static void remove_chosen(Janitor *j, JanitorJob *job) {
        VacuumProgress *p = &job->progress;

        *p = vacuum_progress_of(&job->vacuum);
        for (size_t i = 0; i < job->vacuum.n; i++) {
                RetainItem *item = &job->vacuum.items[i];
                uint64_t before_bytes = p->done_bytes;

                if (item->verdict == RETAIN_KEEP)
                        continue;
                tell(j, job);
                if (job->is_called_off) {
                        item->verdict = RETAIN_KEEP;
                        continue;
                }
                vacuum_went(&job->vacuum, item, job->dry_run ? 0 : remove_item(j, job, item));
                if (job->dry_run)
                        continue;
                while (removal_go_on(j->sessions->removal, &p->done_bytes))
                        tell(j, job);
                p->n_done++;
                p->done_bytes = before_bytes + item->n_bytes;
        }
}

/* @r: 0 or -errno. */
static void answer(const Janitor *j, const JanitorJob *job, int r) {
        json_t *reply = r < 0 ? NULL : vacuum_to_json(&job->vacuum);
        _cleanup_refusal_ Refusal refusal = {};

        if (r >= 0 && !server_call_is_connected(job->call))
                log_notice("A vacuum of %s was ended when its client left.",
                           FORMAT_USER(job->call->who.uid));
        if (reply) {
                (void) server_call_reply(job->call, reply, NULL, 0);
                return;
        }
        r = r < 0 ? -r : ENOMEM;
        if (refusal_set_errno(&refusal, r, "the sessions in %s cannot be looked at: %s",
                              store_path(store_of(j)), origin_text(r)) == REFUSED)
                (void) server_call_refuse(job->call, &refusal);
}

static void carry_out(Janitor *j, JanitorJob *job) {
        int r = j->is_ending ? -ECANCELED : 0;

        while (r == 0 && removal_go_on(j->sessions->removal, NULL))
                ; /* what was removed before */
        r = r ?: choose(j, job);
        if (r >= 0)
                remove_chosen(j, job);
        if (job->call)
                answer(j, job, r);
        else if (r >= 0)
                let_rings_yield(j, &job->vacuum);
        else if (!j->is_ending)
                log_warning_errno(r, "Cannot look for sessions to remove: %m");
        vacuum_done(&job->vacuum);
}

/* A task. */
static void run(void *userdata) {
        JanitorJob *job = userdata;

        carry_out(job->janitor, job);
        (void) server_call_unref(job->call);
        free(job);
}

/* Likewise. */
static void look(void *userdata) {
        Janitor *j = userdata;
        JanitorJob job = { .limits = vacuum_limits(j->sessions->context.limits) };

        if (TAKE(j->is_to_look, false))
                carry_out(j, &job);
}

static int on_soon(sd_event_source *source, uint64_t usec, void *userdata) {
        Janitor *j = userdata;

        background_run(j->sweeper, look, j);
        return 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

void janitor_look(Janitor *j) {
        if (j->is_asked_only)
                return;
        j->is_to_look = true;
        (void) sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        janitor_look(userdata);
        return 0;
}

int janitor_vacuum(Janitor *j, ServerCall *call, const RetainLimits *limits, bool dry_run) {
        JanitorJob *job = NEW(JanitorJob, .janitor = j, .call = server_call_ref(call),
                              .limits = *limits, .dry_run = dry_run);

        if (!job)
                return -ENOMEM;
        background_run(j->sweeper, run, job);
        return 0;
}

/* --- what is to come ---------------------------------------------------------------------------- */

static int foresee(const Janitor *j, Outlook *ret) {
        RetainLimits limits = vacuum_limits(j->sessions->context.limits);
        _cleanup_vacuum_ Vacuum v = {};

        return list_sessions(j, &v) ?: vacuum_foresee(ret, &v, store_of(j), &limits);
}

json_t *janitor_foresee(const Janitor *j) {
        _cleanup_outlook_ Outlook o = {};

        return !j->is_asked_only && foresee(j, &o) >= 0 ? outlook_to_json(&o) : NULL;
}

void janitor_check(const Janitor *j, json_t *checks) {
        _cleanup_free_ char *text = NULL, *fix = NULL;
        _cleanup_outlook_ Outlook o = {};

        if (j->is_asked_only || foresee(j, &o) < 0 || outlook_describe(&text, &o) < 0 ||
            outlook_advise(&fix, &o) < 0)
                return;
        (void) json_array_append_new(checks,
                                     json_pack("{ss ss ss ss*}", "name", "retention", "state",
                                               outlook_is_tight(&o) ? "warning" : "good", "text",
                                               text, "fix", fix));
}

int janitor_has_room(Janitor *j, Refusal *refusal) {
        _cleanup_free_ char *text = NULL, *fix = NULL;
        _cleanup_outlook_ Outlook o = {};
        int r = j->is_asked_only ? 0 : foresee(j, &o);

        if (j->is_asked_only || r < 0)
                return r == -ENOMEM ? r : 0; /* what is wrong with the store others say better */
        if (retain_is_full(&o.limits, o.used_bytes, o.free_bytes))
                janitor_look(j); /* else what goes for it is told with its begin */
        if (!o.is_full)
                return 0;
        return outlook_describe(&text, &o)
                       ?: outlook_advise(&fix, &o)
                       ?: refusal_set_errno(refusal, ENOSPC, "cannot record in %s: %s: %s; %s",
                                            store_path(store_of(j)), strerror(ENOSPC), text,
                                            fix ?: "make room there");
}

int janitor_init(Janitor *j, Sessions *sessions, Background *sweeper, bool is_asked_only) {
        sd_event *event = sessions->context.event;
        int r;

        *j = (Janitor){ .sessions = sessions, .sweeper = sweeper, .is_asked_only = is_asked_only };
        r = sd_event_add_time(event, &j->soon, CLOCK_MONOTONIC, 0, 0, on_soon, j);
        if (r >= 0)
                r = sd_event_source_set_enabled(j->soon, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time(event, &j->timer, CLOCK_BOOTTIME, UINT64_MAX, 0, on_timer, j);
        janitor_look(j);
        return r;
}

void janitor_done(Janitor *j) {
        if (!j->sessions)
                return;
        j->is_ending = true;
        j->is_to_look = false;
        background_settle(j->sweeper); /* what has not begun is refused */
        (void) sd_event_source_disable_unref(j->soon);
        (void) sd_event_source_disable_unref(j->timer);
        *j = (Janitor){};
}
