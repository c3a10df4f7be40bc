/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "base/buf.h"
#include "base/name.h"
#include "scratch.h"

TEST(text_gathers_in_order) {
        _cleanup_buf_ Buf b = BUF_INIT;

        buf_adds(&b, "a");
        buf_printf(&b, "%d-%s", 17, "x");
        buf_pad(&b, 3, ' ');
        buf_add(&b, "end", 3);
        EXPECT_TEXT(b, "a17-x   end");
        ck_assert_uint_eq(b.n_data, 0);
}

TEST(a_descriptor_gets_everything_once) {
        _cleanup_close_ int fd = memfd_create("buf", MFD_CLOEXEC);
        _cleanup_buf_ Buf b = BUF_TO_FD(fd);
        _cleanup_free_ char *s = NULL;
        size_t n, n_lines = 200000;

        for (size_t i = 0; i < n_lines; i++)
                buf_printf(&b, "%07zu\n", i);
        ck_assert_int_eq(buf_flush(&b), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &s, &n, SIZE_MAX), 0);
        ck_assert_uint_eq(n, n_lines * 8);
        ck_assert_int_eq(strncmp(s + 8 * 123456, "0123456\n", 8), 0);
}

TEST(the_first_error_sticks) {
        _cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        _cleanup_buf_ Buf b = BUF_TO_FD(fd);

        buf_adds(&b, "x");
        ck_assert_int_eq(buf_flush(&b), -ENOSPC);
        buf_adds(&b, "y");
        buf_printf(&b, "z");
        buf_pad(&b, 2, ' ');
        ck_assert_int_eq(b.error, -ENOSPC);
        ck_assert_int_eq(buf_flush(&b), -ENOSPC);
}

static void becomes(PlainStyle style, const char *s, size_t n, const char *wanted) {
        _cleanup_buf_ Buf out = BUF_INIT;

        buf_add_plain(&out, s, n, style);
        EXPECT_TEXT(out, wanted);
}

#define BECOMES(style, s, wanted) becomes(style, s, sizeof(s) - 1, wanted)

TEST(printable_characters_of_all_languages_stay) {
        static const char text[] = "do_IRQ [nf_nat] ~ \xc3\xa9 \xce\xb1 \xd7\xa9 \xe2\x82\xac "
                                   "\xe6\xbc\xa2 \xf0\x9f\x90\xa7 of more than 32 bytes";

        for (PlainStyle s = PLAIN_WORD; s <= PLAIN_JSON; s++)
                BECOMES(s, text, text);
}

TEST(what_a_terminal_obeys_does_not) {
        BECOMES(PLAIN_WORD, "\x1b[31mred", "\\x1b[31mred");
        BECOMES(PLAIN_WORD,
                "\x9b"
                "31m",
                "\\x9b31m");
        BECOMES(PLAIN_WORD,
                "\xc2\x9b"
                "31m",
                "\\xc2\\x9b31m");
        BECOMES(PLAIN_WORD, "a\bb\rc\x7f", "a\\x08b\\x0dc\\x7f");
        BECOMES(PLAIN_WORD,
                "\xe2\x80\xae"
                "fdp.exe",
                "\\xe2\\x80\\xaefdp.exe");
        BECOMES(PLAIN_WORD, "\xe2\x81\xa6", "\\xe2\\x81\\xa6");
        BECOMES(PLAIN_WORD, "a\0b", "a\\x00b");
}

TEST(what_nobody_sees_does_not) {
        BECOMES(PLAIN_WORD,
                "a\xe2\x80\x8b"
                "b",
                "a\\xe2\\x80\\x8bb"); /* zero width space */
        BECOMES(PLAIN_WORD, "\xe2\x80\x8d\xe2\x81\xa0", "\\xe2\\x80\\x8d\\xe2\\x81\\xa0");
        BECOMES(PLAIN_WORD, "\xef\xbb\xbf", "\\xef\\xbb\\xbf"); /* byte order mark */
        BECOMES(PLAIN_WORD, "\xc2\xad", "\\xc2\\xad");          /* soft hyphen */
        BECOMES(PLAIN_WORD, "\xe3\x85\xa4", "\\xe3\\x85\\xa4"); /* a filler */
        BECOMES(PLAIN_WORD, "\xf3\xa0\x84\x80", "\\xf3\\xa0\\x84\\x80");
        BECOMES(PLAIN_JSON, "\"\xe2\x80\x8b\"", "\"\\u200b\"");
        BECOMES(PLAIN_WORD, "\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f"); /* an emoji */
}

