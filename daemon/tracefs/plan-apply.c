/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Making the steps of a plan, beside the daemon's loop (daemon/process/background.h), for each may take long: the
 * filters of function_graph are found by comparing every function's name with the root's, and what
 * changes a buffer waits for all CPUs (linux 6.12 kernel/trace/ftrace.c, ftrace_graph_set_hash();
 * trace.c, tracing_set_clock(), synchronize_rcu() in ring_buffer_reset_online_cpus()).  One of them
 * computes, the other sleeps, and they hold different locks, so the two kinds go on side by side, each
 * in its order; plan_apply() returns when both are through.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/process/thread.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/plan.h"

/* Newer kernels round a size up to whole pages and say so. */
static bool is_applied(const char *file, const char *now, const char *value) {
        if (control_equal(file, now, value))
                return true;
        return strstr(file, "buffer_size_kb") && *now != 'X' &&
               strtoul(now, NULL, 10) >= strtoul(value, NULL, 10);
}

/* 0, PLAN_E_OTHER: it says something else afterwards, -errno. */
enum { PLAN_E_OTHER = 1 };
static int write_and_look(const PlanStep *s, const Tracefs *fs, const char *text) {
        _cleanup_free_ char *now = NULL;
        int r = control_write(fs->fd, s->file, text);

        if (r >= 0)
                r = control_read(fs->fd, s->file, &now);
        if (r < 0 || is_applied(s->file, now, s->value))
                return MIN(r, 0);
        log_debug("control", "%s says \"%.200s\" after \"%.200s\" was written", s->file, now,
                  s->value);
        return PLAN_E_OTHER;
}

/* What globs stand for has changed if modules came or went a moment ago: then by name. */
static int apply_set(const PlanStep *s, const Tracefs *fs) {
        int r = write_and_look(s, fs, s->text ?: s->value);

        if (r != 0 && s->text && !streq(s->text, s->value) && control_is_list(s->file))
                r = write_and_look(s, fs, s->value);
        return r == PLAN_E_OTHER ? -EIO : r;
}

static int apply_line(const PlanStep *s, const Tracefs *fs) {
        _cleanup_strv_ Strv lines = {};
        int r = strv_split(&lines, s->value, "\n");

        return r < 0 ? r : control_append(fs->fd, s->file, &lines);
}

static int apply(const PlanStep *s, const Tracefs *fs) {
        switch (s->kind) {
        case PLAN_MKDIR:
                log_debug("control", "mkdir %s", s->file);
                return mkdirat(fs->fd, s->file, 0700) < 0 ? ORIGIN(-errno) : 0;
        case PLAN_SET:
                return apply_set(s, fs);
        case PLAN_LINE:
                return apply_line(s, fs);
        case PLAN_RMDIR:
                log_debug("control", "rmdir %s", s->file);
                return unlinkat(fs->fd, s->file, AT_REMOVEDIR) < 0 ? ORIGIN(-errno) : 0;
        case PLAN_APPEND:
        case PLAN_REMOVE:
        case PLAN_SELF:
        case PLAN_CLOSE:
                break; /* of a dry plan */
        }
        return ORIGIN(-EINVAL);
}

/* --- side by side ----------------------------------------------------------------------------- */

typedef struct Lane {
        const Plan *plan;
        const Tracefs *fs;
        bool compares; /* the steps that it makes: those that compare names, or all others */
        size_t failed; /* index of the step, and why */
        int error;
} Lane;

static bool compares_names(const PlanStep *s) {
        return streq(s->file, "set_graph_function") || streq(s->file, "set_graph_notrace");
}

static void *lane_run(void *userdata) {
        Lane *lane = userdata;
        const Plan *p = lane->plan;

        for (size_t i = p->n_applied; lane->error >= 0 && i < p->n; i++) {
                if (compares_names(&p->steps[i]) != lane->compares)
                        continue;
                lane->failed = i;
                lane->error = apply(&p->steps[i], lane->fs);
        }
        return NULL;
}

static bool has_both(const Plan *p) {
        size_t n = 0;

        for (size_t i = p->n_applied; i < p->n; i++)
                n += compares_names(&p->steps[i]);
        return n > 0 && n < p->n - p->n_applied;
}

int plan_apply_at_once(Plan *p, const Tracefs *fs, const char **ret_file) {
        Lane lanes[] = { { .plan = p, .fs = fs }, { .plan = p, .fs = fs, .compares = true } };
        bool is_beside = false;
        const Lane *failed;
        pthread_t thread;

        if (p->is_dry)
                return 0;
        if (has_both(p))
                is_beside = thread_start(&thread, 0, lane_run, &lanes[1]) >= 0;
        (void) lane_run(&lanes[0]);
        if (is_beside)
                (void) pthread_join(thread, NULL);
        else
                (void) lane_run(&lanes[1]);

        failed = lanes[0].error < 0 ? &lanes[0] : &lanes[1];
        if (failed->error < 0) {
                *ret_file = p->steps[failed->failed].file;
                return failed->error;
        }
        p->n_applied = p->n;
        return 0;
}

int plan_apply(Plan *p, const Tracefs *fs, const char **ret_file) {
        return p->is_dry ? 0 : BACKGROUND_CALL(plan_apply_at_once(p, fs, ret_file));
}
