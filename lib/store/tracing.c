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
        { "events/ftrace/kernel_stack/format", TRACING_FORMAT_OPTIONAL },
        { "events/ftrace/user_stack/format", TRACING_FORMAT_OPTIONAL },
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

/* "\toffset:8;": whether that is at *@p, which is behind it then. */
static bool take_property(const char **p, const char *name, uint32_t *ret) {
        const char *digits = startswith(*p + strspn(*p, " \t"), name);
        unsigned long n;
        char *end;

        if (!digits || *digits < '0' || *digits > '9')
                return false;
        n = strtoul(digits, &end, 10);
        if (n > INT32_MAX || *end != ';')
                return false;
        *p = end + 1;
        *ret = (uint32_t) n;
        return true;
}

/* Lines of "\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;" */
bool tracing_next_field(const char **at, TracingField *ret) {
        static const char string[] = "__data_loc char[] ";

        for (const char *p = *at; (p = strstr(p, "field:"));) {
                const char *string_end = startswith(p += strlen("field:"), string);
                const char *from = string_end ? string_end - 1 : p,
                           *end = from + strcspn(from, ";[\n");
                const char *more = end + strcspn(end, ";\n");
                TracingField f = { .is_array = *end == '[', .is_string = string_end };
                uint32_t is_signed = 0;

                while (end - f.n_name > from && !strchr(" *", *(end - f.n_name - 1)))
                        f.n_name++;
                if (*more++ != ';' || end - f.n_name == from ||
                    !take_property(&more, "offset:", &f.offset) ||
                    !take_property(&more, "size:", &f.size))
                        continue;
                f.is_signed = take_property(&more, "signed:", &is_signed) && is_signed > 0;
                f.name = end - f.n_name;
                *at = end;
                *ret = f;
                return true;
        }
        return false;
}

TracingField tracing_find_field(const char *text, const char *name) {
        size_t n = strlen(name);
        TracingField f;

        while (tracing_next_field(&text, &f))
                if (f.n_name == n && memcmp(f.name, name, n) == 0)
                        return f;
        return (TracingField){};
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

        while (r >= 0 && (e = dir_next(d, &r)))
                r = link_entry(from_fd, to_fd, e->d_name, depth, n);
        return r;
}

int tracing_link(const SessionDir *from, const SessionDir *to) {
        size_t n = 0;

        return link_entry(session_dir_fd(from), session_dir_fd(to), "tracing", DEPTH_MAX, &n);
}
