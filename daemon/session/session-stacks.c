/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies of the stacks of programs: which events are opened for a session, on which CPUs and of which threads. */

#include "base/name.h"
#include "daemon/session/session-private.h"
#include "spaces/stack-copies.h"

#define EVENTS_MAX 4096 /* descriptors */

typedef struct StackWish {
        const Strv *events;  /* probes */
        const Strv *threads; /* none: all */
        StackCopier *copier;
        StackAsk ask;
        int fd;
} StackWish;

/* All events of a CPU. */
static int copy_on_cpu(StackWish *w, uint32_t cpu) {
        size_t n_threads = MAX(w->threads->n, (size_t) 1);
        int r = 0;

        w->ask.cpu = cpu;
        for (size_t i = 0; r >= 0 && i < w->events->n * n_threads; i++) {
                size_t thread = i % n_threads;
                EventChoice e;
                int event;

                if (!event_choice_parse(&e, w->events->items[i / n_threads]) ||
                    !stack_event_is_valid(e.name, sizeof(e.name)))
                        continue;
                memcpy(w->ask.event, e.name, sizeof(e.name));
                w->ask.pid = w->threads->n > 0 ? atoi(w->threads->items[thread]) : -1;
                event = stacks_ask(w->fd, &w->ask);
                if ((event == -ESRCH && w->threads->n > 0) || event == -ENODEV)
                        continue; /* gone, as a thread or a CPU may be */
                r = event < 0 ? event : stack_copier_add(w->copier, cpu, event);
        }
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
        _cleanup_strv_ Strv threads = {}, events = {}, warnings = {};
        _cleanup_(stack_copier_freep) StackCopier *copier = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_free_ uint32_t *cpus = NULL;
        StackWish w = { .events = &events, .threads = &threads, .fd = -EBADF };
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
                r = admit_processes(tracer_instance(s->tracer)->fs, spec, &threads, &warnings,
                                    &refusal);
        if (r == 0 && n_cpus * MAX(threads.n, (size_t) 1) * events.n > EVENTS_MAX)
                r = ORIGIN(-E2BIG);
        r = r ?: stack_copier_new(&copier, s->dir, spec);
        if (r == 0) {
                w.copier = copier;
                r = BACKGROUND_CALL(open_events(&w, cpus, n_cpus));
        }
        safe_close(w.fd);
        if (r == 0)
                s->stacks = TAKE_PTR(copier);
        else
                session_warn(s,
                             "the stacks of programs are not copied: events that do that could not "
                             "be opened (%s): %s",
                             stacks_opener(), r > 0 ? refusal_message(&refusal) : origin_text(r));
        return 0;
}

void session_copy_stacks(Session *s, bool on) {
        int r = s->stacks ? stack_copier_switch(s->stacks, on) : 0;

        if (r < 0)
                session_warn(s, "the stacks of programs are not copied: %s", origin_text(r));
}

static void copy_stacks_again(void *session) {
        Session *s = session;

        if (!s->tracer || s->stacks)
                return;
        (void) session_open_stacks(s, NULL);
        if (!s->tracer || s->meta->state != SESSION_RECORDING || s->is_leaving || s->stop_reason)
                session_end_stacks(s);
        else
                session_copy_stacks(s, true);
}

void session_copy_stacks_again(Session *s) {
        background_run(s->context->background, copy_stacks_again, s);
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
