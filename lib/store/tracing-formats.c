/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A record that a tracer of a newer kernel writes is one line more. */

#include "base/strv.h"
#include "meta/event-choice.h"
#include "store/tracing-formats.h"

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
        int r = m ? session_meta_get_events(m, &events) : 0;

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
