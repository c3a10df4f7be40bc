/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The instance is in the ledger under a name that no session can have, so that whoever dies in
 * between leaves nothing behind.  The order is that of every tracer: set it, record, read, close the pipes, nop,
 * remove.
 */

#include <fcntl.h>
#include <sys/mman.h>

#include "base/io.h"
#include "daemon/lean/lean.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/control.h"
#include "store/page.h"

#define SESSION "(weigh)"
#define DIR_PATH "instances/ftraced.weigh/" /* no session's: theirs begin with "ftraced-" */
#define CPU_BYTES_MAX ((size_t) 64 << 20)
#define BYTES_MAX ((size_t) 256 << 20)

void call_sample_done(CallSample *s) {
        free(s->format);
        s->format = NULL;
        s->fd = safe_close(s->fd);
}

/* Of all CPUs together no more is recorded than is read of them. */
static int program(Plan *p, const Hooks *hooks) {
        _cleanup_free_ char *lines = strv_join(&hooks->lines, "\n"),
                            *names = strv_join(&hooks->names, "\n");
        _cleanup_free_ uint32_t *cpus = NULL;
        const char *file;
        char size[32];
        size_t n;
        int r = lines && names ? tracefs_get_cpus(p->fs, &cpus, &n) : -ENOMEM;

        if (r < 0)
                return r;
        (void) snprintf(size, sizeof(size), "%zu",
                        MIN((size_t) CALL_SAMPLE_KB, BYTES_MAX / 1024 / n));
        return plan_add(p, NULL, DIR_PATH "tracing_on", "0")
                       ?: plan_add(p, NULL, DIR_PATH "trace_clock", SPEC_DEFAULT_CLOCK)
                       ?: plan_add_text(p, NULL, DIR_PATH "set_ftrace_filter", names, lines)
                       ?: plan_add(p, NULL, DIR_PATH "buffer_size_kb", size)
                       ?: plan_add(p, NULL, DIR_PATH "current_tracer", "function")
                       ?: plan_apply(p, &file);
}

/* --- pages ------------------------------------------------------------------------------------ */

/* What is in the buffer of a CPU: 1; 0: it is possible and was never there, and has none; -errno.
 * If the buffer was too small its oldest calls went, and what is left begins with the first page, whose header tells
 * when. */
static int copy_pages(CallSample *s, const Tracefs *fs, uint32_t cpu, size_t *n_all) {
        _cleanup_close_ int fd = tracefs_open(fs, O_RDONLY | O_NONBLOCK,
                                              DIR_PATH "per_cpu/cpu%u/trace_pipe_raw", cpu);
        _cleanup_free_ char *page = malloc(s->page_bytes);
        uint64_t stats[_STAT_N] = {};

        if (fd < 0)
                return fd == -ENOENT ? 0 : fd;
        if (!page)
                return -ENOMEM;
        if (tracefs_read_stats(fs, DIR_PATH, cpu, stats) < 0 ||
            MAX(stats[STAT_ENTRIES], stats[STAT_OVERRUN]) >= UINT32_MAX || s->n_calls >= UINT32_MAX)
                s->n_calls = UINT64_MAX;
        else
                s->n_calls += stats[STAT_ENTRIES] + stats[STAT_OVERRUN];
        for (size_t n = 0; n + s->page_bytes <= CPU_BYTES_MAX && *n_all < BYTES_MAX;
             n += s->page_bytes) {
                ssize_t k = read(fd, page, s->page_bytes);
                PageInfo info;
                int r;

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0 && errno == EAGAIN)
                        break;
                if (k < 0)
                        return ORIGIN(-errno);
                if ((size_t) k != s->page_bytes)
                        break;
                if (n == 0 && stats[STAT_OVERRUN] > 0 &&
                    page_parse(&info, page, s->page_bytes, false) == 0)
                        s->from_ns = MAX(s->from_ns, info.timestamp);
                r = write_full(s->fd, page, s->page_bytes);
                if (r < 0)
                        return r;
                *n_all += s->page_bytes;
        }
        return 1;
}

static int record(CallSample *s, const Tracefs *fs, const char *own_dir) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus, n_buffers = 0, n_bytes = 0;
        uint64_t n_before;
        int r = tracefs_get_cpus(fs, &cpus, &n_cpus)
                        ?: control_write(fs->fd, DIR_PATH "tracing_on", "1");

        if (r < 0)
                return r;
        s->from_ns = now_ns(CLOCK_MONOTONIC);
        n_before = tracefs_count_events(fs, own_dir);
        (void) usleep(CALL_SAMPLE_MS * 1000);
        s->n_own_events = tracefs_count_events(fs, own_dir) - n_before;
        s->to_ns = now_ns(CLOCK_MONOTONIC);
        r = control_write(fs->fd, DIR_PATH "tracing_on", "0");
        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                r = copy_pages(s, fs, cpus[i], &n_bytes);
                n_buffers += r > 0;
        }
        if (n_buffers == 0)
                s->n_calls = UINT64_MAX;
        return r;
}

static int take_in_instance(CallSample *s, Plan *p, const Hooks *hooks, const char *own_dir) {
        int r = tracefs_has_tracer(p->fs, DIR_PATH, "function");

        if (r <= 0)
                return r < 0 ? r : -EOPNOTSUPP;
        return tracefs_read_page_bytes(p->fs, DIR_PATH, &s->page_bytes)
                       ?: program(p, hooks)
                       ?: BACKGROUND_CALL(record(s, p->fs, own_dir));
}

int call_sample_take(CallSample *ret, Ledger *l, const Hooks *hooks, const char *own_dir) {
        _cleanup_plan_ Plan plan = PLAN_INIT(l, SESSION);
        _cleanup_call_sample_ CallSample s = CALL_SAMPLE_INIT;
        _cleanup_strv_ Strv warnings = {};
        const char *file;
        int r, k;

        if (hooks->lines.n == 0)
                return ORIGIN(-EINVAL);
        r = file_read(l->fs->fd, "events/ftrace/function/format", &s.format, NULL, 65536);
        if (r < 0)
                return r;
        s.fd = memfd_create("calls", MFD_CLOEXEC);
        if (s.fd < 0)
                return ORIGIN(-errno);
        r = plan_make_dir(&plan, TRACEFS_PATH("%.*s", (int) strlen(DIR_PATH) - 1, DIR_PATH), &file);
        if (r >= 0)
                r = take_in_instance(&s, &plan, hooks, own_dir);
        k = ledger_undo(l, SESSION, &warnings, NULL);
        if (r < 0 || k < 0)
                return r < 0 ? r : k;
        *ret = TAKE(s, CALL_SAMPLE_INIT);
        return 0;
}
