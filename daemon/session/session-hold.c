/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the process alone has of a recording is copied outside before the first event: the next daemon
 * makes the session again from that, session.json, the ledger and the segments, and its readers go on
 * in the middle of a page if need be (session-adopt.h).
 */

#include "base/log.h"
#include "daemon/record/reader.h"
#include "daemon/session/session-hold.h"
#include "daemon/watch/live.h"

struct SessionHold {
        SessionHoldConfig config;
        PipeMarks *marks; /* while nobody holds the pipes */
        bool is_held;     /* the manager has copies of the descriptors */
};

int session_hold_new(SessionHold **ret, const SessionHoldConfig *config) {
        *ret = NEW(SessionHold, .config = *config);
        return *ret ? 0 : -ENOMEM;
}

SessionHold *session_hold_free(SessionHold *h) {
        if (!h)
                return NULL;
        (void) pipe_marks_free(h->marks);
        return mfree(h);
}

/* --- a CPU ------------------------------------------------------------------------------------- */

void session_hold_cpu(SessionHold *h, Recorder *recorder, uint32_t cpu, int raw_fd) {
        const SessionHoldConfig *c = &h->config;
        int pipe_fd, r;

        if (!fdstore_is_there(c->fdstore))
                return;
        r = recorder_make_pipe(recorder, &pipe_fd);
        if (r >= 0)
                r = fdstore_put(c->fdstore, c->meta->id, cpu, raw_fd, pipe_fd);
        if (r >= 0)
                h->is_held = true;
        else
                log_warning_errno(r,
                                  "The service manager does not take the descriptors of CPU %u of "
                                  "session '%s': %m; if this daemon is killed, what is in its pipe "
                                  "then is lost.",
                                  cpu, c->meta->name);
}

/* Those that the manager held. */
static int add_held(Recorder *recorder, uint32_t cpu, int *raw_fd, int *pipe_fd) {
        int r = recorder_add(recorder, cpu, *raw_fd);

        if (r < 0)
                return r;
        TAKE_FD(*raw_fd);
        r = recorder_take_pipe(recorder, *pipe_fd);
        if (r < 0)
                return r;
        TAKE_FD(*pipe_fd);
        return 0;
}

int session_hold_take_cpu(SessionHold *h, Recorder *recorder, Tracer *tracer, uint32_t cpu) {
        _cleanup_close_ int raw_fd = -EBADF, pipe_fd = -EBADF;
        const SessionHoldConfig *c = &h->config;
        int raw, r;

        fdstore_take(c->fdstore, c->meta->id, cpu, &raw_fd, &pipe_fd);
        if (raw_fd >= 0 && pipe_fd >= 0) {
                r = add_held(recorder, cpu, &raw_fd, &pipe_fd);
                if (r < 0)
                        return r;
                h->is_held = true;
                return 1;
        }

        /* One of the two without the other is of no use: the page that is cut in two is in both. */
        if (raw_fd >= 0 || pipe_fd >= 0)
                (void) fdstore_remove(c->fdstore, c->meta->id, cpu);
        raw = instance_open_raw(tracer_instance(tracer), cpu);
        if (raw < 0)
                return raw;
        r = recorder_add(recorder, cpu, raw);
        if (r < 0) {
                safe_close(raw);
                return r;
        }
        session_hold_cpu(h, recorder, cpu, raw);
        return 0;
}

/* --- all of them ------------------------------------------------------------------------------- */

static int write_live(const SessionHold *h, const Tracer *tracer, bool left) {
        const SessionMeta *m = h->config.meta;
        _cleanup_live_ Live l = { .attached = h->config.is_attached,
                                  .held = h->is_held,
                                  .left = left };

        l.cpus = calloc(m->n_cpus + 1, sizeof(*l.cpus));
        if (!l.cpus)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_cpus; i++) {
                LiveCpu *c = &l.cpus[l.n_cpus];

                const InstanceCounters *counters =
                        instance_counters(tracer_instance(tracer), m->cpus[i].cpu);

                if (counters)
                        *c = (LiveCpu){ .cpu = m->cpus[i].cpu, .counters = *counters };
                l.n_cpus += counters != NULL;
        }
        return live_write(h->config.dir, &l);
}

int session_hold_all(SessionHold *h, Recorder *recorder, const Tracer *tracer) {
        const SessionMeta *m = h->config.meta;
        int r = h->is_held ? fdstore_barrier(h->config.fdstore) : 0;

        if (r < 0)
                log_warning_errno(r, "The service manager does not answer: %m");
        if (!h->is_held) {
                r = pipe_marks_new(&h->marks, m->id, m->n_cpus);
                if (r >= 0)
                        recorder_set_marks(recorder, h->marks);
                else /* whoever comes after a kill will have to assume the worst */
                        log_debug("store", "no marks in /dev/shm: %s", origin_text(r));
        }
        return write_live(h, tracer, false);
}

int session_hold_leave(SessionHold *h, const Tracer *tracer, bool is_clean) {
        return write_live(h, tracer, is_clean);
}

void session_hold_let_go(SessionHold *h) {
        const SessionMeta *m;
        int r = 0;

        if (!h)
                return;
        m = h->config.meta;
        h->marks = pipe_marks_free(h->marks);
        if (m->id)
                pipe_marks_remove(m->id);
        if (!h->is_held)
                return;
        for (size_t i = 0; i < m->n_cpus && r >= 0; i++)
                r = fdstore_remove(h->config.fdstore, m->id, m->cpus[i].cpu);
        if (r >= 0)
                r = fdstore_barrier(h->config.fdstore);
        if (r < 0)
                log_warning_errno(r,
                                  "The service manager does not let go of the descriptors of "
                                  "session '%s': %m",
                                  m->name);
        h->is_held = false;
}

void session_hold_give_up(SessionHold *h) {
        if (!h)
                return;
        h->is_held = true;
        session_hold_let_go(h);
}
