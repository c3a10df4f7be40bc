/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * All tasks' calls are recorded, and whoever counts takes the reference workload's: with set_ftrace_pid the
 * function tracer leaves out what is called between the decision to switch tasks and the switch,
 * switch_mm_irqs_off() for one (linux 6.1 to 7.2 kernel/trace/ftrace.c,
 * ftrace_pid_func()).
 *
 * The instance is in the ledger under a name that no session can have, so that whoever dies in
 * between leaves nothing behind.  The order is that of every tracer: set it, open the pipe, record,
 * read, close the pipe, nop, remove.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/lean/hook-cost.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/control.h"
#include "store/spec.h"

#define SESSION "(weigh)"
#define DIR_PATH "instances/ftraced.weigh" /* no session's: theirs begin with "ftraced-" */
#define RARE 8 /* called less than once in so many times: an interrupt that came by, not the task */
#define MAX_BYTES ((size_t) 64 << 20)

/* How many hooks what a task costs whatever is hooked is worth; see hook_cost_fixed_ppm(). */
static const double fixed_hooks[_WORKLOAD_N] = {
        [WORKLOAD_PIPE] = 2.0 / 3,
        [WORKLOAD_PIPE_BACK] = 2.0 / 3,
        [WORKLOAD_FORK] = 8,
        [WORKLOAD_SPAWN] = 8,
};

void hook_cost_done(HookCost *w) {
        free(w->format);
        w->format = NULL;
        w->fd = safe_close(w->fd);
}

static int set(const Tracefs *fs, const char *file, const char *value) {
        char path[96];

        (void) snprintf(path, sizeof(path), DIR_PATH "/%s", file);
        return control_write(fs->fd, path, value);
}

static int program(const Tracefs *fs, const Hooks *hooks) {
        _cleanup_free_ char *lines = strv_join(&hooks->lines, "\n"),
                            *names = strv_join(&hooks->names, "\n"), *now = NULL;
        int r;

        if (!lines || !names)
                return -ENOMEM;
        r = set(fs, "tracing_on", "0");
        if (r >= 0)
                r = set(fs, "trace_clock", SPEC_DEFAULT_CLOCK);
        if (r >= 0)
                r = set(fs, "set_ftrace_filter", lines);
        if (r >= 0)
                r = control_read(fs->fd, DIR_PATH "/set_ftrace_filter", &now);
        if (r >= 0 && !control_equal("set_ftrace_filter", now, names))
                r = -EIO;
        return r;
}

/* Only the reference workload's CPU needs room. */
static int set_buffer(const Tracefs *fs, uint32_t cpu) {
        char file[64], text[32];

        (void) snprintf(file, sizeof(file), "per_cpu/cpu%u/buffer_size_kb", cpu);
        (void) snprintf(text, sizeof(text), "%i", HOOK_COST_BUFFER_KB);
        return set(fs, file, text);
}

