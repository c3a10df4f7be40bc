/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "base/cleanup.h"
#include "cli/contact/contact.h"
#include "tests/unit/unit.h"

/* What reaches the terminal, for which a file stands, of @n bytes that come in pieces of @n_piece. */
static char *pass(const char *data, size_t n, size_t n_piece) {
        _cleanup_close_ int fd = memfd_create("terminal", MFD_CLOEXEC);
        RemoteText t = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(fd);
        char *text = calloc(1, 16 * n + 1);

        ck_assert_int_ge(fd, 0);
        for (size_t i = 0; i < n; i += n_piece)
                remote_text_add(&t, &out, data + i, MIN(n_piece, n - i), false);
        remote_text_add(&t, &out, NULL, 0, true);
        ck_assert_int_eq(buf_flush(&out), 0);
        ck_assert_int_ge(pread(fd, text, 16 * n, 0), 0);
        return text;
}

TEST(what_ftracectl_writes_passes_and_what_a_terminal_would_obey_besides_is_escaped) {
        static const char said[] = "\033[1mName\033[0m  \033[1;31mbad\033[m\n"
                                   "\r\033[K50 %\r\033[Kd\xc3\xa9j\xc3\xa0 \xe2\x82\xac\n"
                                   "\033[H\033[J\xf0\x9f\x90\xa2 top\n";
        static const struct {
                const char *data, *wanted;
        } cases[] = {
                { said, said },
                { "\033]0;title\a", "\\x1b]0;title\\x07" },
                { "a\033[2Jb", "a\\x1b[2Jb" },
                { "\033[1;31x", "\\x1b[1;31x" },
                { "\033\033[31mred\033[0m", "\\x1b\033[31mred\033[0m" },
                { "\033[H\033[2J", "\\x1b[H\\x1b[2J" },
                { "back\bspace", "back\\x08space" },
                { "\xc2\x9b[31m", "\\xc2\\x9b[31m" },
                /* What is half at the end is escaped and not kept. */
                { "a\033[1;3", "a\\x1b[1;3" },
                { "a\xe2\x82", "a\\xe2\\x82" },
                { "\033", "\\x1b" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *data = cases[i].data;

                for (size_t n_piece = 1; n_piece <= strlen(data); n_piece++) {
                        _cleanup_free_ char *text = pass(data, strlen(data), n_piece);

                        ck_assert_msg(streq(text, cases[i].wanted), "in pieces of %zu: %s", n_piece,
                                      text);
                }
        }
}

TEST(whatever_comes_the_pieces_do_not_matter) {
        static const char alphabet[] = "\033\033[[HJKm0123;\r\n a\xc3\xa9\xe2\x82\xf0\x9f";
        srandom(unit_seed());
        for (int i = 0; i < 300; i++) {
                char data[64];
                size_t n = 1 + (size_t) random() % sizeof(data);
                _cleanup_free_ char *whole = NULL;

                for (size_t k = 0; k < n; k++)
                        data[k] = alphabet[(size_t) random() % (sizeof(alphabet) - 1)];
                whole = pass(data, n, n);
                for (size_t n_piece = 1; n_piece < n; n_piece++) {
                        _cleanup_free_ char *text = pass(data, n, n_piece);

                        ck_assert_str_eq(text, whole);
                }
        }
}
