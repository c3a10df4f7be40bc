/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One table says what a buffer must be set to.  Paths are always written from the tracefs
 * directory ("instances/ftraced-x/trace_clock"), so that one descriptor serves both kinds.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"
#include "meta/clock.h"

#define PROBE_SESSION "(probe)"
#define PROBE_DIR "instances/ftraced.probe" /* no session's: theirs begin with "ftraced-" */

struct Instance {
        const Tracefs *fs;
        char *dir;  /* "instances/ftraced-x/", or "" */
        char *name; /* "ftraced-x", or NULL */
        uint32_t *cpus;
        InstanceCounters *counters; /* one for each of cpus */
        uint64_t *waiting;          /* likewise: events in the buffer at the last look */
        uint64_t *least;            /* likewise: no fewer were in it, read and overrun by then */
        size_t n_cpus;
        bool is_kept; /* nobody made it, and nobody removes it */
};

enum {
        TOP_ONLY = 1 << 0, /* set at the top level, no matter to an instance */
        SHARED = 1 << 1,   /* one value for all instances in some kernel versions */
};

static const struct {
        const char *file, *value;
        unsigned flags;
} settings[] = {
        { "options/overwrite", "1", 0 },
        { "options/record-cmd", "1", TOP_ONLY },
        { "options/funcgraph-args", "0", SHARED },
        { "options/funcgraph-retval", "0", SHARED },
        { "options/funcgraph-retaddr", "0", SHARED },
        { "set_ftrace_notrace_pid", "", 0 },
};

int instance_probe(const Tracefs *fs, Ledger *l) {
        _cleanup_strv_ Strv instances = {}, warnings = {};
        int r, k;

        r = tracefs_get_instances(fs, &instances);
        if (r < 0)
                return r;
        for (size_t i = 0; i < instances.n; i++) {
                _cleanup_free_ char *dir = NULL;

                if (asprintf(&dir, "instances/%s/", instances.items[i]) < 0)
                        return -ENOMEM;
                r = tracefs_has_tracer(fs, dir, "function_graph");
                if (r >= 0)
                        return r;
        }

        r = ledger_add(l, PROBE_SESSION, LEDGER_INSTANCE, PROBE_DIR, NULL);
        if (r >= 0)
                r = ledger_commit(l, fs->path);
        if (r < 0)
                return r;
        log_debug("control", "mkdir %s", PROBE_DIR);
        if (mkdirat(fs->fd, PROBE_DIR, 0700) < 0)
                r = errno == ENOENT || errno == EPERM ? 0
                                                      : ORIGIN(-errno); /* no instances at all */
        else {
                r = tracefs_has_tracer(fs, PROBE_DIR "/", "function_graph");
                if (r == -ENOENT)
                        r = 0;
        }
        k = ledger_undo(l, fs, PROBE_SESSION, &warnings, NULL);
        return k < 0 ? k : r;
}

Instance *instance_free(Instance *i) {
        if (!i)
                return NULL;
        free(i->dir);
        free(i->name);
        free(i->cpus);
        free(i->counters);
        free(i->waiting);
        free(i->least);
        return mfree(i);
}

int instance_new(Instance **ret, const Tracefs *fs, const char *session) {
        _cleanup_(instance_freep) Instance *i = NEW(Instance, .fs = fs);
        int r;

        if (!i)
                return -ENOMEM;
        if (session) {
                if (asprintf(&i->name, INSTANCE_PREFIX "%s", session) < 0 ||
                    asprintf(&i->dir, "instances/%s/", i->name) < 0)
                        return -ENOMEM;
        } else {
                i->dir = strdup("");
                if (!i->dir)
                        return -ENOMEM;
        }
        r = tracefs_get_cpus(fs, &i->cpus, &i->n_cpus);
        if (r < 0)
                return r;
        i->counters = calloc(i->n_cpus, sizeof(*i->counters));
        i->waiting = calloc(i->n_cpus, sizeof(*i->waiting));
        i->least = calloc(i->n_cpus, sizeof(*i->least));
        if (!i->counters || !i->waiting || !i->least)
                return -ENOMEM;
        *ret = TAKE_PTR(i);
        return 0;
}

