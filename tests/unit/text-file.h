/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Texts of traces, from memory and from the source tree. */

#include <fcntl.h>
#include <sys/mman.h>

#include "base/io.h"
#include "import/text-trace.h"
#include "unit.h"

/* The path of a file below tests/data, which the caller frees. */
static inline char *data_path(const char *name) {
        const char *top = getenv("top_srcdir");
        char *path;

        ck_assert_int_gt(asprintf(&path, "%s/tests/data/%s", top ?: ".", name), 0);
        return path;
}

static inline int fd_of_text(const char *text, size_t n) {
        int fd = memfd_create("text", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_full(fd, text, n), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        return fd;
}

static inline TextTrace *trace_of_text(const char *text) {
        TextTrace *t;

        ck_assert_int_eq(text_trace_take_fd(&t, fd_of_text(text, strlen(text)), 1), 0);
        return t;
}

/* @name: below tests/data */
static inline TextTrace *trace_of_file(const char *name) {
        _cleanup_free_ char *path = data_path(name);
        TextTrace *t;
        int fd;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(text_trace_take_fd(&t, fd, 1), 0);
        return t;
}

static inline char *read_data(const char *name) {
        _cleanup_free_ char *path = data_path(name);
        char *text;

        ck_assert_int_eq(file_read(AT_FDCWD, path, &text, NULL, SIZE_MAX), 0);
        return text;
}

static inline Step next(TextTrace *t) {
        Step s;

        ck_assert_int_eq(text_trace_next(t, &s), 1);
        return s;
}

static inline void expect_end(TextTrace *t) {
        Step s;

        ck_assert_int_eq(text_trace_next(t, &s), 0);
}

static inline uint64_t n_remarks(const TextTrace *t, TextRemark remark) {
        return text_trace_count(t)->n_remarks[remark];
}
