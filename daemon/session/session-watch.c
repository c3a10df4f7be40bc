/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What changes around a session while it records: the clock on the wall, modules and the roots in them,
 * the tasks that it follows, and what it costs the host.
 */

#include <sys/timerfd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"
#include "spaces/spaces.h"

/* --- the clock --------------------------------------------------------------------------------- */

/*
 * A recording's times are the trace clock's; what the clock on the wall showed is worked out from the moments
 * that are written down: its start, and one after each time that it was set or the host slept.  Without polling: a timer
 * that never expires is cancelled by the kernel when CLOCK_REALTIME jumps (linux 6.1 fs/timerfd.c,
 * timerfd_clock_was_set(), and timerfd_resume() after a sleep).
 */

void session_look_at_clock(Session *s) {
        SessionMeta *m = s->meta;
        ClockTuple now;
        int r;

        if (m->state != SESSION_RECORDING || tracer_read_clocks(s->tracer, &now) < 0)
                return;
        r = clock_steps_note(&m->clock_steps, &m->start, &now);
        if (r < 0)
                (void) log_error_errno(r, "Session \"%s\": a step of the clock is not noted: %m",
                                       m->name);
        if (r > 0)
                session_on_change(s);
}

static int set_clock_timer(int fd) {
        /* The kernel cuts it to what a timer can hold. */
        const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };

        return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0
                       ? ORIGIN(-errno)
                       : 0;
}

static int on_clock(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        uint64_t n;

        if (read(fd, &n, sizeof(n)) < 0 && errno == ECANCELED) {
                (void) set_clock_timer(fd);
                session_look_at_clock(userdata);
        }
        return 0;
}

static int watch_clock(Session *s) {
        _cleanup_close_ int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        int r = fd < 0 ? ORIGIN(-errno) : set_clock_timer(fd);

        if (r >= 0)
                r = sd_event_add_io(s->context->event, &s->clock, fd, EPOLLIN, on_clock, s);
        if (r >= 0)
                r = sd_event_source_set_io_fd_own(s->clock, true);
        if (r >= 0)
                TAKE_FD(fd);
        return MIN(r, 0);
}

void session_begin_clock(Session *s) {
        int r = s->clock ? 0 : watch_clock(s);

        if (r < 0)
                (void) log_warning_errno(r,
                                         "Session \"%s\": steps of the clock are only noticed by "
                                         "looking at it: %m",
                                         s->meta->name);
        session_look_at_clock(s);
}

/* --- modules, their symbols and roots ---------------------------------------------------------- */

void session_look_at_modules(Session *s) {
        SessionMeta *m = s->meta;
        ClockTuple now;
        int r;

        if (!s->tracer || !s->rotation || tracer_read_clocks(s->tracer, &now) < 0)
                return;
        r = symbol_watch_look(&s->modules, s->context->symbols, store_symbols_fd(s->context->store),
                              m, now.trace_ns);
        if (r != 0) { /* they have changed, or may have */
                s->modules_changed = true;
                /* The kernel takes functions of a module out of the lists: that is nobody's tampering. */
                health_hold_hooks(s->health);
        }
        if (r == SYMBOL_WATCH_E_CHANGED) {
                session_save(s);
                if (s->is_saved)
                        log_info("Session \"%s\": modules changed; addresses mean something else "
                                 "from now on.",
                                 m->name);
                else /* or a removal would take the symbols along: the next look tries again */
                        symbol_maps_drop_last(&m->symbol_maps);
        } else if (r == -ENOSPC && m->symbol_maps.n >= SYMBOL_MAPS_MAX)
                session_warn(s,
                             "modules changed more than %u times: functions of modules that were "
                             "loaded later may have no names or wrong ones",
                             SYMBOL_MAPS_MAX);
        else if (r < 0 && s->modules.n_failures == 1)
                session_warn(s,
                             "modules may have changed, but storing /proc/kallsyms failed: %s; it "
                             "is tried again",
                             origin_text(r));
}

