/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Text on its way out: growable bytes with a sticky error, and what of them may reach a terminal
 *
 * Any local user can name a task, and strangers' files can hold anything.  Plain are the printable
 * characters of Unicode in UTF-8.  Not plain are bytes that are no UTF-8, control characters (C0,
 * DEL, and C1, which some terminals obey as well: U+009B is "ESC ["), what changes the direction of
 * the text around it, separators of lines and paragraphs, what is not seen at all (zero width, tags,
 * fillers: two names would look the same), and non-characters.  Variation selectors of emoji stay.
 *
 * This is the only place that decides.  Texts pass it at the latest where they leave the program:
 * stdout in buf_flush() of a BUF_OF_TEXT, stderr in log_message(); exports have languages of their
 * own (encode/escape.h) that ask plain_code_point().
 */

#include "base/cleanup.h"

typedef enum PlainStyle {
        PLAIN_WORD,  /* each byte that is not plain becomes "\xNN" */
        PLAIN_LINES, /* the same, but newlines and tabs stay */
        PLAIN_JSON,  /* of JSON text: "\u009b"; what is no UTF-8 becomes U+FFFD */
} PlainStyle;

#define PLAIN_BYTES_MAX 6 /* that a byte may become */

size_t utf8_decode_long(const char *s, size_t n, uint32_t *ret);
bool plain_code_point_beyond_ascii(uint32_t c);

/* Bytes of the character at @s, of @n (at least 1); 0: it is no UTF-8. */
static inline size_t utf8_decode(const char *s, size_t n, uint32_t *ret) {
        if (_unlikely_((unsigned char) *s >= 0x80))
                return utf8_decode_long(s, n, ret);
        *ret = (unsigned char) *s;
        return 1;
}

static inline bool plain_code_point(uint32_t c) {
        return _likely_(c < 0x7f) ? c >= ' ' : plain_code_point_beyond_ascii(c);
}

/* How many of @n bytes are plain, up to the first that is not. */
size_t plain_length(const char *s, size_t n, PlainStyle style);
/*
 * plain_copy() - @n bytes made plain
 * @out:    ends with a NUL; n * PLAIN_BYTES_MAX + 1 bytes are always enough
 * @ret_n:  bytes in @out without the NUL
 *
 * Return: how many bytes of @s were taken: what does not fit whole is left.
 */
size_t plain_copy(char *out, size_t n_room, const char *s, size_t n, PlainStyle style,
                  size_t *ret_n);
/*
 * plain_undo() - the bytes of which plain_copy() made @s, a word: a name is as long, and cut where, as
 * it was before.  Of "\xNN" only what plain_copy() writes is undone, so that no plain byte comes of it.
 * @out:    ends with a NUL if @n_room is not 0; what does not fit is left
 *
 * Return: how many bytes that is, all of it.
 */
size_t plain_undo(char *out, size_t n_room, const char *s, size_t n);

/*
 * All text that is drawn goes through a Buf.  Appending never fails visibly: the first failure is kept in
 * `error` and later calls do nothing, so a renderer checks once, at its end.  With `fd` >= 0 the buffer
 * empties itself into that descriptor (borrowed) whenever BUF_FLUSH_BYTES have gathered, and buf_flush()
 * writes the rest; with fd = -EBADF it grows.  What people read goes to their terminal or pipe as a
 * BUF_OF_TEXT: what is not plain is escaped on the way, but for what buf_add_code() adds.
 */
#define BUF_FLUSH_BYTES ((size_t) 256 * 1024)

typedef struct Buf {
        char *data; /* n_data bytes, not NUL-terminated */
        size_t n_data;
        size_t n_room;
        int fd;
        int error; /* 0, or the first -errno */
        bool is_text;
        size_t n_plain; /* of the data: made plain already */
} Buf;

#define BUF_INIT ((Buf){ .fd = -EBADF })
#define BUF_TO_FD(f) ((Buf){ .fd = (f) })
#define BUF_OF_TEXT(f) ((Buf){ .fd = (f), .is_text = true })

char *buf_make_room(Buf *b, size_t n); /* where there is none, or enough to be written */

/* True if there are @n more bytes behind what there is, to be filled at once. */
static inline bool buf_has_room(const Buf *b, size_t n) {
        return b->error == 0 && b->n_room - b->n_data > n &&
               (b->fd < 0 || b->n_data < BUF_FLUSH_BYTES);
}

/* Room for @n more bytes: a pointer to fill, then b->n_data += what was used.  NULL after an error. */
static inline char *buf_reserve(Buf *b, size_t n) {
        return _likely_(buf_has_room(b, n)) ? b->data + b->n_data : buf_make_room(b, n);
}

