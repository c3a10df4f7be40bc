/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked while it records, with --lean=auto
 *
 *      nobody knows the roots:  all ──0.3 s──> roots ──> what was learned ──1 h──> all, for 0.3 s ...
 *      their tree is known:     the tree ──others pay too much──> less of it ──not any more──> the tree
 *
 *   - a lesson is all hooked for a moment; then nothing but the roots is, so that others pay no longer than was said,
 *     until what it stored is learned (daemon/watch/watch.h): that, too, is our own work.  One that saw too
 *     few calls of the roots is repeated, after ever longer and only while something is recorded.  What a session
 *     with everything hooked saw is learned when it ends
 *   - what others call is looked at after a second, then ever less often, and whenever the host begins to do more
 *     (daemon/watch/watch.h); what costs them too much is not hooked any more, and comes back, to be looked at
 *     anew, when the host does less
 *   - while the roots are not called, what usual loads call often is not hooked either (daemon/lean/lean.h)
 *   - once in RelearnSec= (an hour) there is a lesson of what is called by now
 *
 * Timers say when; what is hooked is changed by a task, which looks what is due when its turn comes.
 */

#include <fcntl.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"

#define LESSON_US (300 * USEC_PER_SEC / 1000)
#define FLUSH_US (USEC_PER_SEC / 20) /* between two looks whether what it recorded is stored */
#define FLUSH_TURNS 40
#define RETRY_US (2 * USEC_PER_SEC) /* until the next one, if one saw too little; then twice ... */
#define WATCH_US USEC_PER_SEC       /* until the first look */
#define WATCH_FACTOR 8              /* ... and how much later each time */
#define LOAD_US (USEC_PER_SEC / 2)  /* between two looks at the host's load */
#define QUIET_LOOKS 20 /* without a call of the roots: usual loads count; when they go on ... */
#define QUIET_FACTOR 8 /* ... so many times as many the next time */
#define MAX_US (UINT64_C(3600) * USEC_PER_SEC)

static void stop_waiting(Session *s) {
        if (s->lean.calls)
                (void) notifier_listen(s->lean.calls, false);
        s->lean.call = sd_event_source_disable_unref(s->lean.call);
        s->lean.call_fd = safe_close(s->lean.call_fd);
}

static void stop_timers(Session *s) {
        LeanTimer *timers[] = { &s->lean.lesson, &s->lean.later, &s->lean.watch, &s->lean.load };

        for (size_t i = 0; i < ELEMENTSOF(timers); i++)
                timers[i]->source = sd_event_source_disable_unref(timers[i]->source);
        stop_waiting(s);
        s->lean.calls = notifier_free(s->lean.calls);
}

void session_lean_done(Session *s) {
        stop_timers(s);
        s->lean.learning_pass = learning_pass_free(s->lean.learning_pass);
        s->lean.bystanders = bystander_watch_free(s->lean.bystanders);
        load_done(&s->lean.others);
}

static bool is_recording(const Session *s) {
        return !s->lean.has_ended && s->meta->state == SESSION_RECORDING;
}

static int set_timer(Session *s, LeanTimer *t, uint64_t us, sd_event_time_handler_t on_timer) {
        t->source = sd_event_source_disable_unref(t->source);
        return sd_event_add_time_relative(s->context->event, &t->source, CLOCK_MONOTONIC, us, 0,
                                          on_timer, s);
}

/* --- what is hooked ---------------------------------------------------------------------------- */

static int set_later_timer(Session *s);
static int on_pages(sd_event_source *source, uint64_t usec, void *userdata);
static int on_lesson(sd_event_source *source, uint64_t usec, void *userdata);

/* Calls that overlap it are slow because of it. */
static void end_lesson(Session *s) {
        SessionMeta *m = s->meta;
        uint64_t now_ns = tracer_now_ns(s->tracer, 0);

        s->lean.state = LESSON_NONE;
        (void) own_works_add(&m->own_work, s->lean.since_ns, now_ns);
        if (m->tree_from == TREE_LEARNED)
                m->tree_from = TREE_LESSON;
        (void) set_later_timer(s);
}

