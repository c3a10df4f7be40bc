/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is told as kept is on the disk:
 *
 *      readers have ended -> kernel put back, session.json says sealed and pages_unsynced
 *              -> segments, files and directories are synced -> accounts, session.json again
 *              -> that is synced -> whoever waits for the end is told
 *
 * All of it beside the loop.  Who waits for the end waits SYNC_WAIT_S at most.  A disk that takes longer is told as
 * such, and the accounts follow when it is through.  A snapshot is an ended session from the beginning, whose
 * session.json says pages_unsynced: it is synced as one that an earlier daemon had not told.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/process/journal.h"
#include "daemon/session/session-private.h"
#include "store/symbol-file.h"

#define SYNC_WAIT_S 15
#define RETRY_USEC (2 * USEC_PER_SEC)

/* The pages lie behind the first of them, or the recording's beginning. */
static void note_failure(Session *s, const SyncerFailure *f) {
        SessionMeta *m = s->meta;
        uint64_t from_ns = f->first_ns > 0 ? f->first_ns : m->start.trace_ns,
                 to_ns = !s->sync.is_syncing && s->health
                                 ? health_note_lost(s->health, f->cpu, f->n_pages)
                                 : m->stop.trace_ns;
        CpuAccount *account = f->n_pages > 0 ? session_meta_account(m, f->cpu) : NULL;

        if (account) {
                account->pages_lost += f->n_pages;
                account->n_pages -= MIN(f->n_pages, account->n_pages);
                account->n_bytes -= MIN(f->n_pages * m->page_bytes, account->n_bytes);
        }
        if (gaps_add(&m->gaps, &(Gap){ .cpu = f->n_pages > 0 ? f->cpu : GAP_ALL_CPUS,
                                       .cause = GAP_NOT_WRITTEN,
                                       .from_ns = MIN(from_ns, to_ns),
                                       .to_ns = to_ns,
                                       .n_events = GAP_UNKNOWN,
                                       .n_pages = f->n_pages }) < 0)
                log_error("Session \"%s\": out of memory; a gap is not noted.", m->name);
        if (f->n_pages == 0)
                health_warn(m,
                            "the disk failed to write files that reading it needs: %s; it may be "
                            "unreadable",
                            strerror(f->error));
        else
                health_warn(m, "the disk failed to write pages that it had taken: %s",
                            strerror(f->error));
}

static void note_failures(Session *s) {
        SyncerFailure f;

        while (syncer_take_failure(s->sync.syncer, &f))
                note_failure(s, &f);
        if (s->sync.is_syncing)
                s->meta->pages_unsynced = syncer_look(s->sync.syncer).n_left;
}

static void log_end(const SessionMeta *m) {
        uint64_t n_lost = session_meta_events_lost(m), n_pages_lost = session_meta_total(m).pages_lost;

        journal_tell(&(JournalEntry){ m->state == SESSION_FAILED              ? JOURNAL_FAILED
                                      : m->limit != SESSION_LIMIT_NONE        ? JOURNAL_COSTLY
                                      : n_lost + n_pages_lost + m->gaps.n > 0 ? JOURNAL_LOST
                                                                              : JOURNAL_ENDED,
                                      .meta = m },
                     "Session \"%s\" ended after %s (%s): %s stored, %s%s.", m->name,
                     FORMAT_DURATION(session_meta_length_ns(m)), m->reason ?: "no reason",
                     FORMAT_BYTES(session_meta_total(m).n_bytes),
                     n_lost > 0                     ? FORMAT_COUNT(n_lost)
                     : n_pages_lost + m->gaps.n > 0 ? "an unknown number of"
                                                    : "nothing",
                     n_lost + n_pages_lost + m->gaps.n > 0 ? " events lost"
                                                           : " lost by the kernel");
}

static void tell_end(Session *s) {
        s->sync.deadline = sd_event_source_disable_unref(s->sync.deadline);
        s->sync.is_told = true;
        s->meta->state = s->sync.end_state;
        log_end(s->meta);
        session_tell(s);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->sync.deadline = sd_event_source_disable_unref(s->sync.deadline);
        note_failures(s);
        log_warning("Session \"%s\": its disk has not written all of it %u s after its end.",
                    s->meta->name, SYNC_WAIT_S);
        session_save(s);
        if (s->sync.is_told)
                session_tell_wishes(s, &s->sync.wishes, 0);
        else
                tell_end(s);
        return 0;
}

static int set_deadline(Session *s) {
        return sd_event_add_time_relative(s->context->event, &s->sync.deadline, CLOCK_MONOTONIC,
                                          SYNC_WAIT_S * USEC_PER_SEC, 0, on_deadline, s);
}

