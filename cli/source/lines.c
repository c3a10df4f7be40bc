/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines of the source for what is read, from wherever they can be had. */

#include "base/unit.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

static int tell_progress(void *userdata, uint64_t n_bytes, uint64_t n_all) {
        progress_write(userdata, n_bytes, n_all);
        return 0;
}

int reading_lines(Lines **ret, const Reading *r) {
        const SessionMeta *m = reading_meta(r);
        _cleanup_free_ char *problem = NULL;
        Progress progress;
        LinesRecording recording = {
                .meta = m,
                .release = m ? m->kernel : NULL,
                .machine = m ? m->machine : NULL,
                .symbols = r->playback ? r->playback->symbol_timeline : NULL,
                .symbols_fd = r->playback ? session_dir_symbols_fd(r->playback->dir) : -EBADF,
        };
        LinesPlace place = { .vmlinux = r->o->analysis.vmlinux,
                             .progress = tell_progress,
                             .userdata = &progress };
        int e;

        progress_begin(&progress, r->o, "Fetching debug information");
        e = lines_open(ret, &recording, &place, &problem);
        if (e == LINES_E_NONE)
                return failed(STATUS_NOT_FOUND, "%s.", problem);
        return e < 0 ? failed_errno(e, "Failed to open lines of the source: %m") : STATUS_OK;
}
