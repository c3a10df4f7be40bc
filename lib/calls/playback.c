/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opens each part in the order in which the next one needs it. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "calls/playback.h"
#include "meta/event-choice.h"
#include "pages/dat-file.h"

static const char *const format_paths[] = {
        "events/header_page",
        "events/ftrace/funcgraph_entry/format",
        "events/ftrace/funcgraph_exit/format",
};

static int unreadable(char **ret_problem, const char *before, const char *what, const char *after) {
        return asprintf(ret_problem, "%s%s%s", before, what, after) < 0 ? -ENOMEM
                                                                        : PLAYBACK_E_UNREADABLE;
}

static int open_formats(Playback *p, char **ret_problem) {
        _cleanup_strv_ Strv texts = {};
        const char *problem = NULL;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(format_paths); i++) {
                char *text;
                size_t n;

                r = session_dir_read_tracing(p->dir, format_paths[i], &text, &n);
                if (r == -ENOENT)
                        return unreadable(ret_problem, "its ", format_paths[i],
                                          " is missing or no regular file");
                if (r < 0)
                        return r;
                r = strv_take(&texts, text);
                if (r < 0)
                        return r;
        }
        r = formats_parse(&p->formats, texts.items[0], texts.items[1], texts.items[2],
                          p->meta->big_endian, &problem);
        return r == FORMATS_E_INVALID ? unreadable(ret_problem, "", problem, "") : r;
}

/* The text of an event's format, which the caller frees; NULL: it is missing. */
static int read_format(const Playback *p, const EventChoice *e, char **ret) {
        char path[EVENT_PATH_MAX];
        size_t n;
        int r;

        event_choice_path(path, e, "format");
        *ret = NULL;
        r = session_dir_read_tracing(p->dir, path, ret, &n);
        return r == -ENOENT ? 0 : r;
}

/* An event that tells of owners, or of what is mapped; one that cannot be parsed costs that.  Whether it is one; -ENOMEM. */
static int add_told(Playback *p, const EventChoice *e, const char *format, bool is_asked) {
        bool is_owners = p->owners && owners_take(e->system, e->name),
             is_spaces = p->spaces && spaces_take(e->system, e->name);
        int r = is_owners ? owners_add_event(p->owners, e->name, format, is_asked) : 0;

        if (r >= 0 && is_spaces)
                r = spaces_add_event(p->spaces, e->name, format, is_asked);
        return r < 0 ? r : is_owners || is_spaces;
}

/* A format that is missing or cannot be parsed costs its event the text, nothing else. */
static int add_foreign(Playback *p, const EventChoice *e) {
        _cleanup_free_ char *text = NULL;
        int r = read_format(p, e, &text);

        if (r >= 0 && text)
                r = foreign_add(p->foreign, e->system, text);
        if (r >= 0 && text)
                r = add_told(p, e, text, true);
        return r == FORMATS_E_INVALID ? 0 : MIN(r, 0);
}

static bool find_symbol(void *functions, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        return functions_find_symbol(functions, address, timestamp_ns, ret);
}

/* One that cannot be parsed costs values, nothing else. */
static int add_values(Playback *p, const EventChoice *e, const char *format) {
        int r = values_add(p->values, e->name, e->filter, format);

        return r == FORMATS_E_INVALID ? 0 : r;
}

static bool is_asked_for(const Playback *p, const EventChoice *e) {
        const Strv *events = &p->meta->spec.events;
        bool is_asked = false;
        EventChoice asked;

        for (size_t i = 0; i < events->n && !is_asked; i++)
                is_asked = event_choice_parse(&asked, events->items[i]) &&
                           streq(asked.system, e->system) && streq(asked.name, e->name);
        return is_asked;
}

