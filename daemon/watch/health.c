/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Every look compares the counters with those of the look before: what was lost in between is a
 * gap from there to here.  The cause is the condition that holds; a buffer that overran because the
 * disk was full was lost to the disk.  Gaps that last (tracing_on is 0) are open until their end is
 * reported, or the session's own.
 */

#include <stdarg.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/process/journal.h"
#include "daemon/watch/tamper.h"
#include "daemon/watch/watch.h"

/* What was seen of a CPU at the last look. */
typedef struct Seen {
        CpuAccount account;
        uint64_t moved_ns; /* the look before the one that last saw its pages grow */
} Seen;

struct Health {
        HealthConfig config;
        Seen *seen; /* one for each of meta->cpus */
        uint64_t looked_ns;
        uint64_t before_ns; /* when the look at the interval before the last one was */
        Tamper tamper;
        sd_event_source *timer;
        int error;        /* of the disk, at the moment */
        uint64_t cpu_ns;  /* that the looks took */
        unsigned n_stuck; /* looks in a row at which some reader had not moved */
        bool is_hung;     /* at the last of them, for no reason outside of this process */
        bool is_to_look;  /* a task will */
};

void health_warn(SessionMeta *m, const char *format, ...) {
        char text[1024];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        if (strv_contains(&m->warnings, text))
                return;
        log_warning("Session \"%s\": %s", m->name, text);
        (void) strv_add(&m->warnings, text);
}

static void changed(Health *h, bool is_new) {
        h->config.changed(is_new, h->config.userdata);
}

/* --- losses ----------------------------------------------------------------------------------- */

static bool add_gap(Health *h, const Gap *gap) {
        if (gaps_add(&h->config.meta->gaps, gap) < 0)
                log_error("Session \"%s\": out of memory; a gap is not noted.",
                          h->config.meta->name);
        return true;
}

/* Nobody counted what was lost, on whichever CPU. */
static bool add_gap_of_all(Health *h, GapCause cause, uint64_t from_ns, uint64_t to_ns) {
        return add_gap(h, &(Gap){ .cpu = GAP_ALL_CPUS,
                                  .cause = cause,
                                  .from_ns = from_ns,
                                  .to_ns = to_ns,
                                  .n_events = GAP_UNKNOWN });
}

/* Returns what it is that the buffer overruns for. */
static GapCause disk_cause(const Health *h, GapCause otherwise) {
        if (h->error == 0)
                return otherwise;
        return h->error == ENOSPC || h->error == EDQUOT ? GAP_NO_SPACE : GAP_DISK_FAILED;
}

/* Since when any CPU has events that the readers may not have stored. */
static uint64_t unstored_ns(const Health *h) {
        const SessionMeta *m = h->config.meta;
        uint64_t ns = h->looked_ns;

        for (size_t i = 0; i < m->n_cpus; i++)
                ns = MIN(ns, recorder_stored_ns(h->config.recorder, i) ?: h->seen[i].moved_ns);
        return ns;
}

/* True if the CPU lost anything since the last look. */
static bool note_losses(Health *h, Seen *seen, const CpuAccount *now, uint64_t at_ns) {
        const CpuAccount *before = &seen->account;
        const struct {
                GapCause cause;
                uint64_t n_events, n_pages;
        } losses[] = {
                { disk_cause(h, GAP_OVERRUN), now->overrun - MIN(before->overrun, now->overrun) },
                { disk_cause(h, GAP_DROPPED),
                  now->dropped_events - MIN(before->dropped_events, now->dropped_events) },
                { GAP_INTERRUPTED,
                  now->commit_overrun - MIN(before->commit_overrun, now->commit_overrun) },
                { disk_cause(h, GAP_DISK_FAILED), GAP_UNKNOWN,
                  now->pages_lost - MIN(before->pages_lost, now->pages_lost) },
        };
        bool found = false;

        for (size_t i = 0; i < ELEMENTSOF(losses); i++)
                if (losses[i].n_pages > 0 ||
                    (losses[i].n_events > 0 && losses[i].n_events != GAP_UNKNOWN))
                        found = add_gap(h, &(Gap){ .cpu = now->cpu,
                                                   .cause = losses[i].cause,
                                                   .from_ns = MIN(seen->moved_ns, at_ns),
                                                   .to_ns = at_ns,
                                                   .n_events = losses[i].n_events,
                                                   .n_pages = losses[i].n_pages });
        if (now->n_bytes > before->n_bytes)
                seen->moved_ns = h->looked_ns;
        seen->account = *now;
        return found;
}

