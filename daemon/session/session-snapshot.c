/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A snapshot under way:
 *
 *      begin -> readers flush -> cut -> readers flush -> linked, and made -> end
 *
 * After the first flush all that was recorded before is in segments; after the second, those segments are closed and
 * the next have begun.  In between the main loop is free.  Of a ring in the kernel's buffer recording is switched off
 * meanwhile.
 */

#include "base/log.h"
#include "daemon/session/session-private.h"

struct SessionSnapshot {
        char *reason;
        SessionWish *wishes;
        ClockTuple stop;
        Session *made;  /* once it is */
        int error;      /* -ECANCELED until then */
        bool is_cut;    /* the second flush is under way */
        bool is_frozen; /* recording was switched off for it */
};

static SessionSnapshot *snapshot_free(SessionSnapshot *p) {
        if (!p)
                return NULL;
        for (SessionWish *w; (w = POP(p->wishes));)
                free(w);
        free(p->reason);
        return mfree(p);
}
DEFINE_CLEANUP(SessionSnapshot *, snapshot_free);

/* --- begin ------------------------------------------------------------------------------------- */

static void freeze(Session *s) {
        int r;

        health_end_watch(s->health);
        r = tracer_set_recording(s->tracer, false);
        if (r < 0)
                log_warning_errno(
                        r,
                        "Session \"%s\": cannot switch recording off for a snapshot: %m; it "
                        "may miss what comes meanwhile.",
                        s->meta->name);
}

/* Whether its owner may store more: 0, -EDQUOT (which is told), other -errno. */
static int admit(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = s->context->admit(s, &refusal, s->context->userdata);

        if (r != REFUSED)
                return r;
        log_notice("Session \"%s\": no snapshot is kept: %s.", s->meta->name,
                   refusal_message(&refusal));
        session_warn(s, "snapshots were not kept: its owner's sessions take what MaxStored= in "
                        "[Members] of ftraced.conf allows");
        return ORIGIN(-EDQUOT);
}

int session_snapshot(Session *s, const char *reason, SessionDone done, void *userdata) {
        _cleanup_(snapshot_freep) SessionSnapshot *p = NULL;
        int r;

        if (s->snapshot)
                return done ? session_add_wish(&s->snapshot->wishes, done, userdata) : 0;
        if (!s->recorder || s->is_leaving ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return ORIGIN(-EINVAL);
        r = admit(s);
        if (r < 0)
                return r;
        p = NEW(SessionSnapshot, .error = -ECANCELED, .reason = strdup(reason));
        if (!p || !p->reason)
                return -ENOMEM;
        r = done ? session_add_wish(&p->wishes, done, userdata) : 0;
        if (r < 0)
                return r;
        p->is_frozen = s->meta->spec.in_kernel && s->meta->state == SESSION_RECORDING;
        if (p->is_frozen)
                freeze(s);
        (void) tracer_read_clocks(s->tracer, &p->stop);
        s->snapshot = TAKE_PTR(p);
        recorder_flush(s->recorder);
        session_look_at_modules(s);
        return 0;
}

/* --- made -------------------------------------------------------------------------------------- */

void session_look_at_cuts(void *userdata) {
        Session *s = userdata;
        ClockTuple now;

        if (s->rotation && tracer_read_clocks(s->tracer, &now) >= 0 &&
            rotation_look(s->rotation, &now) > 0)
                session_on_change(s);
}

static void log_kept(Session *made, int error, void *userdata) {
        const SessionMeta *m = made->meta;

        log_info("Session \"%s\": kept as \"%s\" (%s).", m->origin, m->name, m->reason);
}

static int make(Session *s, SessionSnapshot *p) {
        _cleanup_free_ char *name = NULL;
        int r = snapshot_make(&name,
                              &(SnapshotConfig){ .store = s->context->store,
                                                 .origin = s->meta,
                                                 .dir = s->dir,
                                                 .tracer = s->tracer,
                                                 .end_sequence = recorder_oldest_open(s->recorder),
                                                 .stop = p->stop,
                                                 .reason = p->reason });

        if (r != 0)
                return r;
        s->meta->n_snapshots++;
        if (s->meta->spec.in_kernel || !s->meta->spec.ring) /* it takes the data along */
                rotation_move_out(s->rotation);
        session_save(s);
        r = s->context->found(name, &p->made, s->context->userdata);
        if (r >= 0)
                session_when_synced(p->made, log_kept, NULL);
        return r;
}

bool session_snapshot_look(Session *s) {
        SessionSnapshot *p = s->snapshot;

        if (!recorder_is_flushed(s->recorder))
                return false;
        if (!TAKE(p->is_cut, true)) {
                recorder_cut(s->recorder);
                session_look_at_cuts(s);
                recorder_flush(s->recorder);
                return false;
        }
        /* The readers have closed all that it takes. */
        (void) health_refresh(s->health);
        for (size_t i = 0; i < s->meta->n_cpus; i++)
                s->meta->cpus[i].in_memory = 0; /* nobody is to miss it there after a crash */
        p->error = make(s, p);
        if (p->error == SNAPSHOT_E_EMPTY)
                log_notice("Session \"%s\": nothing was recorded; there is no snapshot.",
                           s->meta->name);
        else if (p->error < 0)
                session_warn(s, "a snapshot could not be kept: %s", strerror(-p->error));
        return true;
}

/* --- end --------------------------------------------------------------------------------------- */

static void thaw(Session *s) {
        int r = tracer_set_recording(s->tracer, true);

        if (r < 0)
                session_warn(s, "recording could not be switched on again after a snapshot: %s",
                             origin_text(r));
        r = session_hooks_are_due(s) ? 0 : health_watch(s->health); /* or when they are there */
        if (r < 0)
                log_warning_errno(r, "Session \"%s\" is not watched any more: %m", s->meta->name);
}

void session_end_snapshot(Session *s) {
        SessionSnapshot *p = TAKE_PTR(s->snapshot);

        if (!p)
                return;
        if (s->meta->state == SESSION_RECORDING && !s->is_leaving && p->is_frozen)
                thaw(s);
        session_tell_wishes(p->error == 0 ? p->made : s, &p->wishes, p->error);
        snapshot_free(p);
}
