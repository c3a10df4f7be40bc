/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Claiming adds records as a session would have, so that there is one way back.  A tracer is switched
 * off first, which the kernel refuses as long as anybody has its trace_pipe_raw open.
 */

#include "base/log.h"
#include "daemon/tracer/controller-private.h"

#define INNER_PREFIX "ftraced." /* of what belongs to a session or to none */
#define EVENT_PREFIX "ftraced_"
#define EVENTS "dynamic_events"
#define LEFT_SESSION "(left)"
#define LISTED_MAX 5 /* names in a sentence */

enum {
        TOP_ONLY = 1 << 0, /* of no matter where sessions have instances */
        /* What anybody may have set for good, and is worth no word unless something is lost. */
        USER_SET = 1 << 1,
};

/* What a session overrides and puts back; `usual` is what the kernel begins with. */
static const struct {
        const char *file, *usual;
        unsigned flags;
} values[] = {
        { "tracing_thresh", "0", 0 },
        { "max_graph_depth", "0", 0 },
        { "set_graph_function", "", 0 },
        { "set_graph_notrace", "", 0 },
        { "set_ftrace_filter", "", TOP_ONLY },
        { "set_ftrace_notrace", "", TOP_ONLY },
        { "set_ftrace_pid", "", TOP_ONLY },
        { "set_ftrace_notrace_pid", "", TOP_ONLY },
        { "set_event", "", TOP_ONLY | USER_SET },
        { "set_event_pid", "", TOP_ONLY | USER_SET },
        { "set_event_notrace_pid", "", TOP_ONLY | USER_SET },
        { "options/overwrite", "1", TOP_ONLY },
        { "options/sleep-time", "1", 0 },
        { "options/funcgraph-irqs", "1", 0 },
        { "options/funcgraph-args", "0", 0 },
        { "options/funcgraph-retval", "0", 0 },
        { "options/funcgraph-retaddr", "0", 0 },
        { "options/function-fork", "0", TOP_ONLY | USER_SET },
        { "options/event-fork", "0", TOP_ONLY | USER_SET },
        { "options/record-cmd", "1", TOP_ONLY | USER_SET },
        { "trace_clock", "local", TOP_ONLY | USER_SET },
        { "buffer_size_kb", "1408", TOP_ONLY | USER_SET },
        { "buffer_percent", "50", TOP_ONLY | USER_SET },
        { "tracing_on", "1", TOP_ONLY | USER_SET },
};

/* 1: it is there and says something else, *@ret_now on one line. */
static int differs(const Tracefs *fs, size_t i, char **ret_now) {
        int r = control_read(fs->fd, values[i].file, ret_now);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (control_equal(values[i].file, *ret_now, values[i].usual))
                return 0;
        for (char *s = *ret_now; *s; s++)
                if (*s == '\n')
                        *s = ' ';
        return 1;
}