/* A task. */
static void change_hooks(void *userdata) {
        Session *s = userdata;

        s->lean.has_task = false;
        s->lean.was_own = true;
        if (TAKE(s->lean.is_due, false) && is_recording(s))
                session_hooks_change(s, s->lean.scope, &s->lean.others, s->lean.reason);
        if (!is_recording(s)) { /* when it does again, it begins anew */
                s->lean.state = LESSON_NONE;
                return;
        }
        if (s->lean.state == LESSON_HOOKS_ALL && s->lean.scope == LEAN_LESSON)
                (void) set_timer(s, &s->lean.lesson, LESSON_US, on_lesson);
        else if (s->lean.state == LESSON_IS_OVER && s->lean.scope == LEAN_ROOTS) {
                s->lean.n_turns = 0;
                recorder_flush(s->recorder);
                (void) set_timer(s, &s->lean.lesson, FLUSH_US, on_pages);
        } else if (s->lean.state == LESSON_IS_READ)
                end_lesson(s);
}

static void ask_for_change(Session *s, LeanScope scope, HookReason reason) {
        if (scope == LEAN_TREE && s->lean.sheds)
                scope = LEAN_CALLERS;
        if (scope == LEAN_TREE && s->lean.state == LESSON_NONE &&
            s->meta->tree_from == TREE_UNKNOWN)
                scope = LEAN_ROOTS; /* there is none, and it is not the time for a lesson */
        s->lean.is_due = true;
        s->lean.scope = scope;
        s->lean.reason = reason;
        if (!TAKE(s->lean.has_task, true))
                background_run(s->context->background, change_hooks, s);
}

/* --- lessons ----------------------------------------------------------------------------------- */

static void on_learning_pass(uint64_t n_calls, int error, void *userdata) {
        Session *s = userdata;

        s->lean.learning_pass = learning_pass_free(s->lean.learning_pass);
        session_tell(s);
        s->lean.state = is_recording(s) ? LESSON_IS_READ : LESSON_NONE;
        if (!is_recording(s))
                return;
        if (n_calls > 0 || s->meta->tree_from != TREE_UNKNOWN)
                ask_for_change(s, LEAN_TREE, HOOK_NARROWED);
        else
                end_lesson(s);
}

static int look(Session *s) {
        int r;

        if (s->lean.learning_pass)
                return 0;
        r = learning_pass_start(&s->lean.learning_pass, s->context->event, s->context->controller,
                                s->dir, s->meta, s->lean.learned_ns, s->lean.until_ns,
                                on_learning_pass, s);
        if (r < 0 && r != -ENODATA)
                (void) log_warning_errno(r, "Session \"%s\": cannot learn what it calls: %m",
                                         s->meta->name);
        return r;
}

static int on_pages(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        if (!recorder_is_flushed(s->recorder) && ++s->lean.n_turns < FLUSH_TURNS)
                return set_timer(s, &s->lean.lesson, FLUSH_US, on_pages);
        s->lean.n_bytes = recorder_n_bytes(s->recorder);
        if (look(s) < 0)
                on_learning_pass(0, -ENODATA, s);
        return 0;
}

static int on_lesson(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->lean.state = LESSON_IS_OVER;
        s->lean.until_ns = tracer_now_ns(s->tracer, 0);
        ask_for_change(s, LEAN_ROOTS, HOOK_NARROWED);
        return 0;
}

static void begin_lesson(Session *s) {
        if (s->lean.state != LESSON_NONE || s->lean.learning_pass)
                return;
        s->lean.state = LESSON_HOOKS_ALL;
        s->lean.until_ns = UINT64_MAX;
        s->lean.since_ns = tracer_now_ns(s->tracer, 0);
        s->lean.learned_ns = MAX(s->lean.learned_ns, s->lean.since_ns);
        ask_for_change(s, LEAN_LESSON, HOOK_WIDENED);
}

static int on_later(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->lean.later.source = sd_event_source_disable_unref(s->lean.later.source);
        if (!is_recording(s))
                return 0;
        if (s->meta->learns && recorder_n_bytes(s->recorder) <= s->lean.n_bytes)
                recorder_flush(s->recorder); /* nothing to learn from yet; for the next time */
        else
                begin_lesson(s);
        if (s->meta->learns && s->lean.state == LESSON_NONE)
                (void) set_later_timer(s);
        return 0;
}

/* Of the next lesson: soon if one saw too little, or in RelearnSec=. */
static int set_later_timer(Session *s) {
        const Limits *limits = s->context->limits;
        const SessionMeta *m = s->meta;
        uint64_t us = limits ? limits->relearn_ns / NSEC_PER_USEC : 0;

        if (!lean_asks(&m->spec) || m->n_hooked == 0 || m->spec.lesson == LESSON_NO ||
            m->spec.in_kernel)
                return 0;
        if (m->learns)
                us = s->lean.later.us =
                        s->lean.later.us == 0 ? RETRY_US : MIN(2 * s->lean.later.us, MAX_US);
        return us == 0 ? 0 : set_timer(s, &s->lean.later, us, on_later);
}

