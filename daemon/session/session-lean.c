/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Timers of lessons and of looks; what is hooked is changed by a task, which looks what is due when its turn comes.
 * After a lesson nothing but the roots is hooked until it is known what they call, so that others pay no longer than
 * was said: that, too, is our own work.
 */

#include "base/log.h"
#include "base/unit.h"
#include "daemon/lean/lean.h"
#include "daemon/session/session-lean.h"
#include "daemon/watch/host-load.h"
#include "daemon/watch/learning-pass.h"

#define LESSON_US (300 * USEC_PER_SEC / 1000)
#define FLUSH_US                                                                                   \
        (USEC_PER_SEC / 20) /* between two looks whether what the lesson recorded is stored */
#define FLUSH_TURNS 40
#define RETRY_US                                                                                   \
        (2 * USEC_PER_SEC) /* until the next lesson, if one saw too little; then twice that ... */
#define WATCH_US USEC_PER_SEC      /* until the first look */
#define WATCH_FACTOR 8             /* ... and how much later each time */
#define LOAD_US (USEC_PER_SEC / 2) /* between two looks at the host's load */
#define QUIET_LOOKS                                                                                \
        20 /* without a call of the roots: usual loads count; each time that they go on ... */
#define QUIET_FACTOR 8 /* ... so many times as many */
#define MAX_US (UINT64_C(3600) * USEC_PER_SEC)

typedef enum LessonState {
        LESSON_NONE,
        LESSON_HOOKS_ALL, /* its timer runs, or all is being hooked */
        LESSON_IS_OVER,   /* nothing but the roots is, or will be */
        LESSON_IS_READ,   /* by the learning pass */
} LessonState;

typedef struct LeanTimer {
        sd_event_source *source; /* NULL: it is not set */
        uint64_t us;             /* that it is set to next */
} LeanTimer;

struct SessionLean {
        SessionLeanConfig config;
        LeanTimer lesson, retry, watch, load, widen;
        LessonState state;
        LearningPass *learning_pass; /* goes on after the end */
        BystanderWatch *bystanders;
        Load others;
        HostLoad host;
        LeanScope scope; /* what is to be hooked */
        HookReason reason;
        uint64_t since_ns;   /* the lesson, on the trace clock */
        uint64_t learned_ns; /* what was recorded before has been learned from */
        uint64_t
                until_ns; /* what is recorded later lacks functions, so that callers would be leaves */
        uint64_t n_bytes; /* stored when the last lesson ended */
        unsigned n_turns;
        unsigned n_quiet, quiet_looks; /* looks since the roots were called; that make them quiet */
        uint64_t n_events;             /* that the last look saw */
        sd_event_source *call;         /* while the roots are quiet: of the next one */
        int call_fd;
        bool is_due, has_task, has_ended, sheds, was_own;
};

int session_lean_new(SessionLean **ret, const SessionLeanConfig *config) {
        *ret = NEW(SessionLean, .config = *config, .host = HOST_LOAD_INIT, .call_fd = -EBADF,
                   .until_ns = UINT64_MAX);
        return *ret ? 0 : -ENOMEM;
}

static void stop_waiting(SessionLean *l) {
        l->call = sd_event_source_disable_unref(l->call);
        l->call_fd = safe_close(l->call_fd);
}

static void stop_timers(SessionLean *l) {
        LeanTimer *timers[] = { &l->lesson, &l->retry, &l->watch, &l->load, &l->widen };

        for (size_t i = 0; i < ELEMENTSOF(timers); i++)
                timers[i]->source = sd_event_source_disable_unref(timers[i]->source);
        stop_waiting(l);
}

SessionLean *session_lean_free(SessionLean *l) {
        if (!l)
                return NULL;
        stop_timers(l);
        (void) learning_pass_free(l->learning_pass);
        (void) bystander_watch_free(l->bystanders);
        load_done(&l->others);
        return mfree(l);
}

static bool is_recording(const SessionLean *l) {
        return !l->has_ended && l->config.meta->state == SESSION_RECORDING;
}

static uint64_t now_on_trace_clock(const SessionLean *l) {
        ClockTuple now;

        return tracer_read_clocks(l->config.tracer, &now) < 0 ? 0 : now.trace_ns;
}

static int set_timer(SessionLean *l, LeanTimer *t, uint64_t us, sd_event_time_handler_t on_timer) {
        t->source = sd_event_source_disable_unref(t->source);
        return sd_event_add_time_relative(l->config.event, &t->source, CLOCK_MONOTONIC, us, 0,
                                          on_timer, l);
}

