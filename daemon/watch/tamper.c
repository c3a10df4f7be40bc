/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One table of files.  A write wakes us, and then all files are compared with what they said when
 * the session began; who wrote is not asked, so that the daemon's own writes (roots that come and
 * go with other sessions) are no tampering as long as they are what the arbiter says.  Several
 * events of one write are looked at together: the events only mark their file, and a deferred
 * source with a lower priority does the looking.
 *
 * A look may come too late to see what a file said for a moment, or be held up by the kernel until it
 * says the right thing again (kernel.ftrace_enabled and its reader share a lock).  So the writes
 * themselves are counted until BURST_US have passed without another one, and those that no look has
 * explained are told.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/tracefs/control.h"
#include "daemon/watch/tamper.h"
#include "meta/event-choice.h"

#define BURST_US (USEC_PER_SEC / 4)
#define PUT_OFF_MAX 40 /* times BURST_US */

typedef enum Check {
        CHECK_VALUE, /* it must say what it said */
        CHECK_ROOTS, /* it must say what the arbiter says */
        CHECK_NONE,  /* any write to it matters */
} Check;

enum {
        TOP = 1 << 0,     /* there is one for the whole kernel, at the top level */
        POLL = 1 << 1,    /* the kernel may change it without a write */
        EMPTIES = 1 << 2, /* a write to it empties the buffer, whatever is written */
        PER_CPU = 1 << 3,
        NOTE = 1 << 4,   /* a change loses nothing */
        CLOCK = 1 << 5,  /* it must say the session's */
        EVENT = 1 << 6,  /* there is one in the directory of each event that is recorded */
        PIDS = 1 << 7,   /* who joins and leaves unasked, unless it is empty, cannot be compared */
        SWITCH = 1 << 8, /* the daemon never writes it: one write that changes nothing is suspect */
        SYSCTL = 1 << 9, /* not in tracefs: TamperConfig.ftrace_enabled */
        HOOKS = 1 << 10, /* the daemon itself writes it: tamper_hold_hooks() */
        PROBE = 1 << 12, /* likewise, of each that tells values (daemon/instances/value-probe.h) */
        NOT_PIDS = 1 << 11, /* behind its PIDS: as long as these are none, nor does it change */
};

typedef struct File {
        const char *name;
        Check check;
        unsigned flags;
        GapCause cause;
        const char *effect; /* what a change means, and the way out */
        const char *wanted; /* what it must say; NULL: what it says at the beginning */
} File;

#define OTHER_FUNCTIONS "other calls are recorded than were asked for; start a new session"
#define OTHER_EVENTS "other events are recorded than were asked for; start a new session"
#define NO_VALUES                                                                                  \
        "what a function was given or returned is not recorded any more; start a new session"

/* linux 6.1 kernel/trace/trace.c: tracing_set_clock() and tracing_open() with O_TRUNC reset the
 * buffer, tracing_snapshot_write() swaps it with another. */
