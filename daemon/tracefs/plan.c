/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array of steps.  The split into "add" and "apply" is what lets one write of the ledger precede any number of
 * changes, and what lets a plan be printed instead.
 */

#include <pthread.h>
#include <sys/stat.h>

#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/process/thread.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/plan.h"

/*
 * What a new instance's files say; its other options are the top level's, also function_graph's where
 * each instance has its own (linux 6.12 kernel/trace/trace.c, trace_array_create_systems(),
 * init_tracer_tracefs(), ZEROED_TRACE_FLAGS; seen on 7.2).
 */
static const struct {
        const char *name, *value;
} new_values[] = {
        { "tracing_on", "1" },         { "current_tracer", "nop" },
        { "trace_clock", "local" },    { "buffer_size_kb", "1408" }, /* TRACE_BUF_SIZE_DEFAULT */
        { "buffer_percent", "50" },    { "options/function-fork", "0" },
        { "options/event-fork", "0" },
};

static void step_done(PlanStep *s) {
        free(s->file);
        free(s->now);
        free(s->value);
        free(s->text);
}

/* The file that @file is another name of. */
static const char *resolve(const Plan *p, const char *file) {
        const char *option = p->shares_options && startswith(file, "instances/")
                                     ? strstr(file, "/options/")
                                     : NULL;

        if (option &&
            (startswith(option, "/options/funcgraph-") || streq(option, "/options/sleep-time")))
                return option + 1;
        return file;
}

int plan_step(Plan *p, PlanKind kind, const char *file, const char *now, const char *value,
              const char *text) {
        PlanStep s = { .kind = kind };

        if (!ARRAY_GROW(p->steps, p->n))
                return -ENOMEM;
        s.file = strdup(file);
        s.now = now ? strdup(now) : NULL;
        s.value = value ? strdup(value) : NULL;
        s.text = text ? strdup(text) : NULL;
        if (!s.file || (now && !s.now) || (value && !s.value) || (text && !s.text)) {
                step_done(&s);
                return -ENOMEM;
        }
        s.place = resolve(p, s.file);
        p->steps[p->n++] = s;
        return 0;
}

/* --- what is there ---------------------------------------------------------------------------- */

/* The path below a directory that the plan makes, or NULL. */
static const char *find_in_new(const Plan *p, const char *file) {
        for (size_t i = 0; p->is_dry && i < p->n; i++) {
                const char *rest =
                        p->steps[i].kind == PLAN_MKDIR ? startswith(file, p->steps[i].file) : NULL;

                if (rest && *rest == '/')
                        return rest + 1;
        }
        return NULL;
}

static int read_new(const Tracefs *fs, const char *name, char **ret) {
        _cleanup_free_ uint32_t *cpus = NULL;
        _cleanup_free_ char *top = NULL;
        const char *value = NULL;
        size_t n;
        int r = control_read(fs->fd, name, &top);

        if (r < 0)
                return r; /* what the top level does not have an instance has not either */
        if (streq(name, "tracing_cpumask")) {
                r = tracefs_get_cpus(fs, &cpus, &n);
                if (r < 0)
                        return r;
                *ret = tracefs_make_mask(cpus[n - 1] + 1, &(Strv){});
                return *ret ? 0 : -ENOMEM;
        }
        if (startswith(name, "events/"))
                value = streq(strrchr(name, '/'), "/enable") ? "0" : "none";
        for (size_t i = 0; i < ELEMENTSOF(new_values); i++)
                if (streq(new_values[i].name, name))
                        value = new_values[i].value;
        if (!value && control_is_list(name))
                value = "";
        *ret = value ? strdup(value) : TAKE_PTR(top);
        return *ret ? 0 : -ENOMEM;
}

/* What @s leaves of a list that says @now. */
static int change_list(const PlanStep *s, const char *now, char **ret) {
        _cleanup_strv_ Strv words = {}, change = {}, sorted = {}, rest = {};
        int r = strv_split(&words, now, "\n")
                        ?: strv_split(&change, s->value, "\n")
                        ?: strv_copy_sorted(&sorted, &change)
                        ?: strv_pick(&rest, &words, &sorted, false);

        if (r >= 0 && s->kind != PLAN_REMOVE)
                r = strv_extend(&rest, &change);
        if (r < 0)
                return r;
        *ret = strv_join(&rest, "\n");
        return *ret ? 0 : -ENOMEM;
}