/* --- what is hooked ---------------------------------------------------------------------------- */

static int set_lesson_timer(SessionLean *l);
static int set_later_timers(SessionLean *l);
static void wait_for_pages(SessionLean *l);

/* Calls that overlap it are slow because of it. */
static void end_lesson(SessionLean *l) {
        SessionMeta *m = l->config.meta;
        uint64_t now_ns = now_on_trace_clock(l);

        l->state = LESSON_NONE;
        (void) own_works_add(&m->own_work, l->since_ns, now_ns);
        if (m->tree_from == TREE_LEARNED)
                m->tree_from = TREE_LESSON;
        (void) set_later_timers(l);
}

/* A task. */
static void change_hooks(void *userdata) {
        SessionLean *l = userdata;
        const SessionLeanConfig *c = &l->config;

        l->has_task = false;
        l->was_own = true;
        if (TAKE(l->is_due, false) && is_recording(l))
                c->rehook(c->session, l->scope, &l->others, l->reason);
        if (!is_recording(l)) { /* when it does again, it begins anew */
                l->state = LESSON_NONE;
                return;
        }
        if (l->state == LESSON_HOOKS_ALL && l->scope == LEAN_LESSON)
                (void) set_lesson_timer(l);
        else if (l->state == LESSON_IS_OVER && l->scope == LEAN_ROOTS)
                wait_for_pages(l);
        else if (l->state == LESSON_IS_READ)
                end_lesson(l);
}

static void ask_for_change(SessionLean *l, LeanScope scope, HookReason reason) {
        if (scope == LEAN_TREE && l->sheds)
                scope = LEAN_CALLERS;
        if (scope == LEAN_TREE && l->state == LESSON_NONE &&
            l->config.meta->tree_from == TREE_UNKNOWN)
                scope = LEAN_ROOTS; /* there is none, and it is not the time for a lesson */
        l->is_due = true;
        l->scope = scope;
        l->reason = reason;
        if (TAKE(l->has_task, true))
                return;
        if (background_run(l->config.background, change_hooks, l) < 0)
                change_hooks(l); /* the loop waits */
}

/* --- lessons ----------------------------------------------------------------------------------- */

static void on_learning_pass(uint64_t n_calls, int error, void *userdata) {
        SessionLean *l = userdata;

        l->learning_pass = learning_pass_free(l->learning_pass);
        l->config.changed(l->config.session);
        l->state = is_recording(l) ? LESSON_IS_READ : LESSON_NONE;
        if (!is_recording(l))
                return;
        if (n_calls > 0 || l->config.meta->tree_from != TREE_UNKNOWN)
                ask_for_change(l, LEAN_TREE, HOOK_NARROWED);
        else
                end_lesson(l);
}

static int look(SessionLean *l) {
        const SessionLeanConfig *c = &l->config;
        int r;

        if (l->learning_pass)
                return 0;
        r = learning_pass_start(&l->learning_pass, c->event, c->controller, c->dir, c->meta,
                                l->learned_ns, l->until_ns, on_learning_pass, l);
        if (r < 0 && r != -ENODATA)
                (void) log_warning_errno(r, "Session '%s': cannot learn what it calls: %m",
                                         c->meta->name);
        return r;
}

static int on_pages(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->lesson.source = sd_event_source_disable_unref(l->lesson.source);
        if (!recorder_is_flushed(l->config.recorder) && ++l->n_turns < FLUSH_TURNS)
                return set_timer(l, &l->lesson, FLUSH_US, on_pages);
        l->n_bytes = recorder_n_bytes(l->config.recorder);
        if (look(l) < 0)
                on_learning_pass(0, -ENODATA, l);
        return 0;
}

static void wait_for_pages(SessionLean *l) {
        l->n_turns = 0;
        recorder_flush(l->config.recorder);
        (void) set_timer(l, &l->lesson, FLUSH_US, on_pages);
}

static int on_lesson(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->lesson.source = sd_event_source_disable_unref(l->lesson.source);
        l->state = LESSON_IS_OVER;
        l->until_ns = now_on_trace_clock(l);
        ask_for_change(l, LEAN_ROOTS, HOOK_NARROWED);
        return 0;
}

static int set_lesson_timer(SessionLean *l) {
        return set_timer(l, &l->lesson, LESSON_US, on_lesson);
}

