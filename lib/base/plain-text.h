/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Plain text: what may reach a terminal
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
