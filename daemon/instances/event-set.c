/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A filter stands before its event is switched on, and all of it before recording is, so no event
 * comes in that was not asked for.  In an instance everything goes with the directory; at the top
 * level the ledger has each file's old value.
 */

#include <sys/utsname.h>

#include "base/name.h"
#include "daemon/instances/instance.h"
#include "meta/event-choice.h"

#define COPY_MARKERS "options/copy_trace_marker"

int refuse_no_event(const Tracefs *fs, const char *system, const char *event, Refusal *refusal) {
        char name[2 * EVENT_WORD_MAX + 2];
        _cleanup_strv_ Strv all = {};
        const char *like;
        int r;

        (void) snprintf(name, sizeof(name), "%s:%s", system, event);
        r = tracefs_read_words(fs, "available_events", "\n", &all);
        if (r < 0 && r != -ENOENT)
                return r;
        like = typo_nearest(name, (const char *const *) all.items, all.n);
        return refusal_set(refusal, REFUSAL_EVENT_NOT_FOUND,
                           json_pack("{ss so}", "event", name, "suggestions",
                                     like ? json_pack("[s]", like) : json_array()),
                           "no event \"%s\" can be recorded here. %s%s%s", name,
                           like ? "Did you mean " : "They are listed in available_events",
                           like ?: "", like ? "?" : ".");
}

int admit_events(const Tracefs *fs, const Spec *spec, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < spec->events.n; i++) {
                char path[EVENT_PATH_MAX];
                EventChoice e;

                if (!event_choice_parse(&e, spec->events.items[i]))
                        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "events",
                                              "\"%s\" is not SYSTEM:NAME or SYSTEM:NAME:FILTER.",
                                              NAME_QUOTED(spec->events.items[i]));
                if (event_choice_is_marker(&e) && e.filter)
                        return refusal_set_of(
                                refusal, REFUSAL_INVALID_SPEC, "field", "events",
                                "ftrace:print takes no filter: markers are recorded as "
                                "they are written, or not at all.");
                if (event_choice_is_marker(&e))
                        continue;
                event_choice_path(path, &e, "enable");
                if (faccessat(fs->fd, path, F_OK, 0) < 0)
                        r = refuse_no_event(fs, e.system, e.name, refusal);
        }
        return r;
}

int admit_markers(const Tracefs *fs, const Spec *spec, const char *session, bool has_instances,
                  Refusal *refusal) {
        bool is_wanted = false;
        struct utsname u;

        for (size_t i = 0; i < spec->events.n; i++) {
                EventChoice e;

                is_wanted |=
                        event_choice_parse(&e, spec->events.items[i]) && event_choice_is_marker(&e);
        }
        if (!is_wanted || !has_instances || faccessat(fs->fd, COPY_MARKERS, F_OK, 0) >= 0)
                return 0;
        if (uname(&u) < 0)
                return ORIGIN(-errno);
        return refusal_set_of(
                refusal, REFUSAL_NOT_SUPPORTED, "what", "ftrace:print",
                "--event=ftrace:print: this kernel (%s) does not copy what is written to "
                "%s/trace_marker into a session's own buffer. Linux can since 6.15; here "
                "%s/" COPY_MARKERS " is missing. Without this event, a session has what is "
                "written to its own file: %s/instances/" INSTANCE_PREFIX "%s/trace_marker.",
                u.release, fs->path, fs->path, fs->path, session);
}

static int plan_event(const EventChoice *e, const Instance *i, Plan *p) {
        char path[EVENT_PATH_MAX];
        int r;

        if (event_choice_is_marker(e)) {
                r = instance_plan_file(i, p, "options/markers", "1", NULL);
                return r >= 0 && i->name ? instance_plan_file(i, p, COPY_MARKERS, "1", NULL) : r;
        }
        event_choice_path(path, e, "filter");
        r = instance_plan_file(i, p, path, e->filter ?: "none", e->filter ? NULL : "0");
        if (r < 0)
                return r;
        event_choice_path(path, e, "enable");
        return instance_plan_file(i, p, path, "1", NULL);
}

bool event_set_is_used(const Spec *spec) {
        return spec->events.n > 0 || spec->retval || spec->retval_functions.n > 0 || spec->args ||
               spec->args_functions.n > 0 || spec->kernel_stack || spec->user_stack || spec->what ||
               spec->whose;
}

int event_set_plan(const Spec *spec, const Strv *threads, const Instance *i, Plan *p) {
        _cleanup_free_ char *pids = strv_join(threads, "\n");
        int r = pids ? 0 : -ENOMEM;

        if (r < 0 || !event_set_is_used(spec))
                return r;
        r = instance_plan_file(i, p, "set_event_pid", pids, NULL)
                    ?: instance_plan_file(i, p, "set_event_notrace_pid", "", NULL);
        if (r >= 0 && threads->n > 0 &&
            !i->name) /* who leaves those that are followed comes into it later */
                r = instance_keep_old(p, "set_event_notrace_pid"); /* since linux 5.8 */
        if (r >= 0 && threads->n > 0)
                r = instance_plan_file(i, p, "options/event-fork", "1", NULL);
        if (r >= 0 && spec->user_stack)
                r = instance_plan_file(i, p, "options/userstacktrace", "1", NULL);
        for (size_t k = 0; r >= 0 && k < spec->events.n; k++) {
                EventChoice e;

                if (event_choice_parse(&e, spec->events.items[k]))
                        r = plan_event(&e, i, p);
        }
        return r;
}

int refuse_event_filter(const Tracefs *fs, const char *file, const char *field, Refusal *refusal) {
        const char *event = strstr(file, "events/") ?: file, *reason;
        int n_event = (int) (strlen(event) - strlen("/filter"));
        _cleanup_strv_ Strv lines = {};
        size_t n_before;
        int r = tracefs_read_words(fs, file, "\n", &lines);

        if (r < 0)
                return r;
        /* FILTER, a line with a '^' below what is wrong, "parse_error: REASON" (linux 6.1
         * kernel/trace/trace_events_filter.c, append_filter_err()). */
        reason = lines.n > 2 ? startswith(lines.items[2], "parse_error: ") ?: lines.items[2]
                             : "it does not say why";
        n_before = lines.n > 2 ? strspn(lines.items[1], " ") : 0;
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", field,
                              "the kernel does not take the filter \"%s\" of %.*s: %s, at \"%s\". "
                              "%s/%.*s/format has the fields.",
                              lines.n > 0 ? lines.items[0] : "", n_event, event, reason,
                              lines.n > 0 && n_before < strlen(lines.items[0])
                                      ? lines.items[0] + n_before
                                      : "its end",
                              fs->path, n_event, event);
}