static void begin_lesson(SessionLean *l) {
        if (l->state != LESSON_NONE || l->learning_pass)
                return;
        l->state = LESSON_HOOKS_ALL;
        l->until_ns = UINT64_MAX;
        l->since_ns = now_on_trace_clock(l);
        l->learned_ns = MAX(l->learned_ns, l->since_ns);
        ask_for_change(l, LEAN_LESSON, HOOK_WIDENED);
}

/* Where nothing is recorded there would be nothing to learn. */
static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->retry.source = sd_event_source_disable_unref(l->retry.source);
        if (recorder_n_bytes(l->config.recorder) > l->n_bytes)
                begin_lesson(l);
        else
                recorder_flush(l->config.recorder); /* for the next time */
        if (l->state == LESSON_NONE)
                (void) set_later_timers(l);
        return 0;
}

static int on_widen(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->widen.source = sd_event_source_disable_unref(l->widen.source);
        begin_lesson(l);
        return 0;
}

/* Of the next lesson. */
static int set_later_timers(SessionLean *l) {
        const SessionMeta *m = l->config.meta;

        if (!lean_asks(&m->spec) || m->n_hooked == 0 || m->spec.lesson == LESSON_NO ||
            m->spec.in_kernel)
                return 0;
        if (m->learns) {
                l->retry.us = l->retry.us == 0 ? RETRY_US : MIN(2 * l->retry.us, MAX_US);
                return set_timer(l, &l->retry, l->retry.us, on_retry);
        }
        return l->config.widen_us == 0 ? 0 : set_timer(l, &l->widen, l->config.widen_us, on_widen);
}

/* --- what others call -------------------------------------------------------------------------- */

static int set_watch_timer(SessionLean *l, unsigned factor);

/* Whether what is left out is other than before. */
static void on_bystanders(Load *load, int error, void *userdata) {
        SessionLean *l = userdata;
        const SessionMeta *m = l->config.meta;
        bool is_work = l->others.is_work;

        if (load && load_keep(load, &l->others) >= 0) {
                load_done(&l->others);
                l->others = TAKE(*load, (Load){});
                l->others.is_work =
                        is_work; /* that it is not any more is for the next look at the roots */
        }
        l->bystanders = bystander_watch_free(l->bystanders);
        l->was_own = true;
        if (error >= 0 && is_recording(l) && l->state == LESSON_NONE && m->n_hooked > 0)
                ask_for_change(l, LEAN_TREE, HOOK_THINNED);
        (void) set_watch_timer(l, WATCH_FACTOR);
}

static void watch(SessionLean *l) {
        const SessionLeanConfig *c = &l->config;

        l->watch.source = sd_event_source_disable_unref(l->watch.source);
        if (l->bystanders)
                return;
        if (l->state != LESSON_NONE || c->meta->n_hooked == 0 ||
            bystander_watch_start(&l->bystanders,
                                  &(BystanderWatchConfig){ .event = c->event,
                                                           .background = c->background,
                                                           .controller = c->controller,
                                                           .meta = c->meta,
                                                           .tracer = c->tracer,
                                                           .dir = c->dir,
                                                           .done = on_bystanders,
                                                           .userdata = l }) < 0)
                (void) set_watch_timer(l, 1);
}

static void watch_soon(SessionLean *l) {
        l->watch.us = WATCH_US * WATCH_FACTOR;
        watch(l);
}

/* What was too much for work that is over comes back, to be looked at anew: nobody looks at what is not hooked. */
static void forget_load(SessionLean *l) {
        bool is_work = l->others.is_work;

        if ((l->others.rates.n == 0 && l->others.out.n == 0) || l->bystanders)
                return;
        load_done(&l->others);
        l->others.is_work = is_work;
        if (l->state == LESSON_NONE && l->config.meta->n_hooked > 0)
                ask_for_change(l, LEAN_TREE, HOOK_THINNED);
}

static int on_watch(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        if (l->watch.us == MAX_US)
                forget_load(l);
        watch(l);
        return 0;
}

static int set_watch_timer(SessionLean *l, unsigned factor) {
        uint64_t us = l->watch.us;

        l->watch.us = MIN(factor * us, MAX_US);
        return is_recording(l) ? set_timer(l, &l->watch, us, on_watch) : 0;
}

static void look_at_roots(SessionLean *l);

static int on_call(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        SessionLean *l = userdata;

        if (is_recording(l))
                look_at_roots(l);
        return 0;
}

