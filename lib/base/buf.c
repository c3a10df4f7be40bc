/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Nearly all text is ASCII, so that is looked at in chunks, by a few vector instructions; all of a drawing goes
 * through it.  The hot call of a Buf is buf_reserve(), which is in the header.
 */

#include <stdarg.h>

#include "base/buf.h"
#include "base/io.h"

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

/* True if CHUNK_BYTES are printable ASCII, or @as_well. */
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

/* --- a Buf ------------------------------------------------------------------------------------ */

/* What is not plain from n_plain on, of which @n_before bytes are. */
static _cold_ void make_plain(Buf *b, size_t n_before) {
        size_t n_kept = b->n_plain + n_before;
        _cleanup_buf_ Buf plain = BUF_INIT;

        buf_add_plain(&plain, b->data + n_kept, b->n_data - n_kept, PLAIN_LINES);
        b->error = b->error ?: plain.error;
        b->n_data = n_kept;
        if (b->n_room - n_kept < plain.n_data) {
                char *data = realloc(b->data, n_kept + plain.n_data);

                if (!data) {
                        b->error = -ENOMEM;
                        return;
                }
                b->data = data;
                b->n_room = n_kept + plain.n_data;
        }
        memcpy(b->data + n_kept, plain.data, plain.n_data);
        b->n_data += plain.n_data;
}

static void settle(Buf *b) {
        size_t n, n_plain;

        if (!b->is_text || b->n_data <= b->n_plain)
                return;
        n = b->n_data - b->n_plain;
        n_plain = plain_length(b->data + b->n_plain, n, PLAIN_LINES);
        if (_unlikely_(n_plain < n))
                make_plain(b, n_plain);
        b->n_plain = b->n_data;
}

int buf_flush(Buf *b) {
        settle(b);
        if (b->error < 0)
                return b->error;
        if (b->fd >= 0 && b->n_data > 0) {
                int r = write_full(b->fd, b->data, b->n_data);

                if (r < 0)
                        return b->error = r;
                b->n_data = b->n_plain = 0;
        }
        return 0;
}

char *buf_make_room(Buf *b, size_t n) {
        if (b->error < 0)
                return NULL;
        if (b->fd >= 0 && b->n_data >= BUF_FLUSH_BYTES && buf_flush(b) < 0)
                return NULL;
        if (b->n_room - b->n_data <= n) {
                size_t n_room = MAX(b->n_data + n, b->n_room * 2);
                char *data;

                if (n_room < n)
                        n_room = n;
                n_room = MAX(n_room, b->fd >= 0 ? BUF_FLUSH_BYTES * 2 : (size_t) 256);
                data = realloc(b->data, n_room);
                if (!data) {
                        b->error = -ENOMEM;
                        return NULL;
                }
                b->data = data;
                b->n_room = n_room;
        }
        return b->data + b->n_data;
}

void buf_add(Buf *b, const void *data, size_t n) {
        char *p = n > 0 ? buf_reserve(b, n) : NULL;

        if (p) {
                memcpy(p, data, n);
                b->n_data += n;
        }
}

void buf_adds(Buf *b, const char *s) {
        buf_add(b, s, strlen(s));
}

void buf_add_code(Buf *b, const char *code) {
        settle(b);
        buf_adds(b, code);
        b->n_plain = b->n_data;
}

void buf_add_plain(Buf *b, const char *s, size_t n, PlainStyle style) {
        size_t n_plain = plain_length(s, n, style), n_added;
        char *p;

        buf_add(b, s, n_plain);
        if (n_plain == n)
                return;
        p = buf_reserve(b, (n - n_plain) * PLAIN_BYTES_MAX + 1);
        if (!p)
                return;
        (void) plain_copy(p, (n - n_plain) * PLAIN_BYTES_MAX + 1, s + n_plain, n - n_plain, style,
                          &n_added);
        b->n_data += n_added;
}

void buf_pad(Buf *b, size_t n, char c) {
        char *p = buf_reserve(b, n);

        if (p) {
                memset(p, c, n);
                b->n_data += n;
        }
}

/* --- lines of a width --------------------------------------------------------------------------- */

size_t utf8_offset(const char *s, size_t n, size_t n_characters) {
        size_t i = 0;

        for (; i < n && (n_characters > 0 || (s[i] & 0xC0) == 0x80); i++)
                n_characters -= n_characters > 0 && (s[i] & 0xC0) != 0x80;
        return i;
}

/* "Owner   root": where "root" begins. */
static size_t hanging(const char *s, size_t n, size_t width) {
        size_t lead = 0;

        while (lead < n && s[lead] == ' ')
                lead++;
        for (size_t i = lead; i + 2 < n && i < width / 3; i++)
                if (s[i] == ' ' && s[i + 1] == ' ') {
                        while (i < n && s[i] == ' ')
                                i++;
                        return i;
                }
        return lead + 2;
}

static void add_folded_line(Buf *b, const char *s, size_t n, size_t width, size_t indent) {
        indent = MIN(indent == SIZE_MAX ? hanging(s, n, width) : indent, width / 2);
        for (size_t room = width; n > 0; room = width - indent) {
                size_t fits = utf8_offset(s, n, room), end = fits, first = 0, n_drawn;

                while (first < n && s[first] == ' ')
                        first++;
                while (fits < n && end > first && s[end] != ' ')
                        end--;
                if (end <= first) /* one word is wider than that */
                        for (end = first; end < n && s[end] != ' ';)
                                end++;
                for (n_drawn = end; n_drawn > first && s[n_drawn - 1] == ' ';)
                        n_drawn--;
                buf_add(b, s, n_drawn);
                for (s += end, n -= end; n > 0 && *s == ' '; n--)
                        s++;
                if (n > 0) {
                        buf_adds(b, "\n");
                        buf_pad(b, indent, ' ');
                }
        }
}

void buf_add_folded(Buf *b, const char *s, size_t n, size_t width, size_t indent) {
        while (n > 0) {
                const char *newline = memchr(s, '\n', n);
                size_t n_line = newline ? (size_t) (newline - s) : n;

                if (width < 8)
                        buf_add(b, s, n_line);
                else
                        add_folded_line(b, s, n_line, width, indent);
                if (newline)
                        buf_adds(b, "\n");
                n -= n_line + (newline != NULL);
                s += n_line + (newline != NULL);
        }
}

void buf_add_varint(Buf *b, uint64_t v) {
        uint8_t bytes[10];
        size_t n = 0;

        for (; v >= 0x80; v >>= 7)
                bytes[n++] = (uint8_t) (v | 0x80);
        bytes[n++] = (uint8_t) v;
        buf_add(b, bytes, n);
}

void buf_printf(Buf *b, const char *format, ...) {
        va_list ap;
        char *p;
        int n;

        va_start(ap, format);
        n = vsnprintf(NULL, 0, format, ap);
        va_end(ap);
        if (n < 0) {
                b->error = b->error ?: -EINVAL;
                return;
        }
        p = buf_reserve(b, (size_t) n + 1);
        if (!p)
                return;
        va_start(ap, format);
        (void) vsnprintf(p, (size_t) n + 1, format, ap);
        va_end(ap);
        b->n_data += (size_t) n;
}

int buf_take_string(Buf *b, char **ret) {
        char *p = buf_reserve(b, 1);

        if (!p)
                return b->error;
        *p = 0;
        *ret = TAKE_PTR(b->data);
        b->n_data = b->n_room = 0;
        return 0;
}

void buf_done(Buf *b) {
        free(b->data);
        *b = BUF_INIT;
}
