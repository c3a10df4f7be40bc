/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The instance is in the ledger under a name that no session can have, so that whoever dies in
 * between leaves nothing behind.  The order is that of every tracer: set it, open the pipes, record,
 * read, close the pipes, nop, remove.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/lean/call-sample.h"
#include "daemon/process/background.h"
#include "daemon/tracefs/control.h"
#include "meta/spec.h"
#include "store/page.h"

#define SESSION "(weigh)"
#define DIR_PATH "instances/ftraced.weigh" /* no session's: theirs begin with "ftraced-" */
#define CPU_BYTES_MAX ((size_t) 64 << 20)
#define BYTES_MAX ((size_t) 256 << 20)

void call_sample_done(CallSample *s) {
        free(s->format);
        s->format = NULL;
        s->fd = safe_close(s->fd);
}

static int set(const Tracefs *fs, const char *file, const char *value) {
        char path[96];

        (void) snprintf(path, sizeof(path), DIR_PATH "/%s", file);
        return control_write(fs->fd, path, value);
}

/* What @file holds then is compared: line numbers are those of a moment ago. */
static int set_functions(const Tracefs *fs, const char *file, const Hooks *hooks) {
        _cleanup_free_ char *lines = strv_join(&hooks->lines, "\n"),
                            *names = strv_join(&hooks->names, "\n"), *now = NULL;
        char path[96];
        int r;

        if (!lines || !names)
                return -ENOMEM;
        (void) snprintf(path, sizeof(path), DIR_PATH "/%s", file);
        r = set(fs, file, lines);
        if (r >= 0)
                r = control_read(fs->fd, path, &now);
        return r < 0 || control_equal(file, now, names) ? r : -EIO;
}

/* Of all CPUs together no more than is read of them. */
static int set_buffers(const CallSampleConfig *c) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t kb = c->buffer_kb, n = 1;
        char text[32];
        int r = tracefs_get_cpus(c->fs, &cpus, &n);

        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "%zu", MIN(kb, BYTES_MAX / 1024 / n));
        return set(c->fs, "buffer_size_kb", text);
}

static int program(const CallSampleConfig *c) {
        int r;

        r = set(c->fs, "tracing_on", "0");
        if (r >= 0)
                r = set(c->fs, "trace_clock", SPEC_DEFAULT_CLOCK);
        if (r >= 0)
                r = set_functions(c->fs, "set_ftrace_filter", c->hooks);
        if (r >= 0)
                r = set_buffers(c);
        return r < 0 ? r : set(c->fs, "current_tracer", "function");
}

/* --- pages ------------------------------------------------------------------------------------ */

typedef struct Raw {
        uint32_t cpu;
        int fd;
} Raw;

typedef struct Raws {
        Raw *items;
        size_t n;
} Raws;

static void raws_done(Raws *r) {
        for (size_t i = 0; i < r->n; i++)
                (void) safe_close(r->items[i].fd);
        free(r->items);
}

/* A CPU that is possible and was never there has no buffer. */
static int open_raws(const CallSampleConfig *c, Raws *ret) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int r = tracefs_get_cpus(c->fs, &cpus, &n);

        if (r < 0)
                return r;
        ret->items = calloc(n, sizeof(*ret->items));
        if (!ret->items)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                int fd;

                fd = tracefs_open(c->fs, O_RDONLY | O_NONBLOCK,
                                  DIR_PATH "/per_cpu/cpu%u/trace_pipe_raw", cpus[i]);
                if (fd == -ENOENT)
                        continue;
                if (fd < 0)
                        return fd;
                ret->items[ret->n++] = (Raw){ cpus[i], fd };
        }
        return 0;
}

/* A number of the buffer's of @cpu; UINT64_MAX: it is not known. */
static uint64_t find_stat(const char *stats, const char *name) {
        const char *found = stats ? strstr(stats, name) : NULL;

        return found ? strtoull(found + strlen(name), NULL, 10) : UINT64_MAX;
}

/* If the buffer was too small its oldest calls went, and what is left begins with the first page, whose header tells
 * when. */