int instance_new_kept(Instance **ret, const Tracefs *fs, const char *name) {
        _cleanup_(instance_freep) Instance *i = NULL;
        char *dir = NULL, *copy = strdup(name);
        int r = instance_new(&i, fs, NULL);

        if (r < 0 || !copy || asprintf(&dir, "instances/%s/", name) < 0) {
                free(copy);
                return r < 0 ? r : -ENOMEM;
        }
        free(i->dir);
        i->dir = dir;
        i->name = copy;
        i->is_kept = true;
        *ret = TAKE_PTR(i);
        return 0;
}

bool instance_is_kept(const Instance *i) {
        return i->is_kept;
}

const char *instance_owner(const Instance *i, const char *session) {
        return i->name && !i->is_kept ? NULL : session;
}

int instance_clear(const Instance *i) {
        return tracefs_empty(i->fs, i->dir);
}

const char *instance_name(const Instance *i) {
        return i->name;
}

const char *instance_dir(const Instance *i) {
        return i->dir;
}

int instance_read_list(const Instance *i, const char *file, Strv *ret) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s%s", i->dir, file) < 0)
                return -ENOMEM;
        return control_read_list(i->fs->fd, path, ret);
}

bool instance_exists(const Instance *i) {
        return faccessat(i->fs->fd, i->name ? i->dir : ".", F_OK, 0) >= 0;
}

int instance_create(Instance *i, Plan *p, Ledger *l, const char *session) {
        _cleanup_free_ char *path = NULL;
        const char *file;

        if (!i->name || i->is_kept)
                return 0;
        path = strndup(i->dir, strlen(i->dir) - 1);
        return path ? plan_make_dir(p, i->fs, l, session, path, &file) : -ENOMEM;
}

/* @file of this buffer, with a ledger record unless the instance goes away. */
static int plan_own(Instance *i, Plan *p, Ledger *l, const char *session, const char *file,
                    const char *value) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s%s", i->dir, file) < 0)
                return -ENOMEM;
        return plan_add(p, i->fs, l, instance_owner(i, session), path, value);
}

/*
 * An option of function_graph in an instance.  Until 6.18 the instances' files show one value for
 * all of them (linux 6.12 kernel/trace/trace.c, create_trace_option_files(), tracer->flags), since
 * then each has its own; and some are at the top level only.  The files do not tell which, so the
 * top level's value is written down whenever it differs: if it turns out not to have changed,
 * undoing it writes nothing.
 */
static int plan_shared(Instance *i, Plan *p, Ledger *l, const char *session, const char *option,
                       const char *value) {
        _cleanup_free_ char *path = NULL, *now = NULL, *top = NULL;
        int r;

        if (asprintf(&path, "%s%s", i->dir, option) < 0)
                return -ENOMEM;
        r = plan_read(p, i->fs, path, &now);
        if (r == -ENOENT)
                return plan_add(p, i->fs, l, LEDGER_SHARED, option, value);
        if (r < 0 || control_equal(option, now, value))
                return r;
        r = plan_read(p, i->fs, option, &top);
        if (r >= 0 && !control_equal(option, top, value))
                r = ledger_claim(l, i->fs, LEDGER_SHARED, LEDGER_FILE, option, top, value);
        if (r < 0 && r != -ENOENT)
                return r;
        return plan_add(p, i->fs, l,
                        instance_shares_options(i->fs) ? NULL : instance_owner(i, session), path,
                        value);
}

/* A mask of the CPUs in @ranges as the kernel writes it, "f,ffffffff"; no ranges: of all possible
 * ones. */