/* A trace.dat has formats of all events that its kernel had. */
static int add_all_of_file(Playback *p, const DatFile *file) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < file->n_formats; i++) {
                const char *text = file->formats[i].text;
                EventChoice e;

                if (!event_choice_from_path(&e, file->formats[i].path))
                        continue;
                r = add_told(p, &e, text, is_asked_for(p, &e));
                if (r < 0 || (r > 0 && !is_asked_for(p, &e)))
                        continue;
                r = foreign_add_later(p->foreign, e.system, text);
                if (r >= 0 && values_takes(e.system, e.name))
                        r = add_values(p, &e, text);
        }
        return r;
}

/* Events of other kinds, of which some tell calls' values. */
static int open_events(Playback *p) {
        const DatFile *file = dat_file_of_dir(p->dir);
        const Strv *events = &p->meta->spec.events, *probes = &p->meta->probe_events;
        _cleanup_free_ char *printk = NULL;
        int r = foreign_new(&p->foreign, p->meta->big_endian);
        size_t n;

        if (r < 0)
                return r;
        if (file && file->narrow_data_at > 0)
                foreign_set_narrow(p->foreign);
        foreign_set_names(p->foreign, find_symbol, &p->functions);
        foreign_set_release(p->foreign, p->meta->kernel);
        r = session_dir_read_tracing(p->dir, "printk_formats", &printk, &n);
        if (r != -ENOMEM)
                r = foreign_set_printk(p->foreign, printk);
        if (r >= 0)
                r = add_foreign(p, &(EventChoice){ .system = "ftrace", .name = "print" })
                            ?: add_foreign(p, &(EventChoice){ .system = "ftrace",
                                                              .name = "kernel_stack" })
                            ?: add_foreign(p, &(EventChoice){ .system = "ftrace",
                                                              .name = "user_stack" });
        if (r >= 0)
                r = values_new(&p->values, &p->formats, &p->functions);
        if (r >= 0 && file)
                r = add_all_of_file(p, file);
        for (size_t i = 0; r >= 0 && i < events->n; i++) {
                EventChoice e;

                if (event_choice_parse(&e, events->items[i]) && !event_choice_is_marker(&e))
                        r = add_foreign(p, &e);
        }
        for (size_t i = 0; r >= 0 && i < probes->n; i++) {
                _cleanup_free_ char *text = NULL;
                EventChoice e;

                if (!event_choice_parse(&e, probes->items[i]))
                        continue;
                r = read_format(p, &e, &text);
                if (r >= 0 && text)
                        r = add_told(p, &e, text, false) ?: add_values(p, &e, text);
        }
        if (r >= 0 && p->spaces)
                values_set_program_stacks(p->values, p->meta->spec.kernel_stack,
                                          p->meta->spec.stack_bytes > 0);
        if (r >= 0 && values_n(p->values) == 0)
                p->values = values_free(p->values);
        return MIN(r, 0);
}

/* Without them arguments have no names, and are drawn as the kernel draws those: "()". */
static int open_prototypes(Playback *p) {
        char *text;
        size_t n;
        int r;

        if (!p->meta->types)
                return 0;
        r = session_dir_read_symbols(p->dir, p->meta->types, &text, &n);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        r = prototypes_new(&p->prototypes, text, n);
        return r == PROTOTYPES_E_INVALID ? 0 : r;
}

static int open_tasks(Playback *p) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = session_dir_read_tracing(p->dir, "saved_cmdlines", &text, &n);

        if (r < 0 && r != -ENOENT)
                return r;
        return tasks_new(&p->tasks, text);
}

static int load_owners(Playback *p) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = session_dir_read_tracing(p->dir, OWNERS_FILE, &text, &n);

        if (r == -ENOENT)
                return 0;
        if (r >= 0 && !p->owners)
                r = owners_new(&p->owners, p->tasks, &p->formats);
        return r < 0 ? r : owners_load(p->owners, text);
}

