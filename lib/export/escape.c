/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A language says what stands for an ASCII character that it cannot have as it is; all else is the
 * same for all of them.
 */

#include "export/escape.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* What stands for @c, perhaps made in @room; NULL: @c itself. */
typedef const char *(*Language)(unsigned char c, char room[static 8]);

static bool is_continuation(unsigned char c) {
        return (c & 0xc0) == 0x80;
}

/* Bytes of the character at @p, of @n; 0: it is none, or one that XML does not have. */
static size_t character_length(const unsigned char *p, size_t n) {
        if (*p >= 0xc2 && *p <= 0xdf)
                return n >= 2 && is_continuation(p[1]) ? 2 : 0;
        if (*p >= 0xe0 && *p <= 0xef) {
                if (n < 3 || !is_continuation(p[1]) || !is_continuation(p[2]) ||
                    (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f))
                        return 0;
                return *p == 0xef && p[1] == 0xbf && p[2] >= 0xbe ? 0 : 3;
        }
        if (*p >= 0xf0 && *p <= 0xf4)
                return n >= 4 && is_continuation(p[1]) && is_continuation(p[2]) &&
                                       is_continuation(p[3]) && !(*p == 0xf0 && p[1] < 0x90) &&
                                       !(*p == 0xf4 && p[1] > 0x8f)
                               ? 4
                               : 0;
        return 0;
}

static void escape(Buf *out, const char *s, size_t n, Language language) {
        const unsigned char *p = (const unsigned char *) s;
        size_t i = 0, begin = 0;
        char room[8];

        while (i < n) {
                size_t length = p[i] < 0x80 ? 1 : character_length(p + i, n - i);
                const char *instead = length == 0    ? REPLACEMENT
                                      : p[i] >= 0x80 ? NULL
                                                     : language(p[i], room);

                if (instead) {
                        buf_add(out, s + begin, i - begin);
                        buf_adds(out, instead);
                        begin = i + 1;
                }
                i += MAX(length, (size_t) 1);
        }
        buf_add(out, s + begin, n - begin);
}

static const char *in_json(unsigned char c, char room[static 8]) {
        if (c == '"')
                return "\\\"";
        if (c == '\\')
                return "\\\\";
        if (c >= ' ' && c != 0x7f && c != '<' && c != '>' && c != '&')
                return NULL;
        (void) snprintf(room, 8, "\\u%04x", c);
        return room;
}

void escape_json(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_json);
}

static const char *in_quotes(unsigned char c, char room[static 8]) {
        return c == '"' ? "\"\"" : c == 0 ? REPLACEMENT : NULL;
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
static const char *in_xml(unsigned char c, char room[static 8]) {
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
                return c < ' ' || c == 0x7f ? REPLACEMENT : NULL;
        }
}

void escape_xml(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_xml);
}

static const char *in_dot(unsigned char c, char room[static 8]) {
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
                return c < ' ' || c == 0x7f ? REPLACEMENT : NULL;
        }
}

void escape_dot(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_dot);
}

static const char *in_folded(unsigned char c, char room[static 8]) {
        return c == ';' ? ":" : c < ' ' || c == 0x7f ? "?" : NULL;
}

void escape_folded(Buf *out, const char *s, size_t n) {
        escape(out, s, n, in_folded);
}

static const char *in_utf8(unsigned char c, char room[static 8]) {
        return c == 0 ? REPLACEMENT : NULL;
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