void session_look_at_modules_soon(Session *s) {
        if (!s->meta->symbols || tracer_is_held_up(s->tracer))
                return;
        if (kernel_symbols_are_current(s->context->symbols, store_symbols_fd(s->context->store)))
                session_look_at_modules(s);
        else
                health_look_soon(s->health);
}

/* 0 or -errno. */
static int renew_roots(Session *s, Strv *ret_gone, Strv *ret_back) {
        int r = tracer_renew_roots(s->tracer, s->meta, ret_gone, ret_back), k = 0;

        if (session_is_watched(s))
                k = health_release_hooks(s->health);
        else
                health_renew_hooks(s->health);
        if (r < 0 || k < 0)
                (void) log_warning_errno(r < 0 ? r : k,
                                         "Session \"%s\": cannot look whether its roots are still "
                                         "there: %m",
                                         s->meta->name);
        return r;
}

/*
 * As long as other roots are left the session goes on without those that went, says so, and takes them
 * up again when their module is back.  With the last one it ends: it could record nothing, and the
 * address that is left armed may become another function's.
 */
bool session_look_at_roots(Session *s, char why[static ROOTS_TEXT_MAX]) {
        _cleanup_strv_ Strv gone = {}, back = {};
        _cleanup_free_ char *names = NULL;
        const char *whose;

        if (!TAKE(s->modules_changed, false) || s->meta->state != SESSION_RECORDING ||
            renew_roots(s, &gone, &back) < 0)
                return false;
        names = strv_join(&gone, ", ");
        whose = gone.n == 1 ? "its module" : "their modules";
        if (gone.n == s->meta->roots.n) {
                (void) snprintf(why, ROOTS_TEXT_MAX,
                                "%s went with %s: nothing is left to record; load the module and "
                                "start again",
                                names && strlen(names) < 300 ? names : "all its roots", whose);
                return true;
        }
        if (back.n > 0)
                health_note_gap(s->health, GAP_ROOT_GONE);
        if (gone.n > 0) {
                (void) snprintf(why, ROOTS_TEXT_MAX,
                                "%.300s went with %s: recorded again when the module is loaded "
                                "again",
                                names ?: "a root", whose);
                health_set_condition(s->health, GAP_ROOT_GONE, why);
        } else
                health_clear_condition(s->health, GAP_ROOT_GONE);
        session_on_change(s);
        return false;
}

/* --- tasks that join --------------------------------------------------------------------------- */

/*
 * By name or control group: the daemon is woken when somebody may have joined them or left
 * (daemon/instances/instance.h), and looks.  Who is born into a control group tells nobody, so that
 * is looked at once a second, too.  The event of a new name comes before the name is there (linux
 * 6.1 fs/exec.c, __set_task_comm()), so that every event is followed by a second look.  A look may
 * walk through all of /proc: between two of them passes ten times what one takes, whatever is going on.
 */

#define LOOK_GAP_MIN_US (UINT64_C(2) * 1000)
#define LOOK_GAP_FACTOR 10
#define LOOK_SETTLED_US (UINT64_C(50) * 1000)
#define LOOK_CGROUP_US USEC_PER_SEC
#define LOOK_NAME_US (10 * USEC_PER_SEC) /* in case that an event was lost */
#define DRAIN_BYTES 65536
#define DRAINS_MAX 64 /* at once: the rest wakes again */

static void look_at_tasks(Session *s) {
        uint64_t before = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC, after;
        int r = tracer_follow(s->tracer, &s->meta->spec);

        if (r < 0 && !s->following.has_failed)
                session_warn(s,
                             "the recorded tasks could not be looked up: %s; those that joined "
                             "since are missing, and it is tried again",
                             origin_text(r));
        s->following.has_failed = r < 0;
        session_follow_groups(s);
        after = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        s->following.next_us = after + MAX(LOOK_GAP_MIN_US, LOOK_GAP_FACTOR * (after - before));
}

static int set_tasks_timer(Session *s, uint64_t us) {
        int r = sd_event_source_set_time_relative(s->following.timer, us);

        return r < 0 ? r : sd_event_source_set_enabled(s->following.timer, SD_EVENT_ONESHOT);
}

