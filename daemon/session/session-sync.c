/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session's end, from the last page that is stored to the last that is on the disk. */

#include "base/log.h"
#include "base/now.h"
#include "daemon/session/session-sync.h"
#include "daemon/watch/health.h"
#include "store/symbol-file.h"

#define RETRY_USEC (2 * USEC_PER_SEC)

typedef struct Wish Wish;
struct Wish {
        Wish *next;
        SessionSynced done;
        void *userdata;
};

struct SessionSync {
        SessionSyncConfig config;
        Syncer *syncer; /* until all of it is on the disk */
        sd_event_source *deadline;
        SessionState end_state;     /* once it is told */
        bool is_syncing, is_synced; /* after its end; but for session.json */
        bool is_told;               /* that it has ended */
        Wish *wishes;               /* after that */
        bool is_saved;
        sd_event_source *retry; /* of writing session.json, when all else is done */
};

/* The pages lie behind the first of them, or the recording's beginning. */
static void note_failure(SessionSync *y, const SyncerFailure *f) {
        SessionMeta *m = y->config.meta;
        uint64_t from_ns = f->first_ns > 0 ? f->first_ns : m->start.trace_ns,
                 to_ns = y->is_syncing ? m->stop.trace_ns : y->config.lost(y->config.session, f);
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
                log_error("Session '%s': out of memory; a gap is not noted.", m->name);
        if (f->n_pages == 0)
                health_warn(m,
                            "the disk failed to write files that reading it needs: %s; it may be "
                            "unreadable",
                            strerror(f->error));
        else
                health_warn(m, "the disk failed to write pages that it had taken: %s",
                            strerror(f->error));
}

/* It is still draining for whoever asks, and has ended if nobody comes to say so. */
static void save(SessionSync *y) {
        SessionMeta *m = y->config.meta;
        SessionState state = TAKE(m->state, y->end_state);

        y->is_saved = y->config.save(y->config.session);
        m->state = state;
}

static void note_failures(SessionSync *y) {
        SyncerFailure f;

        while (syncer_take_failure(y->syncer, &f))
                note_failure(y, &f);
        if (y->is_syncing)
                y->config.meta->pages_unsynced = syncer_look(y->syncer).n_left;
}

static void tell_end(SessionSync *y) {
        y->deadline = sd_event_source_disable_unref(y->deadline);
        y->is_told = true;
        y->config.meta->state = y->end_state;
        y->config.told(y->config.session);
}

static void tell_wishes(SessionSync *y) {
        for (Wish *w; (w = POP(y->wishes));) {
                w->done(y->config.session, w->userdata);
                free(w);
        }
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionSync *y = userdata;

        y->deadline = sd_event_source_disable_unref(y->deadline);
        note_failures(y);
        log_warning("Session '%s': its disk has not written all of it %u s after its end.",
                    y->config.meta->name, SYNC_WAIT_S);
        save(y);
        if (y->is_told)
                tell_wishes(y);
        else
                tell_end(y);
        return 0;
}

static int set_deadline(SessionSync *y) {
        return sd_event_add_time_relative(y->config.event, &y->deadline, CLOCK_MONOTONIC,
                                          SYNC_WAIT_S * USEC_PER_SEC, 0, on_deadline, y);
}

int session_sync_await(SessionSync *y, SessionSynced done, void *userdata) {
        _cleanup_free_ Wish *w = NULL;
        Wish **end = &y->wishes;
        int r;

        if (!y->syncer || !y->is_told)
                return ORIGIN(-EINVAL);
        w = NEW(Wish, .done = done, .userdata = userdata);
        if (!w)
                return -ENOMEM;
        r = y->deadline ? 0 : set_deadline(y);
        if (r < 0)
                return r;
        while (*end)
                end = &(*end)->next;
        *end = TAKE_PTR(w);
        return 0;
}

bool session_sync_is_busy(const SessionSync *y) {
        return y->syncer && y->is_syncing;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionSync *y = userdata;

        save(y);
        if (!y->is_saved)
                return sd_event_source_set_time_relative(source, RETRY_USEC);
        log_notice("Session '%s': session.json is written now.", y->config.meta->name);
        y->retry = sd_event_source_disable_unref(y->retry);
        y->config.done(y->config.session);
        return 0;
}

/* Its session.json says something else than how it has ended. */
static void retry(SessionSync *y) {
        if (sd_event_add_time_relative(y->config.event, &y->retry, CLOCK_MONOTONIC, RETRY_USEC, 0,
                                       on_retry, y) >= 0)
                (void) sd_event_source_set_enabled(y->retry, SD_EVENT_ON);
}

