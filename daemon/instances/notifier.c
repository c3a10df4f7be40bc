/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Listening is poll() on the instance's trace_pipe, one descriptor for all CPUs, with buffer_percent
 * 0 so that the first event wakes.  The kernel calls it readable as long as something is there, so
 * listening ends with the first ring, and notifier_clear() comes before the next.
 */

#include <fcntl.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/unit.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"

/* Of the session and the trigger's number in it; no session's instance: theirs begin with "ftraced-". */
#define DIR_FORMAT "instances/ftraced.bell-%s-%zu"
#define EVENT_FORMAT "ftraced_%016" PRIx64 "_%zu"
#define BUFFER_KB "16"
/* What events made of several others belong to (linux 6.1 kernel/trace/trace_synth.h). */
#define STOPWATCH_SYSTEM "synthetic"
#define STOPWATCH_FUNCTIONS_MAX 16
#define STOPWATCH_THREADS 8192 /* the first that call the functions are seen */
#define DYNAMIC_EVENTS "dynamic_events"
#define MAX_ACTIVE 512 /* calls of one function that are measured at the same time */

struct Notifier {
        const Tracefs *fs;
        char *dir; /* with a '/' at its end */
        int fd;    /* trace_pipe */
        sd_event_source *source;
        NotifierRung rung;
        void *userdata;
};

/* @t on an event of its own; @filter may be NULL. */
static int make_event(const char *session, size_t number, const Trigger *t, const char *system,
                      const char *suffix, const char *filter, Trigger *ret) {
        _cleanup_trigger_ Trigger event = { .kind = TRIGGER_EVENT };
        int r;

        memcpy(event.does, t->does, sizeof(event.does));
        memcpy(event.delay_ns, t->delay_ns, sizeof(event.delay_ns));
        r = text_format(&event.name, EVENT_FORMAT "%s", value_probe_hash(session), number, suffix)
                    ?: text_replace(&event.system, system)
                    ?: text_replace(&event.filter, filter);
        if (r >= 0)
                *ret = TAKE(event, (Trigger){});
        return r;
}

int notifier_event(const char *session, size_t number, const Trigger *t, Trigger *ret) {
        char filter[40];

        if (t->kind == TRIGGER_RETURN)
                return make_event(session, number, t, "ftraced", "_ret", t->filter, ret);
        if (t->kind == TRIGGER_SLOWER) {
                (void) snprintf(filter, sizeof(filter), "lat >= %" PRIu64,
                                MAX(t->value / (uint64_t) NSEC_PER_USEC, (uint64_t) 1));
                return make_event(session, number, t, STOPWATCH_SYSTEM, "", filter, ret);
        }
        *ret = (Trigger){ .kind = t->kind };
        ret->system = t->system ? strdup(t->system) : NULL;
        ret->name = strdup(t->name);
        ret->filter = t->filter ? strdup(t->filter) : NULL;
        return ret->name ? 0 : -ENOMEM;
}

/* --- hanging ---------------------------------------------------------------------------------- */

static int add(Plan *p, const char *dir, const char *file, const char *value, const char *text) {
        return plan_add_text(p, NULL, TRACEFS_PATH("%s/%s", dir, file), value, text);
}

/* The function tracer on @names. */
static int add_functions(Plan *p, const char *dir, const Functions *f, const Strv *names,
                         const Strv *threads) {
        _cleanup_strv_ Strv found = {};
        _cleanup_free_ char *text = strv_join(names, "\n"), *lines = NULL,
                            *pids = strv_join(threads, "\n");
        int r = functions_find_lines(f, names, &found);

        if (r < 0)
                return r;
        lines = strv_join(&found, "\n");
        if (!text || !lines || !pids)
                return -ENOMEM;
        r = add(p, dir, "set_ftrace_filter", text, lines);
        if (r >= 0 && threads->n > 0)
                r = add(p, dir, "set_ftrace_pid", pids, NULL);
        if (r >= 0 && threads->n > 0)
                r = add(p, dir, "options/function-fork", "1", NULL);
        return r ?: add(p, dir, "current_tracer", "function", NULL);
}

/* It is in the ledger although its instance goes: an event of our own cannot go while it is on.  In a
 * dry plan that event is not there to be read. */
static int add_event(Plan *p, const char *dir, const Trigger *t) {
        const char *enable = TRACEFS_PATH("%s/events/%s/%s/enable", dir, t->system, t->name),
                   *filter = TRACEFS_PATH("%s/events/%s/%s/filter", dir, t->system, t->name);
        int r = 0;

        if (t->filter)
                r = plan_step(p, PLAN_LINE, filter, NULL, t->filter, NULL);
        r = r ?: ledger_add(p->ledger, p->session, LEDGER_FILE, enable, "0")
                    ?: ledger_commit(p->ledger)
                    ?: plan_step(p, PLAN_SET, enable, "0", "1", NULL);
        if (r >= 0)
                p->steps[p->n - 1].is_new = true;
        return r;
}