static int look_again_later(Session *s) {
        if (tracer_is_held_up(s->tracer))
                return set_tasks_timer(s, LOOK_SETTLED_US);
        look_at_tasks(s);
        return set_tasks_timer(s, s->meta->spec.cgroups.n > 0 ? LOOK_CGROUP_US : LOOK_NAME_US);
}

static int on_tasks_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        return look_again_later(userdata);
}

/* What it says is of no interest, only that it says something. */
static bool drain(int fd) {
        _cleanup_free_ char *room = malloc(DRAIN_BYTES);
        ssize_t n = 1;

        for (unsigned i = 0; room && i < DRAINS_MAX && n > 0; i++)
                n = read(fd, room, DRAIN_BYTES);
        return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static int on_task_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Session *s = userdata;
        uint64_t now;

        if (!drain(fd)) { /* somebody has removed it; the timer goes on */
                s->following.io = sd_event_source_disable_unref(s->following.io);
                return 0;
        }
        now = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        if (now < s->following.next_us)
                return set_tasks_timer(s, s->following.next_us - now);
        if (tracer_is_held_up(s->tracer))
                return set_tasks_timer(s, LOOK_SETTLED_US);
        look_at_tasks(s);
        return set_tasks_timer(s, LOOK_SETTLED_US);
}

int session_follow_tasks(Session *s) {
        sd_event *event = s->context->event;
        int r;

        if (!task_filter_follows(&s->meta->spec))
                return 0;
        s->following.fd = task_filter_open(tracer_instance(s->tracer)->fs, s->meta->name);
        if (s->following.fd < 0)
                return s->following.fd;
        r = sd_event_add_io(event, &s->following.io, s->following.fd, EPOLLIN, on_task_event, s);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &s->following.timer, CLOCK_MONOTONIC,
                                               LOOK_CGROUP_US, 1000, on_tasks_timer, s);
        if (r >= 0) {
                (void) drain(s->following.fd);
                r = look_again_later(s);
        }
        if (r < 0)
                session_unfollow_tasks(s);
        return r;
}

void session_unfollow_tasks(Session *s) {
        s->following.io = sd_event_source_disable_unref(s->following.io);
        s->following.timer = sd_event_source_disable_unref(s->following.timer);
        s->following.fd = safe_close(s->following.fd);
}

/* --- whose tasks are --------------------------------------------------------------------------- */

#define OWNERS_NS (60 * NSEC_PER_SEC)

void session_look_at_owners(Session *s) {
        OwnerClock clock = { .ticks_per_s = (uint64_t) MAX(sysconf(_SC_CLK_TCK), 1L) };
        int r;

        if (!s->meta->spec.whose || !s->tracer || !s->dir)
                return;
        clock.is_ns = trace_clock_is_ns(s->meta->clock);
        r = tracer_read_clocks(s->tracer, &clock.at);
        if (r >= 0)
                r = owner_look(s->dir, tracer_instance(s->tracer)->fs->root_fd, &clock,
                               s->meta->owner_uid == 0 || s->meta->owner_uid == geteuid());
        if (r < 0)
                session_warn(s, "whose tasks are could not be noted: %s", origin_text(r));
}

/* Adds a look, begun at @from_ns, to those before.  1; 0: the session has ended meanwhile; -errno. */
static int add_maps_look(Session *s, uint64_t from_ns, Buf *maps) {
        bool is_root = s->meta->owner_uid == 0 || s->meta->owner_uid == geteuid();
        _cleanup_free_ char *before = NULL;
        _cleanup_buf_ Buf text = BUF_INIT;
        ClockTuple after = {};
        size_t n = 0;
        int r = maps_ask(is_root ? (uid_t) -1 : s->meta->owner_uid, maps);

        if (!s->tracer || !s->dir)
                return 0;
        if (r >= 0)
                r = tracer_read_clocks(s->tracer, &after);
        if (r < 0)
                return r;
        r = session_dir_read_tracing(s->dir, MAPS_FILE, &before, &n);
        if (r < 0 && r != -ENOENT)
                return r;
        if (n + maps->n_data > MAPS_BYTES_MAX)
                return ORIGIN(-EFBIG);
        buf_add(&text, before ?: "", n);
        buf_printf(&text, MAPS_LOOK "%" PRIu64 " %" PRIu64 "\n", from_ns, after.trace_ns);
        buf_add(&text, maps->data, maps->n_data);
        r = text.error
                    ?: session_dir_write_tracing(s->dir, MAPS_FILE, text.data, text.n_data, false);
        return r < 0 ? r : 1;
}