TEST(what_is_not_utf8_does_not) {
        BECOMES(PLAIN_WORD, "\xff\xfe", "\\xff\\xfe");
        BECOMES(PLAIN_WORD, "\xce", "\\xce");          /* cut off */
        BECOMES(PLAIN_WORD, "\xc0\xaf", "\\xc0\\xaf"); /* overlong */
        BECOMES(PLAIN_WORD, "\xe0\x82\x9b", "\\xe0\\x82\\x9b");
        BECOMES(PLAIN_WORD, "\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
        BECOMES(PLAIN_WORD, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

TEST(lines_stay_lines_and_words_stay_words) {
        BECOMES(PLAIN_WORD, "a\nb\tc", "a\\x0ab\\x09c");
        BECOMES(PLAIN_LINES, "a\nb\tc\r\n", "a\nb\tc\\x0d\n");
}

TEST(json_stays_json) {
        BECOMES(PLAIN_JSON, "{\n \"a\": \"\xc2\x9b\xe2\x80\xae\x7f\"}",
                "{\n \"a\": \"\\u009b\\u202e\\u007f\"}");
        BECOMES(PLAIN_JSON, "\"\xff\"", "\"\xef\xbf\xbd\"");
}

/* Wherever the byte stands in what is looked at in chunks. */
TEST(no_place_is_overlooked) {
        for (size_t n = 1; n < 100; n++)
                for (size_t at = 0; at < n; at++) {
                        char text[100];

                        memset(text, 'a', n);
                        text[at] = '\x1b';
                        ck_assert_uint_eq(plain_length(text, n, PLAIN_WORD), at);
                        ck_assert_uint_eq(plain_length(text, n, PLAIN_LINES), at);
                        text[at] = '\n';
                        ck_assert_uint_eq(plain_length(text, n, PLAIN_WORD), at);
                        ck_assert_uint_eq(plain_length(text, n, PLAIN_LINES), n);
                }
}

TEST(a_quoted_name_ends_between_characters) {
        char text[NAME_QUOTE_MAX], name[200];

        for (size_t n_ascii = 80; n_ascii < 100; n_ascii++) {
                memset(name, 'a', n_ascii);
                (void) strcpy(name + n_ascii, "\xf0\x9f\x90\xa7\xf0\x9f\x90\xa7\xf0\x9f\x90\xa7");
                (void) name_quote(text, name);
                ck_assert_uint_eq(plain_length(text, strlen(text), PLAIN_WORD), strlen(text));
        }
}

TEST(a_word_can_be_undone) {
        static const char bytes[] = "a\x1b\x9b\xce\xb1\xce\x7f";
        char word[64], undone[64];
        size_t n;

        (void) plain_copy(word, sizeof(word), bytes, strlen(bytes), PLAIN_WORD, &n);
        ck_assert_uint_eq(plain_undo(undone, sizeof(undone), word, n), strlen(bytes));
        ck_assert_str_eq(undone, bytes);
        ck_assert_uint_eq(plain_undo(undone, 3, word, n), strlen(bytes));
        ck_assert_str_eq(undone, "a\x1b");
}

TEST(what_was_never_escaped_is_not_undone) {
        static const char *const words[] = { "\\x41", "\\x00", "\\x9", "\\x9B", "\\", "x9b" };
        char undone[8];

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                (void) plain_undo(undone, sizeof(undone), words[i], strlen(words[i]));
                ck_assert_str_eq(undone, words[i]);
        }
}

/* All that is written to @b arrives; the file's content is returned. */
static char *arrived(Buf *b, int fd) {
        char *text = NULL;

        ck_assert_int_eq(buf_flush(b), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &text, NULL, 1 << 24), 0);
        return text;
}

TEST(text_is_plain_when_it_leaves_but_for_codes) {
        _cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
        _cleanup_buf_ Buf b = BUF_OF_TEXT(fd);
        _cleanup_free_ char *text = NULL;

        buf_adds(&b, "a\x1b[1mb");
        buf_add_code(&b, "\x1b[31m");
        buf_adds(&b, "\x1b[31m");
        buf_add_code(&b, "\x1b[0m");
        buf_adds(&b, "\n");
        text = arrived(&b, fd);
        ck_assert_str_eq(text, "a\\x1b[1mb\x1b[31m\\x1b[31m\x1b[0m\n");
}

TEST(much_text_is_plain_as_well) {
        _cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
        _cleanup_buf_ Buf b = BUF_OF_TEXT(fd);
        _cleanup_free_ char *text = NULL;
        size_t n = 0;

        for (unsigned i = 0; i < 200000; i++)
                buf_adds(&b, i % 1000 == 999 ? "a name \x9b\n" : "a name \xce\xb1\n");
        text = arrived(&b, fd);
        for (const char *p = text; (p = strstr(p, "\\x9b")); p++)
                n++;
        ck_assert_uint_eq(n, 200);
        ck_assert_uint_eq(plain_length(text, strlen(text), PLAIN_LINES), strlen(text));
}

static void expect_digits(uint64_t v) {
        char wanted[DECIMAL_BYTES + 1], text[DECIMAL_BYTES + 2];

        (void) snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long) v);
        text[DECIMAL_BYTES] = 'x';
        *append_u64(text, v) = 0;
        ck_assert_str_eq(text, wanted);
        ck_assert_int_eq(text[DECIMAL_BYTES], 'x');
        (void) snprintf(wanted, sizeof(wanted), "%lld", (long long) v);
        text[DECIMAL_BYTES + 1] = 'x';
        *append_i64(text, (int64_t) v) = 0;
        ck_assert_str_eq(text, wanted);
        ck_assert_int_eq(text[DECIMAL_BYTES + 1], 'x');
}

