/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Growable bytes with a sticky error
 *
 * All text that is drawn goes through one of these.  Appending never fails
 * visibly: the first failure is kept in `error` and later calls do nothing, so
 * a renderer checks once, at its end.  With `fd` >= 0 the buffer empties itself
 * into that descriptor (borrowed) whenever BUF_FLUSH_BYTES have gathered, and
 * buf_flush() writes the rest; with fd = -EBADF it grows.  What people read
 * goes to their terminal or pipe as a BUF_OF_TEXT: whatever is not plain
 * (base/plain-text.h) is escaped on the way, but for what buf_add_code() adds.
 */

#include "base/cleanup.h"
#include "base/plain-text.h"

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

/* buf_reserve() where there is no room, or enough to be written. */
char *buf_make_room(Buf *b, size_t n);

/* Room for @n more bytes: a pointer to fill, then b->n_data += what was used.  NULL after an error.
 */
static inline char *buf_reserve(Buf *b, size_t n) {
        if (_likely_(b->error == 0 && b->n_room - b->n_data > n &&
                     (b->fd < 0 || b->n_data < BUF_FLUSH_BYTES)))
                return b->data + b->n_data;
        return buf_make_room(b, n);
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
void buf_add_varint(Buf *b, uint64_t v); /* LEB128: seven bits a byte, the lowest first */
void buf_printf(Buf *b, const char *format, ...) _printf_(2, 3);
/* What is meant for the terminal itself, like a colour: passes as it is. */
void buf_add_code(Buf *b, const char *code);
void buf_add_plain(Buf *b, const char *s, size_t n, PlainStyle style);
int buf_flush(Buf *b); /* 0 or the sticky error */
void buf_done(Buf *b); /* frees; does not flush */
/* The bytes as a NUL-terminated string, which the caller then owns; -ENOMEM or the sticky error. */
int buf_take_string(Buf *b, char **ret);
#define _cleanup_buf_ _cleanup_(buf_done)
