/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "import/text-trace.h"
#include "pages/dat-file.h"
#include "scratch.h"

static void expect(const Scratch *s, const char *data, size_t n, SourceForm form) {
        _cleanup_close_ int fd = -EBADF;

        scratch_write(s->fd, "file", data, n);
        fd = openat(s->fd, "file", O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(source_form_of(fd), form);
        ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
}

SCRATCH_TEST(what_a_file_begins_with_tells_its_form) {
        expect(s, DAT_MAGIC "6", DAT_MAGIC_BYTES + 2, SOURCE_DAT);
        expect(s, DAT_MAGIC, DAT_MAGIC_BYTES, SOURCE_DAT);
        expect(s, DAT_MAGIC, DAT_MAGIC_BYTES - 1, SOURCE_TEXT);
        expect(s, "# tracer: function_graph\n", 25, SOURCE_TEXT);
        expect(s, "", 0, SOURCE_TEXT);
        ck_assert_int_eq(source_form_of(s->fd), SOURCE_SESSION);
}

TEST(what_can_be_read_once_is_a_text) {
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(write(fds[1], DAT_MAGIC "6", DAT_MAGIC_BYTES + 2), DAT_MAGIC_BYTES + 2);
        ck_assert_int_eq(source_form_of(fds[0]), SOURCE_TEXT);
        close(fds[0]);
        close(fds[1]);
        ck_assert_int_eq(source_form_of(-1), -EBADF);
}