/* @n of the reserved bytes are used; @is_plain: they need not be looked at again in a BUF_OF_TEXT. */
static inline void buf_advance(Buf *b, size_t n, bool is_plain) {
        if (is_plain && b->n_plain == b->n_data)
                b->n_plain += n;
        b->n_data += n;
}

void buf_add(Buf *b, const void *data, size_t n);
void buf_adds(Buf *b, const char *s);
void buf_pad(Buf *b, size_t n, char c);  /* @n times @c */
/*
 * buf_add_folded() - lines that are no wider than @width characters, as far as words are not
 * @s: not in @b
 * @indent: of what goes on below; SIZE_MAX: where the words behind a first gap of blanks begin, or two more than the line
 */
void buf_add_folded(Buf *b, const char *s, size_t n, size_t width, size_t indent);
/* Bytes of @s before its character @n_characters. */
size_t utf8_offset(const char *s, size_t n, size_t n_characters);
void buf_add_varint(Buf *b, uint64_t v); /* LEB128: seven bits a byte, the lowest first */
void buf_printf(Buf *b, const char *format, ...) _printf_(2, 3);
void buf_add_code(Buf *b,
                  const char *code); /* for the terminal itself, like a colour: passes as it is */
void buf_add_plain(Buf *b, const char *s, size_t n, PlainStyle style);
int buf_flush(Buf *b); /* 0 or the sticky error */
void buf_done(Buf *b); /* frees; does not flush */
/* The bytes as a NUL-terminated string, which the caller then owns; -ENOMEM or the sticky error. */
int buf_take_string(Buf *b, char **ret);
#define _cleanup_buf_ _cleanup_(buf_done)

/* What lines are put together from: each writes at @p, where there is room, and returns its end. */

#define COPY_BYTES 32 /* copied at once, of what is mostly shorter */

#define APPEND(p, s)                                                                               \
        ({                                                                                         \
                memcpy((p), (s), sizeof(s) - 1);                                                   \
                (p) + sizeof(s) - 1;                                                               \
        })

static inline char *append(char *p, const char *s, size_t n) {
        memcpy(p, s, n);
        return p + n;
}

/* From text that can be read COPY_BYTES behind its end, to where as much can be written. */
static inline char *append_slack(char *p, const char *s, size_t n) {
        memcpy(p, s, COPY_BYTES);
        for (size_t i = COPY_BYTES; _unlikely_(i < n); i += COPY_BYTES)
                memcpy(p + i, s + i, COPY_BYTES);
        return p + n;
}

static inline char *append_chars(char *p, char c, size_t n) {
        memset(p, c, n);
        return p + n;
}

/* @v in at least @n_columns columns, filled with @fill. */
static inline char *append_number(char *p, uint64_t v, int n_columns, char fill) {
        char digits[24];
        int n = 0;

        do {
                digits[n++] = (char) ('0' + v % 10);
                v /= 10;
        } while (v);
        for (int i = n; i < n_columns; i++)
                *p++ = fill;
        while (n > 0)
                *p++ = digits[--n];
        return p;
}

#define DECIMAL_BYTES                                                                              \
        32 /* that the next two write at most, of which 20 are used; append_i64(): one more */

/* append_number() by two digits at a time, @n_columns at most 20. */
static inline char *append_column(char *p, uint64_t v, size_t n_columns, char fill) {
        static const char pairs[] =
                "00010203040506070809101112131415161718192021222324252627282930313233"
                "34353637383940414243444546474849505152535455565758596061626364656667"
                "6869707172737475767778798081828384858687888990919293949596979899";
        char digits[2 * DECIMAL_BYTES] = {};
        size_t i = DECIMAL_BYTES;

        memset(digits, fill, DECIMAL_BYTES);
        for (; v >= 10; v /= 100) {
                i -= 2;
                memcpy(digits + i, pairs + v % 100 * 2, 2);
        }
        if (v > 0 || i == DECIMAL_BYTES)
                digits[--i] = (char) ('0' + v);
        i = MIN(i, DECIMAL_BYTES - n_columns);
        memcpy(p, digits + i, DECIMAL_BYTES);
        return p + DECIMAL_BYTES - i;
}

/* @v in decimal. */
static inline char *append_u64(char *p, uint64_t v) {
        if (v >= 10)
                return append_column(p, v, 1, '0');
        *p = (char) ('0' + v);
        return p + 1;
}

static inline char *append_i64(char *p, int64_t v) {
        *p = '-';
        return append_u64(p + (v < 0), v < 0 ? -(uint64_t) v : (uint64_t) v);
}

static inline int count_digits(uint64_t v) {
        int n = 1;

        for (; v >= 10; v /= 10)
                n++;
        return n;
}
