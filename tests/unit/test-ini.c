/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/buf.h"
#include "base/ini.h"
#include "unit.h"

static int set(const IniEntry *e, void *userdata) {
        buf_printf(userdata, "%u:%s.%s=%s|", e->line, e->section, e->key, e->value);
        return 0;
}

static int bad(unsigned line, const char *what, void *userdata) {
        buf_printf(userdata, "%u!|", line);
        return 0;
}

static char *parse(const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        _cleanup_buf_ Buf b = BUF_INIT;

        ck_assert_int_eq(ini_parse(copy, &(IniHandler){ set, NULL, bad, &b }), 0);
        buf_adds(&b, "");
        return TEXT_OF(b);
}

TEST(texts_are_read_as_systemd_reads_them) {
        static const struct {
                const char *text, *read;
        } cases[] = {
                { "", "" },
                { "[A]\nb=c\n", "2:A.b=c|" },
                { "[A]\nb=c", "2:A.b=c|" },
                { "  [A]  \r\n\t b \t=  c d \r\n", "2:A.b=c d|" },
                { "# x\n; y=z\n\n[A]\n  # w\nb=1\n[B]\nb=2\n", "6:A.b=1|8:B.b=2|" },
                { "[A]\nb=\n", "2:A.b=|" },
                { "[A]\nb=c=d\n", "2:A.b=c=d|" },
                { "b=c\n", "1:.b=c|" },
                { "[A]\nb=c \\\n  d\ne=f\n", "2:A.b=c    d|4:A.e=f|" },
                { "[A]\nb=c\\\n# no\nd\ne=f\n", "2:A.b=c d|5:A.e=f|" },
                { "[A]\nb=c\\", "2:A.b=c|" },
                { "[A\nb=c\n", "1!|2:.b=c|" },
                { "[]\n", "1!|" },
                { "[A]\nb\n=c\nd=e\n", "2!|3!|4:A.d=e|" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *s = parse(cases[i].text);

                ck_assert_str_eq(s, cases[i].read);
        }
}

static int refuse(const IniEntry *e, void *userdata) {
        (*(int *) userdata)++;
        return -ENOMEM;
}

TEST(a_handler_ends_the_parse) {
        char text[] = "a=1\nb=2\n";
        int n = 0;

        ck_assert_int_eq(ini_parse(text, &(IniHandler){ refuse, NULL, NULL, &n }), -ENOMEM);
        ck_assert_int_eq(n, 1);
}
