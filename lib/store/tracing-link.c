/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "store/format.h"
#include "store/tracing-link.h"

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