bool health_refresh(Health *h) {
        SessionMeta *m = h->config.meta;
        /* Nothing happens after the stop. */
        uint64_t at_ns = m->stop.trace_ns ?: tracer_now_ns(h->config.tracer, 0);
        bool is_emptied = false, found = false;

        if (tracer_is_held_up(h->config.tracer))
                return false;
        for (size_t i = 0; i < m->n_cpus; i++) {
                recorder_read_account(h->config.recorder, i, &m->cpus[i]);
                if (instance_read_account(tracer_instance(h->config.tracer), &m->cpus[i]) ==
                    INSTANCE_E_EMPTIED)
                        is_emptied = true;
                if (m->spec.in_kernel) /* it is meant to be overwritten */
                        m->cpus[i].overrun = 0;
                found |= note_losses(h, &h->seen[i], &m->cpus[i], at_ns);
        }
        if (is_emptied) {
                health_warn(m, "somebody else emptied the kernel's buffer: what was in it is lost");
                found = add_gap_of_all(h, GAP_CLEARED, unstored_ns(h), at_ns);
        }
        h->looked_ns = at_ns;
        return found;
}

/* --- conditions ------------------------------------------------------------------------------- */

bool health_set_condition(Health *h, GapCause cause, const char *reason) {
        SessionMeta *m = h->config.meta;
        bool is_new = !conditions_find(&m->degraded, cause);
        int r = conditions_set(&m->degraded, cause, now_ns(CLOCK_REALTIME), reason);

        if (r > 0)
                journal_tell(&(JournalEntry){ JOURNAL_DEGRADED, .meta = m, .reason = reason },
                             "Session \"%s\" is degraded: %s", m->name, reason);
        if (is_new)
                (void) strv_add_new(&m->warnings, reason);
        return r > 0;
}

bool health_clear_condition(Health *h, GapCause cause) {
        if (!conditions_clear(&h->config.meta->degraded, cause))
                return false;
        log_notice("Session \"%s\": no longer the case: %s%s", h->config.meta->name,
                   gap_cause_sentence(cause),
                   h->config.meta->degraded.n == 0 ? "; it is not degraded any more." : ".");
        return true;
}

void health_note_gap(Health *h, GapCause cause) {
        uint64_t from_ns = h->before_ns;

        (void) health_refresh(h);
        (void) add_gap_of_all(h, cause, from_ns, h->looked_ns);
}

uint64_t health_note_lost(Health *h, uint32_t cpu, uint64_t n_pages) {
        const SessionMeta *m = h->config.meta;

        (void) health_refresh(h);
        for (size_t i = 0; i < m->n_cpus; i++)
                if (m->cpus[i].cpu == cpu) {
                        recorder_lose_pages(h->config.recorder, i, n_pages);
                        recorder_read_account(h->config.recorder, i, &h->seen[i].account);
                }
        return h->looked_ns;
}

void health_note_quiesce(Health *h, uint64_t from_ns, uint64_t to_ns) {
        (void) add_gap_of_all(h, GAP_ROOTS_CHANGED, from_ns, to_ns);
        changed(h, true);
}

void health_look_at_disk(Health *h) {
        SessionMeta *m = h->config.meta;
        int error = recorder_error(h->config.recorder);
        char reason[1024];
        GapCause cause;

        if (error == h->error)
                return;
        (void) health_refresh(
                h); /* what was lost until now was lost for the reason that held until now */
        h->error = error;
        cause = disk_cause(h, _GAP_CAUSE_N);
        if (cause != GAP_NO_SPACE)
                (void) health_clear_condition(h, GAP_NO_SPACE);
        if (cause != GAP_DISK_FAILED)
                (void) health_clear_condition(h, GAP_DISK_FAILED);
        if (error != 0) {
                (void) snprintf(reason, sizeof(reason),
                                "storing pages failed: %s; they wait in the kernel's buffer, %s a "
                                "CPU: %s %s%s",
                                strerror(error), FORMAT_BYTES(m->spec.buffer_bytes),
                                cause == GAP_NO_SPACE ? "make room in" : "mend the disk of",
                                h->config.store, store_way_out(error));
                (void) health_set_condition(h, cause, reason);
        }
        changed(h, true);
}

