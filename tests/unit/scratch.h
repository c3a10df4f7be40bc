/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A directory of a test's own, gone when the variable is:
 *
 *      _cleanup_scratch_ Scratch s = SCRATCH;
 */

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "unit.h"

typedef struct Scratch {
        char path[PATH_MAX];
        int fd;
} Scratch;

static inline Scratch scratch_new_in(const char *where) {
        Scratch s = {};

        (void) snprintf(s.path, sizeof(s.path), "%s/ftraced-test-XXXXXX", where);
        ck_assert_ptr_nonnull(mkdtemp(s.path));
        s.fd = dir_open(AT_FDCWD, s.path);
        ck_assert_int_ge(s.fd, 0);
        return s;
}

static inline Scratch scratch_new(void) {
        return scratch_new_in(getenv("TMPDIR") ?: "/tmp");
}

/* In memory if there is a place: for whoever writes and syncs thousands of files, to which a disk would
 * add nothing but time. */
static inline Scratch scratch_new_in_memory(void) {
        return access("/dev/shm", W_OK) == 0 ? scratch_new_in("/dev/shm") : scratch_new();
}

static inline void scratch_done(Scratch *s) {
        safe_close(s->fd);
        (void) tree_remove(AT_FDCWD, s->path);
}

#define SCRATCH scratch_new()
#define _cleanup_scratch_ _cleanup_(scratch_done)

/* A test with one, @s. */
#define SCRATCH_TEST(name) TEST_WITH(name, (Scratch * s), _cleanup_scratch_ Scratch s = SCRATCH, &s)

/* Writes a small file, replacing what is there. */
static inline void scratch_write(int dir_fd, const char *path, const void *data, size_t n) {
        ck_assert_int_eq(file_replace(dir_fd, path, data, n, 0640), 0);
}

/* The same of a text, with the directories above it. */
static inline void scratch_put(const Scratch *s, const char *path, const char *text) {
        char parent[PATH_MAX];

        for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
                (void) snprintf(parent, sizeof(parent), "%.*s", (int) (p - path), path);
                ck_assert_int_eq(dir_make(s->fd, parent, 0755), 0);
        }
        scratch_write(s->fd, path, text, strlen(text));
}
