/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Files come from tables; those that not every kernel has are marked so. */

#include "daemon/watch/tracing-copy.h"
#include "meta/event-choice.h"

typedef struct TracingFile {
        const char *path;
        bool may_be_missing;
} TracingFile;

static const TracingFile files_at_begin[] = {
        { "events/header_page" },
        { "events/header_event" },
        { "events/ftrace/funcgraph_entry/format" },
        { "events/ftrace/funcgraph_exit/format" },
        { "events/ftrace/funcgraph_retaddr_entry/format", .may_be_missing = true }, /* 6.13 on */
        { "events/ftrace/fgraph_retaddr_entry/format", .may_be_missing = true },
        { "events/ftrace/function/format", .may_be_missing = true },
        { "events/ftrace/print/format", .may_be_missing = true },
        { "printk_formats", .may_be_missing = true },
        { "trace_options", .may_be_missing = true },
};

static const TracingFile files_at_end[] = {
        { "saved_cmdlines", .may_be_missing = true },
};

static int copy_files(SessionDir *dir, Tracer *tracer, const TracingFile *files, size_t n_files,
                      bool synced, const char **ret_path) {
        for (size_t i = 0; i < n_files; i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;
                int r = instance_read_file(tracer_instance(tracer), files[i].path, &text, &n);

                if (r == -ENOENT && files[i].may_be_missing)
                        continue;
                if (r >= 0)
                        r = synced ? session_dir_write_tracing_synced(dir, files[i].path, text, n)
                                   : session_dir_write_tracing(dir, files[i].path, text, n);
                if (r < 0) {
                        *ret_path = files[i].path;
                        return r;
                }
        }
        return 0;
}

int tracing_copy_begin(SessionDir *dir, Tracer *tracer, const SessionMeta *m,
                       const char **ret_path) {
        _cleanup_strv_ Strv events = {};
        int r = copy_files(dir, tracer, files_at_begin, ELEMENTSOF(files_at_begin), false,
                           ret_path);

        if (r >= 0) {
                *ret_path = "events";
                r = session_meta_get_events(m, &events);
        }
        for (size_t i = 0; r >= 0 && i < events.n; i++) {
                char path[EVENT_PATH_MAX];
                EventChoice e;

                if (!event_choice_parse(&e, events.items[i]) || event_choice_is_marker(&e))
                        continue;
                event_choice_path(path, &e, "format");
                r = copy_files(dir, tracer, &(TracingFile){ path }, 1, false, ret_path);
                if (r < 0)
                        *ret_path = "the format of an event";
        }
        return r;
}

int tracing_copy_end(SessionDir *dir, Tracer *tracer, bool synced, const char **ret_path) {
        return copy_files(dir, tracer, files_at_end, ELEMENTSOF(files_at_end), synced, ret_path);
}
