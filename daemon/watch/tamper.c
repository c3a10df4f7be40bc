/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One table of files.  Who wrote is not asked, so that the daemon's own writes (roots that come and go with
 * other sessions) are no tampering as long as they are what the arbiter says.
 */

#include "daemon/tracefs/control.h"
#include "daemon/watch/tamper.h"

/* The kernel begins a list anew at every page that is read of it (linux 6.12 kernel/trace/ftrace.c, t_start()), so
 * that one of 40,000 names holds the loop up for a second. */
#define LONG_BYTES (64U << 10)

enum {
        TOP = 1 << 0,  /* there is one for the whole kernel, at the top level */
        PIDS = 1 << 1, /* who joins and leaves unasked, unless it is empty, cannot be compared */
        NOT_PIDS = 1 << 2, /* behind its PIDS: as long as these are none, nor does it change */
        HOOKS = 1 << 3,    /* the daemon itself writes it: tamper_hold_hooks() */
        ROOTS = 1 << 4,    /* it must say what the arbiter says */
        CLOCK = 1 << 5,    /* it must say the session's */
        SYSCTL = 1 << 6,   /* not in tracefs: Tamper.ftrace_enabled */
        STAYS = 1 << 7,    /* functions stay in it when their module goes, as addresses */
};

#define OTHER_FUNCTIONS "other calls are recorded than were asked for; start a new session"
#define OTHER_EVENTS "other events are recorded than were asked for; start a new session"

static const struct {
        const char *name;
        unsigned flags;
        GapCause cause;
        const char *effect; /* what a change means, and the way out */
        const char *wanted; /* what it must say; NULL: what it says at the beginning */
} files[] = {
        { "ftrace_enabled", SYSCTL, GAP_FTRACE_OFF,
          "nothing is recorded until it is 1 again (sysctl kernel.ftrace_enabled=1)", "1" },
        { "tracing_on", 0, GAP_TRACING_OFF, "nothing is recorded until it is 1 again", "1" },
        { "current_tracer", 0, GAP_TRACER_OFF,
          "nothing is recorded; stop the session and start another", "function_graph" },
        { "trace_clock", CLOCK, GAP_CLOCK_CHANGED,
          "times before and after do not compare; stop the session and start another" },
        { "set_ftrace_filter", HOOKS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_notrace", HOOKS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_pid", PIDS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_notrace_pid", NOT_PIDS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "tracing_cpumask", 0, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_graph_function", TOP | ROOTS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_graph_notrace", TOP | STAYS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "tracing_thresh", TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "max_graph_depth", TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_event_pid", PIDS, GAP_FILTER_CHANGED, OTHER_EVENTS },
        { "set_event_notrace_pid", NOT_PIDS, GAP_FILTER_CHANGED, OTHER_EVENTS },
};

typedef struct TamperWatch {
        char *path;       /* relative to tracefs, or absolute */
        char *wanted;     /* NULL: not compared, or get_hooks() knows it */
        uint64_t well_ns; /* the last look at which it said that */
        bool is_changed;  /* it does not */
        bool is_unread;   /* the first look reads what is wanted, which may be long */
} Watch;

/* --- what a file says ------------------------------------------------------------------------- */

/* Borrowed; NULL: it is not compared. */
static const char *wanted_of(const Tamper *t, size_t i) {
        return (files[i].flags & HOOKS ? t->get_hooks(t->tracer, files[i].name) : NULL)
                       ?: t->watches[i].wanted;
}

static void read_wanted(Tamper *t, size_t i) {
        Watch *w = &t->watches[i];

        w->is_unread = false;
        w->wanted = mfree(w->wanted);
        if (wanted_of(t, i) || control_read(t->tracefs_fd, t->watches[i].path, &w->wanted) < 0)
                return;
        if ((files[i].flags & PIDS && *w->wanted) ||
            (files[i].flags & NOT_PIDS && !t->watches[i - 1].wanted))
                w->wanted = mfree(w->wanted);
}

/* Whether the list has these, or addresses in their place.  1: yes; -errno: it cannot be told. */
static int has_all(const char *now, Strv *wanted, const Strv *gone) {
        _cleanup_strv_ Strv words = {};
        bool has_address = false;
        int r = strv_split(&words, now, "\n");

        if (r < 0)
                return r;
        strv_sort_unique(&words);
        strv_sort_unique(wanted);
        for (size_t i = 0; i < words.n; i++)
                if (control_is_address(words.items[i]))
                        has_address = true;
                else if (!strv_finds(wanted, words.items[i]))
                        return 0;
        for (size_t i = 0; i < wanted->n && !has_address; i++)
                if (!strv_finds(&words, wanted->items[i]) && !strv_contains(gone, wanted->items[i]))
                        return 0;
        return 1;
}

static int is_in_roots(const Tamper *t, const char *now) {
        _cleanup_strv_ Strv wanted = {}, gone = {};
        int r = t->get_roots(t->tracer, &wanted, &gone);

        return r < 0 ? r : has_all(now, &wanted, &gone);
}

