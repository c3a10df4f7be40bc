/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session's state, what is written of it, and what it takes on disk. */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"

#define MEASURED_NS (200 * NSEC_PER_MSEC) /* so long what a live one takes is taken for that */

int session_new(Session **ret, const SessionContext *context) {
        *ret = NEW(Session, .context = context, .following.fd = -EBADF,
                   .lean = { .host = HOST_LOAD_INIT, .call_fd = -EBADF, .until_ns = UINT64_MAX });
        return *ret ? 0 : -ENOMEM;
}

/* --- its state --------------------------------------------------------------------------------- */

bool session_state_may_become(SessionState from, SessionState to) {
        static const unsigned may[_SESSION_STATE_N] = {
                [SESSION_NEW] = 1 << SESSION_ARMED | 1 << SESSION_FAILED,
                [SESSION_ARMED] = 1 << SESSION_RECORDING | 1 << SESSION_DRAINING | 1 << SESSION_FAILED,
                [SESSION_RECORDING] = 1 << SESSION_ARMED | 1 << SESSION_DRAINING | 1 << SESSION_FAILED,
                [SESSION_DRAINING] = 1 << SESSION_SEALED | 1 << SESSION_FAILED,
        };

        return may[from] & 1U << to;
}

void session_enter(Session *s, SessionState state, const char *reason) {
        if (!session_state_may_become(s->meta->state, state)) {
                log_error("Session \"%s\" is %s, and cannot become %s.", s->meta->name,
                          session_state_name(s->meta->state), session_state_name(state));
                return;
        }
        s->meta->state = state;
        if (reason) {
                free(s->meta->reason);
                s->meta->reason = strdup(reason);
        }
}

/* --- what is written of it --------------------------------------------------------------------- */

/* While the disk takes it, it is still draining for whoever asks, and has ended if nobody comes to say so. */
int session_write_meta(Session *s) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        SessionState state = s->meta->state;
        int r = s->dir ? 0 : store_open_session(s->context->store, s->meta->name, &dir);

        if (r < 0)
                return r;
        s->meta->state = s->sync.is_syncing ? s->sync.end_state : state;
        /* Of this one a crash is expected, which else can leave a file of zeros: ext4, a rename before the data. */
        r = session_dir_write_meta(s->dir ?: dir, s->meta,
                                   s->meta->spec.black_box && session_is_live(s));
        s->meta->state = state;
        return r;
}

void session_save(Session *s) {
        int r = session_write_meta(s);

        if (r < 0 && s->is_saved)
                log_error_errno(
                        r, "Cannot write session.json of session \"%s\": %m; it is tried again.",
                        s->meta->name);
        s->is_saved = r >= 0;
}

void session_tell(Session *s) {
        s->context->changed(s, s->context->userdata);
}

void session_on_change(Session *s) {
        session_save(s);
        session_tell(s);
}

/* --- what it is -------------------------------------------------------------------------------- */

const SessionMeta *session_meta(const Session *s) {
        return s->meta;
}

const char *session_name(const Session *s) {
        return s->meta->name;
}

bool session_is_live(const Session *s) {
        return session_state_is_live(s->meta->state);
}

/* One that is in the kernel alone has on disk what a snapshot is about to take. */
uint64_t session_ring_bytes(const Session *s) {
        return s->meta->spec.ring && !s->meta->spec.in_kernel ? s->meta->spec.max_bytes : 0;
}

/* --- what it takes on disk --------------------------------------------------------------------- */

static void set_footprint(Session *s, Footprint f) {
        s->footprint = f;
        s->measured_ns = now_ns(CLOCK_MONOTONIC);
}

void session_measure(Session *s, uint64_t segment_bytes) {
        set_footprint(s, footprint_measure_beside(s->dir, segment_bytes));
}

/* Each of its files is looked at, so what was measured is remembered. */
uint64_t session_disk_bytes(Session *s) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;

        if (s->measured_ns > 0 &&
            (!s->rotation || now_ns(CLOCK_MONOTONIC) - s->measured_ns < MEASURED_NS))
                return s->footprint.n_bytes;
        if (s->rotation)
                session_measure(s, rotation_look_at_segments(s->rotation).counted_bytes);
        else if (s->dir || store_open_session(s->context->store, s->meta->name, &dir) >= 0)
                set_footprint(s, footprint_measure(s->dir ?: dir));
        else
                s->footprint = (Footprint){};
        return s->footprint.n_bytes;
}

uint64_t session_growth_bytes(Session *s) {
        uint64_t max_bytes = s->meta->spec.in_kernel ? 0 : s->meta->spec.max_bytes,
                 n_bytes = session_disk_bytes(s);

        return session_is_live(s) && max_bytes < SPEC_UNLIMITED && max_bytes > n_bytes
                       ? max_bytes - n_bytes
                       : 0;
}

void session_segment_sealed(Session *s, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                            uint64_t n_bytes) {
        if (s->rotation)
                rotation_segment_changed(s->rotation, sequence);
        else if (s->measured_ns > 0)
                footprint_replace(&s->footprint, n_before, n_bytes);
}

/* --- who waits for something ------------------------------------------------------------------- */

int session_add_wish(SessionWish **list, SessionDone done, void *userdata) {
        SessionWish *w = NEW(SessionWish, .done = done, .userdata = userdata);

        if (!w)
                return -ENOMEM;
        while (*list)
                list = &(*list)->next;
        *list = w;
        return 0;
}

void session_tell_wishes(Session *s, SessionWish **list, int error) {
        for (SessionWish *w; (w = POP(*list));) {
                w->done(s, error, w->userdata);
                free(w);
        }
}