/* --- what others call -------------------------------------------------------------------------- */

static int set_watch_timer(Session *s, unsigned factor);

/* Whether what is left out is other than before. */
static void on_bystanders(Load *load, int error, void *userdata) {
        Session *s = userdata;
        const SessionMeta *m = s->meta;
        bool is_work = s->lean.others.is_work;

        if (load && load_keep(load, &s->lean.others) >= 0) {
                load_done(&s->lean.others);
                s->lean.others = TAKE(*load, (Load){});
                s->lean.others.is_work =
                        is_work; /* that it is over the next look at the roots finds */
        }
        s->lean.bystanders = bystander_watch_free(s->lean.bystanders);
        s->lean.was_own = true;
        if (error >= 0 && is_recording(s) && s->lean.state == LESSON_NONE && m->n_hooked > 0)
                ask_for_change(s, LEAN_TREE, HOOK_THINNED);
        (void) set_watch_timer(s, WATCH_FACTOR);
}

static void watch(Session *s) {
        if (s->lean.bystanders)
                return;
        if (s->lean.state != LESSON_NONE || s->meta->n_hooked == 0 ||
            bystander_watch_start(&s->lean.bystanders,
                                  &(BystanderWatchConfig){ .event = s->context->event,
                                                           .background = s->context->background,
                                                           .controller = s->context->controller,
                                                           .meta = s->meta,
                                                           .tracer = s->tracer,
                                                           .dir = s->dir,
                                                           .done = on_bystanders,
                                                           .userdata = s }) < 0)
                (void) set_watch_timer(s, 1);
}

static void watch_soon(Session *s) {
        s->lean.watch.us = WATCH_US * WATCH_FACTOR;
        watch(s);
}

/* What was too much for work that is over comes back, to be looked at anew: nobody looks at what is not hooked. */
static void forget_load(Session *s) {
        bool is_work = s->lean.others.is_work;

        if ((s->lean.others.rates.n == 0 && s->lean.others.out.n == 0) || s->lean.bystanders)
                return;
        load_done(&s->lean.others);
        s->lean.others.is_work = is_work;
        if (s->lean.state == LESSON_NONE && s->meta->n_hooked > 0)
                ask_for_change(s, LEAN_TREE, HOOK_THINNED);
}

static int on_watch(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        if (s->lean.watch.us == MAX_US)
                forget_load(s);
        watch(s);
        return 0;
}

static int set_watch_timer(Session *s, unsigned factor) {
        uint64_t us = s->lean.watch.us;

        s->lean.watch.us = MIN(factor * us, MAX_US);
        return is_recording(s) ? set_timer(s, &s->lean.watch, us, on_watch) : 0;
}

static void look_at_roots(Session *s);

static int on_call(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Session *s = userdata;

        if (is_recording(s))
                look_at_roots(s);
        return 0;
}

static void on_ring(void *userdata) {
        (void) on_call(NULL, -EBADF, 0, userdata);
}

static uint64_t count_calls(const Session *s) {
        const Instance *instance = tracer_instance(s->tracer);
        uint64_t n = 0;

        if (!s->lean.calls)
                return tracefs_count_events(instance->fs, instance->dir);
        (void) notifier_count(s->lean.calls, &n);
        return n;
}

/* The looks find it, too. */
static void wait_for_call(Session *s) {
        const Instance *instance = tracer_instance(s->tracer);

        if (s->lean.calls) {
                s->lean.n_events = 0;
                (void) notifier_clear(s->lean.calls);
                (void) notifier_listen(s->lean.calls, true);
                return;
        }
        /* Of all CPUs poll() does not wait for buffer_percent (linux 6.12 kernel/trace/ring_buffer.c,
         * ring_buffer_poll_wait()). */
        s->lean.call_fd = tracefs_open(instance->fs, O_RDONLY | O_NONBLOCK, "%strace_pipe",
                                       instance->dir);
        if (s->lean.call_fd < 0 ||
            sd_event_add_io(s->context->event, &s->lean.call, s->lean.call_fd, EPOLLIN | EPOLLET,
                            on_call, s) < 0)
                stop_waiting(s);
}

/*
 * While the roots are not called it is little loss to hook less, and work that comes pays nothing.  When they are, all is
 * hooked that this host's work does not call often, at once; and it takes longer until they count as quiet again.
 */
