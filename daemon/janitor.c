/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Changes of state are told from deep inside a session, and what is removed is freed, so the look is
 * put off until the loop is free.  Many changes at once are one look.
 */

#include <inttypes.h>
#include <time.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/janitor.h"

#define ACCURACY_US (60 * 1000000ULL) /* at most; a tenth of what is kept */

struct Janitor {
        Store *store;
        Sessions *sessions;
        const Limits *limits;
        sd_event_source *soon, *timer;
};

RetainLimits janitor_limits(const Limits *limits) {
        return (RetainLimits){
                .max_use_bytes = limits->max_use_bytes,
                .keep_free_bytes = limits->keep_free_bytes,
                .max_age_ns = limits->max_retention_ns,
                .keep_newest = true,
        };
}

static int remove_session(const char *name, void *userdata) {
        Session *s = sessions_find(userdata, name);

        /* What the daemon could not read when it started it does not remove either. */
        return s ? sessions_remove(userdata, s) : -EBUSY;
}

int janitor_vacuum(Vacuum *ret, Store *store, Sessions *sessions, const RetainLimits *limits,
                   bool dry_run) {
        int r;

        r = vacuum_run(ret, store, limits, dry_run ? NULL : remove_session, sessions);
        for (size_t i = 0; r >= 0 && !dry_run && i < ret->n; i++) {
                const VacuumItem *item = &ret->items[i];
                char size[UNIT_TEXT_MAX];

                if (item->verdict == RETAIN_KEEP)
                        continue;
                if (item->error < 0)
                        log_warning("Session '%s' (%s) cannot be removed: %s", item->name,
                                    format_bytes(size, item->n_bytes), strerror(-item->error));
                else
                        log_info("Session '%s' (%s) removed: %s.", item->name,
                                 format_bytes(size, item->n_bytes),
                                 retain_verdict_text(item->verdict));
        }
        return r;
}

/* Sets the timer to when the next session is too old, if ever one is. */
static void set_timer(Janitor *j, const Vacuum *v) {
        uint64_t next_ns = vacuum_next_ns(v, j->limits->max_retention_ns);

        if (next_ns == UINT64_MAX) {
                (void) sd_event_source_set_enabled(j->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time(j->timer, next_ns / NSEC_PER_USEC + 1);
        (void) sd_event_source_set_enabled(j->timer, SD_EVENT_ONESHOT);
}

static int janitor_run(Janitor *j) {
        RetainLimits limits = janitor_limits(j->limits);
        _cleanup_vacuum_ Vacuum v = {};
        int r;

        r = janitor_vacuum(&v, j->store, j->sessions, &limits, false);
        if (r < 0)
                log_warning_errno(r, "Cannot look for sessions to remove: %m");
        else
                set_timer(j, &v);
        return 0;
}

static int on_soon(sd_event_source *source, void *userdata) {
        return janitor_run(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        return janitor_run(userdata);
}

int janitor_new(Janitor **ret, sd_event *event, Store *store, Sessions *sessions,
                const Limits *limits) {
        _cleanup_(janitor_freep) Janitor *j = calloc(1, sizeof(*j));
        uint64_t accuracy_us;
        int r;

        if (!j)
                return -ENOMEM;
        *j = (Janitor){ .store = store, .sessions = sessions, .limits = limits };
        accuracy_us = limits->max_retention_ns / NSEC_PER_USEC / 10;
        r = sd_event_add_defer(event, &j->soon, on_soon, j);
        if (r >= 0)
                r = sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
        if (r >= 0)
                r = sd_event_source_set_priority(j->soon, SD_EVENT_PRIORITY_IDLE);
        if (r >= 0)
                r = sd_event_add_time(event, &j->timer, CLOCK_REALTIME, UINT64_MAX,
                                      MIN(accuracy_us, ACCURACY_US), on_timer, j);
        if (r >= 0)
                r = sd_event_source_set_enabled(j->timer, SD_EVENT_OFF);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(j);
        return 0;
}

void janitor_look(Janitor *j) {
        if (j)
                (void) sd_event_source_set_enabled(j->soon, SD_EVENT_ONESHOT);
}

Janitor *janitor_free(Janitor *j) {
        if (!j)
                return NULL;
        (void) sd_event_source_disable_unref(j->soon);
        (void) sd_event_source_disable_unref(j->timer);
        free(j);
        return NULL;
}
