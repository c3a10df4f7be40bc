/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A directory in memory for one input, for parsers that read a file by its name. */

#include <fcntl.h>

#include "fuzz.h"

typedef struct FuzzScratch {
        char path[32];
        int fd;
} FuzzScratch;

static inline void fuzz_write(const FuzzScratch *s, const char *name, const void *data, size_t n) {
        int fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        FUZZ_CHECK(fd >= 0 && write_full(fd, data, n) == 0);
        close(fd);
}

static inline FuzzScratch fuzz_scratch_new(void) {
        FuzzScratch s = { .path = "/dev/shm/fuzz-XXXXXX" };

        FUZZ_CHECK(mkdtemp(s.path));
        s.fd = dir_open(AT_FDCWD, s.path);
        FUZZ_CHECK(s.fd >= 0);
        return s;
}

static inline void fuzz_scratch_done(FuzzScratch *s) {
        safe_close(s->fd);
        (void) tree_remove(AT_FDCWD, s->path);
}

#define _cleanup_fuzz_scratch_ _cleanup_(fuzz_scratch_done)
