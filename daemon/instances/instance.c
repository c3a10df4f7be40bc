/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One table, in instance_plan(), says what a buffer must be set to.  Paths are always written from the tracefs
 * directory ("instances/ftraced-x/trace_clock"), so that one descriptor serves both kinds.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"
#include "meta/clock.h"

#define PROBE_SESSION "(probe)"
#define PROBE_DIR "instances/ftraced.probe" /* no session's: theirs begin with "ftraced-" */

int instance_probe(Ledger *l) {
        _cleanup_strv_ Strv instances = {}, warnings = {};
        const Tracefs *fs = l->fs;
        int r = tracefs_get_instances(fs, &instances), k;

        for (size_t i = 0; r >= 0 && i < instances.n; i++) {
                r = tracefs_has_tracer(fs, TRACEFS_PATH("instances/%s/", instances.items[i]),
                                       "function_graph");
                if (r >= 0)
                        return r;
                r = 0;
        }
        r = r ?: ledger_add(l, PROBE_SESSION, LEDGER_INSTANCE, PROBE_DIR, NULL) ?: ledger_commit(l);
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
        k = ledger_undo(l, PROBE_SESSION, &warnings, NULL);
        return k < 0 ? k : r;
}

void instance_done(Instance *i) {
        free(i->dir);
        free(i->name);
        free(i->cpus);
        *i = (Instance){};
}

int instance_init(Instance *ret, const Tracefs *fs, const char *name, bool is_kept) {
        _cleanup_(instance_done) Instance i = { .fs = fs, .is_kept = is_kept };
        _cleanup_free_ uint32_t *cpus = NULL;
        int r = text_replace(&i.name, name)
                        ?: text_format(&i.dir, "%s%s%s", name ? "instances/" : "", name ?: "",
                                       name ? "/" : "")
                        ?: tracefs_get_cpus(fs, &cpus, &i.n_cpus);

        if (r < 0)
                return r;
        i.cpus = calloc(i.n_cpus, sizeof(*i.cpus));
        if (!i.cpus)
                return -ENOMEM;
        for (size_t k = 0; k < i.n_cpus; k++)
                i.cpus[k].cpu = cpus[k];
        *ret = TAKE(i, (Instance){});
        return 0;
}

/* Whose ledger record a change of a file in it becomes; NULL: it goes away with the instance. */
static const char *instance_owner(const Instance *i, const Plan *p) {
        return i->name && !i->is_kept ? NULL : p->session;
}

int instance_read_list(const Instance *i, const char *file, Strv *ret) {
        return control_read_list(i->fs->fd, TRACEFS_PATH("%s%s", i->dir, file), ret);
}

int instance_create(const Instance *i, Plan *p) {
        const char *file;

        return !i->name || i->is_kept
                       ? 0
                       : plan_make_dir(p, TRACEFS_PATH("instances/%s", i->name), &file);
}

int instance_plan_file(const Instance *i, Plan *p, const char *file, const char *value,
                       const char *text) {
        return plan_add_text(p, instance_owner(i, p), TRACEFS_PATH("%s%s", i->dir, file), value,
                             text);
}

/*
 * An option of function_graph in an instance.  Until 6.18 the instances' files show one value for
 * all of them (linux 6.12 kernel/trace/trace.c, create_trace_option_files(), tracer->flags), since
 * then each has its own; and some are at the top level only.  The files do not tell which, so the
 * top level's value is written down whenever it differs: if it turns out not to have changed,
 * undoing it writes nothing.
 */
static int plan_shared(const Instance *i, Plan *p, const char *option, const char *value) {
        const char *path = TRACEFS_PATH("%s%s", i->dir, option);
        _cleanup_free_ char *now = NULL, *top = NULL;
        int r = plan_read(p, path, &now);

        if (r == -ENOENT)
                return plan_add(p, LEDGER_SHARED, option, value);
        if (r < 0 || control_equal(option, now, value))
                return r;
        r = plan_read(p, option, &top);
        if (r >= 0 && !control_equal(option, top, value))
                r = ledger_claim(p->ledger, LEDGER_SHARED, LEDGER_FILE, option, top, value);
        if (r < 0 && r != -ENOENT)
                return r;
        return plan_add(p, instance_shares_options(i->fs) ? NULL : instance_owner(i, p), path,
                        value);
}

void hooks_done(Hooks *h) {
        strv_done(&h->names);
        strv_done(&h->lines);
}

int instance_plan_hooks(const Instance *i, Plan *p, const char *file, const Hooks *hooks) {
        _cleanup_free_ char *names = strv_join(&hooks->names, "\n"),
                            *lines = strv_join(&hooks->lines, "\n");

        if (!names || !lines)
                return -ENOMEM;
        return instance_plan_file(i, p, file, names, hooks->lines.n > 0 ? lines : NULL);
}

