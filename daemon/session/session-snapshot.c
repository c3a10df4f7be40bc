/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A snapshot is two flushes of the readers with a cut between them: after the first, all that was
 * recorded before is in segments; after the second, those segments are closed and the next have
 * begun.  Then they are linked.  In between the main loop is free.
 */

#include "base/log.h"
#include "daemon/session/session-snapshot.h"

typedef struct Wish Wish;
struct Wish {
        Wish *next;
        SnapshotDone done;
        void *userdata;
};

struct SessionSnapshot {
        SessionSnapshotConfig config;
        char *reason;
        Wish *wishes;
        ClockTuple stop;
        Session *made;  /* once it is */
        int error;      /* -ECANCELED until then */
        bool is_cut;    /* the second flush is under way */
        bool is_frozen; /* recording was switched off for it */
};

/* Whether it takes the data along, and does not link it. */
static bool is_moved(const Spec *spec) {
        return spec->in_kernel || !spec->ring;
}

static SessionSnapshot *snapshot_free(SessionSnapshot *p) {
        if (!p)
                return NULL;
        for (Wish *w; (w = POP(p->wishes));)
                free(w);
        free(p->reason);
        return mfree(p);
}

int session_snapshot_add(SessionSnapshot *p, SnapshotDone done, void *userdata) {
        Wish *w;

        if (!done)
                return 0;
        w = NEW(Wish, .next = p->wishes, .done = done, .userdata = userdata);
        if (!w)
                return -ENOMEM;
        p->wishes = w;
        return 0;
}

static void freeze(const SessionSnapshotConfig *c) {
        int r;

        health_end_watch(c->health);
        r = tracer_set_recording(c->tracer, false);
        if (r < 0)
                log_warning_errno(
                        r,
                        "Session '%s': cannot switch recording off for a snapshot: %m; it "
                        "may miss what comes meanwhile.",
                        c->meta->name);
}

bool session_snapshot_thaw(SessionSnapshot *p) {
        int r;

        if (!p->is_frozen)
                return false;
        r = tracer_set_recording(p->config.tracer, true);
        if (r < 0)
                health_warn(p->config.meta,
                            "recording could not be switched on again after a snapshot: %s",
                            origin_text(r));
        return true;
}

int session_snapshot_begin(SessionSnapshot **ret, const SessionSnapshotConfig *config,
                           const char *reason, SnapshotDone done, void *userdata) {
        int r;
        SessionSnapshot *p = NEW(SessionSnapshot, .config = *config, .error = -ECANCELED);

        if (!p)
                return -ENOMEM;
        p->reason = strdup(reason);
        r = p->reason ? session_snapshot_add(p, done, userdata) : -ENOMEM;
        if (r < 0) {
                snapshot_free(p);
                return r;
        }
        p->is_frozen = config->meta->spec.in_kernel && config->meta->state == SESSION_RECORDING;
        if (p->is_frozen)
                freeze(config);
        (void) tracer_read_clocks(config->tracer, &p->stop);
        *ret = p;
        recorder_flush(config->recorder);
        return 0;
}

static int make(SessionSnapshot *p) {
        const SessionSnapshotConfig *c = &p->config;
        _cleanup_free_ char *name = NULL;
        int r = snapshot_make(&name,
                              &(SnapshotConfig){ .store = c->store,
                                                 .origin = c->meta,
                                                 .dir = c->dir,
                                                 .tracer = c->tracer,
                                                 .end_sequence = recorder_oldest_open(c->recorder),
                                                 .stop = p->stop,
                                                 .uptime = c->uptime,
                                                 .reason = p->reason });

        if (r != 0)
                return r;
        c->meta->n_snapshots++;
        if (is_moved(&c->meta->spec))
                rotation_move_out(c->rotation);
        return c->made(c->session, name, &p->made);
}

/* The readers have closed all that it takes. */
static void finish(SessionSnapshot *p) {
        const SessionSnapshotConfig *c = &p->config;

        (void) health_refresh(c->health);
        for (size_t i = 0; i < c->meta->n_cpus; i++)
                c->meta->cpus[i].in_memory = 0; /* nobody is to miss it there after a crash */
        p->error = make(p);
        if (p->error == SNAPSHOT_E_EMPTY)
                log_notice("Session '%s': nothing was recorded; there is no snapshot.",
                           c->meta->name);
        else if (p->error < 0)
                health_warn(c->meta, "a snapshot could not be kept: %s", strerror(-p->error));
}

bool session_snapshot_look(SessionSnapshot *p) {
        const SessionSnapshotConfig *c = &p->config;

        if (!recorder_is_flushed(c->recorder))
                return false;
        if (p->is_cut) {
                finish(p);
                return true;
        }
        p->is_cut = true;
        recorder_cut(c->recorder);
        c->cut(c->session);
        recorder_flush(c->recorder);
        return false;
}

void session_snapshot_end(SessionSnapshot *p) {
        for (Wish *w = p->wishes; w; w = w->next)
                w->done(p->config.session, p->error == 0 ? p->made : NULL, p->error, w->userdata);
        snapshot_free(p);
}
