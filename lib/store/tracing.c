/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A record that a tracer of a newer kernel writes is one line more. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "meta/event-choice.h"
#include "store/tracing.h"

static const struct {
        const char *path;
        TracingFormat kind;
} of_tracers[] = {
        { "events/ftrace/funcgraph_entry/format", TRACING_FORMAT_REQUIRED },
        { "events/ftrace/funcgraph_exit/format", TRACING_FORMAT_REQUIRED },
        { "events/ftrace/funcgraph_retaddr_entry/format", TRACING_FORMAT_OPTIONAL }, /* 6.13 on */
        { "events/ftrace/fgraph_retaddr_entry/format", TRACING_FORMAT_OPTIONAL },
        { "events/ftrace/function/format", TRACING_FORMAT_OPTIONAL },
        { "events/ftrace/print/format", TRACING_FORMAT_OPTIONAL },
};

int tracing_formats_walk(const SessionMeta *m, TracingFormatEach each, void *userdata) {
        _cleanup_strv_ Strv events = {};
        int r = m ? strv_copy(&events, &m->spec.events) ?: strv_extend(&events, &m->probe_events)
                  : 0;

        for (size_t i = 0; r == 0 && i < ELEMENTSOF(of_tracers); i++)
                r = each(userdata, of_tracers[i].path, of_tracers[i].kind);
        for (size_t i = 0; r == 0 && i < events.n; i++) {
                char path[EVENT_PATH_MAX];
                EventChoice e;

                if (!event_choice_parse(&e, events.items[i]) || event_choice_is_marker(&e))
                        continue;
                event_choice_path(path, &e, "format");
                r = each(userdata, path, TRACING_FORMAT_EVENT);
        }
        return r;
}

#define DEPTH_MAX 6 /* tracing/events/SYSTEM/NAME/format has 4 */
#define FILES_MAX 4096

/* @from_fd: consumed. */
static int link_all(int from_fd, int to_fd, unsigned depth, size_t *n);

static int link_entry(int from_fd, int to_fd, const char *name, unsigned depth, size_t *n) {
        _cleanup_close_ int to_dir = -EBADF;
        struct stat st;
        int r;

        if (fstatat(from_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return ORIGIN(-errno);
        if (S_ISREG(st.st_mode) && (*n)++ < FILES_MAX)
                return linkat(from_fd, name, to_fd, name, 0) < 0 ? ORIGIN(-errno) : 0;
        if (!S_ISDIR(st.st_mode) || depth == 0)
                return 0;
        r = dir_make(to_fd, name, STORE_DIR_MODE);
        if (r < 0)
                return r;
        to_dir = dir_open(to_fd, name);
        return to_dir < 0 ? to_dir : link_all(dir_open(from_fd, name), to_dir, depth - 1, n);
}

static int link_all(int from_fd, int to_fd, unsigned depth, size_t *n) {
        _cleanup_(closedirp) DIR *d = NULL;
        const struct dirent *e;
        int r = dir_list(&d, from_fd);

        while (r >= 0 && (e = readdir(d)))
                if (!streq(e->d_name, ".") && !streq(e->d_name, ".."))
                        r = link_entry(from_fd, to_fd, e->d_name, depth, n);
        return r;
}

int tracing_link(const SessionDir *from, const SessionDir *to) {
        size_t n = 0;

        return link_entry(session_dir_fd(from), session_dir_fd(to), "tracing", DEPTH_MAX, &n);
}
