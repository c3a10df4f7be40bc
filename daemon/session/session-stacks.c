/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies of the stacks of programs: which events are opened for a session, on which CPUs and of which threads. */

#include <sys/stat.h>

#include "base/io.h"
#include "base/name.h"
#include "daemon/session/session-private.h"
#include "daemon/tracefs/control.h"
#include "spaces/stack-copies.h"

#define EVENTS_MAX 4096 /* descriptors */

typedef struct StackWish {
        const Strv *events; /* probes */
        int *whose;         /* threads, or descriptors of control groups; -1: all tasks */
        size_t n_whose;
        bool are_groups;
        StackCopier *copier;
        StackAsk ask;
        int fd;
} StackWish;

/* A group that was removed while its directory is open. */
static bool is_gone(int group_fd) {
        return faccessat(group_fd, "cgroup.procs", F_OK, 0) < 0;
}

/* All events of a CPU. */
static int copy_on_cpu(StackWish *w, uint32_t cpu) {
        int r = 0;

        w->ask.cpu = cpu;
        for (size_t i = 0; r >= 0 && i < w->events->n * w->n_whose; i++) {
                int whose = w->whose[i % w->n_whose], event;
                EventChoice e;

                if (!event_choice_parse(&e, w->events->items[i / w->n_whose]) ||
                    !stack_event_is_valid(e.name, sizeof(e.name)))
                        continue;
                memcpy(w->ask.event, e.name, sizeof(e.name));
                w->ask.of_group = w->are_groups;
                w->ask.pid = w->are_groups ? -1 : whose;
                event = stacks_ask(w->fd, &w->ask, w->are_groups ? whose : -EBADF);
                if (event == -ENODEV || (event == -ESRCH && whose >= 0) ||
                    (event == -ENOENT && w->are_groups && is_gone(whose)))
                        continue; /* as a CPU or a thread may be, too */
                r = event < 0 ? event : stack_copier_add(w->copier, cpu, event);
        }
        return r;
}

/* The directory's descriptor, or -errno; which one it is goes into @which. */
static int open_group(Session *s, size_t i, uint64_t *which) {
        int fd = task_group_open(tracer_instance(s->tracer)->fs, s->meta->spec.cgroups.items[i]);
        struct stat st = {};

        if (fd >= 0)
                (void) fstat(fd, &st);
        *which = *which * 31 + st.st_ino;
        return fd;
}

/*
 * Those who are recorded now: with --pid the tracer's own list has them, and who forked from them since, whom the kernel
 * adds to both; with --cgroup its groups, of which each may be another one soon, by the same path.
 */
static int find_whose(Session *s, StackWish *w) {
        const Instance *instance = tracer_instance(s->tracer);
        const Spec *spec = &s->meta->spec;
        _cleanup_strv_ Strv threads = {};
        int r = 0;

        w->are_groups = spec->cgroups.n > 0;
        if (spec->pids.n > 0 && !w->are_groups)
                r = control_read_tasks(instance->fs->fd,
                                       TRACEFS_PATH("%sset_ftrace_pid", instance->dir), &threads);
        w->whose = calloc(MAX(threads.n, spec->cgroups.n) + 1, sizeof(*w->whose));
        if (r < 0 || !w->whose)
                return r < 0 ? r : -ENOMEM;
        for (size_t i = 0; i < threads.n; i++)
                w->whose[w->n_whose++] = atoi(threads.items[i]);
        s->stacks_groups = 0;
        for (size_t i = 0; r >= 0 && i < spec->cgroups.n; i++) {
                int fd = open_group(s, i, &s->stacks_groups);

                if (fd >= 0)
                        w->whose[w->n_whose++] = fd;
                else if (fd != -ENOENT)
                        r = fd;
        }
        if (spec->pids.n + spec->cgroups.n == 0)
                w->whose[w->n_whose++] = -1;
        return r;
}

static bool is_cpu_wanted(const Spec *spec, uint32_t cpu) {
        for (size_t i = 0; i < spec->cpus.n; i++) {
                unsigned first, last;

                cpu_range_parse(spec->cpus.items[i], &first, &last);
                if (cpu >= first && cpu <= last)
                        return true;
        }
        return spec->cpus.n == 0;
}

