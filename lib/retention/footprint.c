/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One walk.  Directories are a few deep: what somebody else made deeper than that is not ours. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "retention/footprint.h"
#include "store/format.h"

#define DEPTH_MAX 16
#define SEGMENT_DEPTH 1 /* cpuN/SSSSSSSS.seg */

static bool is_segment(const char *name, unsigned depth) {
        size_t n = strlen(name);

        return depth == SEGMENT_DEPTH && n > 4 && streq(name + n - 4, ".seg");
}

/* @fd is consumed.  Not into directories whose names begin with @beside; NULL: into all. */
static void add(Footprint *f, int fd, unsigned depth, const char *beside) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, fd);

        while (r >= 0 && (e = dir_next(d, &r))) {
                uint64_t n_bytes;
                struct stat st;

                if ((depth == 0 && streq(e->d_name, STORE_RESERVE_NAME)) ||
                    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                n_bytes = MAX((uint64_t) st.st_blocks * 512, (uint64_t) FOOTPRINT_ENTRY_BYTES);
                f->n_bytes += n_bytes;
                if (is_segment(e->d_name, depth))
                        f->segment_bytes += n_bytes;
                if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX &&
                    !(depth == 0 && beside && startswith(e->d_name, beside)))
                        add(f, dir_open(dirfd(d), e->d_name), depth + 1, beside);
        }
}

Footprint footprint_measure(const SessionDir *d) {
        Footprint f = { .n_bytes = FOOTPRINT_ENTRY_BYTES };

        add(&f, dir_open(session_dir_fd(d), "."), 0, NULL);
        return f;
}

Footprint footprint_measure_beside(const SessionDir *d, uint64_t segment_bytes) {
        Footprint f = { .n_bytes = FOOTPRINT_ENTRY_BYTES + segment_bytes,
                        .segment_bytes = segment_bytes };

        add(&f, dir_open(session_dir_fd(d), "."), 0, "cpu");
        return f;
}

static uint64_t counted(uint64_t n_bytes) {
        return MAX(n_bytes, (uint64_t) FOOTPRINT_ENTRY_BYTES);
}

void footprint_replace(Footprint *f, uint64_t n_before, uint64_t n_bytes) {
        if (f->segment_bytes < counted(n_before))
                return;
        f->n_bytes += counted(n_bytes) - counted(n_before);
        f->segment_bytes += counted(n_bytes) - counted(n_before);
}
