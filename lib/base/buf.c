/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The hot call is buf_reserve(), which is in the header: what is here is called once in a while. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/io.h"

int buf_flush(Buf *b) {
        if (b->error < 0)
                return b->error;
        if (b->fd >= 0 && b->n_data > 0) {
                int r = write_full(b->fd, b->data, b->n_data);

                if (r < 0)
                        return b->error = r;
                b->n_data = 0;
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

void buf_pad(Buf *b, size_t n, char c) {
        char *p = buf_reserve(b, n);

        if (p) {
                memset(p, c, n);
                b->n_data += n;
        }
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
