/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How a session comes from the store: one that has ended, as its session.json says; or one that an earlier
 * daemon of this boot left recording, which goes on.  Without a service manager trace_pipe_raw is then
 * opened anew, and what was in a pipe when the daemon was killed is lost: a gap says so.  With one nothing
 * is missing but the rest of a page whose other half died with the daemon.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/process/journal.h"
#include "daemon/session/session-private.h"
#include "daemon/tracefs/control.h"
#include "daemon/upkeep/upkeep.h"
#include "pages/page-source.h"

/* As its session.json says; one that cannot be read, as one that has ended.  @id: of one that was read before; NULL: it
 * has to be none.  0, META_E_INVALID, -errno. */
static int session_open(Session **ret, const SessionContext *context, const char *name,
                        const char *id) {
        _cleanup_(session_freep) Session *s = NULL;
        bool knows_id = id && !streq(id, SESSION_ID_UNKNOWN);
        char problem[160] = "";
        int r = session_new(&s, context);

        if (r < 0)
                return r;
        s->is_saved = true;
        r = store_open_session(context->store, name, &s->dir);
        if (r < 0) {
                if (!id || r == -ENOENT || r == -ENOMEM || r == -EMFILE || r == -ENFILE)
                        return r;
                (void) snprintf(problem, sizeof(problem), "unreadable: its directory: %s",
                                strerror(-r));
        } else {
                r = session_dir_read_any_meta(s->dir, name, &s->meta);
                if (id && (r == META_E_INVALID || r == -ENOENT))
                        (void) strcpy(problem, "damaged: its session.json is gone, or no file");
                else if (r == 0 && session_meta_is_known(s->meta) &&
                         (!streq(s->meta->name, name) ||
                          (id && ((knows_id && !streq(s->meta->id, id)) || session_is_live(s)))))
                        (void) strcpy(problem, "damaged: its session.json is another session's");
        }
        if (*problem) {
                s->meta = session_meta_free(s->meta);
                r = session_meta_stand_in(&s->meta, NULL, name, problem);
        }
        if (r != 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

/* --- from the store: one that has ended ------------------------------------------------------- */

int session_load(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        int r = session_open(&s, context, name, NULL);

        if (r != 0)
                return r;
        if (!session_meta_is_known(s->meta))
                log_notice("Session \"%s\" is left as it is: %s.", name, s->meta->reason);

        if (session_state_is_live(s->meta->state)) {
                live_remove(s->dir);
                r = disk_usage_recover(s->dir, s->meta);
                if (r < 0)
                        log_warning_errno(r, "Cannot count the pages of session \"%s\": %m", name);
                session_enter(s, SESSION_FAILED, SESSION_REASON_DAEMON_ENDED);
                conditions_done(&s->meta->degraded);
                s->meta->kept_realtime_ns = now_ns(CLOCK_REALTIME);
                session_save(s);
                log_notice("Session \"%s\" was recording when its daemon ended; what it had stored "
                           "is kept.",
                           name);
        }

        s->footprint = BACKGROUND_CALL(footprint_measure(s->dir)); /* there may be many files */
        s->measured_ns = now_ns(CLOCK_MONOTONIC);
        if (s->meta->pages_unsynced > 0 && session_sync_init(s) >= 0) /* or it says so still */
                session_sync_again(s);
        else
                s->dir = session_dir_free(s->dir);
        *ret = TAKE_PTR(s);
        return 0;
}

int session_wake(Session **ret, const SessionContext *context, const SessionRest *rest) {
        _cleanup_(session_freep) Session *s = NULL;
        int r = session_open(&s, context, rest->brief.name, rest->brief.id);

        if (r != 0)
                return r;
        s->dir = session_dir_free(s->dir);
        s->footprint = rest->footprint;
        s->measured_ns = now_ns(CLOCK_MONOTONIC);
        *ret = TAKE_PTR(s);
        return 0;
}

/* --- from the store: one that goes on --------------------------------------------------------- */

#define WHY_MAX 160

/* What the earlier daemon left in live.json; empty if it cannot be read.  NULL, or why the session ends now with all
 * that was recorded, which may be in @text. */
static const char *read_live(const Session *s, Live *ret, char text[static WHY_MAX]) {
        int r = live_read(s->dir, ret);

        if (r == 0)
                return ret->attached ? "its client left" : NULL;
        if (r == LIVE_E_NEWER)
                (void) snprintf(text, WHY_MAX,
                                "a newer ftraced had begun it (live.json is of version %u, this "
                                "daemon knows %i): drained and ended",
                                ret->version, LIVE_VERSION);
        else
                (void) snprintf(text, WHY_MAX,
                                "an ftraced that left no readable live.json had begun it: drained "
                                "and ended");
        return text;
}

/* Where the recording of a CPU is known to have come to: the time of its last page [ns]. */
static uint64_t session_stored_ns(const Session *s, uint32_t cpu) {
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

/* What was in the pipe of @cpu died with its daemon, or nothing was recorded when it did.  @n_pages are
 * counted as lost. */
static int add_gap(Session *s, uint32_t cpu, GapCause cause, uint64_t n_pages) {
        ClockTuple now;
        int r = tracer_read_clocks(s->tracer, &now);

        if (r < 0)
                return r;
        return gaps_add(&s->meta->gaps, &(Gap){ .cpu = cpu,
                                                .cause = cause,
                                                .from_ns = session_stored_ns(s, cpu),
                                                .to_ns = now.trace_ns,
                                                .n_events = GAP_UNKNOWN,
                                                .n_pages = n_pages });
}

/* Where the kernel's counters of a CPU were, as live.json says or, if it says nothing, session.json. */
static int resume_counters(Session *s, const Live *live, const CpuAccount *account) {
        InstanceCounters *counters = instance_counters(tracer_instance(s->tracer), account->cpu);
        CpuAccount now = { .cpu = account->cpu };
        int r;

        if (!counters)
                return ORIGIN(-ENOENT);
        for (size_t i = 0; i < live->n_cpus; i++)
                if (live->cpus[i].cpu == account->cpu) {
                        *counters = live->cpus[i].counters;
                        return 0;
                }
        r = instance_read_account(tracer_instance(s->tracer), &now);
        if (r < 0)
                return r;
        counters->sum[STAT_OVERRUN] = account->overrun;
        counters->sum[STAT_COMMIT_OVERRUN] = account->commit_overrun;
        counters->sum[STAT_DROPPED] = account->dropped_events;
        counters->sum[STAT_READ] = account->read_events;
        return 0;
}

/* True if its readers may have taken pages from the kernel when the daemon died.  One that waits again, for its next
 * capture, may have been at the last.  Those that leave all in the kernel's buffer take them for a snapshot, for which
 * recording is off. */
static bool had_pages_in_pipes(const Session *s) {
        const Instance *i = tracer_instance(s->tracer);
        _cleanup_free_ char *text = NULL;

        if (s->meta->start.realtime_ns == 0 || !s->meta->spec.in_kernel)
                return s->meta->start.realtime_ns > 0;
        return control_read(i->fs->fd, TRACEFS_PATH("%stracing_on", i->dir), &text) < 0 ||
               streq(text, "0");
}

/* *@n_lost: bytes that may have been in its pipe, and are missing then. */
static int take_cpu(Session *s, const Live *live, size_t i, uint64_t *n_lost) {
        uint32_t cpu = s->meta->cpus[i].cpu;
        CpuAccount torn = {};
        Reader *reader;
        int r = session_hold_take_cpu(s, &reader, cpu);

        if (r == 0 && !live->left && had_pages_in_pipes(s)) {
                *n_lost += READER_PIPE_BYTES;
                r = add_gap(s, cpu, GAP_DAEMON_GONE, 0);
        }
        if (r >= 0 && tracer_was_quiesced(s->tracer))
                r = add_gap(s, cpu, GAP_ROOTS_CHANGED, 0);
        if (r >= 0)
                r = resume_counters(s, live, &s->meta->cpus[i]) ?: reader_resume(reader);
        if (r < 0)
                return r;
        recorder_read_account(s->recorder, i,
                              &torn); /* pages whose other half died with the daemon */
        return torn.pages_lost == 0 ? 0 : add_gap(s, cpu, GAP_DAEMON_GONE, torn.pages_lost);
}

int session_take_cpus(Session *s, const Live *live) {
        uint64_t n_lost = 0;
        int r = session_make_recorder(s);

        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                r = take_cpu(s, live, i, &n_lost);
        if (r >= 0)
                r = disk_usage_count(s->dir, s->meta);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                recorder_add_account(s->recorder, i, &s->meta->cpus[i]);
        if (r >= 0 && n_lost > 0)
                session_warn(s,
                             "the daemon was killed while nobody else held its pipes: up to %s "
                             "that were in them are missing",
                             FORMAT_BYTES(n_lost));
        return MIN(r, 0);
}

/* Everything but the readers' start.  *@why: it ends now. */
static int session_rebuild(Session *s, const char **why, char text[static WHY_MAX]) {
        _cleanup_live_ Live live = {};
        const char *changed = NULL;
        ClockTuple now;
        int r;

        if (s->meta->n_cpus == 0 ||
            (s->meta->state == SESSION_ARMED && s->meta->armed.realtime_ns == 0))
                return SESSION_E_NOT_LIVE;
        r = controller_adopt(s->context->controller, &s->tracer, s->meta, &changed);
        if (r == CONTROLLER_E_GONE) {
                log_notice("Session \"%s\" cannot be taken up: %s.", s->meta->name, changed);
                return SESSION_E_NOT_LIVE;
        }
        if (r < 0)
                return r;
        tracer_set_handler(s->tracer, session_on_quiesced, s);
        *why = read_live(s, &live, text) ?: changed;
        r = session_take_cpus(s, &live) ?: session_make_health(s);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                health_resume(s->health, i, session_stored_ns(s, s->meta->cpus[i].cpu));
        r = r ?: tracer_read_clocks(s->tracer, &now)
                    ?: session_make_rotation(s, &now, 0)
                    ?: session_hold_all(s);
        if (r < 0)
                return r;
        recorder_set_held(s->recorder, s->meta->spec.in_kernel || s->meta->state == SESSION_ARMED);
        if (!s->meta->spec.ring)
                syncer_add_all(s->sync.syncer, 0); /* what it closed and had no time to */
        return recorder_start(s->recorder);
}

/* What it waits for is in the kernel still. */
static int session_go_on_waiting(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = session_make_triggers(s, &refusal) ?: session_begin_triggers(s, true);

        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        /* A daemon that died between the two halves of a snapshot left it off. */
        if (s->meta->spec.in_kernel && s->meta->state == SESSION_RECORDING && !s->snapshot)
                r = tracer_set_recording(s->tracer, true);
        return MIN(r, 0);
}

static void session_go_on(Session *s, const char *why) {
        const char *what;
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
                log_notice("Session \"%s\" was recording when its daemon ended, and ends now: %s.",
                           s->meta->name, why);
                session_stop(s, why);
                return;
        }
        journal_tell(&(JournalEntry){ JOURNAL_TAKEN_UP, .meta = s->meta },
                     "Session \"%s\" was %s when its daemon ended: taken up.", s->meta->name,
                     session_state_name(s->meta->state));
        what = "waiting for its triggers";
        r = session_go_on_waiting(s);
        if (r >= 0) {
                int k = session_follow_tasks(s);

                if (k < 0)
                        session_warn(s,
                                     "tasks that joined since the daemon ended, and later, are "
                                     "missing: %s",
                                     origin_text(k));
                session_copy_stacks_again(s);
        }
        if (r >= 0 && s->meta->state == SESSION_ARMED) {
                session_hooks_follow(s, 0);
                return;
        }
        if (r >= 0)
                r = session_look_after(s, 0, &what);
        if (r < 0) {
                log_error_errno(r, "Session \"%s\" cannot go on: %s failed: %m", s->meta->name,
                                what);
                session_stop(s, "the daemon was restarted, and it could not go on");
                return;
        }
        session_on_recorder(s); /* it may have been full */
}

int session_adopt(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        const char *why = NULL;
        char text[WHY_MAX];
        int r = session_open(&s, context, name, NULL);

        if (r != 0)
                return r;
        if (!session_state_is_live(s->meta->state)) /* what a newer one's has in the kernel the ledger puts back */
                return SESSION_E_NOT_LIVE;

        r = session_rebuild(s, &why, text);
        if (r != 0) {
                if (r < 0)
                        log_warning_errno(r, "Session \"%s\" cannot be taken up: %m", name);
                (void) session_take_down(s, TAKE_DOWN_GIVEN_UP);
                return SESSION_E_NOT_LIVE;
        }
        session_go_on(s, why);
        *ret = TAKE_PTR(s);
        return 0;
}