/* 1: the file says what it should; 0: it says *@ret_now; -errno: it cannot be told. */
static int is_as_wanted(const Tamper *t, size_t i, char **ret_now) {
        _cleanup_free_ char *now = NULL;
        _cleanup_strv_ Strv stayed = {};
        int r = control_read(t->tracefs_fd, t->watches[i].path, &now);

        if (r < 0)
                return r;
        if (files[i].flags & STAYS) {
                r = strv_split(&stayed, wanted_of(t, i), "\n");
                if (r >= 0)
                        r = has_all(now, &stayed, &(Strv){});
        } else if (!(files[i].flags & ROOTS))
                r = control_equal(t->watches[i].path, now, wanted_of(t, i));
        else {
                r = is_in_roots(t, now);
                if (r == 0) { /* get_roots() has taken out what became of addresses */
                        now = mfree(now);
                        r = control_read(t->tracefs_fd, t->watches[i].path, &now);
                        if (r >= 0)
                                r = is_in_roots(t, now);
                }
        }
        if (r == 0)
                *ret_now = TAKE_PTR(now);
        return r;
}

/* --- what is told ------------------------------------------------------------------------------ */

static void report(const Tamper *t, size_t i, uint64_t since_ns, const char *sentence) {
        t->handler(files[i].cause, since_ns, sentence, t->userdata);
}

/* A value as it fits into a sentence: the first line of a list. */
static void report_began(const Tamper *t, size_t i, const char *now) {
        bool is_sysctl = files[i].flags & SYSCTL;
        const char *path = is_sysctl ? "kernel.ftrace_enabled" : t->watches[i].path;
        int n = (int) MIN(strcspn(now, "\n"), (size_t) 64);
        char sentence[1024];

        (void) snprintf(sentence, sizeof(sentence),
                        "%.300s%s%.300s was changed by somebody else to \"%.*s\"%s; %s",
                        is_sysctl ? "" : t->tracefs, is_sysctl ? "" : "/", path, n, now,
                        now[n] ? " and more" : "", files[i].effect);
        report(t, i, t->watches[i].well_ns, sentence);
}

/* Several files may stand for one cause: it has ended when the last of them is right. */
static void end(Tamper *t, size_t i) {
        t->watches[i].is_changed = false;
        for (size_t k = 0; k < ELEMENTSOF(files); k++)
                if (t->watches[k].is_changed && files[k].cause == files[i].cause)
                        return;
        report(t, i, 0, NULL);
}

static bool is_skipped(const Tamper *t, size_t i, bool is_last) {
        const char *wanted = wanted_of(t, i);

        if (files[i].flags & ROOTS)
                return false;
        /* Its reader waits for whoever changes what is hooked, and the loop with it (linux 6.12 kernel/trace/ftrace.c,
         * ftrace_enable_sysctl(), ftrace_lock). */
        if (t->holds_hooks && files[i].flags & (HOOKS | SYSCTL))
                return true;
        return !wanted || (!is_last && strlen(wanted) > LONG_BYTES);
}

static void look_at(Tamper *t, size_t i, uint64_t at_ns, bool is_last) {
        _cleanup_free_ char *now = NULL;
        Watch *w = &t->watches[i];
        int r;

        if (w->is_unread && !t->holds_hooks)
                read_wanted(t, i);
        else if (!is_skipped(t, i, is_last)) {
                r = is_as_wanted(t, i, &now);
                if (r < 0)
                        return;
                if (r == 0 && !TAKE(w->is_changed, true))
                        report_began(t, i, now);
                if (r > 0 && w->is_changed)
                        end(t, i);
                if (r > 0)
                        w->well_ns = at_ns;
        }
}

void tamper_look(Tamper *t, uint64_t at_ns, bool is_last) {
        for (size_t i = 0; t->watches && i < ELEMENTSOF(files); i++)
                look_at(t, i, at_ns, is_last);
}

void tamper_hold_hooks(Tamper *t) {
        t->holds_hooks = true;
}

void tamper_release_hooks(Tamper *t, uint64_t at_ns) {
        t->holds_hooks = false;
        for (size_t i = 0; t->watches && i < ELEMENTSOF(files); i++) {
                if (!(files[i].flags & HOOKS))
                        continue;
                read_wanted(t, i);
                t->watches[i].well_ns = at_ns;
                if (t->watches[i].is_changed)
                        end(t, i);
        }
}

/* --- setting up ------------------------------------------------------------------------------- */

static int begin_watch(Tamper *t, size_t i, uint64_t at_ns) {
        const char *wanted = files[i].flags & CLOCK ? t->clock : files[i].wanted;
        Watch *w = &t->watches[i];

        w->well_ns = at_ns;
        w->wanted = wanted ? strdup(wanted) : NULL;
        if (text_format(&w->path, "%s%s", files[i].flags & (TOP | SYSCTL) ? "" : t->dir,
                        files[i].flags & SYSCTL ? t->ftrace_enabled : files[i].name) < 0 ||
            (wanted && !w->wanted))
                return -ENOMEM;
        if (files[i].flags & HOOKS) /* who started the session does not wait for it */
                w->is_unread = true;
        else if (!wanted && !(files[i].flags & ROOTS))
                read_wanted(t, i);
        return 0;
}

int tamper_begin(Tamper *t, uint64_t at_ns) {
        int r = 0;

        t->watches = calloc(ELEMENTSOF(files), sizeof(*t->watches));
        if (!t->watches)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(files); i++)
                r = begin_watch(t, i, at_ns);
        if (r < 0)
                tamper_end(t);
        return r;
}

void tamper_end(Tamper *t) {
        for (size_t i = 0; t->watches && i < ELEMENTSOF(files); i++) {
                free(t->watches[i].path);
                free(t->watches[i].wanted);
        }
        free(TAKE_PTR(t->watches));
        t->holds_hooks = false;
}
