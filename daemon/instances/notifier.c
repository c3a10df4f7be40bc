/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Listening is poll() on the instance's trace_pipe, one descriptor for all CPUs, with buffer_percent
 * 0 so that the first event wakes.  The kernel calls it readable as long as something is there, so
 * listening ends with the first ring, and notifier_clear() comes before the next.
 */

#include <fcntl.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/event-set.h"
#include "daemon/instances/notifier.h"
#include "daemon/tracefs/control.h"

#define BUFFER_KB "16"

struct Notifier {
        const Tracefs *fs;
        char *dir; /* with a '/' at its end */
        int fd;    /* trace_pipe */
        sd_event_source *source;
        NotifierRung rung;
        void *userdata;
};

static char *make_dir(const NotifierPlace *p) {
        char *dir;

        return asprintf(&dir, NOTIFIER_DIR_FORMAT "/", p->session, p->number) < 0 ? NULL : dir;
}

uint64_t notifier_hash(const NotifierPlace *p) {
        return hash_bytes(HASH_BYTES_FIRST, p->session, strlen(p->session));
}

int notifier_event(const NotifierPlace *p, const Trigger *t, const char *system, const char *suffix,
                   const char *filter, Trigger *ret) {
        _cleanup_trigger_ Trigger event = { .kind = TRIGGER_EVENT };
        int r;

        memcpy(event.does, t->does, sizeof(event.does));
        memcpy(event.delay_ns, t->delay_ns, sizeof(event.delay_ns));
        if (asprintf(&event.name, NOTIFIER_EVENT_FORMAT "%s", notifier_hash(p), p->number, suffix) <
            0) {
                event.name = NULL;
                return -ENOMEM;
        }
        r = text_replace(&event.system, system);
        if (r >= 0)
                r = text_replace(&event.filter, filter);
        if (r >= 0)
                *ret = TAKE(event, (Trigger){});
        return r;
}

/* --- hanging ---------------------------------------------------------------------------------- */

static int add(Plan *p, const Tracefs *fs, const char *dir, const char *file, const char *value,
               const char *text) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s%s", dir, file) < 0)
                return -ENOMEM;
        return plan_add_text(p, fs, NULL, NULL, path, value, text);
}

/* The function tracer on @names. */
static int add_functions(Plan *p, const Tracefs *fs, const char *dir, const Functions *f,
                         const Strv *names, const Strv *threads) {
        _cleanup_strv_ Strv found = {};
        _cleanup_free_ char *text = strv_join(names, "\n"), *lines = NULL,
                            *pids = strv_join(threads, "\n");
        int r = functions_find_lines(f, names, &found);

        if (r < 0)
                return r;
        lines = strv_join(&found, "\n");
        if (!text || !lines || !pids)
                return -ENOMEM;
        r = add(p, fs, dir, "set_ftrace_filter", text, lines);
        if (r >= 0 && threads->n > 0)
                r = add(p, fs, dir, "set_ftrace_pid", pids, NULL);
        if (r >= 0 && threads->n > 0)
                r = add(p, fs, dir, "options/function-fork", "1", NULL);
        return r < 0 ? r : add(p, fs, dir, "current_tracer", "function", NULL);
}

/* It is in the ledger although its instance goes: an event of our own cannot go while it is on.  In a
 * dry plan that event is not there to be read. */
static int add_event(Plan *p, const NotifierPlace *place, const char *dir, const Trigger *t) {
        _cleanup_free_ char *enable = NULL, *filter = NULL;
        int r = 0;

        if (asprintf(&enable, "%sevents/%s/%s/enable", dir, t->system, t->name) < 0)
                return -ENOMEM;
        if (asprintf(&filter, "%sevents/%s/%s/filter", dir, t->system, t->name) < 0)
                return -ENOMEM;
        if (t->filter)
                r = plan_step(p, PLAN_LINE, filter, NULL, t->filter, NULL);
        if (r >= 0)
                r = ledger_add(place->ledger, place->session, LEDGER_FILE, enable, "0");
        if (r >= 0)
                r = ledger_commit(place->ledger, place->fs->path);
        if (r >= 0)
                r = plan_step(p, PLAN_SET, enable, "0", "1", NULL);
        if (r >= 0)
                p->steps[p->n - 1].is_new = true;
        return r;
}

/* Of a synthetic one a dry plan has but the step that would make it. */
static bool event_exists(const Plan *p, const Tracefs *fs, const Trigger *t) {
        _cleanup_free_ char *path = NULL;

        if (p->is_dry && (streq(t->system, STOPWATCH_SYSTEM) || streq(t->system, "ftraced")))
                return true;
        return asprintf(&path, "events/%s/%s/enable", t->system, t->name) >= 0 &&
               faccessat(fs->fd, path, F_OK, 0) >= 0;
}

int notifier_admit(const Tracefs *fs, const Trigger *t, const Functions *functions,
                   Refusal *refusal) {
        static const Plan none = {};

        if ((t->kind == TRIGGER_FUNCTION || t->kind == TRIGGER_RETURN) &&
            !functions_contain(functions, t->name))
                return refuse_no_function(functions, t->name, refusal);
        if (t->kind == TRIGGER_EVENT && !event_exists(&none, fs, t))
                return refuse_no_event(fs, t->system, t->name, refusal);
        return 0;
}