static int copy_pages(CallSample *s, const Tracefs *fs, const Raw *raw, size_t *n_all) {
        _cleanup_free_ char *page = malloc(s->page_bytes), *stats = NULL;
        uint64_t n_left, n_gone;

        if (!page)
                return -ENOMEM;
        (void) tracefs_read(fs, &stats, DIR_PATH "/per_cpu/cpu%u/stats", raw->cpu);
        n_left = find_stat(stats, "entries: ");
        n_gone = find_stat(stats, "overrun: ");
        s->n_calls = MAX(n_left, n_gone) < UINT32_MAX && s->n_calls < UINT32_MAX
                             ? s->n_calls + n_left + n_gone
                             : UINT64_MAX;
        for (size_t n = 0; n + s->page_bytes <= CPU_BYTES_MAX && *n_all < BYTES_MAX;
             n += s->page_bytes) {
                ssize_t k = read(raw->fd, page, s->page_bytes);
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
                if (n == 0 && n_gone > 0 && page_parse(&info, page, s->page_bytes, false) == 0)
                        s->from_ns = MAX(s->from_ns, info.timestamp);
                r = write_full(s->fd, page, s->page_bytes);
                if (r < 0)
                        return r;
                *n_all += s->page_bytes;
        }
        return 0;
}

static int record(CallSample *s, const CallSampleConfig *c) {
        _cleanup_(raws_done) Raws raws = {};
        size_t n_bytes = 0;
        int r, k;

        r = open_raws(c, &raws);
        s->n_calls = raws.n > 0 ? 0 : UINT64_MAX;
        if (r >= 0)
                r = set(c->fs, "tracing_on", "1");
        if (r < 0)
                return r;
        s->from_ns = now_ns(CLOCK_MONOTONIC);
        r = c->work(c->userdata);
        s->to_ns = now_ns(CLOCK_MONOTONIC);
        k = set(c->fs, "tracing_on", "0");
        if (r >= 0)
                r = k;
        for (size_t i = 0; r >= 0 && i < raws.n; i++)
                r = copy_pages(s, c->fs, &raws.items[i], &n_bytes);
        return r;
}

static int take_in_instance(CallSample *s, const CallSampleConfig *c) {
        int r;

        log_debug("control", "mkdir %s", DIR_PATH);
        if (mkdirat(c->fs->fd, DIR_PATH, 0700) < 0)
                return ORIGIN(-errno);
        r = tracefs_has_tracer(c->fs, DIR_PATH "/", "function");
        if (r <= 0)
                return r < 0 ? r : -EOPNOTSUPP;
        r = tracefs_read_page_bytes(c->fs, DIR_PATH "/", &s->page_bytes);
        if (r >= 0)
                r = program(c);
        return r < 0 ? r : record(s, c);
}

int call_sample_take(CallSample *ret, const CallSampleConfig *config) {
        _cleanup_call_sample_ CallSample s = CALL_SAMPLE_INIT;
        const Tracefs *fs = config->fs;
        _cleanup_strv_ Strv warnings = {};
        int r, k;

        if (config->hooks->lines.n == 0)
                return ORIGIN(-EINVAL);
        r = file_read(fs->fd, "events/ftrace/function/format", &s.format, NULL, 65536);
        if (r < 0)
                return r;
        s.fd = memfd_create("calls", MFD_CLOEXEC);
        if (s.fd < 0)
                return ORIGIN(-errno);
        r = ledger_add(config->ledger, SESSION, LEDGER_INSTANCE, DIR_PATH, NULL);
        if (r >= 0)
                r = ledger_commit(config->ledger, fs->path);
        if (r < 0)
                return r;
        r = BACKGROUND_CALL(take_in_instance(&s, config));
        k = ledger_undo(config->ledger, fs, SESSION, &warnings, NULL);
        if (r < 0 || k < 0)
                return r < 0 ? r : k;
        *ret = TAKE(s, CALL_SAMPLE_INIT);
        return 0;
}
