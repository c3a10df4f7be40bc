/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording outlives its daemon.  What the process alone has of it is copied outside before the
 * first event: the descriptors to the service manager (daemon/fdstore.h), the rest to live.json.
 * The next daemon makes the session again from these, session.json, the ledger and the segments,
 * and its readers go on in the middle of a page if need be.
 *
 * Without a service manager trace_pipe_raw is opened anew, and what was in a pipe when the daemon
 * was killed is lost: a gap says so.
 */

#include <fcntl.h>
#include <time.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/journal.h"
#include "codec/page-source.h"
#include "daemon/reader.h"
#include "daemon/session-private.h"
#include "daemon/stock.h"

/* --- what outlives us -------------------------------------------------------------------------- */

void session_hold_cpu(Session *s, uint32_t cpu, int raw_fd) {
        int pipe_fd, r;

        if (!fdstore_is_there(s->context->fdstore))
                return;
        r = recorder_make_pipe(s->recorder, &pipe_fd);
        if (r >= 0)
                r = fdstore_put(s->context->fdstore, s->meta->id, cpu, raw_fd, pipe_fd);
        if (r >= 0)
                s->is_held = true;
        else
                log_warning_errno(r,
                                  "The service manager does not take the descriptors of CPU %u of "
                                  "session '%s': %m; if this daemon is killed, what is in its pipe "
                                  "then is lost.",
                                  cpu, s->meta->name);
}

static int session_write_live(Session *s, bool left) {
        _cleanup_live_ Live l = { .attached = s->peer != 0, .held = s->is_held, .left = left };

        l.cpus = calloc(s->meta->n_cpus + 1, sizeof(*l.cpus));
        if (!l.cpus)
                return -ENOMEM;
        for (size_t i = 0; i < s->meta->n_cpus; i++) {
                LiveCpu *c = &l.cpus[l.n_cpus];

                c->cpu = s->meta->cpus[i].cpu;
                if (tracer_get_counters(s->tracer, c->cpu, &c->counters) >= 0)
                        l.n_cpus++;
        }
        return live_write(s->dir, &l);
}

int session_hold(Session *s) {
        int r = s->is_held ? fdstore_barrier(s->context->fdstore) : 0;

        if (r < 0)
                log_warning_errno(r, "The service manager does not answer: %m");
        if (!s->is_held) {
                r = pipe_marks_new(&s->marks, s->meta->id, s->meta->n_cpus);
                if (r >= 0)
                        recorder_set_marks(s->recorder, s->marks);
                else /* whoever comes after a kill will have to assume the worst */
                        log_debug("store", "no marks in /dev/shm: %s", strerror(-r));
        }
        return session_write_live(s, false);
}

void session_let_go(Session *s) {
        int r = 0;

        s->marks = pipe_marks_free(s->marks);
        if (s->meta->id)
                pipe_marks_remove(s->meta->id);
        if (!s->is_held)
                return;
        for (size_t i = 0; i < s->meta->n_cpus && r >= 0; i++)
                r = fdstore_remove(s->context->fdstore, s->meta->id, s->meta->cpus[i].cpu);
        if (r >= 0)
                r = fdstore_barrier(s->context->fdstore);
        if (r < 0)
                log_warning_errno(r,
                                  "The service manager does not let go of the descriptors of "
                                  "session '%s': %m",
                                  s->meta->name);
        s->is_held = false;
}

/* --- leaving ----------------------------------------------------------------------------------- */

bool session_leave(Session *s) {
        if (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED)
                return false;
        session_snapshot_cancel(s);
        if (s->peer != 0) {
                session_stop(s, "the daemon was restarted, and its client's connection ended");
                return false;
        }
        s->is_leaving = true;
        recorder_leave(s->recorder);
        return true;
}

bool session_is_leaving(const Session *s) {
        return s->is_leaving;
}