static int open_events(StackWish *w, const uint32_t *cpus, size_t n_cpus) {
        int r = 0;

        w->fd = stacks_connect();
        for (size_t i = 0; r >= 0 && w->fd >= 0 && i < n_cpus; i++)
                r = copy_on_cpu(w, cpus[i]);
        return w->fd < 0 ? w->fd : r;
}

int session_open_stacks(Session *s, Refusal *unused) {
        const Spec *spec = &s->meta->spec;
        _cleanup_strv_ Strv events = {};
        _cleanup_(stack_copier_freep) StackCopier *copier = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        StackWish w = { .events = &events, .fd = -EBADF };
        size_t n_cpus = 0;
        int r;

        if (spec->stack_bytes == 0)
                return 0;
        w.ask = (StackAsk){ .n_bytes = (uint32_t) spec->stack_bytes,
                            .every = (uint32_t) MAX(spec->stack_every, UINT64_C(1)),
                            .clock = streq(s->meta->clock, "boot")    ? CLOCK_BOOTTIME
                                     : streq(s->meta->clock, "local") ? -1
                                                                      : CLOCK_MONOTONIC };
        cpus = calloc(s->meta->n_cpus + 1, sizeof(*cpus));
        r = cpus ? strv_copy(&events, &s->meta->probe_events) : -ENOMEM;
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                if (is_cpu_wanted(spec, s->meta->cpus[i].cpu))
                        cpus[n_cpus++] = s->meta->cpus[i].cpu;
        if (r >= 0)
                r = find_whose(s, &w);
        if (r == 0 && n_cpus * w.n_whose * events.n > EVENTS_MAX)
                r = ORIGIN_STEP(-E2BIG, "over 4096 events, of threads or groups on CPUs for functions");
        r = r ?: stack_copier_new(&copier, s->dir, spec);
        if (r == 0) {
                w.copier = copier;
                r = BACKGROUND_CALL(open_events(&w, cpus, n_cpus));
        }
        safe_close(w.fd);
        for (size_t i = 0; w.are_groups && i < w.n_whose; i++)
                safe_close(w.whose[i]);
        free(w.whose);
        if (r == 0)
                s->stacks = TAKE_PTR(copier);
        else
                session_warn(s,
                             "the stacks of programs are not copied: events that do that could not "
                             "be opened (%s): %s",
                             stacks_opener(), origin_text(r));
        return 0;
}

void session_copy_stacks(Session *s, bool on) {
        int r = s->stacks ? stack_copier_switch(s->stacks, on) : 0;

        if (r < 0)
                session_warn(s, "the stacks of programs are not copied: %s", origin_text(r));
}

/* Whether they are the directories that the copies are of. */
static bool are_same_groups(Session *s) {
        uint64_t which = 0;

        for (size_t i = 0; i < s->meta->spec.cgroups.n; i++)
                safe_close(open_group(s, i, &which));
        return which == s->stacks_groups;
}

static void copy_stacks_again(void *session) {
        Session *s = session;

        if (!s->tracer || (s->stacks && are_same_groups(s)))
                return;
        session_end_stacks(s);
        (void) session_open_stacks(s, NULL);
        if (!s->tracer || s->is_leaving || s->stop_reason ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                session_end_stacks(s);
        else if (s->meta->state == SESSION_RECORDING)
                session_copy_stacks(s, true);
}

void session_copy_stacks_again(Session *s) {
        background_run(s->context->background, copy_stacks_again, s);
}

/* A unit that is started again has another group. */
void session_follow_groups(Session *s) {
        if (s->meta->spec.stack_bytes > 0 && !are_same_groups(s))
                session_copy_stacks_again(s);
}

void session_end_stacks(Session *s) {
        bool is_full = false;
        int r = 0;

        s->stacks = stack_copier_end(s->stacks, &r, &is_full);
        if (r < 0)
                session_warn(s, "the stacks of programs were not copied to the end: %s",
                             origin_text(r));
        else if (is_full)
                session_warn(s, "the stacks of programs were not copied to the end: they had come "
                                "to the limit of what is stored of them");
}