static char *make_mask(const Instance *i, const Strv *ranges) {
        uint32_t n = i->cpus[i->n_cpus - 1] + 1, n_groups = (n + 31) / 32;
        _cleanup_free_ uint32_t *groups = calloc(n_groups, sizeof(*groups));
        char *text = malloc((size_t) n_groups * 9 + 1), *p = text;

        if (!groups || !text) {
                return mfree(text);
        }
        for (uint32_t cpu = 0; ranges->n == 0 && cpu < n; cpu++)
                groups[cpu / 32] |= UINT32_C(1) << cpu % 32;
        for (size_t k = 0; k < ranges->n; k++) {
                unsigned cpu, last;

                cpu_range_parse(ranges->items[k], &cpu, &last);
                for (; cpu <= last && cpu < n; cpu++)
                        groups[cpu / 32] |= UINT32_C(1) << cpu % 32;
        }
        p += sprintf(p, "%x", groups[n_groups - 1]);
        for (uint32_t g = n_groups - 1; g > 0; g--)
                p += sprintf(p, ",%08x", groups[g - 1]);
        return text;
}

void hooks_done(Hooks *h) {
        strv_done(&h->names);
        strv_done(&h->lines);
}

static int plan_functions(Instance *i, Plan *p, Ledger *l, const char *session, const char *file,
                          const Hooks *hooks) {
        _cleanup_free_ char *path = NULL, *names = strv_join(&hooks->names, "\n"),
                            *lines = strv_join(&hooks->lines, "\n");

        if (!names || !lines || asprintf(&path, "%s%s", i->dir, file) < 0)
                return -ENOMEM;
        return plan_add_text(p, i->fs, l, instance_owner(i, session), path, names,
                             hooks->lines.n > 0 ? lines : NULL);
}

int instance_plan_hooks(Instance *i, Plan *p, Ledger *l, const char *session, const Hooks *hooks) {
        return plan_functions(i, p, l, session, "set_ftrace_filter", hooks);
}

int instance_plan_not_hooked(Instance *i, Plan *p, Ledger *l, const char *session,
                             const Hooks *not_hooked) {
        return plan_functions(i, p, l, session, "set_ftrace_notrace", not_hooked);
}

static int plan_option(Instance *i, Plan *p, Ledger *l, const char *session, const char *file,
                       bool on) {
        return i->name ? plan_shared(i, p, l, session, file, on ? "1" : "0")
                       : plan_own(i, p, l, session, file, on ? "1" : "0");
}

/* Old values, even if they are what is wanted at first. */
static int keep_pids(const Instance *i, const Plan *p, Ledger *l, const char *session) {
        static const char *const files[] = { "set_ftrace_pid", "set_ftrace_notrace_pid" };
        int r = 0;

        for (size_t k = 0; r >= 0 && k < ELEMENTSOF(files); k++) {
                _cleanup_free_ char *now = NULL;

                r = plan_read(p, i->fs, files[k], &now);
                if (r >= 0)
                        r = ledger_add(l, session, LEDGER_FILE, files[k], now);
        }
        return r;
}