/* Told at once: what is not hooked is missing in the first calls.  Where it cannot be, the looks find it. */
static void wait_for_call(SessionLean *l) {
        l->call_fd = controller_open_events(l->config.tracer);
        if (l->call_fd < 0 || sd_event_add_io(l->config.event, &l->call, l->call_fd,
                                              EPOLLIN | EPOLLET, on_call, l) < 0)
                stop_waiting(l);
}

/*
 * While the roots are not called it is little loss to hook less, and work that comes pays nothing.  When they are, all is
 * hooked that this host's work does not call often, at once; and it takes longer until they count as quiet again.  A
 * session's events are calls, too.
 */
static void look_at_roots(SessionLean *l) {
        uint64_t n_events;

        if (tracer_is_held_up(l->config.tracer))
                return;
        n_events = controller_count_events(l->config.tracer);
        l->n_quiet = n_events > l->n_events ? 0 : l->n_quiet + 1;
        l->n_events = n_events;
        if (l->state != LESSON_NONE || l->bystanders || l->config.meta->n_hooked == 0 ||
            (l->n_quiet < l->quiet_looks) == l->others.is_work)
                return;
        l->others.is_work = !l->others.is_work;
        strv_done(&l->others.counted); /* what goes now goes for another reason */
        ask_for_change(l, LEAN_TREE, HOOK_THINNED);
        stop_waiting(l);
        if (!l->others.is_work) {
                wait_for_call(l);
                return;
        }
        l->quiet_looks = MIN(l->quiet_looks * QUIET_FACTOR, (unsigned) INT32_MAX / QUIET_FACTOR);
        watch_soon(l);
}

static int on_load(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;
        bool is_own = l->bystanders || l->has_task;
        HostLoadChange change = host_load_look(&l->host, TAKE(l->was_own, is_own) || is_own);

        l->load.source = sd_event_source_disable_unref(l->load.source);
        if (!is_recording(l)) /* when it does again, it begins anew */
                return 0;
        look_at_roots(l);
        if (change == HOST_LOAD_LESS)
                forget_load(l);
        if (change != HOST_LOAD_SAME)
                watch_soon(l);
        return set_timer(l, &l->load, LOAD_US, on_load);
}

/* --- from begin to end ------------------------------------------------------------------------- */

int session_lean_begin(SessionLean *l) {
        const SessionMeta *m = l->config.meta;
        int r = 0;

        if (!lean_asks(&m->spec) || l->state != LESSON_NONE)
                return 0;
        if (m->tree_from == TREE_LESSON && m->n_hooked == 0) {
                l->state = LESSON_HOOKS_ALL;
                l->since_ns = m->start.trace_ns;
                l->learned_ns = MAX(l->learned_ns, l->since_ns);
                r = set_lesson_timer(l);
        } else if (!l->retry.source && !l->widen.source)
                r = set_later_timers(l);
        if (r >= 0 && lean_watches(&m->spec) && !l->load.source) {
                l->others.is_work = m->spec.triggers.n == 0;
                l->quiet_looks = QUIET_LOOKS;
                l->n_quiet = QUIET_LOOKS - 1;
                l->n_events = controller_count_events(l->config.tracer);
                l->watch.us = WATCH_US * WATCH_FACTOR;
                (void) host_load_look(&l->host, true);
                r = set_timer(l, &l->load, LOAD_US, on_load);
                /* Its state changes in a moment: it is not set_watch_timer() that sets it. */
                if (r >= 0)
                        r = set_timer(l, &l->watch, WATCH_US, on_watch);
                if (m->left_out.n > 0) /* by who recorded before */
                        ask_for_change(l, LEAN_TREE, HOOK_THINNED);
        }
        return r;
}

bool session_lean_shed(SessionLean *l) {
        const SessionMeta *m = l->config.meta;

        if (l->sheds || !lean_thins(&m->spec) || m->n_hooked == 0 || m->n_known == 0 ||
            l->state != LESSON_NONE)
                return false;
        l->sheds = true;
        ask_for_change(l, LEAN_TREE, HOOK_THINNED);
        return true;
}

void session_lean_end(SessionLean *l, bool has_calls) {
        bool saw_all = l->config.meta->n_hooked == 0;

        stop_timers(l);
        l->bystanders = bystander_watch_free(l->bystanders);
        if (l->config.meta->learns && has_calls && saw_all)
                (void) look(l);
        l->has_ended = true;
}

bool session_lean_is_busy(const SessionLean *l) {
        return l && l->learning_pass;
}
