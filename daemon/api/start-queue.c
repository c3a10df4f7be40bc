/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A list in the order of coming.  Each turn looks (sessions_look(), which arms nothing) at all of
 * them from the front and starts what can be started, with what the look found, so that whoever came
 * later finds taken what the one before has just got.  A look says nothing of what only arming tells,
 * a kernel that has no room for one more tracer for one: then the next try is AGAIN_USEC later.
 *
 * A task (daemon/process/background.h) takes one turn, and the loop comes round before the next: who has to wait
 * until tasks have ended (background_settle()) waits for one of those who wait.  While turns are taken the
 * loop may add to the end of the list, and takes nothing away.
 *
 * What another one used may become free when those in front have had their turns.  So whoever can start
 * and is not the first lets all who are before him look once more.
 */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/api/start-queue.h"
#include "daemon/process/journal.h"

#define TURN_USEC USEC_PER_SEC
#define AGAIN_USEC (5 * USEC_PER_SEC)
#define LEARNING_USEC (2 * USEC_PER_SEC)
#define LEARNING_TELL_USEC (USEC_PER_SEC * 3 / 10)

typedef struct Waiting Waiting;
struct Waiting {
        Waiting *next;
        ServerCall *call;
        SessionRequest request; /* of what is below */
        char *name, *profile;
        Spec spec;
        bool may_wait;
        uint64_t since_us, end_us; /* end: UINT64_MAX: never */
        uint64_t again_us;         /* not tried before */
        uint64_t learning_us;      /* since when it waits for a learning pass; 0: not yet */
        Refusal why;               /* the last one */
        char *told;                /* what it was told it waits for */
        size_t told_ahead;
};

struct StartQueue {
        sd_event *event;
        Background *background;
        Sessions *sessions;
        Waiting *first;
        sd_event_source *timer; /* of the next turns, while anybody waits */
        sd_event_source *next;  /* of the turn of *@at */
        bool is_taking_turns;
        Waiting **at;   /* whose turn it is; *at NULL: all have had theirs */
        size_t n_ahead; /* who wait before him */
        json_t *(*foresee)(void *userdata);
        void *foresee_userdata;
        const Waiting *can_start; /* once those before him have looked again */
        bool again;               /* something has ended, or somebody has gone, meanwhile */
};

static Waiting *waiting_free(Waiting *w) {
        if (!w)
                return NULL;
        (void) server_call_unref(w->call);
        free(w->name);
        free(w->profile);
        spec_done(&w->spec);
        refusal_done(&w->why);
        free(w->told);
        return mfree(w);
}
DEFINE_CLEANUP(Waiting *, waiting_free);

/* --- answers ---------------------------------------------------------------------------------- */

static void log_start(ServerCall *call, const Session *session) {
        const SessionMeta *m = session_meta(session);
        _cleanup_free_ char *roots = strv_join(&m->roots, " ");
        char arm[UNIT_TEXT_MAX];

        journal_tell(
                &(JournalEntry){ JOURNAL_STARTED, .meta = m, .uid = server_call_uid(call),
                                 .pid = server_call_pid(call) },
                "Session '%s' started by uid %u (pid %i): %.200s%s on %zu CPUs%s%s, armed in %s.",
                m->name, (unsigned) server_call_uid(call), (int) server_call_pid(call), roots ?: "",
                roots && strlen(roots) > 200 ? "..." : "", m->n_cpus,
                m->instance ? ", instance " : "", m->instance ?: "",
                format_duration(arm, m->arm_ns));
}

static int reply_session(const StartQueue *s, ServerCall *call, Session *session) {
        json_t *reply;

        log_start(call, session);
        reply = json_pack("{s:o, s:o*}", "session", session_to_json(session), "retention",
                          s->foresee ? s->foresee(s->foresee_userdata) : NULL);
        return reply ? server_call_reply(call, reply, NULL, 0) : -ENOMEM;
}

/* Tells a caller that wants to know what it waits for, if that is news. */
static void tell(Waiting *w, const char *message, size_t n_ahead) {
        char *text;
        json_t *o;

        if (!w->told)
                log_info("Uid %u (pid %i) waits: %s", (unsigned) server_call_uid(w->call),
                         (int) server_call_pid(w->call), message);
        if (streq_ptr(w->told, message) && w->told_ahead == n_ahead)
                return;
        text = strdup(message);
        if (!text)
                return; /* the next turn tries again */
        free(w->told);
        w->told = text;
        w->told_ahead = n_ahead;
        if (!server_call_wants_more(w->call))
                return;
        o = json_pack("{s:{s:s, s:I}}", "waiting", "message", message, "ahead",
                      (json_int_t) n_ahead);
        if (o)
                (void) server_call_continue(w->call, o);
}

