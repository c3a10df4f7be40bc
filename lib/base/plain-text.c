/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Nearly all text is ASCII, so that is looked at in chunks, by a few vector instructions; all of a drawing goes through it.
 */

#include "base/plain-text.h"

#define CHUNK_BYTES 64             /* a multiple of a vector */
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool is_continuation(unsigned char c) {
        return (c & 0xc0) == 0x80;
}

/* Source: the Unicode standard, table 3-7, well-formed UTF-8 byte sequences. */
size_t utf8_decode_long(const char *s, size_t n, uint32_t *ret) {
        const unsigned char *p = (const unsigned char *) s;

        if (n >= 2 && p[0] >= 0xc2 && p[0] <= 0xdf && is_continuation(p[1])) {
                *ret = (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU);
                return 2;
        }
        if (n >= 3 && p[0] >= 0xe0 && p[0] <= 0xef && is_continuation(p[1]) &&
            is_continuation(p[2]) && (p[0] != 0xe0 || p[1] >= 0xa0) &&
            (p[0] != 0xed || p[1] <= 0x9f)) {
                *ret = (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
                return 3;
        }
        if (n >= 4 && p[0] >= 0xf0 && p[0] <= 0xf4 && is_continuation(p[1]) &&
            is_continuation(p[2]) && is_continuation(p[3]) && (p[0] != 0xf0 || p[1] >= 0x90) &&
            (p[0] != 0xf4 || p[1] <= 0x8f)) {
                *ret = (p[0] & 7U) << 18 | (p[1] & 0x3fU) << 12 | (p[2] & 0x3fU) << 6 |
                       (p[3] & 0x3fU);
                return 4;
        }
        return 0;
}

bool plain_code_point_beyond_ascii(uint32_t c) {
        static const struct {
                uint32_t first, last;
        } refused[] = {
                { 0x7f, 0x9f },           { 0xad, 0xad },       { 0x34f, 0x34f },
                { 0x61c, 0x61c },         { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
                { 0x180b, 0x180f },       { 0x200b, 0x200f },   { 0x2028, 0x202e },
                { 0x2060, 0x206f },       { 0x3164, 0x3164 },   { 0xd800, 0xdfff },
                { 0xfeff, 0xfeff },       { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
                { 0x1bca0, 0x1bca3 },     { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
                { 0x110000, UINT32_MAX },
        };

        for (size_t i = 0; i < ELEMENTSOF(refused); i++)
                if (c >= refused[i].first && c <= refused[i].last)
                        return false;
        return (c & 0xfffe) != 0xfffe && (c < 0xfdd0 || c > 0xfdef);
}

/* Bytes of the plain character at @s, of @n; 0: it is none. */
static size_t plain_character(const char *s, size_t n, PlainStyle style) {
        uint32_t c;
        size_t length;

        if (style != PLAIN_WORD && (*s == '\n' || *s == '\t'))
                return 1;
        length = utf8_decode(s, n, &c);
        return length > 0 && plain_code_point(c) ? length : 0;
}

typedef int8_t Vector __attribute__((vector_size(16)));

/* Whether CHUNK_BYTES are printable ASCII, or @as_well. */
static inline bool chunk_is_ascii(const char *s, int8_t as_well) {
        union {
                Vector bytes;
                uint64_t words[2];
        } other = {};

        for (size_t i = 0; i < CHUNK_BYTES; i += sizeof(Vector)) {
                Vector c;

                memcpy(&c, s + i, sizeof(c));
                other.bytes |= ((c < ' ') & (c != as_well)) | (c == 0x7f);
        }
        return !(other.words[0] | other.words[1]);
}

size_t plain_length(const char *s, size_t n, PlainStyle style) {
        const int8_t as_well = style == PLAIN_WORD ? ' ' : '\n';
        size_t i = 0;

        while (i < n) {
                size_t length;

                while (n - i >= CHUNK_BYTES && chunk_is_ascii(s + i, as_well))
                        i += CHUNK_BYTES;
                if (i == n)
                        break;
                length = plain_character(s + i, n - i, style);
                if (length == 0)
                        break;
                i += length;
        }
        return i;
}

/* What stands for the bytes at @s, of which *@ret_n are taken. */
static void escape(char ret[static PLAIN_BYTES_MAX * 2 + 1], const char *s, size_t n,
                   PlainStyle style, size_t *ret_n) {
        uint32_t c;
        size_t length = utf8_decode(s, n, &c);

        *ret_n = MAX(length, (size_t) 1);
        if (style != PLAIN_JSON) {
                *ret_n = 1;
                (void) snprintf(ret, PLAIN_BYTES_MAX + 1, "\\x%02x", (unsigned char) *s);
        } else if (length > 0 && c <= 0xffff)
                (void) snprintf(ret, PLAIN_BYTES_MAX + 1, "\\u%04x", c);
        else
                memcpy(ret, REPLACEMENT, sizeof(REPLACEMENT));
}

size_t plain_copy(char *out, size_t n_room, const char *s, size_t n, PlainStyle style,
                  size_t *ret_n) {
        size_t i = 0, n_out = 0;

        while (i < n) {
                char instead[PLAIN_BYTES_MAX * 2 + 1];
                size_t length = plain_character(s + i, n - i, style), n_taken = length;
                const char *from = s + i;

                if (length == 0) {
                        escape(instead, s + i, n - i, style, &n_taken);
                        from = instead;
                        length = strlen(instead);
                }
                if (n_room - n_out <= length)
                        break;
                memcpy(out + n_out, from, length);
                n_out += length;
                i += n_taken;
        }
        out[n_out] = 0;
        *ret_n = n_out;
        return i;
}

static int hex_digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "\x9b": 0x9b; -1: no such thing.  NUL is in no word. */
static int escaped_byte(const char *s, size_t n) {
        int high, low, byte;

        if (n < 4 || s[0] != '\\' || s[1] != 'x')
                return -1;
        high = hex_digit(s[2]);
        low = hex_digit(s[3]);
        byte = high < 0 || low < 0 ? -1 : high << 4 | low;
        return (byte > 0 && byte < ' ') || byte >= 0x7f ? byte : -1;
}

size_t plain_undo(char *out, size_t n_room, const char *s, size_t n) {
        size_t n_out = 0;

        for (size_t i = 0; i < n; n_out++) {
                int byte = escaped_byte(s + i, n - i);

                if (n_out + 1 < n_room)
                        out[n_out] = byte < 0 ? s[i] : (char) byte;
                i += byte < 0 ? 1 : 4;
        }
        if (n_room > 0)
                out[MIN(n_out, n_room - 1)] = 0;
        return n_out;
}
