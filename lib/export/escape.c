/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A language says what stands for an ASCII character that it cannot have as it is; all else is the
 * same for all of them.
 */

#include "export/escape.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* What stands for @c, which is ASCII or not plain text, perhaps made in @room; NULL: @c itself. */
typedef const char *(*Language)(uint32_t c, char room[static 8]);

static void escape(Buf *out, const char *s, size_t n, Language language) {
        size_t i = 0, begin = 0;
        char room[8];

        while (i < n) {
                uint32_t c;
                size_t length = utf8_decode(s + i, n - i, &c);
                const char *instead = length == 0                        ? REPLACEMENT
                                      : c < 0x80 || !plain_code_point(c) ? language(c, room)
                                                                         : NULL;

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

static const char *in_json(uint32_t c, char room[static 8]) {
        if (c == '"')
                return "\\\"";
        if (c == '\\')
                return "\\\\";
        if (plain_code_point(c) && c != '<' && c != '>' && c != '&')
                return NULL;
        if (c > 0xffff)
                return REPLACEMENT;
        (void) snprintf(room, 8, "\\u%04x", c);
        return room;
}

void escape_json(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_json);
}

static const char *in_quotes(uint32_t c, char room[static 8]) {
        return c == '"' ? "\"\"" : c == '\n' || plain_code_point(c) ? NULL : REPLACEMENT;
}

void escape_csv(Buf *out, const char *s, size_t n) {
        bool quoted = n > 0 && (s[0] == ' ' || s[n - 1] == ' ');

        for (size_t i = 0; i < n && !quoted; i++)
                quoted = (unsigned char) s[i] < ' ' || s[i] == '"' || s[i] == ',' || s[i] == 0x7f;
        if (quoted)
                buf_add(out, "\"", 1);
        escape(out, s, n, in_quotes);
        if (quoted)
                buf_add(out, "\"", 1);
}

/* XML has no control characters but three, not even escaped. */
static const char *in_xml(uint32_t c, char room[static 8]) {
        switch (c) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\'':
                return "&#39;";
        case '\t':
        case '\n':
        case '\r':
                (void) snprintf(room, 8, "&#%u;", c);
                return room;
        default:
                return plain_code_point(c) ? NULL : REPLACEMENT;
        }
}

void escape_xml(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_xml);
}

static const char *in_dot(uint32_t c, char room[static 8]) {
        switch (c) {
        case '"':
                return "\\\"";
        case '\\':
                return "\\\\";
        case '&': /* begins an entity of HTML in a label, too */
                return "&amp;";
        case '\n':
                return "\\n";
        default:
                return plain_code_point(c) ? NULL : REPLACEMENT;
        }
}

void escape_dot(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_dot);
}

static const char *in_folded(uint32_t c, char room[static 8]) {
        return c == ';' ? ":" : plain_code_point(c) ? NULL : "?";
}

void escape_folded(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_folded);
}

static const char *in_utf8(uint32_t c, char room[static 8]) {
        return c == 0 || c == 0xfffe || c == 0xffff ? REPLACEMENT : NULL;
}

void escape_utf8(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_utf8);
}

void escape_u64(Buf *out, uint64_t n) {
        char digits[20], *p = digits + sizeof(digits);

        do {
                *--p = (char) ('0' + n % 10);
                n /= 10;
        } while (n > 0);
        buf_add(out, p, (size_t) (digits + sizeof(digits) - p));
}

void escape_i64(Buf *out, int64_t n) {
        if (n < 0)
                buf_add(out, "-", 1);
        escape_u64(out, n < 0 ? -(uint64_t) n : (uint64_t) n);
}