static int plan_settings(Instance *i, Plan *p, Ledger *l, const char *session,
                         const InstanceSettings *s) {
        _cleanup_free_ char *mask = make_mask(i, s->cpus), *pids = strv_join(s->threads, "\n");
        char size[32], percent[16];
        int r;

        if (!mask || !pids)
                return -ENOMEM;
        (void) snprintf(size, sizeof(size), "%" PRIu64, (s->buffer_bytes + 1023) / 1024);
        (void) snprintf(percent, sizeof(percent), "%u", s->percent);
        r = plan_own(i, p, l, session, "trace_clock", s->clock);
        if (r >= 0)
                r = plan_option(i, p, l, session, "options/sleep-time", !s->no_sleep_time);
        if (r >= 0)
                r = plan_option(i, p, l, session, "options/funcgraph-irqs", !s->no_irqs);
        if (r >= 0 && !i->is_kept)
                r = plan_own(i, p, l, session, "buffer_size_kb", size);
        if (r >= 0)
                r = plan_own(i, p, l, session, "buffer_percent", percent);
        if (r >= 0)
                r = instance_plan_not_hooked(i, p, l, session, s->not_hooked);
        if (r >= 0)
                r = instance_plan_hooks(i, p, l, session, s->hooks);
        if (r >= 0 && (!i->name || s->cpus->n > 0))
                r = plan_own(i, p, l, session, "tracing_cpumask", mask);
        if (r >= 0)
                r = plan_own(i, p, l, session, "set_ftrace_pid", pids);
        if (r >= 0 && s->threads->n > 0)
                r = plan_own(i, p, l, session, "options/function-fork", "1");
        if (r >= 0 && s->threads_change && !i->name)
                r = keep_pids(i, p, l, session);
        return r;
}

/* The table's, but for what the session asks for. */
static const char *setting_value(size_t k, const InstanceSettings *s) {
        return s->args && streq(settings[k].file, "options/funcgraph-args") ? "1"
                                                                            : settings[k].value;
}

int instance_plan(Instance *i, Plan *p, Ledger *l, const char *session, const InstanceSettings *s) {
        _cleanup_free_ char *on = NULL, *path = NULL, *tracer = NULL;
        int r;

        if (asprintf(&path, "%stracing_on", i->dir) < 0 ||
            asprintf(&tracer, "%scurrent_tracer", i->dir) < 0)
                return -ENOMEM;
        /* Recording is switched on later, so its old value is kept even if it is 0 now. */
        r = plan_own(i, p, l, session, "tracing_on", "0");
        if (r >= 0 && instance_owner(i, session)) {
                r = control_read(i->fs->fd, path, &on);
                if (r >= 0)
                        r = ledger_add(l, session, LEDGER_FILE, path, on);
        }
        for (size_t k = 0; r >= 0 && k < ELEMENTSOF(settings); k++) {
                if ((settings[k].flags & TOP_ONLY) && i->name)
                        continue;
                if ((settings[k].flags & SHARED) && i->name)
                        r = plan_shared(i, p, l, session, settings[k].file, setting_value(k, s));
                else
                        r = plan_own(i, p, l, session, settings[k].file, setting_value(k, s));
        }
        if (r >= 0)
                r = plan_settings(i, p, l, session, s);
        /* The tracer itself is not part of the plan, but of what must be undone. */
        if (r >= 0 && instance_owner(i, session))
                r = ledger_add(l, session, LEDGER_FILE, tracer, "nop");
        return r;
}

/* linux 6.19 gave each instance its own (kernel/trace/trace.c, tracer flags); the files look the same
 * before and after. */
bool instance_shares_options(const Tracefs *fs) {
        return !tracefs_kernel_is_since(fs, 6, 19);
}

/* --- what it counts --------------------------------------------------------------------------- */

/* The names in per_cpu/cpuN/stats, linux 6.1 kernel/trace/trace.c, tracing_stats_read(). */
enum { OVERRUN, READ = 3 };
static const char *const counter_names[INSTANCE_N_COUNTERS] = {
        [OVERRUN] = "overrun: ",
        "commit overrun: ",
        "dropped events: ",
        [READ] = "read events: ",
};

/* Somebody who clears the buffer sets the counters back to 0: then what they show is all new.  Where
 * they were 0, for nothing had been read, fewer events are there in all: in the buffer, read and overrun.  The file
 * has what is in the buffer first, and counts on meanwhile; so to that, only what was read the time before is added.
 * 0, INSTANCE_E_EMPTIED, -errno. */