int notifier_attach(const NotifierPlace *place, Plan *p, const Trigger *t,
                    const Functions *functions, const Strv *roots, const Strv *threads,
                    Refusal *refusal) {
        _cleanup_free_ char *dir = make_dir(place), *path = NULL;
        _cleanup_strv_ Strv names = {}, nobody = {};
        const Tracefs *fs = place->fs;
        const char *file = "";
        int r = 0;

        if (!dir)
                return -ENOMEM;
        if (t->kind == TRIGGER_FUNCTION && !functions_contain(functions, t->name))
                return refuse_no_function(functions, t->name, refusal);
        if (t->kind == TRIGGER_EVENT && !event_exists(p, fs, t))
                return refuse_no_event(fs, t->system, t->name, refusal);
        path = strndup(dir, strlen(dir) - 1);
        if (!path)
                return -ENOMEM;

        r = plan_make_dir(p, fs, place->ledger, place->session, path, &file);
        if (r >= 0)
                r = add(p, fs, dir, "buffer_size_kb", BUFFER_KB, NULL);
        if (r >= 0)
                r = add(p, fs, dir, "buffer_percent", "0", NULL);
        if (r >= 0)
                r = add(p, fs, dir, "options/overwrite", "1", NULL);
        if (r >= 0 && t->kind == TRIGGER_EVENT)
                r = add_event(p, place, dir, t);
        else if (r >= 0) {
                r = t->kind == TRIGGER_FUNCTION ? strv_add(&names, t->name)
                                                : strv_copy(&names, roots);
                if (r >= 0)
                        r = add_functions(p, fs, dir, functions, &names,
                                          t->kind == TRIGGER_COUNT ? threads : &nobody);
        }
        if (r >= 0)
                r = plan_apply(p, fs, &file);
        if (r == -EINVAL && strstr(file, "/filter"))
                return refuse_event_filter(fs, file, "triggers", refusal);
        if (r < 0)
                return refusal_set_errno(refusal, -r,
                                         "the trigger cannot be programmed: %s in %s: %s", file,
                                         fs->path, origin_text(r));
        return 0;
}

/* --- listening -------------------------------------------------------------------------------- */

static int on_ring(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Notifier *b = userdata;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        b->rung(b->userdata);
        return 0;
}

int notifier_open(Notifier **ret, const NotifierPlace *place, sd_event *event, NotifierRung rung,
                  void *userdata) {
        _cleanup_(notifier_freep) Notifier *b =
                NEW(Notifier, .fs = place->fs, .fd = -EBADF, .rung = rung, .userdata = userdata);
        int r;

        if (!b)
                return -ENOMEM;
        b->dir = make_dir(place);
        if (!b->dir)
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

/* "entries: 12" and "overrun: 3" (linux 6.1 kernel/trace/trace.c, tracing_stats_read()). */
static uint64_t read_stat(const char *text, const char *name) {
        const char *at = strstr(text, name);

        return at && (at == text || at[-1] == '\n') ? strtoull(at + strlen(name), NULL, 10) : 0;
}

int notifier_count(Notifier *b, uint64_t *ret) {
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t count = 0;
        size_t n;
        int r = tracefs_get_cpus(b->fs, &cpus, &n);

        for (size_t i = 0; r >= 0 && i < n; i++) {
                _cleanup_free_ char *text = NULL;

                r = tracefs_read(b->fs, &text, "%sper_cpu/cpu%u/stats", b->dir, cpus[i]);
                if (r >= 0)
                        count += read_stat(text, "entries: ") + read_stat(text, "overrun: ");
        }
        if (r < 0)
                return r;
        *ret = count;
        return 0;
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

/* The control file and the line in it. */
static int describe_switch(const char *dir, const Trigger *t, bool on, char **ret_file,
                           char **ret_line) {
        const char *word = on ? "traceon" : "traceoff";
        char *file = NULL, *line = NULL;
        int k;

        if (t->kind == TRIGGER_FUNCTION)
                k = asprintf(&file, "%sset_ftrace_filter", dir);
        else
                k = asprintf(&file, "%sevents/%s/%s/trigger", dir, t->system, t->name);
        if (k < 0)
                return -ENOMEM;
        if (t->kind == TRIGGER_FUNCTION)
                k = asprintf(&line, "%s:%s:1", t->name, word);
        else
                k = asprintf(&line, "%s:1%s%s", word, t->filter ? " if " : "", t->filter ?: "");
        if (k < 0) {
                free(file);
                return -ENOMEM;
        }
        *ret_file = file;
        *ret_line = line;
        return 0;
}

int switch_plan(Plan *p, Ledger *l, const char *session, const char *dir, const Trigger *t,
                bool on) {
        _cleanup_free_ char *file = NULL, *line = NULL;
        int r = describe_switch(dir, t, on, &file, &line);

        return r < 0 ? r : plan_add_line(p, l, session, file, line);
}

int switch_put(const Tracefs *fs, Ledger *l, const char *session, const char *dir, const Trigger *t,
               bool on) {
        _cleanup_plan_ Plan plan = {};
        const char *file;
        int r = switch_plan(&plan, l, session, dir, t, on);

        if (r >= 0)
                r = ledger_commit(l, fs->path);
        if (r >= 0)
                r = plan_apply(&plan, fs, &file);
        if (r == -EEXIST)
                ledger_drop_line(l, session, file, plan.steps[0].value);
        return r;
}

int switch_take(const Tracefs *fs, const char *dir, const Trigger *t, bool on) {
        _cleanup_free_ char *file = NULL, *line = NULL;
        _cleanup_strv_ Strv lines = {};
        int r = describe_switch(dir, t, on, &file, &line);

        if (r >= 0)
                r = strv_add(&lines, line);
        if (r >= 0)
                r = control_remove(fs->fd, file, &lines);
        return r == -ENODEV ? 0 : r; /* what set_ftrace_filter says if there is none */
}
