/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A session's directory, what stands in for one (a trace.dat), or a text: all of them give steps
 * (calls/step.h), of which an event is the part that others may rely on.  Addresses are left out.
 */

#include <fcntl.h>

#include "base/io.h"
#include "calls/playback.h"
#include "import/source-form.h"
#include "import/text-trace.h"
#include "pages/dat-file.h"
#include "pages/page-source.h"
#include "public/source.h"

struct ftraced_source {
        SessionDir *dir;
        SessionMeta *meta;
        Playback *playback;
        TextTrace *text; /* instead of all that */
        char *description;
        ftraced_event event;
};

_Static_assert(FTRACED_ENTER == STEP_ENTER + 1 && FTRACED_OTHER == STEP_OTHER + 1,
               "an event's kind is a step's, from 1");

DEFINE_CLEANUP(ftraced_source *, ftraced_source_free);

const char *ftraced_version(void) {
        return PACKAGE_VERSION;
}

ftraced_source *ftraced_source_free(ftraced_source *s) {
        if (!s)
                return NULL;
        playback_free(s->playback);
        session_meta_free(s->meta);
        session_dir_free(s->dir);
        text_trace_free(s->text);
        free(s->description);
        return mfree(s);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int describe(ftraced_source *s) {
        json_auto_t *o = s->meta ? session_meta_to_json(s->meta) : json_object();

        s->description = o ? json_dumps(o, 0) : NULL;
        return s->description ? 0 : -ENOMEM;
}

int ftraced_source_take_dir(ftraced_source **ret, SessionDir *dir) {
        _cleanup_(ftraced_source_freep) ftraced_source *s = calloc(1, sizeof(*s));
        _cleanup_free_ char *problem = NULL;
        int r;

        if (!s) {
                session_dir_free(dir);
                return -ENOMEM;
        }
        s->dir = dir;
        r = session_dir_read_meta(dir, &s->meta);
        if (r == 0)
                r = dat_losses_note(s->meta, dir, false);
        if (r == 0)
                r = playback_open(&s->playback, s->dir, s->meta, &problem);
        if (r == 0)
                r = describe(s);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        *ret = TAKE_PTR(s);
        return 0;
}

/* A session's directory is in sessions/, its symbols beside that. */
static int open_directory(ftraced_source **ret, int fd) {
        int symbols_fd = dir_open(fd, "../../symbols");
        SessionDir *dir;
        int r = session_dir_take_fds(&dir, fd, symbols_fd == -ENOENT ? -EBADF : symbols_fd);

        return r < 0 ? r : ftraced_source_take_dir(ret, dir);
}

static int open_text(ftraced_source **ret, int fd) {
        _cleanup_(ftraced_source_freep) ftraced_source *s = calloc(1, sizeof(*s));
        int r;

        if (!s) {
                safe_close(fd);
                return -ENOMEM;
        }
        r = text_trace_take_fd(&s->text, fd, 1);
        if (r == 0)
                r = describe(s);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_dat(ftraced_source **ret, int fd, const char *name) {
        _cleanup_free_ char *problem = NULL;
        SessionDir *dir;
        DatFile *f;
        int r = dat_file_take_fd(&f, fd, &problem);

        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        r = dat_file_to_dir(&dir, f, name);
        return r < 0 ? r : ftraced_source_take_dir(ret, dir);
}

int ftraced_source_open(ftraced_source **ret, const char *path) {
        const char *slash = strrchr(path, '/');
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        int form = fd < 0 ? ORIGIN(-errno) : source_form_of(fd);

        if (form < 0)
                return form;
        switch ((SourceForm) form) {
        case SOURCE_SESSION:
                return open_directory(ret, TAKE_FD(fd));
        case SOURCE_DAT:
                return open_dat(ret, TAKE_FD(fd), slash ? slash + 1 : path);
        case SOURCE_TEXT:
                break;
        }
        return open_text(ret, TAKE_FD(fd));
}

/* --- walking ---------------------------------------------------------------------------------- */

int ftraced_source_next(ftraced_source *s, const ftraced_event **ret) {
        Step step;
        int r;

        do
                r = s->text ? text_trace_next(s->text, &step)
                            : playback_next(s->playback, STREAM_NO_LIMIT, &step);
        while (r == 1 && step.kind == STEP_TASK);
        if (r != 1)
                return r > 1 ? -EBADMSG : r;
        s->event = (ftraced_event){ .kind = (ftraced_kind) (step.kind + 1),
                                    .cpu = step.cpu,
                                    .pid = step.pid,
                                    .depth = step.depth,
                                    .time_ns = step.timestamp_ns,
                                    .task = step.comm };
        switch (step.kind) {
        case STEP_LEAF:
        case STEP_LEAVE:
                s->event.duration_ns = step_duration_ns(&step);
                /* fall through */
        case STEP_ENTER:
                s->event.function = step.function->label;
                s->event.is_root = step.function->root >= 0;
                break;
        case STEP_LOST:
                s->event.n_lost = step.n_lost;
                break;
        case STEP_OTHER:
                s->event.text = step.text;
                break;
        case STEP_TASK:
                break;
        }
        *ret = &s->event;
        return 1;
}

const char *ftraced_source_describe(ftraced_source *s) {
        return s->description;
}