int notifier_admit(const Tracefs *fs, const Trigger *t, const Functions *functions,
                   Refusal *refusal) {
        if ((t->kind == TRIGGER_FUNCTION || t->kind == TRIGGER_RETURN) &&
            !functions_contain(functions, t->name))
                return refuse_no_function(functions, t->name, refusal);
        if (t->kind == TRIGGER_EVENT &&
            faccessat(fs->fd, TRACEFS_PATH("events/%s/%s/enable", t->system, t->name), F_OK, 0) < 0)
                return refuse_no_event(fs, t->system, t->name, refusal);
        return 0;
}

/* --- the stopwatch ----------------------------------------------------------------------------- */

/*
 * A kprobe and a kretprobe on each function, the difference of their times by thread (a hist
 * trigger's variables, linux 6.1 Documentation/trace/histogram.rst, section 2.2), and a synthetic
 * event with the difference, for whose value an ordinary event trigger can have a filter.  Probes and
 * events exist once for all instances; what computes is in the notifier's. */

/* One more line in a file, in the ledger before it is there. */
static _printf_(3, 4) int add_line(Plan *p, const char *file, const char *format, ...) {
        _cleanup_free_ char *line = NULL;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&line, format, ap);
        va_end(ap);
        if (n < 0) {
                line = NULL;
                return -ENOMEM;
        }
        return plan_put_line(p, file, line);
}

static int refuse_kernel(Refusal *refusal, const char *what, int error) {
        return refusal_set(refusal, REFUSAL_NOT_SUPPORTED, NULL,
                           "slower:TIME cannot be a trigger on this kernel: %s: %s; it needs "
                           "CONFIG_KPROBE_EVENTS and CONFIG_HIST_TRIGGERS",
                           what, strerror(-error));
}

/* Before the notifier. */
static int make_stopwatch(Plan *p, size_t number, const Strv *functions, Refusal *refusal) {
        uint64_t hash = value_probe_hash(p->session);
        int r = 0;

        if (functions->n > STOPWATCH_FUNCTIONS_MAX)
                return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "triggers",
                                      "slower:TIME can measure %d functions, not %zu; name fewer",
                                      STOPWATCH_FUNCTIONS_MAX, functions->n);
        for (size_t i = 0; i < functions->n; i++) {
                r = add_line(p, DYNAMIC_EVENTS, "p:ftraced/" EVENT_FORMAT "_in%zu %s", hash, number,
                             i, functions->items[i]);
                if (r >= 0)
                        r = add_line(p, DYNAMIC_EVENTS, "r%d:ftraced/" EVENT_FORMAT "_out%zu %s",
                                     MAX_ACTIVE, hash, number, i, functions->items[i]);
                if (r < 0)
                        return refuse_kernel(refusal, functions->items[i], r);
        }
        r = add_line(p, DYNAMIC_EVENTS, "s:" EVENT_FORMAT " u64 lat", hash, number);
        return r < 0 ? refuse_kernel(refusal, "a synthetic event", r) : 0;
}

/* In the notifier's instance. */
static int begin_stopwatch(Plan *p, size_t number, const Strv *functions, Refusal *refusal) {
        static const char trigger[] = DIR_FORMAT "/events/ftraced/" EVENT_FORMAT "_%s%zu/trigger";
        uint64_t hash = value_probe_hash(p->session);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < functions->n; i++) {
                r = add_line(p, TRACEFS_PATH(trigger, p->session, number, hash, number, "in", i),
                             "hist:keys=common_pid:ts%zu=common_timestamp.usecs:size=%d", i,
                             STOPWATCH_THREADS);
                if (r >= 0)
                        r = add_line(
                                p,
                                TRACEFS_PATH(trigger, p->session, number, hash, number, "out", i),
                                "hist:keys=common_pid:lat%zu=common_timestamp.usecs-$ts"
                                "%zu:onmatch(ftraced." EVENT_FORMAT "_in%zu).trace(" EVENT_FORMAT
                                ",$lat%zu):size=%d",
                                i, i, hash, number, i, hash, number, i, STOPWATCH_THREADS);
        }
        return r < 0 ? refuse_kernel(refusal, "a hist trigger", r) : 0;
}

/* --- attaching -------------------------------------------------------------------------------- */

/* On a function, an event, or the roots. */
static int attach(Plan *p, size_t number, const Trigger *t, const Functions *functions,
                  const Strv *roots, const Strv *threads, Refusal *refusal) {
        const char *dir = TRACEFS_PATH(DIR_FORMAT, p->session, number), *file = "";
        _cleanup_strv_ Strv names = {}, nobody = {};
        int r = plan_make_dir(p, dir, &file)
                        ?: add(p, dir, "buffer_size_kb", BUFFER_KB, NULL)
                        ?: add(p, dir, "buffer_percent", "0", NULL)
                        ?: add(p, dir, "options/overwrite", "1", NULL);

        if (r >= 0 && t->kind == TRIGGER_EVENT)
                r = add_event(p, dir, t);
        else if (r >= 0) {
                r = t->kind == TRIGGER_FUNCTION ? strv_add(&names, t->name)
                                                : strv_copy(&names, roots);
                r = r
                            ?: add_functions(p, dir, functions, &names,
                                             t->kind == TRIGGER_COUNT ? threads : &nobody);
        }
        r = r ?: plan_apply(p, &file);
        if (r == -EINVAL && strstr(file, "/filter"))
                return refuse_event_filter(p->fs, file, "triggers", refusal);
        if (r < 0)
                return refusal_set_errno(refusal, -r,
                                         "the trigger cannot be programmed: %s in %s: %s", file,
                                         p->fs->path, origin_text(r));
        return 0;
}