void session_end_leaving(Session *s) {
        bool is_clean;
        int r;

        while (!recorder_has_ended(s->recorder))
                (void) usleep(1000);
        (void) health_refresh(s->health);
        is_clean = recorder_error(s->recorder) == 0;
        session_save(s);
        s->health = health_free(s->health);
        r = session_write_live(s, is_clean);
        if (r < 0)
                log_warning_errno(r, "Cannot write live.json of session '%s': %m", s->meta->name);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        s->marks = pipe_marks_free(s->marks);
}

/* --- taking up --------------------------------------------------------------------------------- */

/* Where the recording of a CPU is known to have come to: the time of its last page [ns]. */
static uint64_t last_page_ns(const Session *s, uint32_t cpu) {
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n = 0;

        if (session_dir_list_segments(s->dir, cpu, &sequences, &n) < 0)
                n = 0;
        while (n-- > 0) {
                _cleanup_(page_source_freep) PageSource *g = NULL;
                uint64_t first_ns, last_ns;

                if (page_source_open(&g, s->dir, cpu, sequences[n], NULL) == 0 &&
                    page_source_span(g, false, &first_ns, &last_ns) == 0)
                        return last_ns;
        }
        return s->meta->start.trace_ns;
}

/* What was in the pipe of @cpu died with its daemon, or nothing was recorded when it did. */
static int session_add_gap(Session *s, uint32_t cpu, GapCause cause) {
        ClockTuple now;
        int r;

        r = tracer_read_clocks(s->tracer, &now);
        if (r < 0)
                return r;
        return gaps_add(&s->meta->gaps, &(Gap){ .cpu = cpu,
                                                .cause = cause,
                                                .from_ns = last_page_ns(s, cpu),
                                                .to_ns = now.trace_ns,
                                                .n_events = GAP_UNKNOWN });
}

/* Where the kernel's counters of a CPU were, as live.json says or, if it says nothing, session.json. */
static int session_resume_counters(Session *s, const Live *live, const CpuAccount *account) {
        InstanceCounters counters;
        CpuAccount now = { .cpu = account->cpu };
        int r;

        for (size_t i = 0; i < live->n_cpus; i++)
                if (live->cpus[i].cpu == account->cpu)
                        return tracer_set_counters(s->tracer, account->cpu,
                                                   &live->cpus[i].counters);

        r = tracer_read_account(s->tracer, &now);
        if (r >= 0)
                r = tracer_get_counters(s->tracer, account->cpu, &counters);
        if (r < 0)
                return r;
        counters.sum[0] = account->overrun;
        counters.sum[1] = account->commit_overrun;
        counters.sum[2] = account->dropped_events;
        counters.sum[3] = account->read_events;
        return tracer_set_counters(s->tracer, account->cpu, &counters);
}

/* 1: with its pipe, 0: without. */
static int session_adopt_fds(Session *s, uint32_t cpu) {
        _cleanup_close_ int raw_fd = -EBADF, pipe_fd = -EBADF;
        int raw, r;

        fdstore_take(s->context->fdstore, s->meta->id, cpu, &raw_fd, &pipe_fd);
        if (raw_fd >= 0 && pipe_fd >= 0) {
                r = recorder_add(s->recorder, cpu, raw_fd);
                if (r < 0)
                        return r;
                TAKE_FD(raw_fd);
                r = recorder_take_pipe(s->recorder, pipe_fd);
                if (r < 0)
                        return r;
                TAKE_FD(pipe_fd);
                s->is_held = true;
                return 1;
        }

        /* One of the two without the other is of no use: the page that is cut in two is in both. */
        if (raw_fd >= 0 || pipe_fd >= 0)
                (void) fdstore_remove(s->context->fdstore, s->meta->id, cpu);
        raw = tracer_open_raw(s->tracer, cpu);
        if (raw < 0)
                return raw;
        r = recorder_add(s->recorder, cpu, raw);
        if (r < 0) {
                safe_close(raw);
                return r;
        }
        session_hold_cpu(s, cpu, raw);
        return 0;
}