/* Before other events. */
static int open_owners(Playback *p) {
        const SessionMeta *m = p->meta;
        int r = load_owners(p);

        /* Of a live recording the first look may be still to come. */
        if (r >= 0 && !p->owners && m->spec.whose)
                r = owners_new(&p->owners, p->tasks, &p->formats);
        if (r >= 0 && p->owners &&
            (m->spec.pids.n + m->spec.comms.n + m->spec.cgroups.n > 0 || m->filters ||
             clock_tuple_is_set(&m->kept_since)))
                owners_set_partial(p->owners);
        for (size_t i = 0; r >= 0 && p->owners && i < m->spec.events.n; i++) {
                EventChoice e;

                if (event_choice_parse(&e, m->spec.events.items[i]) && e.filter &&
                    owners_take(e.system, e.name))
                        owners_set_partial(p->owners);
        }
        return r;
}

static int load_spaces(Playback *p) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = session_dir_read_tracing(p->dir, MAPS_FILE, &text, &n);

        return r == -ENOENT ? 0 : r < 0 ? r : spaces_load(p->spaces, text);
}

/* Likewise. */
static int open_spaces(Playback *p) {
        const SessionMeta *m = p->meta;
        int r;

        if (!m->spec.user_stack)
                return 0;
        r = spaces_new(&p->spaces, &p->formats) ?: program_stacks_new(&p->stacks, p->spaces);
        if (r < 0)
                return r;
        if (m->spec.pids.n + m->spec.comms.n + m->spec.cgroups.n > 0 || m->filters ||
            clock_tuple_is_set(&m->kept_since))
                spaces_lose(p->spaces, UINT64_MAX);
        /* Of a live one it is not known yet what is behind the last event of a CPU. */
        r = m->spec.stack_bytes > 0 && !session_state_is_live(m->state)
                    ? stack_copies_open(&p->copies, session_dir_fd(p->dir))
                    : 0;
        return r < 0 ? r : load_spaces(p);
}

/* What to draw beside neighbours.  Where only returns were recorded, sessions at the same time were for the same roots, or flat
 * (daemon/admission/admission.h, ClaimValues). */
static StepsKeep keep_beside(const Playback *p) {
        const SessionMeta *m = p->meta;

        if (m->roots.n == 0 || !symbol_timeline_has_names(p->symbol_timeline))
                return STEPS_ALL;
        if (m->spec.slower_ns == 0)
                return STEPS_IN_TREES;
        return m->spec.flat ? STEPS_OF_ROOTS : STEPS_ALL;
}

int playback_open(Playback **ret, const SessionDir *dir, const SessionMeta *meta,
                  char **ret_problem) {
        _cleanup_(playback_freep) Playback *p = NEW(Playback, .dir = dir, .meta = meta);
        int r;

        if (!p)
                return -ENOMEM;
        r = open_formats(p, ret_problem);
        if (r != 0)
                return r;
        r = symbol_timeline_open(&p->symbol_timeline, dir, meta)
                    ?: open_tasks(p)
                    ?: open_owners(p)
                    ?: open_spaces(p)
                    ?: open_prototypes(p)
                    ?: unhooked_init(&p->unhooked, meta);
        if (r < 0)
                return r;
        p->functions = (Functions){ .symbol_timeline = p->symbol_timeline,
                                    .roots = &meta->roots,
                                    .prototypes = p->prototypes,
                                    .unhooked = &p->unhooked };
        r = open_events(p) ?: stream_open(&p->stream, dir, &p->formats);
        if (r < 0)
                return r;
        p->steps = (Steps){
                .stream = p->stream,
                .functions = &p->functions,
                .tasks = p->tasks,
                .owners = p->owners,
                .foreign = p->foreign,
                .spaces = p->spaces,
                .stacks = p->stacks,
                .are_copied = meta->spec.stack_bytes > 0,
                .copies = p->copies,
                .values = p->values,
                .keep = meta->neighbours.n > 0 ? keep_beside(p) : STEPS_ALL,
                /* Neighbours may come. */
                .watches_trees = (meta->neighbours.n > 0 || session_state_is_live(meta->state)) &&
                                 keep_beside(p) == STEPS_IN_TREES,
                .has_retval = p->formats.exit.retval.size > 0,
        };
        *ret = TAKE_PTR(p);
        return 0;
}

