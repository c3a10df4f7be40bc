/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the process alone has of a recording is copied outside before the first event: the next daemon
 * makes the session again from that, session.json, the ledger and the segments, and its readers go on
 * in the middle of a page if need be (session-adopt.c).
 */

#include "base/log.h"
#include "daemon/session/session-private.h"

void session_hold_cpu(Session *s, const Reader *reader) {
        int r;

        if (!fdstore_is_there(s->context->fdstore))
                return;
        r = fdstore_put(s->context->fdstore, s->meta->id, reader->cpu, reader->raw_fd,
                        reader->pipe_fds[0]);
        if (r >= 0)
                s->are_pipes_held = true;
        else
                log_warning_errno(
                        r,
                        "The service manager does not take the descriptors of CPU %u of "
                        "session \"%s\": %m; if this daemon is killed, what is in its pipe "
                        "then is lost.",
                        reader->cpu, s->meta->name);
}

int session_hold_take_cpu(Session *s, Reader **ret, uint32_t cpu) {
        _cleanup_close_ int raw_fd = -EBADF, pipe_fd = -EBADF;
        bool are_held;
        int r;

        fdstore_take(s->context->fdstore, s->meta->id, cpu, &raw_fd, &pipe_fd);
        are_held = raw_fd >= 0 && pipe_fd >= 0;
        if (!are_held) {
                /* One of the two without the other is of no use: the page that is cut in two is in both. */
                if (raw_fd >= 0 || pipe_fd >= 0)
                        (void) fdstore_remove(s->context->fdstore, s->meta->id, cpu);
                pipe_fd = safe_close(pipe_fd);
                safe_close(raw_fd);
                raw_fd = instance_open_raw(tracer_instance(s->tracer), cpu);
                if (raw_fd < 0)
                        return raw_fd;
        }
        r = recorder_add(s->recorder, ret, cpu, raw_fd, pipe_fd);
        if (r < 0)
                return r;
        TAKE_FD(raw_fd);
        TAKE_FD(pipe_fd);
        if (are_held)
                s->are_pipes_held = true;
        else
                session_hold_cpu(s, *ret);
        return are_held;
}

int session_hold_write(const Session *s, bool left) {
        const SessionMeta *m = s->meta;
        _cleanup_live_ Live l = { .attached = s->peer != 0,
                                  .held = s->are_pipes_held,
                                  .left = left };

        l.cpus = calloc(m->n_cpus + 1, sizeof(*l.cpus));
        if (!l.cpus)
                return -ENOMEM;
        for (size_t i = 0; i < m->n_cpus; i++) {
                LiveCpu *c = &l.cpus[l.n_cpus];
                const InstanceCounters *counters =
                        instance_counters(tracer_instance(s->tracer), m->cpus[i].cpu);

                if (counters)
                        *c = (LiveCpu){ .cpu = m->cpus[i].cpu, .counters = *counters };
                l.n_cpus += counters != NULL;
        }
        return live_write(s->dir, &l);
}

int session_hold_all(Session *s) {
        int r = s->are_pipes_held ? fdstore_barrier(s->context->fdstore) : 0;

        if (r < 0)
                log_warning_errno(r, "The service manager does not answer: %m");
        return session_hold_write(s, false);
}

void session_hold_let_go(Session *s) {
        const SessionMeta *m = s->meta;
        int r = 0;

        if (!TAKE(s->are_pipes_held, false))
                return;
        for (size_t i = 0; i < m->n_cpus && r >= 0; i++)
                r = fdstore_remove(s->context->fdstore, m->id, m->cpus[i].cpu);
        r = r ?: fdstore_barrier(s->context->fdstore);
        if (r < 0)
                log_warning_errno(r,
                                  "The service manager does not let go of the descriptors of "
                                  "session \"%s\": %m",
                                  m->name);
}