static void tell_of_learning_pass(Waiting *w, uint64_t now) {
        char text[512];

        if (now < w->learning_us + LEARNING_TELL_USEC)
                return;
        (void) snprintf(text, sizeof(text),
                        "what %s%s call%s is being learned, so that nothing else is hooked",
                        w->spec.functions.items[0], w->spec.functions.n > 1 ? " and others" : "",
                        w->spec.functions.n > 1 ? "" : "s");
        tell(w, text, 0);
}

/* Before arming, which the kernel may take long for. */
static void tell_of_arming(Waiting *w, const ControllerOutlook *outlook) {
        _cleanup_free_ char *text = NULL;

        if (controller_outlook_tell(outlook, &text) >= 0 && text)
                tell(w, text, 0);
}

static void refuse_at_last(Waiting *w, uint64_t now) {
        _cleanup_refusal_ Refusal last = {};
        char time[UNIT_TEXT_MAX];

        (void) refusal_set(&last, w->why.kind, json_deep_copy(w->why.parameters),
                           "waited %s in vain: %s",
                           format_duration(time, (now - w->since_us) * NSEC_PER_USEC),
                           refusal_message(&w->why));
        (void) server_call_refuse(w->call, &last);
}

static void fail(Waiting *w, int error) {
        _cleanup_refusal_ Refusal refusal = {};

        log_error_errno(error, "A start failed: %m");
        (void) refusal_set_errno(&refusal, -error, "starting failed: %s", origin_report(error));
        (void) server_call_refuse(w->call, &refusal);
}

/* --- the queue -------------------------------------------------------------------------------- */

/* A learning pass that takes longer than that, or another one, is not waited for again. */
static bool may_wait_for_learning_pass(Waiting *w, uint64_t now) {
        if (w->learning_us == 0)
                w->learning_us = now;
        return now < w->learning_us + LEARNING_USEC;
}

static int answer(StartQueue *s, Waiting *w, Session *session) {
        if (server_call_is_connected(w->call))
                return reply_session(s, w->call, session);
        log_start(w->call, session);
        if (w->request.peer != 0)
                sessions_peer_gone(s->sessions, w->request.peer); /* while it was armed */
        return 0;
}

/* What is to be done with it then. */
typedef enum Turn {
        TURN_KEEP,
        TURN_DROP, /* answered or gone */
        TURN_OTHERS_FIRST,
} Turn;

static Turn keep_while_connected(const Waiting *w) {
        return server_call_is_connected(w->call) ? TURN_KEEP : TURN_DROP;
}

/* Looks, and starts if nothing is in the way. */
static Turn take_turn(StartQueue *s, Waiting *w, size_t n_ahead) {
        uint64_t now = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        _cleanup_session_look_ SessionLook look = {};
        Session *session;
        int r = REFUSED;

        if (!server_call_is_connected(w->call))
                return TURN_DROP;
        if (w->again_us <= now)
                r = sessions_look(s->sessions, &look, &w->request, &w->why);
        if (r == 0 && look.outlook.is_learning && may_wait_for_learning_pass(w, now)) {
                tell_of_learning_pass(w, now);
                return keep_while_connected(w);
        }
        if (r == 0 && w != s->first && s->can_start != w) {
                s->can_start = w;
                return TURN_OTHERS_FIRST;
        }
        if (r == 0) {
                s->can_start = NULL;
                tell_of_arming(w, &look.outlook);
                r = sessions_start(s->sessions, &session, &w->request, &look, &w->why);
                if (r == REFUSED)
                        w->again_us = now + AGAIN_USEC;
        }
        if (r == 0)
                r = answer(s, w, session);
        else if (r == REFUSED && w->why.kind == REFUSAL_BUSY && w->may_wait) {
                if (now < w->end_us) {
                        tell(w, refusal_message(&w->why), n_ahead);
                        return keep_while_connected(w);
                }
                refuse_at_last(w, now);
        } else if (r == REFUSED)
                (void) server_call_refuse(w->call, &w->why);
        if (r < 0)
                fail(w, r);
        return TURN_DROP;
}