int instance_keep_old(Plan *p, const char *file) {
        _cleanup_free_ char *now = NULL;
        int r = plan_read(p, file, &now);

        if (r == -ENOENT)
                return 0;
        return r ?: ledger_add(p->ledger, p->session, LEDGER_FILE, file, now);
}

int instance_plan(const Instance *i, Plan *p, const InstanceSettings *s) {
        _cleanup_free_ char *mask = tracefs_make_mask(i->cpus[i->n_cpus - 1].cpu + 1, s->cpus),
                            *pids = strv_join(s->threads, "\n"), *on = NULL;
        const char *path = TRACEFS_PATH("%stracing_on", i->dir);
        bool is_top = !i->name, has_owner = instance_owner(i, p);
        char size[32], percent[16];
        const struct {
                const char *file, *value;
                bool is_wanted;
                bool is_shared; /* one value for all instances in some kernel versions */
                const Hooks *hooks;
        } files[] = {
                { "options/overwrite", "1", true },
                { "options/record-cmd", "1", is_top },
                { "options/funcgraph-args", s->args ? "1" : "0", true, true },
                { "options/funcgraph-retval", "0", true, true },
                { "options/funcgraph-retaddr", "0", true, true },
                { "set_ftrace_notrace_pid", "", true },
                { "trace_clock", s->clock, true },
                { "options/sleep-time", s->no_sleep_time ? "0" : "1", true, true },
                { "options/funcgraph-irqs", s->no_irqs ? "0" : "1", true, true },
                { "buffer_size_kb", size, !i->is_kept },
                { "buffer_percent", percent, true },
                { "set_ftrace_notrace", .is_wanted = true, .hooks = s->not_hooked },
                { "set_ftrace_filter", .is_wanted = true, .hooks = s->hooks },
                { "tracing_cpumask", mask, is_top || s->cpus->n > 0 },
                { "set_ftrace_pid", pids, true },
                { "options/function-fork", "1", s->threads->n > 0 },
        };
        int r;

        if (!mask || !pids)
                return -ENOMEM;
        (void) snprintf(size, sizeof(size), "%" PRIu64, (s->buffer_bytes + 1023) / 1024);
        (void) snprintf(percent, sizeof(percent), "%u", s->percent);
        /* Recording is switched on later, so its old value is kept even if it is 0 now. */
        r = instance_plan_file(i, p, "tracing_on", "0", NULL);
        if (r >= 0 && has_owner)
                r = control_read(i->fs->fd, path, &on);
        if (r >= 0 && has_owner)
                r = ledger_add(p->ledger, p->session, LEDGER_FILE, path, on);
        for (size_t k = 0; r >= 0 && k < ELEMENTSOF(files); k++) {
                if (!files[k].is_wanted)
                        continue;
                if (files[k].hooks)
                        r = instance_plan_hooks(i, p, files[k].file, files[k].hooks);
                else if (files[k].is_shared && !is_top)
                        r = plan_shared(i, p, files[k].file, files[k].value);
                else
                        r = instance_plan_file(i, p, files[k].file, files[k].value, NULL);
        }
        if (r >= 0 && s->threads_change && is_top)
                r = instance_keep_old(p, "set_ftrace_pid")
                            ?: instance_keep_old(p, "set_ftrace_notrace_pid");
        /* The tracer itself is not part of the plan, but of what must be undone. */
        if (r >= 0 && has_owner)
                r = ledger_add(p->ledger, p->session, LEDGER_FILE,
                               TRACEFS_PATH("%scurrent_tracer", i->dir), "nop");
        return r;
}

/* linux 6.19 gave each instance its own (kernel/trace/trace.c, tracer flags); the files look the same
 * before and after. */
bool instance_shares_options(const Tracefs *fs) {
        return !tracefs_kernel_is_since(fs, 6, 19);
}

/* --- what it counts --------------------------------------------------------------------------- */

/* Somebody who clears the buffer sets the counters back to 0: then what they show is all new.  Where
 * they were 0, for nothing had been read, fewer events are there in all: in the buffer, read and overrun.  The file
 * has what is in the buffer first, and counts on meanwhile; so to that, only what was read the time before is added.
 * 0, INSTANCE_E_EMPTIED, -errno. */
static int update_counters(const Instance *i, InstanceCpu *cpu) {
        InstanceCounters *c = &cpu->counters;
        uint64_t before = c->last[STAT_OVERRUN] + c->last[STAT_READ], now[_STAT_N] = {};
        bool is_emptied = false;
        int r;

        memcpy(now, c->last, sizeof(c->last));
        now[STAT_ENTRIES] = cpu->n_waiting;
        r = tracefs_read_stats(i->fs, i->dir, cpu->cpu, now);

        if (r < 0)
                return r;
        cpu->n_waiting = now[STAT_ENTRIES];
        for (size_t k = 0; k < INSTANCE_N_COUNTERS; k++) {
                is_emptied = is_emptied || now[k] < c->last[k];
                c->sum[k] += now[k] >= c->last[k] ? now[k] - c->last[k] : now[k];
                c->last[k] = now[k];
        }
        if (cpu->n_waiting + c->last[STAT_OVERRUN] + c->last[STAT_READ] < cpu->n_least)
                is_emptied = true;
        cpu->n_least = is_emptied ? 0 : cpu->n_waiting + before;
        return is_emptied ? INSTANCE_E_EMPTIED : 0;
}