/* Whether a file that we have is another one by now than that of @mtime; then that is its time.  One that is being
 * removed has not changed. */
static bool has_changed(const Playback *p, const char *path, struct timespec *mtime) {
        struct stat st;

        if (fstatat(session_dir_fd(p->dir), path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            (st.st_mtim.tv_sec == mtime->tv_sec && st.st_mtim.tv_nsec == mtime->tv_nsec))
                return false;
        *mtime = st.st_mtim;
        return true;
}

/* What has changed in session.json while it records: symbols, and neighbours that came. */
static int refresh_meta(Playback *p) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r = session_dir_read_meta(p->dir, &m);

        if (r != 0) {
                p->meta_mtime = (struct timespec){}; /* another time */
                return r == -ENOMEM ? r : 0;
        }
        if (m->neighbours.n > 0)
                steps_set_keep(&p->steps, keep_beside(p));
        r = symbol_timeline_refresh(p->symbol_timeline, m);
        if (r > 0)
                functions_forget_times(&p->functions);
        return r;
}

int playback_refresh(Playback *p) {
        int r = stream_refresh(p->stream);

        if (r >= 0 && has_changed(p, "session.json", &p->meta_mtime))
                r = refresh_meta(p);
        if (r >= 0 && p->owners && has_changed(p, "tracing/" OWNERS_FILE, &p->owners_mtime))
                r = load_owners(p);
        if (r >= 0 && p->spaces && has_changed(p, "tracing/" MAPS_FILE, &p->maps_mtime))
                r = load_spaces(p);
        return MIN(r, 0);
}

static int next_step(void *steps, uint64_t until_ns, Step *ret) {
        return steps_next(steps, until_ns, ret);
}

static int rank(Playback *p, const FilterSpec *spec) {
        _cleanup_(playback_freep) Playback *other = NULL;
        _cleanup_free_ char *problem = NULL;
        int r = playback_open(&other, p->dir, p->meta, &problem);

        if (r == 0)
                r = stream_seek(other->stream, spec->from_ns);
        if (r == 0)
                r = filter_rank(p->filter, &(StepSource){ next_step, &other->steps });
        return r > 0 ? -EBADMSG : r;
}

int playback_filter(Playback *p, const FilterSpec *spec, char **ret_problem) {
        int r;

        if (filter_spec_is_empty(spec))
                return 0;
        if (spec->keep_failed && p->formats.exit.retval.size == 0 &&
            !(p->values && values_have_returns(p->values)))
                return unreadable(ret_problem, "",
                                  "what calls return is not in it; record with --retval", "");
        if (filter_spec_needs_owners(spec) && !p->owners)
                return unreadable(ret_problem, "",
                                  "whose tasks are is not in it; record with --whose", "");
        r = filter_new(&p->filter, spec);
        if (r < 0)
                return r;
        p->source = (StepSource){ next_step, &p->steps };
        if (filter_spec_needs_rank(spec))
                r = rank(p, spec);
        /* What a task has said before still holds, and what it has mapped is still there. */
        if (r < 0 || spec->from_ns == 0 || spec->keep_contexts || p->spaces)
                return r;
        if (p->owners)
                owners_set_partial(p->owners);
        return stream_seek(p->stream, spec->from_ns);
}

void playback_count(Playback *p) {
        p->counts = !p->filter && session_meta_is_of_file(p->meta);
}

Playback *playback_free(Playback *p) {
        if (!p)
                return NULL;
        census_done(&p->census);
        filter_free(p->filter);
        steps_done(&p->steps);
        stream_free(p->stream);
        values_free(p->values);
        program_stacks_free(p->stacks);
        stack_copies_free(p->copies);
        spaces_free(p->spaces);
        functions_done(&p->functions);
        unhooked_done(&p->unhooked);
        prototypes_free(p->prototypes);
        foreign_free(p->foreign);
        owners_free(p->owners);
        tasks_free(p->tasks);
        symbol_timeline_free(p->symbol_timeline);
        return mfree(p);
}