/* Neither success nor failure: a reader does not move, and does not wait for data. */
static bool look_at_progress(Health *h) {
        char reason[1024], who[RECORDER_STUCK_MAX];
        RecorderStuck stuck = STUCK_NOT;
        bool was_disk, is_disk;

        h->n_stuck = recorder_made_progress(h->config.recorder) ? 0 : h->n_stuck + 1;
        if (h->n_stuck * HEALTH_LOOK_S >= HEALTH_STUCK_S)
                stuck = recorder_find_stuck(h->config.recorder, who);
        h->is_hung = stuck == STUCK_ITSELF;
        is_disk = stuck == STUCK_DISK;
        if (h->error != 0)
                return false; /* more is known than that */
        if (h->n_stuck == 0) {
                was_disk = health_clear_condition(h, GAP_DISK_FAILED);
                return health_clear_condition(h, GAP_DAEMON_GONE) || was_disk;
        }
        if (stuck == STUCK_NOT)
                return false;
        if (h->is_hung)
                (void) snprintf(reason, sizeof(reason),
                                "%s has not moved for %u s and more, though neither the disk nor "
                                "tracefs holds it up: pages wait in the kernel's buffer",
                                who, HEALTH_STUCK_S);
        else
                (void) snprintf(reason, sizeof(reason),
                                "%s%s has not answered for %u s and more (%s): pages wait in the "
                                "kernel's buffer",
                                is_disk ? "the disk of " : "tracefs",
                                is_disk ? h->config.store : "", HEALTH_STUCK_S, who);
        return health_set_condition(h, is_disk ? GAP_DISK_FAILED : GAP_DAEMON_GONE, reason);
}

bool health_is_hung(const Health *h) {
        return h->n_stuck * HEALTH_LOOK_S >= HEALTH_HUNG_S && h->is_hung;
}

/* --- what others do --------------------------------------------------------------------------- */

static void on_tampering(GapCause cause, uint64_t since_ns, const char *sentence, void *userdata) {
        Health *h = userdata;

        (void) health_refresh(h);
        if (sentence) {
                (void) add_gap_of_all(h, cause, since_ns, GAP_OPEN);
                (void) health_set_condition(h, cause, sentence);
        } else {
                gaps_close(&h->config.meta->gaps, cause, h->looked_ns);
                (void) health_clear_condition(h, cause);
        }
        changed(h, true);
}

/* Somebody may begin to use function_graph beside us, in an instance of theirs.  Whether it is news. */
static bool look_at_strangers(Health *h) {
        SessionMeta *m = h->config.meta;
        _cleanup_strv_ Strv dirs = {};
        bool is_news = false;

        if (tracer_find_strangers(h->config.tracer, &dirs) < 0)
                return false;
        for (size_t i = 0; i < dirs.n; i++) {
                const char *dir = *dirs.items[i] ? dirs.items[i] : "the top level";

                if (strv_contains(&m->neighbours, dir) || strv_add(&m->neighbours, dir) < 0)
                        continue;
                health_warn(m,
                            "somebody else has switched function_graph on in %s (%s) meanwhile, "
                            "with the same graph filter",
                            dir, tracer_instance(h->config.tracer)->fs->path);
                is_news = true;
        }
        return is_news;
}

