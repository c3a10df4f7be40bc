/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/watch/watch.h"
#include "store/tracing.h"

typedef struct Copy {
        SessionDir *dir;
        Tracer *tracer;
        bool synced;
        const char *path; /* what it is at, a constant */
} Copy;

static int copy(void *userdata, const char *path, TracingFormat kind) {
        Copy *c = userdata;
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = instance_read_file(tracer_instance(c->tracer), path, &text, &n);

        c->path = kind == TRACING_FORMAT_EVENT ? "the format of an event" : path;
        if (r < 0)
                return r == -ENOENT && kind == TRACING_FORMAT_OPTIONAL ? 0 : r;
        return session_dir_write_tracing(c->dir, path, text, n, c->synced);
}

int tracing_copy_begin(SessionDir *dir, Tracer *tracer, const SessionMeta *m,
                       const char **ret_path) {
        Copy c = { dir, tracer, .path = "events" };
        int r = copy(&c, "events/header_page", TRACING_FORMAT_REQUIRED)
                        ?: copy(&c, "events/header_event", TRACING_FORMAT_REQUIRED)
                        ?: tracing_formats_walk(m, copy, &c)
                        ?: copy(&c, "printk_formats", TRACING_FORMAT_OPTIONAL)
                        ?: copy(&c, "trace_options", TRACING_FORMAT_OPTIONAL);

        *ret_path = c.path;
        return r;
}

int tracing_copy_end(SessionDir *dir, Tracer *tracer, bool synced, const char **ret_path) {
        Copy c = { dir, tracer, synced };
        int r = copy(&c, "saved_cmdlines", TRACING_FORMAT_OPTIONAL);

        *ret_path = c.path;
        return r;
}