static const File files[] = {
        { "ftrace_enabled", CHECK_VALUE, SYSCTL | POLL | SWITCH, GAP_FTRACE_OFF,
          "nothing is recorded until it is 1 again (sysctl kernel.ftrace_enabled=1)", "1" },
        { "tracing_on", CHECK_VALUE, POLL | SWITCH, GAP_TRACING_OFF,
          "nothing is recorded until it is 1 again", "1" },
        { "current_tracer", CHECK_VALUE, 0, GAP_TRACER_OFF,
          "nothing is recorded; stop the session and start another", "function_graph" },
        { "trace_clock", CHECK_VALUE, EMPTIES | CLOCK, GAP_CLOCK_CHANGED,
          "times before and after do not compare; stop the session and start another" },
        { "trace", CHECK_NONE, EMPTIES, GAP_CLEARED, NULL },
        { "per_cpu/cpu%u/trace", CHECK_NONE, EMPTIES | PER_CPU, GAP_CLEARED, NULL },
        { "snapshot", CHECK_NONE, EMPTIES, GAP_CLEARED, NULL },
        { "free_buffer", CHECK_NONE, EMPTIES, GAP_CLEARED, NULL },
        { "buffer_size_kb", CHECK_VALUE, NOTE, _GAP_CAUSE_N,
          "the kernel's buffer holds more or less than was asked for" },
        { "set_ftrace_filter", CHECK_VALUE, HOOKS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_notrace", CHECK_VALUE, HOOKS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_pid", CHECK_VALUE, PIDS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_ftrace_notrace_pid", CHECK_VALUE, NOT_PIDS, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "tracing_cpumask", CHECK_VALUE, 0, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_graph_function", CHECK_ROOTS, TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_graph_notrace", CHECK_VALUE, TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "tracing_thresh", CHECK_VALUE, TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "max_graph_depth", CHECK_VALUE, TOP, GAP_FILTER_CHANGED, OTHER_FUNCTIONS },
        { "set_event_pid", CHECK_VALUE, PIDS, GAP_FILTER_CHANGED, OTHER_EVENTS },
        { "set_event_notrace_pid", CHECK_VALUE, NOT_PIDS, GAP_FILTER_CHANGED, OTHER_EVENTS },
        { "filter", CHECK_VALUE, EVENT | POLL, GAP_FILTER_CHANGED, OTHER_EVENTS },
        { "enable", CHECK_VALUE, EVENT | POLL, GAP_FILTER_CHANGED, OTHER_EVENTS, "1" },
        { "filter", CHECK_VALUE, PROBE | POLL, GAP_FILTER_CHANGED, NO_VALUES, "none" },
        { "enable", CHECK_VALUE, PROBE | POLL, GAP_FILTER_CHANGED, NO_VALUES, "1" },
};

typedef struct Watch {
        Tamper *tamper;
        const File *file;
        uint32_t cpu;
        char *path;   /* relative to tracefs, or absolute */
        char *name;   /* as people know it: "/sys/kernel/tracing/tracing_on" */
        char *wanted; /* what it said at the beginning; NULL: not compared, or get_hooks() knows it */
        sd_event_source *source;
        int held_fd; /* keeps the inode that is watched: procfs makes another one if it goes */
        unsigned n_modifies; /* of the burst that goes on, since a look saw a change */
        unsigned n_closes;   /* the same: writers that were done with it */
        unsigned n_ours;     /* of them the daemon itself, at most */
        bool was_there;      /* at the beginning: if it is not now, somebody has removed it */
        bool is_written;     /* since the last look */
        bool is_changed;     /* it does not say what it should */
        bool is_unread;      /* the first look reads what is wanted, which is long */
} Watch;

struct Tamper {
        TamperConfig config;
        Watch *watches;
        size_t n_watches;
        sd_event_source *looking;  /* deferred */
        sd_event_source *settling; /* the end of a burst */
        uint64_t n_own_closes; /* of set_graph_function, by the daemon, that are accounted for */
        bool is_unsettled;     /* a burst goes on */
        unsigned n_put_off;    /* how often the look that is due was */
        bool is_look_due;      /* at all files */
        bool holds_hooks;      /* the files of HOOKS are being written by the daemon */
        bool is_unsure;        /* set_graph_function could not be told */
        bool is_polling;       /* nobody told: it may have been so since the last poll */
};

static void report(Tamper *t, TamperKind kind, GapCause cause, uint32_t cpu, const char *sentence) {
        t->config.handler(&(TamperReport){ .kind = kind,
                                           .cause = cause,
                                           .cpu = cpu,
                                           .is_late = t->is_polling || t->n_put_off > 0,
                                           .sentence = sentence },
                          t->config.userdata);
}

/* --- what a file says ------------------------------------------------------------------------- */

static bool is_in_roots(const Watch *w, const char *now) {
        _cleanup_strv_ Strv wanted = {}, gone = {}, words = {};
        bool has_address = false;

        w->tamper->is_unsure =
                w->tamper->config.get_roots(w->tamper->config.tracer, &wanted, &gone) < 0 ||
                strv_split(&words, now, "\n") < 0;
        if (w->tamper->is_unsure)
                return true;
        strv_sort_unique(&words);
        strv_sort_unique(&wanted);
        for (size_t i = 0; i < words.n; i++)
                if (control_is_address(words.items[i]))
                        has_address = true;
                else if (!strv_finds(&wanted, words.items[i]))
                        return false;
        for (size_t i = 0; i < wanted.n && !has_address; i++)
                if (!strv_finds(&words, wanted.items[i]) && !strv_contains(&gone, wanted.items[i]))
                        return false;
        return true;
}

/* Borrowed; NULL: it is not compared. */
static const char *wanted_of(const Watch *w) {
        const TamperConfig *c = &w->tamper->config;

        return (w->file->flags & HOOKS ? c->get_hooks(c->tracer, w->file->name) : NULL)
                       ?: w->wanted;
}

/* Whether the file says what it should; *@ret_now is what it says, NULL if it cannot be read: no longer, if that is
 * not as it should be. */
static bool is_as_wanted(const Watch *w, char **ret_now) {
        int r;

        *ret_now = NULL;
        if (w->file->check == CHECK_ROOTS)
                w->tamper->is_unsure = false;
        if (w->file->check == CHECK_NONE || (w->file->check == CHECK_VALUE && !wanted_of(w)))
                return true;
        r = control_read(w->tamper->config.tracefs_fd, w->path, ret_now);
        if (r < 0) {
                *ret_now = NULL;
                return !(w->was_there && r == -ENOENT);
        }
        if (w->file->check != CHECK_ROOTS)
                return control_equal(w->path, *ret_now, wanted_of(w));
        if (is_in_roots(w, *ret_now))
                return true;
        /* get_roots() has taken out what became of addresses. */
        free(*ret_now);
        if (control_read(w->tamper->config.tracefs_fd, w->path, ret_now) < 0) {
                *ret_now = NULL;
                return true;
        }
        return is_in_roots(w, *ret_now);
}

/* A value as it fits into a sentence: the first line of a list. */
static int quote(const char *value) {
        return (int) MIN(strcspn(value, "\n"), (size_t) 64);
}

static void report_began(const Watch *w, const char *now) {
        char sentence[1024];

        if (now)
                (void) snprintf(sentence, sizeof(sentence),
                                "%.600s was changed by somebody else to \"%.*s\"%s; %s", w->name,
                                quote(now), now, now[quote(now)] ? " and more" : "",
                                w->file->effect);
        else
                (void) snprintf(sentence, sizeof(sentence),
                                "%.600s was removed by somebody else; %s", w->name,
                                w->file->effect);
        report(w->tamper, w->file->flags & NOTE ? TAMPER_NOTED : TAMPER_BEGAN, w->file->cause,
               GAP_ALL_CPUS, sentence);
}

static void report_flicked(const Watch *w) {
        char sentence[1024];

        (void) snprintf(sentence, sizeof(sentence),
                        "%.600s was written by somebody else and says again what it should: if it "
                        "said something else for a moment, the recording lacks what happened then",
                        w->name);
        report(w->tamper, TAMPER_FLICKED, w->file->cause, GAP_ALL_CPUS, sentence);
}

static void report_emptied(const Watch *w) {
        char sentence[1024];

        (void) snprintf(sentence, sizeof(sentence),
                        "%.600s was written by somebody else, which empties the kernel's buffer: "
                        "what was in it is lost",
                        w->name);
        report(w->tamper, TAMPER_EMPTIED, GAP_CLEARED, w->cpu, sentence);
}

/* Several files may stand for one cause: it has ended when the last of them is right. */
static void report_ended(const Watch *w) {
        const Tamper *t = w->tamper;

        for (size_t i = 0; i < t->n_watches; i++)
                if (t->watches[i].is_changed && t->watches[i].file->cause == w->file->cause)
                        return;
        if (!(w->file->flags & NOTE))
                report(w->tamper, TAMPER_ENDED, w->file->cause, GAP_ALL_CPUS, NULL);
}

static void forget_writes(Watch *w) {
        w->n_modifies = w->n_closes = w->n_ours = 0;
}

static bool changes_by_itself(const Watch *w) {
        if (w->file->flags & NOT_PIDS)
                return !w[-1].wanted;
        return (w->file->flags & PIDS) && w->wanted && *w->wanted;
}

static void read_wanted(Watch *w) {
        w->is_unread = false;
        free(TAKE_PTR(w->wanted));
        if (wanted_of(w))
                return;
        if (control_read(w->tamper->config.tracefs_fd, w->path, &w->wanted) < 0 ||
            changes_by_itself(w))
                free(TAKE_PTR(w->wanted));
}

/* Its reader waits for whoever arms a tracer or changes what is hooked, and the loop with it (linux 6.12
 * kernel/trace/ftrace.c, ftrace_enable_sysctl(), ftrace_lock): not for each write to another file. */
static bool may_read_sysctl(const Tamper *t) {
        return t->is_polling && !t->holds_hooks;
}

static void look_at(Watch *w) {
        _cleanup_free_ char *now = NULL;
        bool was_changed = w->is_changed, was_written = w->is_written;

        if (w->tamper->holds_hooks && (w->file->flags & HOOKS))
                return;
        if (w->is_unread) {
                read_wanted(w);
                return;
        }
        if ((w->file->flags & SYSCTL) && !was_written && !may_read_sysctl(w->tamper))
                return;
        w->is_written = false;
        if (was_written && (w->file->flags & EMPTIES))
                report_emptied(w);
        w->is_changed = !is_as_wanted(w, &now);
        if (w->file->check == CHECK_ROOTS && w->tamper->is_unsure) {
                w->is_changed = was_changed; /* tamper_poll() looks again */
                return;
        }
        if (w->is_changed == was_changed)
                return;
        forget_writes(w);
        if (w->is_changed)
                report_began(w, now);
        else
                report_ended(w);
}

/*
 * Whether it said something else in between.  A shell's "echo" cuts the file, writes it and closes it;
 * inotify puts equal events together if they follow each other.  A list acts when it is closed.
 */
static bool has_flicked(const Watch *w) {
        unsigned n_closes = w->n_closes - MIN(w->n_closes, w->n_ours);

        if (w->is_changed || w->file->check == CHECK_NONE ||
            (w->file->check == CHECK_VALUE && !wanted_of(w)) || (w->file->flags & (EMPTIES | NOTE)))
                return false;
        return n_closes > 1 || ((w->file->flags & SWITCH) && w->n_modifies > 0) ||
               (!control_is_list(w->path) && w->n_modifies > 2);
}

static void count_own_closes(Tamper *t) {
        uint64_t n = t->config.count_own_closes(t->config.tracer);

        tamper_excuse(t, "set_graph_function", (unsigned) (n - t->n_own_closes));
        t->n_own_closes = n;
}

static void settle(Watch *w) {
        if (w->n_modifies + w->n_closes == 0) /* what is excused may be still to come */
                return;
        if (w->tamper->holds_hooks && (w->file->flags & HOOKS))
                return;
        look_at(w);
        if (w->file->check == CHECK_ROOTS && w->tamper->is_unsure)
                return;
        if (has_flicked(w))
                report_flicked(w);
        forget_writes(w);
}

void tamper_settle(Tamper *t) {
        count_own_closes(t);
        for (size_t i = 0; i < t->n_watches; i++)
                settle(&t->watches[i]);
        t->is_unsettled = false;
}

bool tamper_is_settled(const Tamper *t) {
        return !t->is_unsettled;
}

static int set_settling(Tamper *t) {
        int r = sd_event_source_set_time_relative(t->settling, BURST_US);

        t->is_unsettled = true;
        return r < 0 ? r : sd_event_source_set_enabled(t->settling, SD_EVENT_ONESHOT);
}

static bool put_off(Tamper *t) {
        if (!t->config.is_held_up(t->config.tracer) || t->n_put_off >= PUT_OFF_MAX)
                return false;
        t->n_put_off++;
        return true;
}

static void look_at_all(Tamper *t) {
        t->is_look_due = false;
        for (size_t i = 0; i < t->n_watches; i++)
                look_at(&t->watches[i]);
}

static int on_settled(sd_event_source *source, uint64_t usec, void *userdata) {
        Tamper *t = userdata;

        if (put_off(t))
                return set_settling(t);
        if (t->is_look_due)
                look_at_all(t);
        tamper_settle(t);
        t->n_put_off = 0;
        return t->is_unsure ? set_settling(t) : 0; /* while the daemon is writing it */
}

void tamper_excuse(Tamper *t, const char *file, unsigned n_closes) {
        for (size_t i = 0; i < t->n_watches; i++)
                if (streq(t->watches[i].file->name, file))
                        t->watches[i].n_ours += n_closes;
}

static int on_look(sd_event_source *source, void *userdata) {
        Tamper *t = userdata;

        t->is_look_due = put_off(t);
        if (t->is_look_due)
                return set_settling(t);
        look_at_all(t);
        return 0;
}

static int on_write(sd_event_source *source, const struct inotify_event *event, void *userdata) {
        Watch *w = userdata;
        int r;

        if (!(event->mask & (IN_MODIFY | IN_CLOSE_WRITE | IN_Q_OVERFLOW)))
                return 0;
        log_debug("tamper", "%s: inotify mask %#x", w->path, event->mask);
        if (event->mask & (IN_MODIFY | IN_CLOSE_WRITE))
                w->is_written = true;
        w->n_modifies += (event->mask & IN_MODIFY) != 0;
        w->n_closes += (event->mask & IN_CLOSE_WRITE) != 0;
        r = sd_event_source_set_enabled(w->tamper->looking, SD_EVENT_ONESHOT);
        return r < 0 ? r : set_settling(w->tamper);
}

/* --- what inotify does not tell --------------------------------------------------------------- */

void tamper_poll(Tamper *t) {
        t->is_polling = true;
        for (size_t i = 0; i < t->n_watches; i++)
                if ((t->watches[i].file->flags & POLL) || !t->watches[i].source ||
                    (t->is_unsure && t->watches[i].file->check == CHECK_ROOTS))
                        look_at(&t->watches[i]);
        t->is_polling = false;
}

/* --- setting up ------------------------------------------------------------------------------- */

/* Of what was written before nothing is heard. */
static int listen_to(Watch *w) {
        int r;

        w->source = sd_event_source_disable_unref(w->source);
        r = sd_event_add_inotify(w->tamper->config.event, &w->source,
                                 w->file->flags & SYSCTL ? w->path : w->name,
                                 IN_MODIFY | IN_CLOSE_WRITE, on_write, w);
        if (r >= 0) /* before the request to stop that may be waiting, too */
                r = sd_event_source_set_priority(w->source, SD_EVENT_PRIORITY_NORMAL - 1);
        if (r < 0) {
                w->source = sd_event_source_disable_unref(w->source);
                log_debug("tamper", "%s is not watched: %s", w->path, origin_text(r));
        }
        return r;
}

void tamper_hold_hooks(Tamper *t) {
        t->holds_hooks = true;
}

void tamper_release_hooks(Tamper *t) {
        t->holds_hooks = false;
        for (size_t i = 0; i < t->n_watches; i++) {
                Watch *w = &t->watches[i];

                if (!(w->file->flags & HOOKS))
                        continue;
                (void) listen_to(w);
                forget_writes(w);
                read_wanted(w);
                if (w->is_changed) {
                        w->is_changed = false;
                        report_ended(w);
                }
        }
}

static int add_watch(Tamper *t, const File *file, const char *name, uint32_t cpu) {
        Watch *w = &t->watches[t->n_watches];
        bool is_sysctl = file->flags & SYSCTL;
        int r;

        *w = (Watch){ .tamper = t, .file = file, .cpu = cpu, .held_fd = -EBADF };
        t->n_watches++;
        if (asprintf(&w->path, "%s%s", file->flags & TOP || is_sysctl ? "" : t->config.dir,
                     is_sysctl ? t->config.ftrace_enabled : name) < 0) {
                w->path = NULL;
                return -ENOMEM;
        }
        if (asprintf(&w->name, "%s%s%s", is_sysctl ? "kernel." : t->config.tracefs,
                     is_sysctl ? "" : "/", is_sysctl ? name : w->path) < 0) {
                w->name = NULL;
                return -ENOMEM;
        }
        if (file->wanted || (file->flags & CLOCK)) {
                w->wanted = strdup(file->wanted ?: t->config.clock);
                if (!w->wanted)
                        return -ENOMEM;
        } else if (file->flags & HOOKS) /* who started the session does not wait for it */
                w->is_unread = true;
        else if (file->check == CHECK_VALUE)
                read_wanted(w);
        w->was_there = file->flags & (EVENT | PROBE) &&
                       faccessat(t->config.tracefs_fd, w->path, F_OK, 0) == 0;
        if (is_sysctl)
                w->held_fd = open(w->path, O_PATH | O_CLOEXEC);
        r = listen_to(w);
        return r == -ENOMEM ? r : 0;
}

static int add_cpus(Tamper *t, const File *file) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < t->config.n_cpus; i++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "per_cpu/cpu%u/trace", t->config.cpus[i]);
                r = add_watch(t, file, name, t->config.cpus[i]);
        }
        return r;
}

