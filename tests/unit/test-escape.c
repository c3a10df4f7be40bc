/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "encode/escape.h"
#include "unit.h"

static void becomes(void (*escape)(Buf *, const char *, size_t), const char *s, size_t n,
                    const char *wanted) {
        _cleanup_buf_ Buf out = BUF_INIT;

        escape(&out, s, n);
        EXPECT_TEXT(out, wanted);
}

#define BECOMES(escape, s, wanted) becomes(escape, s, sizeof(s) - 1, wanted)

TEST(ordinary_names_stay_as_they_are) {
        static void (*const escapes[])(Buf *, const char *, size_t) = { escape_json, escape_csv,
                                                                        escape_xml, escape_folded,
                                                                        escape_utf8 };

        for (size_t i = 0; i < ELEMENTSOF(escapes); i++) {
                BECOMES(escapes[i], "", "");
                BECOMES(escapes[i], "do_softirq.part.20 [nf_nat]", "do_softirq.part.20 [nf_nat]");
                BECOMES(escapes[i], "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7",
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7");
        }
}

TEST(json_may_stand_in_a_script) {
        BECOMES(escape_json, "a\"b\\c\n\x01\x7f", "a\\\"b\\\\c\\u000a\\u0001\\u007f");
        BECOMES(escape_json, "</script><!--&", "\\u003c/script\\u003e\\u003c!--\\u0026");
        BECOMES(escape_json, "a\0b", "a\\u0000b");
}

TEST(a_field_is_in_quotes_where_it_must_be) {
        BECOMES(escape_csv, "a b", "a b");
        BECOMES(escape_csv, "a,b", "\"a,b\"");
        BECOMES(escape_csv, "a\"b", "\"a\"\"b\"");
        BECOMES(escape_csv, "a\nb", "\"a\nb\"");
        BECOMES(escape_csv, " a", "\" a\"");
}

TEST(no_field_of_csv_is_a_formula) {
        BECOMES(escape_csv, "=1+1", "\"'=1+1\"");
        BECOMES(escape_csv, "+1", "\"'+1\"");
        BECOMES(escape_csv, "-1", "\"'-1\"");
        BECOMES(escape_csv, "@SUM(1)", "\"'@SUM(1)\"");
        BECOMES(escape_csv, "\n=1", "\"'\n=1\"");
        BECOMES(escape_csv, "\t=1", "\"'\xef\xbf\xbd=1\"");
        BECOMES(escape_csv, "a=1-1", "a=1-1");
}

TEST(xml_has_neither_tags_nor_ends_of_attributes) {
        BECOMES(escape_xml, "<b a='1' c=\"2\">&", "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
        BECOMES(escape_xml, "a\x01\nb", "a\xef\xbf\xbd&#10;b");
}

TEST(a_folded_frame_is_one_frame) {
        BECOMES(escape_folded, "a;b\nc", "a:b?c");
}

TEST(what_is_not_utf8_is_replaced) {
        BECOMES(escape_utf8,
                "a\xff"
                "b\xc3",
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbd");
        /* Overlong, a surrogate, beyond the last, not a character. */
        BECOMES(escape_utf8, "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
        BECOMES(escape_utf8, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        BECOMES(escape_utf8, "\xf4\x90\x80\x80",
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        BECOMES(escape_utf8, "\xef\xbf\xbf", "\xef\xbf\xbd");
}

TEST(no_language_lets_through_what_a_terminal_obeys) {
        static void (*const escapes[])(Buf *, const char *, size_t) = { escape_json, escape_csv,
                                                                        escape_xml, escape_folded };
        static const char *const words[] = { "\x1b[31m",
                                             "\xc2\x9b"
                                             "31m",
                                             "\x9b"
                                             "31m",
                                             "\xe2\x80\xae"
                                             "txt",
                                             "\b\b",
                                             "\x7f",
                                             "\r" };

        for (size_t i = 0; i < ELEMENTSOF(escapes) * ELEMENTSOF(words); i++) {
                const char *word = words[i % ELEMENTSOF(words)];
                _cleanup_buf_ Buf out = BUF_INIT;

                escapes[i / ELEMENTSOF(words)](&out, word, strlen(word));
                ck_assert_int_eq(out.error, 0);
                ck_assert_msg(plain_length(out.data, out.n_data, PLAIN_WORD) == out.n_data, "%.*s",
                              (int) out.n_data, out.data);
        }
        BECOMES(escape_json, "\xc2\x9b\xe2\x80\xae", "\\u009b\\u202e");
}

TEST(numbers_are_exact) {
        _cleanup_buf_ Buf out = BUF_INIT;

        escape_u64(&out, UINT64_MAX);
        buf_adds(&out, " ");
        escape_u64(&out, 0);
        buf_adds(&out, " ");
        escape_i64(&out, INT64_MIN);
        EXPECT_TEXT(out, "18446744073709551615 0 -9223372036854775808");
}