int leftovers_find_values(const Tracefs *fs, bool has_instances, bool all, Strv *ret,
                          Strv *ret_commands) {
        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                _cleanup_free_ char *now = NULL;
                int r;

                if ((values[i].flags & TOP_ONLY && has_instances) ||
                    (values[i].flags & USER_SET && !all))
                        continue;
                r = differs(fs, i, &now);
                if (r > 0)
                        r = strv_addf(ret, "%s is %.40s%s", values[i].file, now,
                                      strlen(now) > 40 ? "..." : "");
                else if (r == 0)
                        continue;
                if (r >= 0)
                        r = strv_addf(ret_commands, "echo%s%s > %s/%s", *values[i].usual ? " " : "",
                                      values[i].usual, fs->path, values[i].file);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* What there is, and what others know of it. */
typedef struct Found {
        Strv instances, events;
        Ledger *others;
} Found;

static void found_done(Found *f) {
        strv_done(&f->instances);
        strv_done(&f->events);
        ledger_free(f->others);
}

/* A live daemon's ledger has what it makes before that is there, so it is read last. */
static int look(const Ledger *l, Found *ret) {
        int r = tracefs_get_instances(l->fs, &ret->instances)
                        ?: control_read_list(l->fs->fd, EVENTS, &ret->events);

        return r < 0 && r != -ENOENT ? r : ledger_read_others(l, &ret->others);
}

/* --- instances -------------------------------------------------------------------------------- */

static bool is_our_name(const char *name) {
        return startswith(name, INSTANCE_PREFIX) || startswith(name, INNER_PREFIX);
}

/* 1: it was on, 0: it is nop, -EBUSY: somebody uses it. */
static int switch_off(const Tracefs *fs, const char *name, const char *dir) {
        const char *path = TRACEFS_PATH("%s/current_tracer", dir);
        _cleanup_free_ char *tracer = NULL;
        int r = control_read(fs->fd, path, &tracer);

        if (r < 0)
                return r;
        if (startswith(name, INNER_PREFIX) || streq(tracer, "nop"))
                return 0;
        if (!streq(tracer, "function_graph"))
                return ORIGIN(-EBUSY);
        return ledger_switch_off(fs, path) ?: 1;
}

static int claim_instance(Ledger *l, const Ledger *others, const char *name, bool *was_on) {
        const char *dir = TRACEFS_PATH("instances/%s", name);
        int r;

        if (ledger_find(l, LEDGER_INSTANCE, dir) || ledger_find(others, LEDGER_INSTANCE, dir))
                return 0;
        r = switch_off(l->fs, name, dir);
        if (r < 0)
                return r == -EBUSY || r == -ENOENT || r == -ENODEV ? 0 : r;
        *was_on = *was_on || r > 0;
        log_warning("%s/%s is ftraced's by its name, and in no ledger any more: removed.",
                    l->fs->path, dir);
        return ledger_add(l, name, LEDGER_INSTANCE, dir, NULL);
}

/* --- events ----------------------------------------------------------------------------------- */

/* The event's name in a line like "p:ftraced/NAME f"; *@ret_n bytes. */
static const char *event_of(const char *line, size_t *ret_n) {
        const char *s = strchr(line, ':'), *slash;

        if (!s)
                return NULL;
        *ret_n = strcspn(++s, " \t");
        slash = memchr(s, '/', *ret_n);
        if (slash) {
                *ret_n -= (size_t) (slash + 1 - s);
                s = slash + 1;
        }
        return startswith(s, EVENT_PREFIX) ? s : NULL;
}

static bool has_event(const Ledger *l, const char *event, size_t n) {
        for (size_t i = 0; i < l->n; i++) {
                const LedgerRecord *e = &l->records[i];
                const char *known;
                size_t n_known;

                if (e->kind != LEDGER_LINE || !streq(e->file, EVENTS))
                        continue;
                known = event_of(e->old, &n_known);
                if (known && n_known == n && memcmp(known, event, n) == 0)
                        return true;
        }
        return false;
}

/* Lines that are no ledger's. */
static int find_events(const Ledger *l, const Found *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < f->events.n; i++) {
                const char *line = f->events.items[i];
                size_t n;
                const char *event = event_of(line, &n);

                if (event && !has_event(l, event, n) && !has_event(f->others, event, n))
                        r = strv_addn(ret, line,
                                      strcspn(line, "\t")); /* what a synthetic one has */
        }
        return r;
}

/* An event cannot go while it is on: in which of our buffers is not known any more. */
static int claim_switches(Ledger *l, const Strv *instances, const char *event) {
        size_t n_name = 0;
        const char *name = event_of(event, &n_name);
        int r = 0;

        for (size_t i = 0; name && r >= 0 && i <= instances->n; i++) {
                const char *instance = i < instances->n ? instances->items[i] : NULL;

                if (instance && !is_our_name(instance))
                        continue;
                r = ledger_add(l, LEFT_SESSION, LEDGER_FILE,
                               TRACEFS_PATH("%s%s%sevents/ftraced/%.*s/enable",
                                            instance ? "instances/" : "", instance ?: "",
                                            instance ? "/" : "", (int) n_name, name),
                               "0");
        }
        return r;
}

static int claim_events(Ledger *l, const Found *f) {
        _cleanup_strv_ Strv events = {};
        int r = find_events(l, f, &events);

        for (size_t i = 0; r >= 0 && i < events.n; i++) {
                log_warning("The event \"%s\" in %s/" EVENTS " is ftraced's by its name, and in no "
                            "ledger any more: removed.",
                            events.items[i], l->fs->path);
                r = ledger_add(l, LEFT_SESSION, LEDGER_LINE, EVENTS, events.items[i])
                            ?: claim_switches(l, &f->instances, events.items[i]);
        }
        return r;
}

/* --- what there is one of ---------------------------------------------------------------------- */

static bool has_shared(const Ledger *l) {
        return ledger_find(l, LEDGER_FILE, "set_graph_function");
}

/* As long as somebody traces it is theirs. */
static int claim_values(Ledger *l, const Ledger *others) {
        _cleanup_strv_ Strv users = {};
        int r;

        if (has_shared(l) || has_shared(others))
                return 0;
        r = tracefs_find_graph_users(l->fs, &users);
        for (size_t i = 0; r >= 0 && users.n == 0 && i < ELEMENTSOF(values); i++) {
                _cleanup_free_ char *now = NULL;

                if (values[i].flags & TOP_ONLY ||
                    (startswith(values[i].file, "options/") && !instance_shares_options(l->fs)))
                        continue;
                r = differs(l->fs, i, &now);
                if (r <= 0)
                        continue;
                log_warning("%s/%s is \"%.200s\" for a session of which there is no ledger any "
                            "more: what it was before is not known, and it becomes \"%s\".",
                            l->fs->path, values[i].file, now, values[i].usual);
                r = ledger_add(l, LEDGER_SHARED, LEDGER_FILE, values[i].file, values[i].usual);
        }
        return r;
}