/* All is on the disk, or has failed. */
static void finish(SessionSync *y) {
        bool is_told = y->is_told;

        y->syncer = syncer_free(y->syncer);
        y->deadline = sd_event_source_disable_unref(y->deadline);
        if (!is_told)
                tell_end(y);
        if (y->is_saved)
                y->config.done(y->config.session);
        else
                retry(y);
        if (is_told)
                y->config.changed(y->config.session);
        tell_wishes(y);
}

/* While it records. */
static void look_at_failing(SessionSync *y) {
        int error = syncer_look(y->syncer).error;
        char reason[512];

        (void) snprintf(reason, sizeof(reason),
                        "writing back what was stored failed: %s; those pages are lost: mend the "
                        "disk of %s",
                        strerror(error), store_path(y->config.store));
        y->config.failing(y->config.session, error != 0 ? reason : NULL);
}

static void on_moved(void *userdata) {
        SessionSync *y = userdata;

        if (y->is_syncing && !syncer_look(y->syncer).is_done)
                return;
        note_failures(y);
        if (!y->is_syncing) {
                look_at_failing(y);
                return;
        }
        if (!TAKE(y->is_synced, true)) {
                save(y);
                syncer_end(y->syncer);
                return;
        }
        finish(y);
}

int session_sync_new(SessionSync **ret, const SessionSyncConfig *config) {
        int r;
        SessionSync *y = NEW(SessionSync, .config = *config, .is_saved = true);

        if (!y)
                return -ENOMEM;
        r = syncer_new(&y->syncer, &(SyncerConfig){
                                           .event = config->event,
                                           .dir = config->dir,
                                           .page_bytes = config->meta->page_bytes,
                                           .is_ring = config->meta->spec.ring,
                                           .moved = on_moved,
                                           .userdata = y,
                                   });
        if (r < 0) {
                free(y);
                return r;
        }
        *ret = y;
        return 0;
}

SessionSync *session_sync_free(SessionSync *y) {
        if (!y)
                return NULL;
        tell_wishes(y);
        (void) syncer_free(y->syncer);
        (void) sd_event_source_disable_unref(y->deadline);
        (void) sd_event_source_disable_unref(y->retry);
        return mfree(y);
}

Syncer *session_sync_syncer(SessionSync *y) {
        return y->syncer;
}

/* Kernel symbols and types, which sessions share. */
static void add_shared_files(SessionSync *y) {
        const SessionMeta *m = y->config.meta;
        int symbols_fd = store_symbols_fd(y->config.store);
        const char *const names[] = { m->symbols, m->modules, m->types };

        for (size_t i = 0; i < ELEMENTSOF(names) && symbols_fd >= 0; i++)
                if (names[i])
                        syncer_add(y->syncer, symbol_file_open(symbols_fd, names[i]), 0, 0);
}

void session_sync_end(SessionSync *y) {
        SessionMeta *m = y->config.meta;

        y->end_state = m->state;
        y->is_syncing = true;
        m->pages_unsynced = m->spec.ring ? session_meta_n_pages(m) : syncer_look(y->syncer).n_left;
        save(y);
        m->state = SESSION_DRAINING;
        if (m->spec.ring)
                syncer_add_all(y->syncer, m->pages_unsynced);
        add_shared_files(y);
        if (set_deadline(y) < 0)
                log_debug("session", "%s: no timer", m->name);
        syncer_end(y->syncer);
}

void session_sync_again(SessionSync *y) {
        y->is_told = y->is_syncing = true;
        y->end_state = y->config.meta->state;
        syncer_add_all(y->syncer, y->config.meta->pages_unsynced);
        add_shared_files(y);
        syncer_end(y->syncer);
}

void session_sync_settle(SessionSync *y) {
        uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + SYNC_WAIT_S * NSEC_PER_SEC;

        if (!y || !y->is_syncing)
                return;
        while (!y->is_told && now_ns(CLOCK_MONOTONIC) < until_ns) {
                (void) usleep(1000);
                if (syncer_look(y->syncer).is_done)
                        on_moved(y);
        }
        if (!y->is_told)
                (void) on_deadline(NULL, 0, y);
        if (y->retry)
                save(y); /* for the last time */
}

void session_sync_leave(SessionSync *y) {
        note_failures(y);
        y->syncer = syncer_free(y->syncer);
}