/* A task. */
static void look(void *userdata) {
        Health *h = userdata;
        uint64_t since_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        uint64_t timer_ns = tracer_now_ns(h->config.tracer, 0);
        bool is_new;

        h->is_to_look = false;
        is_new = health_refresh(h);
        is_new |= look_at_progress(h);
        recorder_look_for_cpus(h->config.recorder);
        is_new |= look_at_strangers(h);
        changed(h, is_new); /* which looks at modules */
        tamper_look(&h->tamper, timer_ns, false);
        h->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
        if (h->config.looked)
                h->config.looked(h->config.userdata);
        h->before_ns = timer_ns;
        (void) sd_event_source_set_time_relative(h->timer, HEALTH_LOOK_S * USEC_PER_SEC);
        (void) sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

void health_look_soon(Health *h) {
        if (!TAKE(h->is_to_look, true))
                background_run(h->config.background, look, h);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        health_look_soon(userdata);
        return 0;
}

uint64_t health_cpu_ns(const Health *h) {
        return h->cpu_ns;
}

int health_watch(Health *h) {
        int r;

        tamper_end(&h->tamper);
        h->tamper = (Tamper){
                .tracefs = tracer_instance(h->config.tracer)->fs->path,
                .tracefs_fd = tracer_instance(h->config.tracer)->fs->fd,
                .dir = tracer_instance(h->config.tracer)->dir,
                .clock = h->config.meta->clock,
                .ftrace_enabled = "/proc/sys/kernel/ftrace_enabled",
                .get_roots = tracer_get_roots,
                .get_hooks = tracer_get_hooks,
                .tracer = h->config.tracer,
                .handler = on_tampering,
                .userdata = h,
        };
        r = tamper_begin(&h->tamper, tracer_now_ns(h->config.tracer, 0));
        if (r >= 0 && !h->timer)
                r = sd_event_add_time_relative(h->config.event, &h->timer, CLOCK_MONOTONIC,
                                               HEALTH_LOOK_S * USEC_PER_SEC, 0, on_timer, h);
        if (r >= 0)
                r = sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
        return MIN(r, 0);
}

void health_hold_hooks(Health *h) {
        tamper_hold_hooks(&h->tamper);
}

int health_release_hooks(Health *h) {
        if (!h->tamper.watches)
                return health_watch(h);
        health_renew_hooks(h);
        return 0;
}

void health_renew_hooks(Health *h) {
        tamper_release_hooks(&h->tamper, tracer_now_ns(h->config.tracer, 0));
}

/* --- the end ---------------------------------------------------------------------------------- */

void health_end_watch(Health *h) {
        if (h->tamper.watches && !tracer_is_held_up(h->config.tracer)) {
                changed(h, false); /* as above */
                tamper_look(&h->tamper, tracer_now_ns(h->config.tracer, 0), true);
        }
        tamper_end(&h->tamper);
}

void health_drop_watch(Health *h) {
        tamper_end(&h->tamper);
}

void health_finish(Health *h) {
        SessionMeta *m = h->config.meta;

        health_end_watch(h);
        h->error = recorder_error(h->config.recorder) ?: h->error;
        (void) health_refresh(h);
        gaps_close(&m->gaps, _GAP_CAUSE_N, m->stop.trace_ns);
        conditions_done(&m->degraded);
}

int health_new(Health **ret, const HealthConfig *config) {
        _cleanup_(health_freep) Health *h = NEW(Health, .config = *config);
        SessionMeta *m = config->meta;

        if (!h)
                return -ENOMEM;
        h->seen = calloc(m->n_cpus, sizeof(*h->seen));
        if (!h->seen)
                return -ENOMEM;
        h->looked_ns = h->before_ns = tracer_now_ns(h->config.tracer, 0);
        for (size_t i = 0; i < m->n_cpus; i++) {
                recorder_read_account(config->recorder, i, &m->cpus[i]);
                h->seen[i] = (Seen){ .account = m->cpus[i], .moved_ns = h->looked_ns };
        }
        conditions_done(&m->degraded); /* a predecessor's: seen again if they still hold */
        gaps_close(&m->gaps, _GAP_CAUSE_N, h->looked_ns);
        *ret = TAKE_PTR(h);
        return 0;
}

void health_resume(Health *h, size_t i, uint64_t stored_ns) {
        h->seen[i].moved_ns = MIN(stored_ns, h->looked_ns);
}

Health *health_free(Health *h) {
        if (!h)
                return NULL;
        background_drop(h->config.background, h);
        tamper_end(&h->tamper);
        (void) sd_event_source_disable_unref(h->timer);
        free(h->seen);
        return mfree(h);
}