TEST(digits_are_those_of_printf_and_stay_in_their_room) {
        uint64_t power = 1;

        for (int i = 0; i < 20; i++, power *= 10) {
                expect_digits(power - 1);
                expect_digits(power);
                expect_digits(-power);
        }
        for (uint64_t v = 0; v < 2000; v++)
                expect_digits(v);
        expect_digits(UINT64_MAX);
        expect_digits((uint64_t) INT64_MIN);
        expect_digits(INT64_MAX);
}

TEST(sentences_break_between_words_and_go_on_where_they_began) {
        static const struct {
                const char *text;
                size_t width, indent;
                const char *expected;
        } cases[] = {
                { "one two three four\n", 10, 0, "one two\nthree four\n" },
                { "one two three four\n", 10, 2, "one two\n  three\n  four\n" },
                { "a-word-that-is-wider is there", 10, 0, "a-word-that-is-wider\nis there" },
                { "Ow  a b c d e f g\n", 12, SIZE_MAX, "Ow  a b c d\n    e f g\n" },
                { "äöü äöü äöü", 8, 0, "äöü äöü\näöü" },
                { "it fits\n\nas does this\n", 12, 4, "it fits\n\nas does this\n" },
                { "no terminal is that wide", 0, 0, "no terminal is that wide" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_buf_ Buf b = BUF_INIT;
                _cleanup_free_ char *text = NULL;

                buf_add_folded(&b, cases[i].text, strlen(cases[i].text), cases[i].width,
                               cases[i].indent);
                text = TEXT_OF(b);
                ck_assert_msg(streq(text, cases[i].expected), "%s: %s", cases[i].text, text);
        }
}
