/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines of the source for what is read, from wherever they can be had. */

#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/meta.h"

static int tell_progress(void *userdata, uint64_t n_bytes, uint64_t n_all) {
        progress_write(userdata, n_bytes, n_all);
        return 0;
}

static int open_lines(SourceLines *s, const Options *o, const SessionMeta *m, const Playback *p) {
        _cleanup_free_ char *problem = NULL;
        Progress progress;
        LinesRecording recording = {
                .meta = m,
                .release = m ? m->kernel : NULL,
                .machine = m ? m->machine : NULL,
                .symbols = p ? p->symbol_timeline : NULL,
                .symbols_fd = p ? session_dir_symbols_fd(p->dir) : -EBADF,
        };
        LinesPlace place = { .vmlinux = o->analysis.vmlinux,
                             .progress = tell_progress,
                             .userdata = &progress };
        int r = p ? session_dir_read_build_ids(p->dir, m, &s->build_ids) : 0;

        if (r >= 0 && s->build_ids.n > 0) {
                s->ids = calloc(s->build_ids.n, sizeof(*s->ids));
                r = s->ids ? 0 : -ENOMEM;
        }
        for (size_t i = 0; i < s->build_ids.n && r >= 0; i++) {
                char *name = s->build_ids.items[i], *id = strchr(name, ' ');

                *id = 0;
                s->ids[i] = (LinesId){ streq(name, BUILD_ID_KERNEL) ? NULL : name, id + 1 };
        }
        recording.ids = s->ids;
        recording.n_ids = s->build_ids.n;
        if (r >= 0) {
                progress_begin(&progress, o, "Fetching debug information");
                r = lines_open(&s->lines, &recording, &place, &problem);
        }
        if (r == LINES_E_NONE)
                return failed(STATUS_NOT_FOUND, "%s.", problem);
        return r < 0 ? failed_errno(r, "Failed to open lines of the source: %m") : STATUS_OK;
}

int source_lines_open(SourceLines *ret, const Options *o, const SessionMeta *m, const Playback *p) {
        int status = open_lines(ret, o, m, p);

        if (status == STATUS_OK && ways_new(&ret->ways, ret->lines) < 0)
                status = out_of_memory();
        return status;
}

int reading_lines(Reading *r) {
        return r->lines.lines ? STATUS_OK
                              : source_lines_open(&r->lines, r->o, reading_meta(r), r->playback);
}

void source_lines_say(const SourceLines *s, const Options *o) {
        if (!s->lines)
                return;
        warn_each(lines_lacking(s->lines));
        if (o->analysis.lines)
                talk(o, "Lines are from %s.", lines_origin(s->lines));
}

void source_lines_done(SourceLines *s) {
        ways_free(s->ways);
        lines_free(s->lines);
        free(s->ids);
        strv_done(&s->build_ids);
        *s = (SourceLines){};
}