/* What was in the pipe of the @i-th CPU at most when the daemon was killed. */
static uint64_t session_lost_bytes(PipeMarks *marks, size_t i) {
        uint64_t n = marks ? atomic_load(pipe_marks_get(marks, i)) : PIPE_MARK_MOVING;

        return MIN(n, (uint64_t) READER_PIPE_BYTES);
}

static int session_adopt_cpus(Session *s, const Live *live) {
        _cleanup_(pipe_marks_freep) PipeMarks *marks = NULL;
        char text[UNIT_TEXT_MAX];
        uint64_t n_lost = 0;
        int r;

        (void) pipe_marks_open(&marks, s->meta->id, s->meta->n_cpus);
        r = session_make_recorder(s);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++) {
                uint32_t cpu = s->meta->cpus[i].cpu;

                r = session_adopt_fds(s, cpu);
                if (r == 0 && !live->left && session_lost_bytes(marks, i) > 0) {
                        n_lost += session_lost_bytes(marks, i);
                        r = session_add_gap(s, cpu, GAP_DAEMON_GONE);
                }
                if (r >= 0 && tracer_was_hushed(s->tracer))
                        r = session_add_gap(s, cpu, GAP_ROOTS_CHANGED);
                if (r >= 0)
                        r = session_resume_counters(s, live, &s->meta->cpus[i]);
                if (r >= 0)
                        r = recorder_resume(s->recorder);
        }
        if (r >= 0)
                r = stock_count(s->dir, s->meta);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                recorder_add_account(s->recorder, i, &s->meta->cpus[i]);
        if (r >= 0 && n_lost > 0)
                session_warn(s,
                             "the daemon was killed while nobody else held its pipes: up to %s "
                             "that were in them are missing",
                             format_bytes(text, n_lost));
        return r;
}

/* Why it ends now, or NULL; what of live.json could be read is in @ret. */
static const char *session_read_live(Session *s, Live *ret, char text[static 160]) {
        int r = live_read(s->dir, ret);

        if (r == 0)
                return ret->attached ? "its client left" : NULL;
        if (r == LIVE_E_NEWER)
                (void) snprintf(text, 160,
                                "a newer ftraced had begun it (live.json is of version %i, this "
                                "daemon knows %i): drained and ended",
                                ret->version, LIVE_VERSION);
        else
                (void) snprintf(text, 160,
                                "an ftraced that left no readable live.json had begun it: drained "
                                "and ended");
        return text;
}

/* Everything but the readers' start.  *@why: it ends now. */
static int session_rebuild(Session *s, const char **why, char text[static 160]) {
        _cleanup_live_ Live live = {};
        const char *changed = NULL;
        ClockTuple now;
        int r;

        if (s->meta->n_cpus == 0 ||
            (s->meta->state == SESSION_ARMED && s->meta->armed.realtime_ns == 0))
                return SESSION_E_NOT_LIVE;
        r = controller_adopt(s->context->controller, &s->tracer, s->meta, &changed);
        if (r == CONTROLLER_E_GONE) {
                log_notice("Session '%s' cannot be taken up: %s.", s->meta->name, changed);
                return SESSION_E_NOT_LIVE;
        }
        if (r < 0)
                return r;
        tracer_on_hushed(s->tracer, session_on_hushed, s);
        *why = session_read_live(s, &live, text) ?: changed;
        r = session_adopt_cpus(s, &live);
        if (r >= 0)
                r = session_make_health(s);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                health_resume(s->health, i, last_page_ns(s, s->meta->cpus[i].cpu));
        if (r >= 0)
                r = tracer_read_clocks(s->tracer, &now);
        if (r >= 0)
                r = session_begin_rotation(s, &now);
        if (r >= 0)
                r = session_hold(s);
        if (r < 0)
                return r;
        recorder_set_held(s->recorder, s->meta->spec.in_kernel || s->meta->state == SESSION_ARMED);
        return recorder_start(s->recorder);
}