int instance_start(Instance *i, Plan *p, const char **ret_file) {
        const char *path = TRACEFS_PATH("%scurrent_tracer", i->dir);
        _cleanup_free_ char *now = NULL;
        int r = 0;

        *ret_file = "current_tracer";
        if (i->is_kept && !p->is_dry) /* of somebody else's clock, or calls */
                r = tracefs_empty(i->fs, i->dir);
        r = r ?: plan_read(p, path, &now)
                    ?: plan_step(p, PLAN_SET, path, now, "function_graph", NULL)
                    ?: plan_apply(p, ret_file);
        for (size_t k = 0; r >= 0 && !p->is_dry && k < i->n_cpus; k++) {
                r = update_counters(i, &i->cpus[k]);
                memset(i->cpus[k].counters.sum, 0, sizeof(i->cpus[k].counters.sum));
        }
        return MIN(r, 0);
}

static InstanceCpu *find_cpu(const Instance *i, uint32_t cpu) {
        for (size_t k = 0; k < i->n_cpus; k++)
                if (i->cpus[k].cpu == cpu)
                        return &i->cpus[k];
        return NULL;
}

InstanceCounters *instance_counters(const Instance *i, uint32_t cpu) {
        InstanceCpu *found = find_cpu(i, cpu);

        return found ? &found->counters : NULL;
}

int instance_open_raw(const Instance *i, uint32_t cpu) {
        return tracefs_open(i->fs, O_RDONLY | O_NONBLOCK, "%sper_cpu/cpu%u/trace_pipe_raw", i->dir,
                            cpu);
}

int instance_plan_recording(const Instance *i, Plan *p, bool on) {
        return plan_step(p, PLAN_SET, TRACEFS_PATH("%stracing_on", i->dir), on ? "0" : "1",
                         on ? "1" : "0", NULL);
}

int instance_set_recording(const Instance *i, bool on) {
        _cleanup_plan_ Plan plan = { .fs = i->fs };
        const char *file;

        return instance_plan_recording(i, &plan, on) ?: plan_apply_at_once(&plan, &file);
}

int instance_read_account(Instance *i, CpuAccount *ret) {
        InstanceCpu *cpu = find_cpu(i, ret->cpu);
        int r = cpu ? update_counters(i, cpu) : ORIGIN(-ENOENT);

        if (r < 0)
                return r;
        ret->overrun = cpu->counters.sum[STAT_OVERRUN];
        ret->commit_overrun = cpu->counters.sum[STAT_COMMIT_OVERRUN];
        ret->dropped_events = cpu->counters.sum[STAT_DROPPED];
        ret->read_events = cpu->counters.sum[STAT_READ];
        return r;
}

uint64_t instance_n_waiting(const Instance *i) {
        uint64_t n = 0;

        for (size_t k = 0; k < i->n_cpus; k++)
                n += i->cpus[k].n_waiting;
        return n;
}

/* --- its clocks ------------------------------------------------------------------------------- */

/* A clock that only the kernel reads tells in stats what it would stamp an event with.  That takes long to read, so it
 * is read apart and taken back to the moment. */
static int add_kernel_clock(const Instance *i, bool is_ns, ClockTuple *t) {
        uint64_t best = UINT64_MAX, stats[_STAT_N] = {};

        for (int k = 0; k < 3; k++) {
                uint64_t before = now_ns(CLOCK_MONOTONIC), after;
                int r = tracefs_read_stats(i->fs, i->dir, i->cpus[0].cpu, stats);

                if (r < 0 || stats[STAT_NOW] == 0)
                        return r ?: -EBADMSG;
                after = now_ns(CLOCK_MONOTONIC);
                if (after - before >= best)
                        continue;
                best = after - before;
                t->trace_ns = stats[STAT_NOW];
                if (is_ns)
                        t->trace_ns -= before + best / 2 - t->monotonic_ns;
        }
        return 0;
}

/*
 * The trace clock "mono" is CLOCK_MONOTONIC, and others are others of clock_gettime().  Two readings
 * bracket the others, and the narrowest of some brackets is the moment.
 */
int instance_read_clocks(const Instance *i, const char *clock, ClockTuple *ret) {
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
int instance_read_file(const Instance *i, const char *path, char **ret, size_t *ret_n) {
        if (streq(path, "events/header_page"))
                return tracefs_read_header_page(i->fs, i->dir, ret, ret_n);
        return file_read(i->fs->fd, path, ret, ret_n, CONTROL_MAX_BYTES);
}