static void look_at_roots(Session *s) {
        uint64_t n_events;

        if (tracer_is_held_up(s->tracer))
                return;
        n_events = count_calls(s);
        s->lean.n_quiet = n_events > s->lean.n_events ? 0 : s->lean.n_quiet + 1;
        s->lean.n_events = n_events;
        if (s->lean.state != LESSON_NONE || s->lean.bystanders || s->meta->n_hooked == 0 ||
            (s->lean.n_quiet < s->lean.quiet_looks) == s->lean.others.is_work)
                return;
        s->lean.others.is_work = !s->lean.others.is_work;
        strv_done(&s->lean.others.counted); /* what goes now goes for another reason */
        ask_for_change(s, LEAN_TREE, HOOK_THINNED);
        stop_waiting(s);
        if (!s->lean.others.is_work) { /* what is not hooked is missing in the first calls */
                wait_for_call(s);
                return;
        }
        s->lean.quiet_looks =
                MIN(s->lean.quiet_looks * QUIET_FACTOR, (unsigned) INT32_MAX / QUIET_FACTOR);
        watch_soon(s);
}

static int on_load(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;
        bool is_own = s->lean.bystanders || s->lean.has_task;
        HostLoadChange change =
                host_load_look(&s->lean.host, TAKE(s->lean.was_own, is_own) || is_own);

        s->lean.load.source = sd_event_source_disable_unref(s->lean.load.source);
        if (!is_recording(s)) /* when it does again, it begins anew */
                return 0;
        look_at_roots(s);
        if (change == HOST_LOAD_LESS)
                forget_load(s);
        if (change != HOST_LOAD_SAME)
                watch_soon(s);
        return set_timer(s, &s->lean.load, LOAD_US, on_load);
}

/* --- from begin to end ------------------------------------------------------------------------- */

int session_lean_begin(Session *s) {
        const SessionMeta *m = s->meta;
        int r = 0;

        if (!lean_asks(&m->spec) || s->lean.state != LESSON_NONE)
                return 0;
        if (m->tree_from == TREE_LESSON && m->n_hooked == 0) {
                s->lean.state = LESSON_HOOKS_ALL;
                s->lean.since_ns = m->start.trace_ns;
                s->lean.learned_ns = MAX(s->lean.learned_ns, s->lean.since_ns);
                r = set_timer(s, &s->lean.lesson, LESSON_US, on_lesson);
        } else if (!s->lean.later.source)
                r = set_later_timer(s);
        if (r >= 0 && lean_watches(&m->spec) && !s->lean.load.source) {
                s->lean.others.is_work = m->spec.triggers.n == 0;
                s->lean.quiet_looks = QUIET_LOOKS;
                s->lean.n_quiet = QUIET_LOOKS - 1;
                if (lean_counts_calls(&m->spec) &&
                    notifier_open(&s->lean.calls, tracer_instance(s->tracer)->fs, m->name,
                                  m->spec.triggers.n, s->context->event, on_ring, s) < 0)
                        s->lean.calls = NULL; /* of an earlier daemon: all that is recorded counts */
                s->lean.n_events = count_calls(s);
                s->lean.watch.us = WATCH_US * WATCH_FACTOR;
                (void) host_load_look(&s->lean.host, true);
                r = set_timer(s, &s->lean.load, LOAD_US, on_load);
                /* Its state changes in a moment: it is not set_watch_timer() that sets it. */
                if (r >= 0)
                        r = set_timer(s, &s->lean.watch, WATCH_US, on_watch);
                if (m->left_out.n > 0) /* by who recorded before */
                        ask_for_change(s, LEAN_TREE, HOOK_THINNED);
        }
        return r;
}

bool session_lean_shed(Session *s) {
        const SessionMeta *m = s->meta;

        if (s->lean.sheds || !lean_thins(&m->spec) || m->n_hooked == 0 || m->n_known == 0 ||
            s->lean.state != LESSON_NONE)
                return false;
        s->lean.sheds = true;
        ask_for_change(s, LEAN_TREE, HOOK_THINNED);
        return true;
}

void session_lean_end(Session *s) {
        /* More than its roots was hooked while it recorded, and all of it. */
        bool has_calls = s->hooks.was_hooked || !tracer_waits(s->tracer);

        stop_timers(s);
        s->lean.bystanders = bystander_watch_free(s->lean.bystanders);
        if (s->meta->learns && has_calls && s->meta->n_hooked == 0)
                (void) look(s);
        s->lean.has_ended = true;
}