/* True if a dry plan would have written @file. */
static bool is_set(const Plan *p, const char *file) {
        for (size_t i = 0; p->is_dry && i < p->n; i++)
                if (p->steps[i].kind == PLAN_SET && streq(p->steps[i].file, file))
                        return true;
        return false;
}

int plan_read(const Plan *p, const char *file, char **ret) {
        const char *place = resolve(p, file), *name = find_in_new(p, place);
        _cleanup_free_ char *now = NULL;
        int r = name ? read_new(p->fs, name, &now) : control_read(p->fs->fd, place, &now);

        if (r == -ENOENT && is_set(p, file)) { /* of an event that a step would make */
                now = strdup("");
                r = now ? 0 : -ENOMEM;
        }
        for (size_t i = 0; r >= 0 && p->is_dry && i < p->n; i++) {
                const PlanStep *s = &p->steps[i];
                char *then = NULL;

                if (s->kind == PLAN_LINE || !streq(s->place, place))
                        continue;
                if (s->kind == PLAN_SET)
                        r = (then = strdup(s->value)) ? 0 : -ENOMEM;
                else
                        r = change_list(s, now, &then);
                if (r >= 0) {
                        free(now);
                        now = then;
                }
        }
        if (r >= 0)
                *ret = TAKE_PTR(now);
        return r;
}

/* --- adding ----------------------------------------------------------------------------------- */

/* Sizes that differ by CPU read as "X" (linux 6.1 kernel/trace/trace.c, tracing_entries_read()). */
static int save_sizes_by_cpu(const Plan *p, const char *owner) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int r = tracefs_get_cpus(p->fs, &cpus, &n);

        for (size_t i = 0; r >= 0 && i < n; i++) {
                const char *file = TRACEFS_PATH("per_cpu/cpu%u/buffer_size_kb", cpus[i]);
                _cleanup_free_ char *value = NULL;

                r = control_read(p->fs->fd, file, &value)
                            ?: ledger_add(p->ledger, owner, LEDGER_FILE, file, value);
        }
        return r;
}

int plan_add(Plan *p, const char *owner, const char *file, const char *value) {
        return plan_add_text(p, owner, file, value, NULL);
}

/*
 * Without buffer_percent the kernel wakes readers when their buffers are half full, which is late but not too
 * late for who looks by the clock as well (daemon/record/reader.h), and who listens to all CPUs' at once, whatever
 * it says.  Old kernels refuse it to whoever lacks CAP_DAC_OVERRIDE (linux 5.10 kernel/trace/trace.c,
 * init_tracer_tracefs(): 0444; ring_buffer.c, ring_buffer_poll_wait(): full is 0 for all CPUs).
 */
static bool is_withheld(const Plan *p, const char *file) {
        const char *name = find_in_new(p, resolve(p, file)) ?: file;

        return streq(basename(name), "buffer_percent") && control_is_read_only(p->fs->fd, name);
}

/*
 * True if the file goes on saying what it is made to say, until somebody else writes it.  The kernel rounds
 * sizes, switches tracing_on for triggers, and takes tasks and modules' functions out of lists; events are not
 * told apart from their triggers.
 */
static bool tells_whose(const char *file) {
        if (strstr(file, "events/") || strstr(file, "buffer_size_kb") || strstr(file, "tracing_on"))
                return false;
        return !control_is_list(file) || strstr(file, "set_graph_");
}

int plan_add_text(Plan *p, const char *owner, const char *file, const char *value,
                  const char *text) {
        _cleanup_free_ char *now = NULL;
        int r = plan_read(p, file, &now);

        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        if (control_equal(file, now, value) || is_withheld(p, file))
                return 0;
        if (owner) {
                if (streq(file, "buffer_size_kb") && *now == 'X')
                        r = save_sizes_by_cpu(p, owner);
                else
                        r = ledger_claim(p->ledger, owner, LEDGER_FILE, file, now,
                                         tells_whose(file) ? value : NULL);
        }
        r = r ?: plan_step(p, PLAN_SET, file, now, value, text);
        if (r >= 0)
                p->steps[p->n - 1].is_new = find_in_new(p, resolve(p, file)) != NULL;
        return r;
}

