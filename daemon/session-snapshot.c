/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A snapshot is two flushes of the readers with a cut between them: after the first, all that was
 * recorded before is in segments; after the second, those segments are closed and the next have
 * begun.  Then they are linked.  In between the main loop is free.
 */

#include "base/log.h"
#include "daemon/session-private.h"
#include "daemon/snapshot.h"

typedef struct Wish Wish;
struct Wish {
        Wish *next;
        SnapshotDone done;
        void *userdata;
};

struct SessionSnapshot {
        char *reason;
        Wish *wishes;
        ClockTuple stop;
        bool is_cut;    /* the second flush is under way */
        bool is_frozen; /* recording was switched off for it */
};

static SessionSnapshot *snapshot_free(SessionSnapshot *p) {
        if (!p)
                return NULL;
        while (p->wishes) {
                Wish *w = p->wishes;

                p->wishes = w->next;
                free(w);
        }
        free(p->reason);
        free(p);
        return NULL;
}

static int add_wish(SessionSnapshot *p, SnapshotDone done, void *userdata) {
        Wish *w;

        if (!done)
                return 0;
        w = malloc(sizeof(*w));
        if (!w)
                return -ENOMEM;
        *w = (Wish){ .next = p->wishes, .done = done, .userdata = userdata };
        p->wishes = w;
        return 0;
}

static void freeze(Session *s) {
        int r;

        health_end_watch(s->health);
        r = tracer_set_recording(s->tracer, false);
        if (r < 0)
                log_warning_errno(
                        r,
                        "Session '%s': cannot switch recording off for a snapshot: %m; it "
                        "may miss what comes meanwhile.",
                        s->meta->name);
}

static void thaw(Session *s) {
        int r;

        r = tracer_set_recording(s->tracer, true);
        if (r < 0)
                session_warn(s, "recording could not be switched on again after a snapshot: %s",
                             strerror(-r));
        r = session_hooks_are_due(s) ? 0 : health_watch(s->health); /* or when they are there */
        if (r < 0)
                log_warning_errno(r, "Session '%s' is not watched any more: %m", s->meta->name);
}

int session_snapshot(Session *s, const char *reason, SnapshotDone done, void *userdata) {
        SessionSnapshot *p;
        int r;

        if (s->snapshot)
                return add_wish(s->snapshot, done, userdata);
        if (!s->recorder || s->is_leaving ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return -EINVAL;
        r = session_share_admit_snapshot(s);
        if (r < 0)
                return r;
        p = calloc(1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        p->reason = strdup(reason);
        r = p->reason ? add_wish(p, done, userdata) : -ENOMEM;
        if (r < 0) {
                snapshot_free(p);
                return r;
        }
        p->is_frozen = s->meta->spec.in_kernel && s->meta->state == SESSION_RECORDING;
        if (p->is_frozen)
                freeze(s);
        (void) tracer_read_clocks(s->tracer, &p->stop);
        session_look_at_modules(s);
        s->snapshot = p;
        recorder_flush(s->recorder);
        return 0;
}

/* Whoever asked is told, and the session goes on as before. */
static void session_snapshot_end(Session *s, const char *name, int error) {
        SessionSnapshot *p = TAKE_PTR(s->snapshot);

        if (p->is_frozen && s->meta->state == SESSION_RECORDING && !s->is_leaving)
                thaw(s);
        for (Wish *w = p->wishes; w; w = w->next)
                w->done(s, name, error, w->userdata);
        snapshot_free(p);
}

static void make(Session *s) {
        SessionSnapshot *p = s->snapshot;
        _cleanup_free_ char *name = NULL;
        bool is_refused;
        int r;

        (void) health_refresh(s->health);
        session_forget_disk_bytes(s);
        r = session_share_admit_snapshot(s);
        is_refused = r < 0;
        if (r == 0)
                r = snapshot_make(
                        &name, &(SnapshotConfig){ .store = s->context->store,
                                                  .origin = s->meta,
                                                  .dir = s->dir,
                                                  .tracer = s->tracer,
                                                  .end_sequence = recorder_oldest_open(s->recorder),
                                                  .stop = p->stop,
                                                  .reason = p->reason });
        if (r == 0) {
                s->meta->n_snapshots++;
                if (session_snapshot_is_moved(s))
                        rotation_move_out(s->rotation);
                session_save(s);
                r = s->context->found(name, s->context->userdata);
        }
        if (is_refused && s->meta->spec.in_kernel)
                rotation_move_out(s->rotation); /* it is a ring, and this is not to stay instead */
        session_forget_disk_bytes(s);
        if (r == SNAPSHOT_E_EMPTY)
                log_notice("Session '%s': nothing was recorded; there is no snapshot.",
                           s->meta->name);
        else if (r < 0 && !is_refused) /* which was told */
                session_warn(s, "a snapshot could not be kept: %s", strerror(-r));
        else
                log_info("Session '%s': kept as '%s' (%s).", s->meta->name, name, p->reason);
        session_snapshot_end(s, r == 0 ? name : NULL, r);
        session_triggers_look(s);
        s->context->changed(s, s->context->userdata);
}

void session_snapshot_look(Session *s) {
        SessionSnapshot *p = s->snapshot;

        if (!p || !recorder_is_flushed(s->recorder))
                return;
        if (p->is_cut) {
                make(s);
                return;
        }
        p->is_cut = true;
        recorder_cut(s->recorder);
        session_on_cut(s);
        recorder_flush(s->recorder);
}

void session_snapshot_cancel(Session *s) {
        if (s->snapshot)
                session_snapshot_end(s, NULL, -ECANCELED);
}
