/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A session's directory, what stands in for one (a trace.dat), or a text: all of them give steps
 * (calls/step.h), of which an event is the part that others may rely on.  Addresses are left out.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "calls/playback.h"
#include "codec/dat-file.h"
#include "import/text-trace.h"
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
        free(s);
        return NULL;
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
        int symbols_fd = openat(fd, "../../symbols", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        SessionDir *dir;
        int r = session_dir_take_fds(&dir, fd, symbols_fd);

        return r < 0 ? r : ftraced_source_take_dir(ret, dir);
}

static int open_text(ftraced_source **ret, int fd) {
        _cleanup_(ftraced_source_freep) ftraced_source *s = calloc(1, sizeof(*s));
        int r;

        if (!s) {
                safe_close(fd);
                return -ENOMEM;
        }
        r = text_trace_take_fd(&s->text, fd);
        if (r == 0)
                r = describe(s);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        *ret = TAKE_PTR(s);
        return 0;
}

int ftraced_source_open(ftraced_source **ret, const char *path) {
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *problem = NULL;
        _cleanup_close_ int fd = -EBADF;
        SessionDir *dir;
        struct stat st;
        DatFile *f;
        int r;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode))
                return open_directory(ret, TAKE_FD(fd));
        if (S_ISREG(st.st_mode)) {
                int copy_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);

                if (copy_fd < 0)
                        return -errno;
                r = dat_file_take_fd(&f, copy_fd, &problem);
                if (r == 0) {
                        r = dat_file_to_dir(&dir, f, slash ? slash + 1 : path);
                        return r < 0 ? r : ftraced_source_take_dir(ret, dir);
                }
                if (r != DAT_FILE_E_FOREIGN)
                        return r > 0 ? -EBADMSG : r;
                if (lseek(fd, 0, SEEK_SET) < 0)
                        return -errno;
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