int plan_make_dir(Plan *p, const char *dir, const char **ret_file) {
        bool is_new = !ledger_record_of(p->ledger, p->session, LEDGER_INSTANCE, dir, NULL);
        int r;

        *ret_file = "the ledger";
        r = ledger_add(p->ledger, p->session, LEDGER_INSTANCE, dir, NULL)
                    ?: plan_step(p, PLAN_MKDIR, dir, NULL, NULL, NULL)
                    ?: ledger_commit(p->ledger)
                    ?: plan_apply(p, ret_file);
        if (r == -EEXIST && is_new && streq(*ret_file, dir)) { /* somebody else's */
                ledger_drop(p->ledger, p->session, dir, NULL);
                ledger_shorten(p->ledger);
        }
        return r;
}

int plan_append(Plan *p, const char *file, const Strv *words) {
        _cleanup_free_ char *text = strv_join(words, "\n"), *now = NULL;

        if (!text)
                return -ENOMEM;
        if (words->n == 0)
                return 0;
        return plan_read(p, file, &now) ?: plan_step(p, PLAN_APPEND, file, now, text, NULL);
}

/* --- applying --------------------------------------------------------------------------------- */

/* Newer kernels round a size up to whole pages and say so. */
static bool is_applied(const char *file, const char *now, const char *value) {
        if (control_equal(file, now, value))
                return true;
        return strstr(file, "buffer_size_kb") && *now != 'X' &&
               strtoul(now, NULL, 10) >= strtoul(value, NULL, 10);
}

/* 0, PLAN_E_OTHER: it says something else, PLAN_E_SLOW: CONTROL_E_SLOW, -errno. */
enum { PLAN_E_OTHER = 1, PLAN_E_SLOW = 2 };
static int look(const PlanStep *s, const Tracefs *fs) {
        _cleanup_free_ char *now = NULL;
        int r = control_read(fs->fd, s->file, &now);

        if (r < 0 || is_applied(s->file, now, s->value))
                return MIN(r, 0);
        log_debug("control", "%s says \"%.200s\" after \"%.200s\" was written", s->file, now,
                  s->value);
        return PLAN_E_OTHER;
}

static bool compares_names(const PlanStep *s) {
        return streq(s->file, "set_graph_function") || streq(s->file, "set_graph_notrace");
}

static int write_and_look(const PlanStep *s, const Plan *p, const char *text) {
        int r = control_write_paced(p->fs->fd, s->file, text, compares_names(s) ? p->pace : NULL);

        return r < 0 ? r : r == CONTROL_E_SLOW ? PLAN_E_SLOW : look(s, p->fs);
}

/* What a list lacks, unless not all of it is shown, and has too much. */
static int compare(const PlanStep *s, const Tracefs *fs, Strv *ret_lacks, Strv *ret_has) {
        _cleanup_strv_ Strv now = {}, wanted = {};
        int r = control_read_list(fs->fd, s->file, &now) ?: strv_split(&wanted, s->value, "\n");

        strv_sort_unique(&now);
        strv_sort_unique(&wanted);
        if (r >= 0 && control_n_unshown(&now) == 0)
                r = strv_pick(ret_lacks, &wanted, &now, false);
        for (size_t i = 0; r >= 0 && i < now.n; i++)
                if (!control_is_address(now.items[i]) && !strv_finds(&wanted, now.items[i]))
                        r = strv_add(ret_has, now.items[i]);
        return r;
}

/* What globs stand for has changed if modules came or went a moment ago: the rest by name. */
static int mend(const PlanStep *s, const Tracefs *fs) {
        _cleanup_strv_ Strv lacks = {}, has = {};
        int r = compare(s, fs, &lacks, &has);

        if (r >= 0 && lacks.n > 0)
                r = control_append(fs->fd, s->file, &lacks);
        if (r >= 0 && has.n > 0)
                r = control_remove(fs->fd, s->file, &has);
        return r ?: look(s, fs);
}

int plan_explain(const Plan *p, const char *file, char **ret) {
        _cleanup_strv_ Strv lacks = {}, has = {};
        const PlanStep *s = NULL;
        int r;

        for (size_t i = 0; i < p->n; i++)
                if (p->steps[i].kind == PLAN_SET && streq(p->steps[i].file, file))
                        s = &p->steps[i];
        r = s && control_is_list(file) ? compare(s, p->fs, &lacks, &has) : 0;
        if (r < 0)
                return r;
        if (lacks.n + has.n == 0)
                return text_format(ret, "it does not say what was written");
        return text_format(ret, "it %s %s%s afterwards; a module may have come or gone: try again",
                           lacks.n > 0 ? "lacks" : "has",
                           lacks.n > 0 ? lacks.items[0] : has.items[0],
                           lacks.n + has.n > 1 ? " and more" : "");
}

