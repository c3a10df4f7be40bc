/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A language says what stands for an ASCII character that it cannot have as it is; all else is the
 * same for all of them.
 */

#include "encode/escape.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

typedef struct Language {
        const char *instead[128]; /* of ASCII */
        const char *other;        /* of what else it has not; NULL: \uXXXX */
        bool has_all;             /* else only what is plain text (base/buf.h) */
} Language;

static void escape(Buf *out, const char *s, size_t n, const Language *language) {
        size_t i = 0, begin = 0;
        char room[8];

        while (i < n) {
                uint32_t c;
                size_t length = utf8_decode(s + i, n - i, &c);
                const char *instead = NULL;

                if (length == 0)
                        instead = REPLACEMENT;
                else if (c < ELEMENTSOF(language->instead) && language->instead[c])
                        instead = language->instead[c];
                else if (language->has_all ? c == 0 || c == 0xfffe || c == 0xffff
                                           : !plain_code_point(c))
                        instead = language->other ?: c > 0xffff ? REPLACEMENT : room;
                if (instead == room)
                        (void) snprintf(room, sizeof(room), "\\u%04x", c);
                if (instead) {
                        buf_add(out, s + begin, i - begin);
                        buf_adds(out, instead);
                        begin = i + MAX(length, (size_t) 1);
                }
                i += MAX(length, (size_t) 1);
        }
        if (begin < n)
                buf_add(out, s + begin, n - begin);
}

void escape_json(Buf *out, const char *s, size_t n) {
        static const Language json = { .instead = { ['"'] = "\\\"",
                                                    ['\\'] = "\\\\",
                                                    ['<'] = "\\u003c",
                                                    ['>'] = "\\u003e",
                                                    ['&'] = "\\u0026" } };

        escape(out, s, n, &json);
}

void escape_csv(Buf *out, const char *s, size_t n) {
        static const Language in_quotes = { .instead = { ['"'] = "\"\"", ['\n'] = "\n" },
                                            .other = REPLACEMENT };
        bool is_formula = escape_is_formula(s, n);
        bool quoted = is_formula || (n > 0 && (s[0] == ' ' || s[n - 1] == ' '));

        for (size_t i = 0; i < n && !quoted; i++)
                quoted = (unsigned char) s[i] < ' ' || s[i] == '"' || s[i] == ',' || s[i] == 0x7f;
        if (quoted)
                buf_adds(out, is_formula ? "\"'" : "\"");
        escape(out, s, n, &in_quotes);
        if (quoted)
                buf_add(out, "\"", 1);
}

/* XML has no control characters but three, not even escaped. */
void escape_xml(Buf *out, const char *s, size_t n) {
        static const Language xml = { .instead = { ['&'] = "&amp;",
                                                   ['<'] = "&lt;",
                                                   ['>'] = "&gt;",
                                                   ['"'] = "&quot;",
                                                   ['\''] = "&#39;",
                                                   ['\t'] = "&#9;",
                                                   ['\n'] = "&#10;",
                                                   ['\r'] = "&#13;" },
                                      .other = REPLACEMENT };

        escape(out, s, n, &xml);
}

void escape_folded(Buf *out, const char *s, size_t n) {
        static const Language folded = { .instead = { [';'] = ":" }, .other = "?" };

        escape(out, s, n, &folded);
}

void escape_utf8(Buf *out, const char *s, size_t n) {
        static const Language any = { .has_all = true, .other = REPLACEMENT };

        escape(out, s, n, &any);
}

void escape_u64(Buf *out, uint64_t n) {
        char *p = buf_reserve(out, DECIMAL_BYTES);

        if (p)
                out->n_data += (size_t) (append_u64(p, n) - p);
}

void escape_i64(Buf *out, int64_t n) {
        char *p = buf_reserve(out, DECIMAL_BYTES + 1);

        if (p)
                out->n_data += (size_t) (append_i64(p, n) - p);
}
