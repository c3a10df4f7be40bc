/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The hot call is buf_reserve(), which is in the header: what is here is called once in a while. */

#include <stdarg.h>

#include "base/buf.h"
#include "base/io.h"

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