void session_when_synced(Session *s, SessionDone done, void *userdata) {
        if (!s->sync.syncer || !s->sync.is_told || (!s->sync.deadline && set_deadline(s) < 0) ||
            session_add_wish(&s->sync.wishes, done, userdata) < 0)
                done(s, 0, userdata);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        session_save(s);
        if (!s->is_saved)
                return sd_event_source_set_time_relative(source, RETRY_USEC);
        log_notice("Session \"%s\": session.json is written now.", s->meta->name);
        s->sync.retry = sd_event_source_disable_unref(s->sync.retry);
        s->dir = session_dir_free(s->dir);
        return 0;
}

/* Its session.json says something else than how it has ended. */
static void retry(Session *s) {
        if (sd_event_add_time_relative(s->context->event, &s->sync.retry, CLOCK_MONOTONIC,
                                       RETRY_USEC, 0, on_retry, s) >= 0)
                (void) sd_event_source_set_enabled(s->sync.retry, SD_EVENT_ON);
}

/* All is on the disk, or has failed. */
static void finish(Session *s) {
        bool is_told = s->sync.is_told;

        s->sync.syncer = syncer_free(s->sync.syncer);
        s->sync.deadline = sd_event_source_disable_unref(s->sync.deadline);
        if (!is_told)
                tell_end(s);
        if (s->is_saved)
                s->dir = session_dir_free(s->dir);
        else
                retry(s);
        if (is_told)
                session_tell(s);
        session_tell_wishes(s, &s->sync.wishes, 0);
}

/* While it records. */
static void look_at_failing(Session *s) {
        int error = syncer_look(s->sync.syncer).error;
        char reason[512];

        if (!s->health)
                return;
        (void) snprintf(reason, sizeof(reason),
                        "writing back what was stored failed: %s; those pages are lost: mend the "
                        "disk of %s",
                        strerror(error), store_path(s->context->store));
        if (error != 0)
                health_set_condition(s->health, GAP_NOT_WRITTEN, reason);
        else
                health_clear_condition(s->health, GAP_NOT_WRITTEN);
        session_on_change(s);
}

static void on_moved(void *userdata) {
        Session *s = userdata;

        if (s->sync.is_syncing && !syncer_look(s->sync.syncer).is_done)
                return;
        note_failures(s);
        if (!s->sync.is_syncing) {
                look_at_failing(s);
                return;
        }
        if (!TAKE(s->sync.is_synced, true)) {
                session_save(s);
                syncer_end(s->sync.syncer);
                return;
        }
        finish(s);
}

int session_sync_init(Session *s) {
        return syncer_new(&s->sync.syncer, &(SyncerConfig){
                                                   .event = s->context->event,
                                                   .dir = s->dir,
                                                   .page_bytes = s->meta->page_bytes,
                                                   .is_ring = s->meta->spec.ring,
                                                   .moved = on_moved,
                                                   .userdata = s,
                                           });
}

void session_sync_done(Session *s) {
        session_tell_wishes(s, &s->sync.wishes, 0);
        s->sync.syncer = syncer_free(s->sync.syncer);
        s->sync.deadline = sd_event_source_disable_unref(s->sync.deadline);
        s->sync.retry = sd_event_source_disable_unref(s->sync.retry);
}

/* And kernel symbols and types, which sessions share. */
static void sync_rest(Session *s) {
        const SessionMeta *m = s->meta;
        int symbols_fd = store_symbols_fd(s->context->store);
        const char *const names[] = { m->symbols, m->modules, m->types };

        for (size_t i = 0; i < ELEMENTSOF(names) && symbols_fd >= 0; i++)
                if (names[i])
                        syncer_add(s->sync.syncer, symbol_file_open(symbols_fd, names[i]), 0, 0);
        syncer_end(s->sync.syncer);
}

void session_sync_end(Session *s) {
        SessionMeta *m = s->meta;

        s->sync.end_state = m->state;
        s->sync.is_syncing = true;
        m->pages_unsynced = m->spec.ring ? session_meta_total(m).n_pages : syncer_look(s->sync.syncer).n_left;
        session_save(s);
        m->state = SESSION_DRAINING;
        if (m->spec.ring)
                syncer_add_all(s->sync.syncer, m->pages_unsynced);
        if (set_deadline(s) < 0)
                log_debug("session", "%s: no timer", m->name);
        sync_rest(s);
}

void session_sync_again(Session *s) {
        s->sync.is_told = s->sync.is_syncing = true;
        s->sync.end_state = s->meta->state;
        syncer_add_all(s->sync.syncer, s->meta->pages_unsynced);
        sync_rest(s);
}

void session_sync_settle(Session *s) {
        uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + SYNC_WAIT_S * NSEC_PER_SEC;

        if (!s->sync.is_syncing)
                return;
        while (!s->sync.is_told && now_ns(CLOCK_MONOTONIC) < until_ns) {
                (void) usleep(1000);
                if (syncer_look(s->sync.syncer).is_done)
                        on_moved(s);
        }
        if (!s->sync.is_told)
                (void) on_deadline(NULL, 0, s);
        if (s->sync.retry)
                session_save(s); /* for the last time */
}

void session_sync_leave(Session *s) {
        note_failures(s);
        s->sync.syncer = syncer_free(s->sync.syncer);
}