static void set_timer(StartQueue *s) {
        uint64_t at = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC + TURN_USEC;

        for (const Waiting *w = s->first; w; w = w->next) {
                at = MIN(at, w->end_us);
                if (w->learning_us != 0 && !w->told)
                        at = MIN(at, w->learning_us + LEARNING_TELL_USEC);
        }
        (void) sd_event_source_set_time(s->timer, at);
        (void) sd_event_source_set_enabled(s->timer, s->first ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static void drop(StartQueue *s, Waiting **at) {
        Waiting *w = *at;

        if (s->can_start == w)
                s->can_start = NULL;
        *at = w->next;
        (void) waiting_free(w);
}

static void begin_with_first(StartQueue *s) {
        s->again = false;
        s->at = &s->first;
        s->n_ahead = 0;
}

static void end_turns(StartQueue *s) {
        s->is_taking_turns = false;
        (void) sd_event_source_set_enabled(s->next, SD_EVENT_OFF);
        set_timer(s);
}

static void end_turn(StartQueue *s, Turn turn) {
        switch (turn) {
        case TURN_KEEP:
                s->n_ahead++;
                s->at = &(*s->at)->next;
                break;
        case TURN_DROP:
                drop(s, s->at);
                break;
        case TURN_OTHERS_FIRST:
                begin_with_first(s);
                break;
        }
}

/* A task. */
static void take_next(void *userdata) {
        StartQueue *s = userdata;

        if (*s->at)
                end_turn(s, take_turn(s, *s->at, s->n_ahead));
        if (!*s->at && s->again)
                begin_with_first(s);
        if (*s->at)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
        else
                end_turns(s);
}

static int on_next(sd_event_source *source, void *userdata) {
        StartQueue *s = userdata;

        if (background_run(s->background, take_next, s) < 0)
                end_turns(s); /* no memory: later */
        return 0;
}

static void begin_turns(StartQueue *s) {
        if (TAKE(s->is_taking_turns, true))
                return; /* whoever has just come will have his */
        begin_with_first(s);
        (void) on_next(NULL, s);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        begin_turns(userdata);
        return 0;
}

int start_queue_begin(StartQueue *s, ServerCall *call, const SessionRequest *q, uint64_t wait_ns) {
        _cleanup_(waiting_freep) Waiting *w = calloc(1, sizeof(*w));
        Waiting **end = &s->first;

        if (!w)
                return -ENOMEM;
        if ((q->name && !(w->name = strdup(q->name))) ||
            (q->profile && !(w->profile = strdup(q->profile))))
                return -ENOMEM;
        if (spec_copy(&w->spec, q->spec) < 0)
                return -ENOMEM;
        w->request = *q;
        w->request.name = w->name;
        w->request.profile = w->profile;
        w->request.spec = &w->spec;
        w->may_wait = wait_ns > 0;
        w->since_us = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        w->end_us = wait_ns >= START_QUEUE_FOR_EVER ? UINT64_MAX
                                                    : w->since_us + wait_ns / NSEC_PER_USEC;
        w->call = server_call_ref(call);
        while (*end)
                end = &(*end)->next;
        *end = TAKE_PTR(w);
        begin_turns(s);
        return 0;
}

void start_queue_set_outlook(StartQueue *s, json_t *(*foresee)(void *userdata), void *userdata) {
        s->foresee = foresee;
        s->foresee_userdata = userdata;
}

void start_queue_wake(StartQueue *s) {
        if (s->is_taking_turns)
                s->again = true;
        else if (s->first) {
                (void) sd_event_source_set_time(s->timer, 0);
                (void) sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
        }
}

void start_queue_drop_gone(StartQueue *s) {
        if (s->is_taking_turns) {
                s->again = true; /* their turn drops them */
                return;
        }
        for (Waiting **at = &s->first; *at;)
                if (server_call_is_connected((*at)->call))
                        at = &(*at)->next;
                else
                        drop(s, at);
}

void start_queue_end(StartQueue *s) {
        while (s->first) {
                _cleanup_refusal_ Refusal refusal = {};

                (void) refusal_set_errno(&refusal, ECANCELED,
                                         "the daemon was stopped while this waited to begin");
                (void) server_call_refuse(s->first->call, &refusal);
                drop(s, &s->first);
        }
        end_turns(s);
}

size_t start_queue_n(const StartQueue *s) {
        size_t n = 0;

        for (const Waiting *w = s->first; w; w = w->next)
                n++;
        return n;
}

int start_queue_new(StartQueue **ret, sd_event *event, Background *background, Sessions *sessions) {
        _cleanup_(start_queue_freep) StartQueue *s =
                NEW(StartQueue, .event = event, .background = background, .sessions = sessions);
        int r;

        if (!s)
                return -ENOMEM;
        r = sd_event_add_time(event, &s->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_timer, s);
        if (r >= 0)
                r = sd_event_add_defer(event, &s->next, on_next, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->next, SD_EVENT_OFF);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

StartQueue *start_queue_free(StartQueue *s) {
        if (!s)
                return NULL;
        while (s->first)
                drop(s, &s->first);
        (void) sd_event_source_disable_unref(s->timer);
        (void) sd_event_source_disable_unref(s->next);
        return mfree(s);
}