static int apply(const PlanStep *s, const Plan *p) {
        _cleanup_strv_ Strv lines = {};
        const Tracefs *fs = p->fs;
        int r;

        switch (s->kind) {
        case PLAN_MKDIR:
                log_debug("control", "mkdir %s", s->file);
                return mkdirat(fs->fd, s->file, 0700) < 0 ? ORIGIN(-errno) : 0;
        case PLAN_SET:
                r = write_and_look(s, p, s->text ?: s->value);
                if (r == PLAN_E_SLOW)
                        return ORIGIN(-ETIME);
                if (r != 0 && s->text && !streq(s->text, s->value) && control_is_list(s->file))
                        r = r < 0 || mend(s, fs) != 0 ? write_and_look(s, p, s->value) : 0;
                return r == PLAN_E_OTHER ? -EIO : r == PLAN_E_SLOW ? ORIGIN(-ETIME) : r;
        case PLAN_LINE:
                r = strv_split(&lines, s->value, "\n");
                return r < 0 ? r : control_append(fs->fd, s->file, &lines);
        case PLAN_RMDIR:
        case PLAN_APPEND:
        case PLAN_REMOVE:
        case PLAN_SELF:
        case PLAN_CLOSE:
                break; /* of a dry plan */
        }
        return ORIGIN(-EINVAL);
}

/*
 * Beside the daemon's loop, for each step may take long: the
 * filters of function_graph are found by comparing every function's name with the root's, and what
 * changes a buffer waits for all CPUs (linux 6.12 kernel/trace/ftrace.c, ftrace_graph_set_hash();
 * trace.c, tracing_set_clock(), synchronize_rcu() in ring_buffer_reset_online_cpus()).  One of them
 * computes, the other sleeps, and they hold different locks, so the two kinds go on side by side, each
 * in its order.
 */
typedef struct Lane {
        const Plan *plan;
        bool compares; /* the steps that it makes: those that compare names, or all others */
        size_t failed; /* index of the step, and why */
        int error;
} Lane;

static void *lane_run(void *userdata) {
        Lane *lane = userdata;
        const Plan *p = lane->plan;

        for (size_t i = p->n_applied; lane->error >= 0 && i < p->n; i++) {
                if (compares_names(&p->steps[i]) != lane->compares)
                        continue;
                lane->failed = i;
                lane->error = apply(&p->steps[i], p);
        }
        return NULL;
}

static bool has_both(const Plan *p) {
        size_t n = 0;

        for (size_t i = p->n_applied; i < p->n; i++)
                n += compares_names(&p->steps[i]);
        return n > 0 && n < p->n - p->n_applied;
}

int plan_apply_at_once(Plan *p, const char **ret_file) {
        Lane lanes[] = { { .plan = p }, { .plan = p, .compares = true } };
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

int plan_apply(Plan *p, const char **ret_file) {
        return p->is_dry ? 0 : BACKGROUND_CALL(plan_apply_at_once(p, ret_file));
}

int plan_put_line(Plan *p, const char *file, const char *line) {
        _cleanup_plan_ Plan own = PLAN_INIT(p->ledger, p->session);
        bool is_new = !ledger_record_of(p->ledger, p->session, LEDGER_LINE, file, line);
        const char *failed;
        int r = ledger_add(p->ledger, p->session, LEDGER_LINE, file, line)
                        ?: plan_step(p->is_dry ? p : &own, PLAN_LINE, file, NULL, line, NULL);

        if (r < 0 || p->is_dry)
                return r;
        r = ledger_commit(p->ledger);
        if (r < 0)
                return r;
        r = plan_apply(&own, &failed);
        if (r < 0 && is_new) { /* else it may be there, of an undo that failed */
                ledger_drop(p->ledger, p->session, file, line);
                ledger_shorten(p->ledger);
        }
        return r;
}

void plan_done(Plan *p) {
        for (size_t i = 0; i < p->n; i++)
                step_done(&p->steps[i]);
        free(p->steps);
        *p = (Plan){};
}