/*
 * Files of an event may lose their inode, and inotify's mark with it, when nobody uses them (linux 6.12
 * fs/tracefs/event_inode.c), so these are looked at as well.
 */
static int add_events(Tamper *t, const File *file, const Strv *events) {
        int r = 0;

        for (size_t i = 0; events && r >= 0 && i < events->n; i++) {
                char path[EVENT_PATH_MAX];
                EventChoice e;

                if (!event_choice_parse(&e, events->items[i]) || event_choice_is_marker(&e))
                        continue;
                event_choice_path(path, &e, file->name);
                r = add_watch(t, file, path, GAP_ALL_CPUS);
        }
        return r;
}

int tamper_new(Tamper **ret, const TamperConfig *config) {
        _cleanup_(tamper_freep) Tamper *t = calloc(1, sizeof(*t));
        size_t n_probes = config->probes ? config->probes->n : 0;
        int r;

        if (!t)
                return -ENOMEM;
        t->config = *config;
        t->watches =
                calloc(ELEMENTSOF(files) + config->n_cpus + 2 * config->events->n + 2 * n_probes,
                       sizeof(*t->watches));
        if (!t->watches)
                return -ENOMEM;
        r = sd_event_add_defer(config->event, &t->looking, on_look, t);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->looking, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(t->looking, SD_EVENT_PRIORITY_NORMAL + 1);
        if (r >= 0)
                r = sd_event_add_time_relative(config->event, &t->settling, CLOCK_MONOTONIC,
                                               BURST_US, 1000, on_settled, t);
        if (r >= 0)
                r = sd_event_source_set_enabled(t->settling, SD_EVENT_OFF);
        if (r < 0)
                return r;
        t->n_own_closes = config->count_own_closes(config->tracer);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(files); i++) {
                if (files[i].flags & PER_CPU)
                        r = add_cpus(t, &files[i]);
                else if (files[i].flags & EVENT)
                        r = add_events(t, &files[i], config->events);
                else if (files[i].flags & PROBE)
                        r = add_events(t, &files[i], config->probes);
                else
                        r = add_watch(t, &files[i], files[i].name, GAP_ALL_CPUS);
        }
        if (r >= 0) /* it may have been changed while nobody watched */
                r = sd_event_source_set_enabled(t->looking, SD_EVENT_ONESHOT);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(t);
        return 0;
}

Tamper *tamper_free(Tamper *t) {
        if (!t)
                return NULL;
        (void) sd_event_source_disable_unref(t->looking);
        (void) sd_event_source_disable_unref(t->settling);
        for (size_t i = 0; i < t->n_watches; i++) {
                (void) sd_event_source_disable_unref(t->watches[i].source);
                (void) safe_close(t->watches[i].held_fd);
                free(t->watches[i].path);
                free(t->watches[i].name);
                free(t->watches[i].wanted);
        }
        free(t->watches);
        return mfree(t);
}