/* Without it, programs that ran before have no names. */
static void look_at_maps(void *session) {
        Session *s = session;
        _cleanup_buf_ Buf maps = BUF_INIT;
        int r = add_maps_look(s, s->meta->start.trace_ns, &maps);

        if (r == 0)
                return;
        if (r < 0)
                session_warn(
                        s,
                        "functions of programs that ran before will have no names: what they have "
                        "mapped could not be asked for (%s): %s",
                        maps_reader(), origin_text(r));
        else if (maps_are_partial(&maps))
                session_warn(s,
                             "functions of some programs that ran before will have no names: they "
                             "have mapped too much to be looked at");
}

void session_look_at_maps_soon(Session *s) {
        if (s->meta->spec.user_stack)
                background_run(s->context->background, look_at_maps, s);
}

/* Where events are missing, what is mapped still has been there all the time; without this look, nobody knows. */
void session_look_at_maps_again(Session *s) {
        _cleanup_buf_ Buf maps = BUF_INIT;
        int r;

        if (!s->meta->spec.user_stack ||
            (session_meta_events_lost(s->meta) == 0 && !clock_tuple_is_set(&s->meta->kept_since)))
                return;
        r = add_maps_look(s, s->meta->stop.trace_ns, &maps);
        if (r < 0)
                session_warn(s,
                             "where events are missing, functions of programs may have no names: "
                             "what they have mapped could not be asked for again (%s): %s",
                             maps_reader(), origin_text(r));
}

static void look_at_owners(void *session) {
        session_look_at_owners(session);
}

void session_look_at_owners_soon(Session *s, bool is_due) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (!s->meta->spec.whose || s->meta->state != SESSION_RECORDING ||
            (!is_due && now < s->next_owners_ns))
                return;
        s->next_owners_ns = now + OWNERS_NS;
        background_run(s->context->background, look_at_owners, s);
}

/* --- what it costs ----------------------------------------------------------------------------- */

/* Nothing of it needs a look into pages: events are counted by the kernel, bytes and CPU time by the readers. */
static GuardSample take_sample(const Session *s) {
        GuardSample now = { .at_ns = now_ns(CLOCK_MONOTONIC) };

        now.totals[SESSION_LIMIT_EVENT_RATE] = session_meta_total(s->meta).read_events +
                                               session_meta_events_lost(s->meta) +
                                               instance_n_waiting(tracer_instance(s->tracer));
        now.totals[SESSION_LIMIT_WRITE_RATE] = recorder_n_bytes(s->recorder);
        now.totals[SESSION_LIMIT_CPU] =
                (recorder_cpu_ns(s->recorder) + health_cpu_ns(s->health)) / NSEC_PER_USEC;
        return now;
}

/* A look comes with the health's, and the readers ask for one sooner when they have stored what a flood would. */
static void set_next_look(Session *s) {
        recorder_look_at(s->recorder,
                         add_capped(recorder_n_bytes(s->recorder), guard_look_bytes(&s->guard)));
}

void session_begin_guard(Session *s) {
        GuardSample now = take_sample(s);

        guard_init(&s->guard, &s->meta->spec, &now);
        set_next_look(s);
}

SessionLimit session_look_at_cost(Session *s, char text[static GUARD_TEXT_MAX]) {
        GuardSample now = take_sample(s);
        GuardVerdict verdict;

        if (guard_look(&s->guard, &now, &verdict) == GUARD_E_PASSED) {
                (void) guard_sentence(text, &verdict);
                return verdict.kind;
        }
        set_next_look(s);
        return SESSION_LIMIT_NONE;
}
