/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Seals the closed segments of a session in their places, as the daemon's worker does:
 * seal-session SESSION-DIR.  For benchmarks.
 */

#include <fcntl.h>
#include <stdio.h>

#include "base/buf.h"
#include "codec/sealed-writer.h"
#include "pages/page-source.h"

static int add_format(Buf *formats, const SessionDir *dir, const char *path) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = session_dir_read_tracing(dir, path, &text, &n);

        if (r >= 0)
                buf_add(formats, text, n + 1);
        return r;
}

static int seal(const SessionDir *dir, const Buf *formats, uint32_t cpu, uint64_t sequence) {
        _cleanup_close_ int in = session_dir_open_segment_file(dir, cpu, sequence), out = -EBADF;
        char path[64], made[80];
        SealedSize size;
        int r;

        (void) snprintf(path, sizeof(path), "cpu%u/%08x.seg", cpu, (unsigned) sequence);
        (void) snprintf(made, sizeof(made), "%s.new", path);
        out = openat(session_dir_fd(dir), made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        if (in < 0 || out < 0)
                return -errno;
        r = sealed_write(
                out,
                &(SealedSource){ .fd = in, .formats = formats->data, .n_formats = formats->n_data },
                &size);
        if (r == SEALED_WRITE_E_UNFIT) /* sealed before */
                return unlinkat(session_dir_fd(dir), made, 0) < 0 ? -errno : 0;
        if (r == 0)
                r = sealed_write_check(TAKE_FD(out), &size);
        if (r == 0 && renameat(session_dir_fd(dir), made, session_dir_fd(dir), path) < 0)
                r = -errno;
        return r;
}

static int seal_all(const char *path) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_free_ uint32_t *cpus = NULL;
        _cleanup_buf_ Buf formats = BUF_INIT;
        size_t n_cpus = 0;
        int r = session_dir_take_fds(&dir, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), -EBADF);

        if (r == 0)
                r = add_format(&formats, dir, "events/ftrace/funcgraph_entry/format");
        if (r == 0)
                r = add_format(&formats, dir, "events/ftrace/funcgraph_exit/format");
        if (r == 0)
                r = session_dir_list_cpus(dir, &cpus, &n_cpus);
        for (size_t i = 0; r == 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n = 0;

                r = session_dir_list_segments(dir, cpus[i], &sequences, &n);
                for (size_t k = 0; r == 0 && k < n; k++)
                        r = seal(dir, &formats, cpus[i], sequences[k]);
        }
        return r;
}

int main(int argc, char **argv) {
        int r = argc == 2 ? seal_all(argv[1]) : -EINVAL;

        if (r != 0)
                (void) fprintf(stderr, "seal-session: failed (%d)\n", r);
        return r != 0;
}