static int copy_pages(int raw_fd, int fd, uint32_t page_bytes) {
        _cleanup_free_ char *page = malloc(page_bytes);

        if (!page)
                return -ENOMEM;
        for (size_t n = 0; n + page_bytes <= MAX_BYTES; n += page_bytes) {
                ssize_t k = read(raw_fd, page, page_bytes);
                int r;

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0 && errno == EAGAIN)
                        break;
                if (k < 0)
                        return ORIGIN(-errno);
                if ((size_t) k != page_bytes)
                        break;
                r = write_full(fd, page, page_bytes);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int record(const Tracefs *fs, WorkloadChild *child, HookCost *w) {
        _cleanup_close_ int raw_fd = -EBADF;
        char path[96];
        int r, k;

        (void) snprintf(path, sizeof(path), DIR_PATH "/per_cpu/cpu%u/trace_pipe_raw",
                        workload_cpu(child));
        raw_fd = openat(fs->fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (raw_fd < 0)
                return ORIGIN(-errno);
        r = set(fs, "tracing_on", "1");
        if (r < 0)
                return r;
        r = workload_run(child, true, &w->workload);
        k = set(fs, "tracing_on", "0");
        if (r >= 0)
                r = k;
        return r < 0 ? r : copy_pages(raw_fd, w->fd, w->page_bytes);
}

static int read_page_bytes(const Tracefs *fs, uint32_t *ret) {
        _cleanup_free_ char *text = NULL;
        unsigned offset, size;
        const char *data;
        int r;

        r = file_read(fs->fd, "events/header_page", &text, NULL, CONTROL_MAX_BYTES);
        if (r < 0)
                return r;
        data = strstr(text, " data;");
        if (!data || sscanf(data, " data; offset:%u; size:%u;", &offset, &size) != 2 ||
            offset > 4096 || size > (1U << 20))
                return ORIGIN(-EBADMSG);
        *ret = offset + size;
        return 0;
}

static int hook_cost_in_instance(HookCost *w, const Tracefs *fs, const Hooks *hooks) {
        _cleanup_(workload_freep) WorkloadChild *child = NULL;
        int r;

        r = tracefs_has_tracer(fs, DIR_PATH "/", "function");
        if (r <= 0)
                return r < 0 ? r : -EOPNOTSUPP;
        r = workload_start(&child);
        if (r >= 0)
                r = program(fs, hooks);
        if (r >= 0)
                r = set_buffer(fs, workload_cpu(child));
        if (r >= 0)
                r = set(fs, "current_tracer", "function");
        return r < 0 ? r : record(fs, child, w);
}

int hook_cost_measure(HookCost *ret, const Tracefs *fs, Ledger *l, const Hooks *hooks) {
        _cleanup_hook_cost_ HookCost w = { .fd = -EBADF };
        _cleanup_strv_ Strv warnings = {};
        int r, k;

        if (hooks->lines.n == 0) /* would count every function of the kernel */
                return ORIGIN(-EINVAL);
        r = read_page_bytes(fs, &w.page_bytes);
        if (r >= 0)
                r = file_read(fs->fd, "events/ftrace/function/format", &w.format, NULL, 65536);
        if (r < 0)
                return r;
        w.fd = memfd_create("calls", MFD_CLOEXEC);
        if (w.fd < 0)
                return ORIGIN(-errno);
        r = ledger_add(l, SESSION, LEDGER_INSTANCE, DIR_PATH, NULL);
        if (r >= 0)
                r = ledger_commit(l, fs->path);
        if (r < 0)
                return r;
        log_debug("control", "mkdir %s", DIR_PATH);
        background_leave();
        r = mkdirat(fs->fd, DIR_PATH, 0700) < 0 ? ORIGIN(-errno)
                                                : hook_cost_in_instance(&w, fs, hooks);
        background_return();
        k = ledger_undo(l, fs, SESSION, &warnings, NULL);
        if (r < 0 || k < 0)
                return r < 0 ? r : k;
        *ret = TAKE(w, ((HookCost){ .fd = -EBADF }));
        return 0;
}

static uint32_t share(const Workload *quiet, WorkloadTask t, double n_hooks) {
        uint64_t hook_ns = MAX(quiet->tasks[WORKLOAD_CALL].once_ns, UINT64_C(1));
        uint64_t task_ns = MAX(quiet->tasks[t].once_ns, UINT64_C(1));
        double ppm = n_hooks * (double) hook_ns / (double) task_ns * 1e6;

        return ppm < UINT32_MAX ? (uint32_t) ppm : UINT32_MAX;
}

static uint64_t lasts_ns(const WorkloadTime *t) {
        return t->n > 0 && t->to_ns > t->from_ns ? t->to_ns - t->from_ns : 0;
}

/* Hits in a second while nothing is done. */
static double rate(const Workload *loud, uint64_t n_spin_hits) {
        uint64_t ns = lasts_ns(&loud->tasks[WORKLOAD_SPIN]);

        return ns > 0 ? (double) n_spin_hits * 1e9 / (double) ns : 0;
}

uint32_t hook_cost_ppm(const Workload *quiet, const Workload *loud, WorkloadTask t, uint64_t n_hits,
                       uint64_t n_spin_hits) {
        const WorkloadTime *time = &loud->tasks[t];
        double hz = rate(loud, n_spin_hits), own,
               by_time = hz * (double) quiet->tasks[WORKLOAD_CALL].once_ns / 1e3;

        if (time->n == 0 || (quiet->tasks[t].n == 0 && t != WORKLOAD_SPIN))
                return 0;
        own = t == WORKLOAD_SPIN ? 0 : (double) n_hits - hz * (double) lasts_ns(time) / 1e9;
        if (own * RARE >= time->n)
                by_time += share(quiet, t, own / time->n);
        return by_time < UINT32_MAX ? (uint32_t) by_time : UINT32_MAX;
}

uint32_t hook_cost_fixed_ppm(const Workload *quiet, WorkloadTask t) {
        return quiet->tasks[t].n > 0 ? share(quiet, t, fixed_hooks[t]) : 0;
}