/* What it waits for is in the kernel still. */
static int session_go_on_waiting(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r;

        r = session_triggers_new(s, &refusal);
        if (r == 0)
                r = session_triggers_begin(s, true);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        /* A daemon that died between the two halves of a snapshot left it off. */
        if (s->meta->spec.in_kernel && s->meta->state == SESSION_RECORDING && !s->snapshot)
                r = tracer_set_recording(s->tracer, true);
        return MIN(r, 0);
}

static void session_go_on(Session *s, const char *why) {
        int r;

        /* Not session_refresh(): reading all symbols takes long, and can wait until we are ready. */
        (void) health_refresh(s->health);
        session_save(s);
        if (s->meta->state == SESSION_DRAINING) {
                (void) tracer_set_recording(s->tracer, false);
                recorder_stop(s->recorder);
                return;
        }
        if (why) {
                log_notice("Session '%s' was recording when its daemon ended, and ends now: %s.",
                           s->meta->name, why);
                session_stop(s, why);
                return;
        }
        journal_tell(&(JournalEntry){ JOURNAL_TAKEN_UP, .meta = s->meta },
                     "Session '%s' was %s when its daemon ended: taken up.", s->meta->name,
                     session_state_name(s->meta->state));
        r = session_go_on_waiting(s);
        if (r < 0) {
                log_error_errno(r, "Cannot go on waiting for the triggers of session '%s': %m",
                                s->meta->name);
                session_stop(s, "the daemon was restarted, and its triggers could not be taken up");
                return;
        }
        if (s->meta->state == SESSION_ARMED) {
                session_hook(s, 0);
                return;
        }
        r = session_hooks_are_due(s) ? 0 : health_watch(s->health);
        if (r < 0)
                log_warning_errno(r,
                                  "Cannot watch the control files of session '%s': %m; what others "
                                  "do to them is not noticed.",
                                  s->meta->name);
        r = session_follow(s);
        if (r < 0)
                session_warn(s,
                             "who joined those whose calls are recorded since the daemon ended, "
                             "and later, is missing: %s",
                             strerror(-r));
        r = session_set_deadline(s);
        if (r < 0) {
                log_error_errno(r, "Cannot set the timer of session '%s': %m", s->meta->name);
                session_stop(s, "the timer of its duration could not be set");
                return;
        }
        session_watch_clocks(s);
        session_guard_begin(s);
        if (session_hooks_are_due(s))
                session_hook(s, 0);
        else
                (void) session_lean_begin(s); /* without it everything stays hooked */
        session_on_recorder(s);               /* it may have been full */
}

/* As if it had never been looked at: what it changed in the kernel controller_settle() undoes. */
static void session_give_up(Session *s) {
        s->health = health_free(s->health);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        s->is_held = true;
        session_let_go(s);
        session_triggers_free(s);
        if (s->tracer)
                tracer_forget(TAKE_PTR(s->tracer));
}

int session_adopt(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        const char *why = NULL;
        char text[160];
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (Session){ .context = context, .is_saved = true };

        r = store_open_session(context->store, name, &s->dir);
        if (r < 0)
                return r;
        r = session_dir_read_meta(s->dir, &s->meta);
        if (r != 0)
                return r;
        if (!streq(s->meta->name, name))
                return META_E_INVALID;
        if (!session_state_is_live(s->meta->state))
                return SESSION_E_NOT_LIVE;

        r = session_rebuild(s, &why, text);
        if (r != 0) {
                if (r < 0)
                        log_warning_errno(r, "Session '%s' cannot be taken up: %m", name);
                session_give_up(s);
                return SESSION_E_NOT_LIVE;
        }
        session_go_on(s, why);
        *ret = TAKE_PTR(s);
        return 0;
}