static int update_counters(Instance *i, size_t at) {
        _cleanup_free_ char *text = NULL;
        InstanceCounters *c = &i->counters[at];
        uint64_t before = c->last[OVERRUN] + c->last[READ];
        bool is_emptied = false;
        int r = tracefs_read(i->fs, &text, "%sper_cpu/cpu%u/stats", i->dir, i->cpus[at]);

        if (r < 0)
                return r;
        for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
                const char *waiting = startswith(s, "entries: ");

                if (waiting)
                        i->waiting[at] = strtoull(waiting, NULL, 10);
                for (size_t k = 0; k < INSTANCE_N_COUNTERS; k++) {
                        const char *number = startswith(s, counter_names[k]);
                        uint64_t v;

                        if (!number)
                                continue;
                        v = strtoull(number, NULL, 10);
                        is_emptied = is_emptied || v < c->last[k];
                        c->sum[k] += v >= c->last[k] ? v - c->last[k] : v;
                        c->last[k] = v;
                }
        }
        if (i->waiting[at] + c->last[OVERRUN] + c->last[READ] < i->least[at])
                is_emptied = true;
        i->least[at] = is_emptied ? 0 : i->waiting[at] + before;
        return is_emptied ? INSTANCE_E_EMPTIED : 0;
}

int instance_start(Instance *i, Plan *p, const char **ret_file) {
        _cleanup_free_ char *path = NULL, *now = NULL;
        int r;

        *ret_file = "current_tracer";
        if (asprintf(&path, "%scurrent_tracer", i->dir) < 0)
                return -ENOMEM;
        if (i->is_kept && !p->is_dry) { /* of somebody else's clock, or calls */
                r = instance_clear(i);
                if (r < 0)
                        return r;
        }
        r = plan_read(p, i->fs, path, &now);
        if (r >= 0)
                r = plan_step(p, PLAN_SET, path, now, "function_graph", NULL);
        if (r >= 0)
                r = plan_apply(p, i->fs, ret_file);
        for (size_t k = 0; r >= 0 && !p->is_dry && k < i->n_cpus; k++) {
                r = update_counters(i, k);
                memset(i->counters[k].sum, 0, sizeof(i->counters[k].sum));
        }
        return MIN(r, 0);
}

static InstanceCounters *find_counters(const Instance *i, uint32_t cpu) {
        for (size_t k = 0; k < i->n_cpus; k++)
                if (i->cpus[k] == cpu)
                        return &i->counters[k];
        return NULL;
}

int instance_get_counters(const Instance *i, uint32_t cpu, InstanceCounters *ret) {
        const InstanceCounters *c = find_counters(i, cpu);

        if (!c)
                return ORIGIN(-ENOENT);
        *ret = *c;
        return 0;
}

int instance_set_counters(Instance *i, uint32_t cpu, const InstanceCounters *counters) {
        InstanceCounters *c = find_counters(i, cpu);

        if (!c)
                return ORIGIN(-ENOENT);
        *c = *counters;
        return 0;
}

int instance_open_raw(Instance *i, uint32_t cpu) {
        return tracefs_open(i->fs, O_RDONLY | O_NONBLOCK, "%sper_cpu/cpu%u/trace_pipe_raw", i->dir,
                            cpu);
}

int instance_plan_recording(Instance *i, Plan *p, bool on) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%stracing_on", i->dir) < 0)
                return -ENOMEM;
        return plan_step(p, PLAN_SET, path, on ? "0" : "1", on ? "1" : "0", NULL);
}

int instance_set_recording(Instance *i, bool on) {
        _cleanup_plan_ Plan plan = {};
        const char *file;
        int r = instance_plan_recording(i, &plan, on);

        return r < 0 ? r : plan_apply_at_once(&plan, i->fs, &file);
}

int instance_read_account(Instance *i, CpuAccount *ret) {
        for (size_t k = 0; k < i->n_cpus; k++) {
                int r;

                if (i->cpus[k] != ret->cpu)
                        continue;
                r = update_counters(i, k);
                if (r < 0)
                        return r;
                ret->overrun = i->counters[k].sum[0];
                ret->commit_overrun = i->counters[k].sum[1];
                ret->dropped_events = i->counters[k].sum[2];
                ret->read_events = i->counters[k].sum[3];
                return r;
        }
        return ORIGIN(-ENOENT);
}