int leftovers_claim(Ledger *l) {
        _cleanup_(found_done) Found f = {};
        size_t n_before = l->n;
        bool was_on = false;
        int r;

        if (l->dir_fd < 0) /* it may be a live daemon's, and is to be written down first */
                return 0;
        r = look(l, &f);
        for (size_t i = 0; r >= 0 && i < f.instances.n; i++)
                if (is_our_name(f.instances.items[i]))
                        r = claim_instance(l, f.others, f.instances.items[i], &was_on);
        r = r ?: claim_events(l, &f);
        if (r >= 0 && was_on)
                r = claim_values(l, f.others);
        return r >= 0 && l->n > n_before ? ledger_commit(l) : MIN(r, 0);
}

/* --- in words --------------------------------------------------------------------------------- */

/* @e: of another store's ledger; @file: relative to tracefs. */
static int tell_other(const Ledger *l, const LedgerRecord *e, const char *file, Strv *ret) {
        if (ledger_other_lives(l, e->session))
                return 0;
        return strv_addf(ret,
                         "%s/%s is of an ftraced with the store %s, which has gone: ftraced "
                         "--restore --store=%s",
                         l->fs->path, file, e->session, e->session);
}

static int tell_instance(const Ledger *l, const Ledger *others, const char *name, Strv *ret) {
        const char *dir = TRACEFS_PATH("instances/%s", name);
        const LedgerRecord *e;

        if (ledger_find(l, LEDGER_INSTANCE, dir))
                return 0;
        e = ledger_find(others, LEDGER_INSTANCE, dir);
        if (e)
                return tell_other(l, e, dir, ret);
        return strv_addf(ret,
                         "%s/%s has a name that ftraced gives, is in no ledger, and somebody holds "
                         "it; when that has ended: echo nop > %s/%s/current_tracer; rmdir %s/%s",
                         l->fs->path, dir, l->fs->path, dir, l->fs->path, dir);
}

/* 6.1: the top level is where sessions are, and nothing there has a name. */
static int tell_top_level(const Ledger *l, const Ledger *others, Strv *ret) {
        _cleanup_free_ char *tracer = NULL;
        const LedgerRecord *e = ledger_find(others, LEDGER_FILE, "current_tracer");
        int r;

        if (ledger_covers(l, ""))
                return 0;
        r = control_read(l->fs->fd, "current_tracer", &tracer);
        if (r < 0 || !streq(tracer, "function_graph"))
                return MIN(r, 0);
        if (e)
                return tell_other(l, e, "current_tracer", ret);
        return strv_addf(ret,
                         "%s/current_tracer is function_graph, and no ledger says whose; if it is "
                         "nobody's: echo nop > %s/current_tracer",
                         l->fs->path, l->fs->path);
}

static int tell_ledger(const Ledger *l, Strv *ret) {
        _cleanup_free_ char *names = NULL, *store = ledger_store(l);
        _cleanup_strv_ Strv files = {};
        int r = 0;

        if (l->n == 0)
                return 0;
        for (size_t i = 0; r >= 0 && i < MIN(l->n, (size_t) LISTED_MAX); i++)
                r = strv_add(&files, l->records[i].file);
        names = r < 0 ? NULL : strv_join(&files, ", ");
        if (!names)
                return -ENOMEM;
        return strv_addf(ret,
                         "%zu changes in %s could not be put back yet, %s%s; ftraced --restore%s%s "
                         "tries again",
                         l->n, l->fs->path, names, l->n > LISTED_MAX ? ", ..." : "",
                         store ? " --store=" : "", store ?: "");
}

int leftovers_find(const Ledger *l, bool all, Strv *ret) {
        _cleanup_(found_done) Found f = {};
        _cleanup_strv_ Strv events = {};
        int r = all ? tell_ledger(l, ret) : 0;

        r = r ?: look(l, &f);
        if (r >= 0 && all)
                r = tell_top_level(l, f.others, ret);
        for (size_t i = 0; r >= 0 && i < f.instances.n; i++)
                if (is_our_name(f.instances.items[i]))
                        r = tell_instance(l, f.others, f.instances.items[i], ret);
        r = r ?: find_events(l, &f, &events);
        for (size_t i = 0; r >= 0 && i < events.n; i++)
                r = strv_addf(
                        ret, "the event \"%s\" in %s/" EVENTS " is in no ledger: ftraced --restore",
                        events.items[i], l->fs->path);
        return MIN(r, 0);
}
