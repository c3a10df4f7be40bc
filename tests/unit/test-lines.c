/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "base/io.h"
#include "import/text-private.h"
#include "unit.h"

static Lines lines_of(const char *text, size_t n) {
        int fd = memfd_create("lines", MFD_CLOEXEC);
        Lines l;

        ck_assert_int_eq(write_full(fd, text, n), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(lines_init_take_fd(&l, fd), 0);
        return l;
}

static void expect(Lines *l, const char *text, uint64_t number) {
        Line line;

        ck_assert_int_eq(lines_next(l, &line), 1);
        ck_assert_uint_eq(line.n_text, strlen(text));
        ck_assert_mem_eq(line.text, text, line.n_text);
        ck_assert_uint_eq(line.number, number);
}

TEST(lines_come_without_their_ends) {
        static const char text[] = "one\n\ntwo\r\nthree";
        _cleanup_(lines_done) Lines l = lines_of(text, sizeof(text) - 1);
        Line line;

        expect(&l, "one", 1);
        expect(&l, "", 2);
        expect(&l, "two", 3);
        ck_assert_int_eq(lines_next(&l, &line), 1);
        ck_assert(line.is_last);
        ck_assert_uint_eq(line.n_text, 5);
        ck_assert_int_eq(lines_next(&l, &line), 0);
        ck_assert_uint_eq(l.n_bytes, sizeof(text) - 1);
}

TEST(the_beginning_of_the_next_line_is_at_hand) {
        static const char text[] = "one\ntwo\n";
        _cleanup_(lines_done) Lines l = lines_of(text, sizeof(text) - 1);
        Line line;

        ck_assert_int_eq(lines_next(&l, &line), 1);
        ck_assert_uint_eq(line.n_next, 4);
        ck_assert_mem_eq(line.next, "two\n", 4);
}

TEST(a_line_that_is_too_long_is_one_line) {
        size_t n = LINES_MAX_BYTES * 9;
        _cleanup_free_ char *text = malloc(n + 5);
        _cleanup_(lines_done) Lines l = {};
        Line line;

        memset(text, 'x', n);
        memcpy(text + n, "\nend\n", 5);
        l = lines_of(text, n + 5);
        ck_assert_int_eq(lines_next(&l, &line), 1);
        ck_assert(line.is_long);
        do
                ck_assert_int_eq(lines_next(&l, &line), 1);
        while (line.is_rest && line.number == 1);
        ck_assert_uint_eq(line.number, 2);
        ck_assert_mem_eq(line.text, "end", 3);
        ck_assert_int_eq(lines_next(&l, &line), 0);
        ck_assert_uint_eq(l.n_bytes, n + 5);
}

TEST(lines_of_every_length_are_whole) {
        _cleanup_free_ char *text = malloc(LINES_MAX_BYTES * 4);
        _cleanup_(lines_done) Lines l = {};
        size_t n = 0;
        Line line;

        for (size_t i = 0; i < 600; i++) {
                memset(text + n, 'a' + (int) (i % 26), i);
                text[n + i] = '\n';
                n += i + 1;
        }
        l = lines_of(text, n);
        for (size_t i = 0; i < 600; i++) {
                ck_assert_int_eq(lines_next(&l, &line), 1);
                ck_assert_uint_eq(line.n_text, i);
                for (size_t k = 0; k < i; k++)
                        ck_assert_int_eq(line.text[k], 'a' + (int) (i % 26));
        }
        ck_assert_int_eq(lines_next(&l, &line), 0);
}

TEST(bytes_that_are_no_text_are_seen) {
        static const char text[] = "a\tb\na\0b\na\x1b[m\n";
        _cleanup_(lines_done) Lines l = lines_of(text, sizeof(text) - 1);
        Line line;

        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(lines_next(&l, &line), 1);
                ck_assert_int_eq(line.is_binary, i > 0);
        }
}