uint64_t instance_n_waiting(const Instance *i) {
        uint64_t n = 0;

        for (size_t k = 0; k < i->n_cpus; k++)
                n += i->waiting[k];
        return n;
}

/* --- what it reads ---------------------------------------------------------------------------- */

/*
 * A clock that only the kernel reads: it tells in stats what it would stamp an event with, in
 * microseconds ("now ts:  1234.567890") or, if it does not count nanoseconds, as it is
 * (linux 6.1 kernel/trace/trace.c, tracing_stats_read()).
 */
static int read_kernel_clock(const Instance *i, uint64_t *ret) {
        _cleanup_free_ char *text = NULL;
        const char *s;
        char *end;
        int r = tracefs_read(i->fs, &text, "%sper_cpu/cpu%u/stats", i->dir, i->cpus[0]);

        if (r < 0)
                return r;
        s = strstr(text, "now ts: ");
        if (!s)
                return ORIGIN(-EBADMSG);
        *ret = strtoull(s + strlen("now ts: "), &end, 10);
        if (*end == '.')
                *ret = *ret * NSEC_PER_SEC + strtoull(end + 1, NULL, 10) * NSEC_PER_USEC;
        return 0;
}

/* What the kernel tells takes long to read, so it is read apart and taken back to the moment. */
static int add_kernel_clock(const Instance *i, bool is_ns, ClockTuple *t) {
        uint64_t best = UINT64_MAX, trace;

        for (int k = 0; k < 3; k++) {
                uint64_t before = now_ns(CLOCK_MONOTONIC), after;
                int r = read_kernel_clock(i, &trace);

                if (r < 0)
                        return r;
                after = now_ns(CLOCK_MONOTONIC);
                if (after - before >= best)
                        continue;
                best = after - before;
                t->trace_ns = is_ns ? trace - (before + best / 2 - t->monotonic_ns) : trace;
        }
        return 0;
}

/*
 * The trace clock "mono" is CLOCK_MONOTONIC, and others are others of clock_gettime().  Two readings
 * bracket the others, and the narrowest of some brackets is the moment.
 */
int instance_read_clocks(Instance *i, const char *clock, ClockTuple *ret) {
        uint64_t best = UINT64_MAX;
        clockid_t id = CLOCK_MONOTONIC;
        bool is_ours = trace_clock_id(clock, &id) >= 0;

        for (int k = 0; k < 5; k++) {
                uint64_t before = now_ns(CLOCK_MONOTONIC), trace = now_ns(id),
                         boottime = now_ns(CLOCK_BOOTTIME), realtime = now_ns(CLOCK_REALTIME),
                         after = now_ns(CLOCK_MONOTONIC);

                if (after - before >= best)
                        continue;
                best = after - before;
                *ret = (ClockTuple){ .trace_ns = id == CLOCK_MONOTONIC ? before + best / 2 : trace,
                                     .monotonic_ns = before + best / 2,
                                     .boottime_ns = boottime,
                                     .realtime_ns = realtime };
        }
        return is_ours ? 0 : add_kernel_clock(i, trace_clock_is_ns(clock), ret);
}

/* Larger sub-buffers (buffer_subbuf_size_kb, since 6.8) show in the instance's own header_page. */
int instance_read_file(Instance *i, const char *path, char **ret, size_t *ret_n) {
        if (streq(path, "events/header_page"))
                return tracefs_read_header_page(i->fs, i->dir, ret, ret_n);
        return file_read(i->fs->fd, path, ret, ret_n, CONTROL_MAX_BYTES);
}

int instance_read_page_bytes(Instance *i, uint32_t *ret) {
        return tracefs_read_page_bytes(i->fs, i->dir, ret);
}