int notifier_attach(Plan *p, size_t number, const Trigger *t, const Functions *functions,
                    const Strv *roots, const Strv *threads, Refusal *refusal) {
        static const Strv nobody = {};
        _cleanup_trigger_ Trigger event = {};
        int r = 0;

        if (t->kind != TRIGGER_SLOWER && t->kind != TRIGGER_RETURN)
                return attach(p, number, t, functions, roots, threads, refusal);
        r = notifier_event(p->session, number, t, &event);
        if (r == 0)
                r = t->kind == TRIGGER_SLOWER
                            ? make_stopwatch(p, number, roots, refusal)
                            : value_probe_make_event(p, t->name, event.name, refusal);
        r = r ?: attach(p, number, &event, functions, &nobody, &nobody, refusal);
        return r == 0 && t->kind == TRIGGER_SLOWER ? begin_stopwatch(p, number, roots, refusal) : r;
}

/* --- listening -------------------------------------------------------------------------------- */

static int on_ring(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Notifier *b = userdata;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        b->rung(b->userdata);
        return 0;
}

int notifier_open(Notifier **ret, const Tracefs *fs, const char *session, size_t number,
                  sd_event *event, NotifierRung rung, void *userdata) {
        _cleanup_(notifier_freep) Notifier *b =
                NEW(Notifier, .fs = fs, .fd = -EBADF, .rung = rung, .userdata = userdata);
        int r;

        if (!b || text_format(&b->dir, DIR_FORMAT "/", session, number) < 0)
                return -ENOMEM;
        b->fd = tracefs_open(b->fs, O_RDONLY | O_NONBLOCK, "%strace_pipe", b->dir);
        if (b->fd < 0)
                return b->fd;
        r = sd_event_add_io(event, &b->source, b->fd, EPOLLIN, on_ring, b);
        if (r >= 0)
                r = sd_event_source_set_enabled(b->source, SD_EVENT_OFF);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(b);
        return 0;
}

int notifier_listen(Notifier *b, bool listen) {
        return sd_event_source_set_enabled(b->source, listen ? SD_EVENT_ON : SD_EVENT_OFF);
}

int notifier_count(Notifier *b, uint64_t *ret) {
        uint64_t stats[_STAT_N];
        int r = tracefs_sum_stats(b->fs, b->dir, stats);

        if (r >= 0)
                *ret = stats[STAT_ENTRIES] + stats[STAT_OVERRUN];
        return r;
}

int notifier_clear(Notifier *b) {
        return tracefs_empty(b->fs, b->dir);
}

Notifier *notifier_free(Notifier *b) {
        if (!b)
                return NULL;
        (void) sd_event_source_disable_unref(b->source);
        (void) safe_close(b->fd);
        free(b->dir);
        return mfree(b);
}

/* --- switches --------------------------------------------------------------------------------- */

/* The control file, and the line in it, which the caller frees; NULL without memory. */
static char *describe_switch(const char *dir, const Trigger *t, bool on,
                             char ret_file[static PATH_MAX]) {
        const char *word = on ? "traceon" : "traceoff";
        char *line;

        if (t->kind == TRIGGER_FUNCTION) {
                (void) tracefs_path(ret_file, "%sset_ftrace_filter", dir);
                (void) text_format(&line, "%s:%s:1", t->name, word);
        } else {
                (void) tracefs_path(ret_file, "%sevents/%s/%s/trigger", dir, t->system, t->name);
                (void) text_format(&line, "%s:1%s%s", word, t->filter ? " if " : "",
                                   t->filter ?: "");
        }
        return line;
}

int switch_put(Plan *p, const char *dir, const Trigger *t, bool on) {
        char file[PATH_MAX];
        _cleanup_free_ char *line = describe_switch(dir, t, on, file);

        return line ? plan_put_line(p, file, line) : -ENOMEM;
}

int switch_take(const Tracefs *fs, const char *dir, const Trigger *t, bool on) {
        char file[PATH_MAX];
        char *line = describe_switch(dir, t, on, file);
        _cleanup_strv_ Strv lines = {};
        int r = line ? strv_take(&lines, line) : -ENOMEM;

        r = r ?: control_remove(fs->fd, file, &lines);
        return r == -ENODEV ? 0 : r; /* what set_ftrace_filter says if there is none */
}
