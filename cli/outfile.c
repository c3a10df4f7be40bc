/* SPDX-License-Identifier: GPL-2.0-or-later */

/* realpath() finds what is to be replaced; the temporary's directory is therefore the right one. */

#include <fcntl.h>
#include <sys/stat.h>

#include "cli/outfile.h"

/* The umask can only be read by setting it. */
static mode_t current_umask(void) {
        mode_t m = umask(022);

        (void) umask(m);
        return m;
}

int outfile_open(Outfile *ret, const char *path, mode_t mode) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        struct stat st;
        char *temporary;

        f.path = realpath(path, NULL);
        if (!f.path)
                f.path = strdup(path);
        if (!f.path)
                return -ENOMEM;
        if (stat(f.path, &st) >= 0 && !S_ISREG(st.st_mode)) {
                f.fd = open(f.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                if (f.fd < 0)
                        return -errno;
        } else {
                if (asprintf(&temporary, "%s.XXXXXX", f.path) < 0)
                        return -ENOMEM;
                f.fd = mkostemp(temporary, O_CLOEXEC);
                if (f.fd < 0) {
                        int r = -errno;

                        free(temporary);
                        return r;
                }
                f.temporary = temporary;
                if (fchmod(f.fd, mode & ~current_umask()) < 0)
                        return -errno;
        }
        *ret = f;
        f = OUTFILE_INIT;
        return 0;
}

int outfile_commit(Outfile *f) {
        if (close(TAKE_FD(f->fd)) < 0)
                return -errno;
        if (!f->temporary)
                return 0;
        if (rename(f->temporary, f->path) < 0)
                return -errno;
        free(TAKE_PTR(f->temporary));
        return 0;
}

void outfile_done(Outfile *f) {
        f->fd = safe_close(f->fd);
        if (f->temporary)
                (void) unlink(f->temporary);
        free(TAKE_PTR(f->temporary));
        free(TAKE_PTR(f->path));
}
