/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One buffer, of which a line is handed out in place.  What is not yet a whole
 * line is moved to the front when more is read.  It grows with what there is to read, for most texts
 * are small.
 */

#include "import/text-private.h"

#define ROOM_BYTES_FIRST ((size_t) 16 << 10)
#define ROOM_BYTES (LINES_MAX_BYTES * 4)

int lines_init_take_fd(Lines *l, int fd) {
        *l = (Lines){ .fd = fd, .n_room = ROOM_BYTES_FIRST, .data = malloc(ROOM_BYTES_FIRST) };
        if (l->data)
                return 0;
        (void) close(fd);
        return -ENOMEM;
}

/* Reads once.  0 or -errno. */
static int fill(Lines *l) {
        ssize_t n;

        if (l->begin > 0) {
                memmove(l->data, l->data + l->begin, l->end - l->begin);
                l->end -= l->begin;
                l->begin = 0;
        }
        if (l->end > l->n_room / 2 && l->n_room < ROOM_BYTES) {
                char *p = realloc(l->data, l->n_room * 2);

                if (!p)
                        return -ENOMEM;
                l->data = p;
                l->n_room *= 2;
        }
        do
                n = read(l->fd, l->data + l->end, l->n_room - l->end);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return ORIGIN(-errno);
        l->at_end = n == 0;
        l->end += (size_t) n;
        return 0;
}

/* Up to the next "\n", which it takes, too, or to the end of what has been read. */
static void forget_rest(Lines *l) {
        char *p = memchr(l->data + l->begin, '\n', l->end - l->begin);
        size_t end = p ? (size_t) (p + 1 - l->data) : l->end;

        l->n_bytes += end - l->begin;
        l->begin = end;
        l->in_rest = !p;
}

bool lines_is_binary(const char *s, size_t n) {
        unsigned char low = 0;

        /* Without a branch for each byte, so that it costs next to nothing. */
        for (size_t i = 0; i < n; i++)
                low |= (unsigned char) s[i] < ' ' && s[i] != '\t';
        return low;
}

int lines_next(Lines *l, Line *ret) {
        char *text, *end;
        size_t n;
        int r;

        if (l->in_rest) {
                r = l->begin == l->end && !l->at_end ? fill(l) : 0;
                if (r < 0 || l->begin == l->end)
                        return r;
                forget_rest(l);
                *ret = (Line){ .text = "", .number = l->number, .is_rest = true };
                return 1;
        }
        for (;;) {
                text = l->data + l->begin;
                n = MIN(l->end - l->begin, LINES_MAX_BYTES);
                end = memchr(text, '\n', n);
                if (l->at_end || (!end && n == LINES_MAX_BYTES) ||
                    (end && l->end - (size_t) (end + 1 - l->data) >= LINES_AHEAD_BYTES))
                        break;
                r = fill(l);
                if (r < 0)
                        return r;
        }
        if (n == 0)
                return 0;
        if (end)
                n = (size_t) (end - text);
        *ret = (Line){
                .text = text,
                .n_text = n,
                .number = ++l->number,
                .is_last = !end && n < LINES_MAX_BYTES,
        };
        if (end) {
                l->begin += n + 1;
                l->n_bytes += n + 1;
        } else if (ret->is_last) {
                l->begin += n;
                l->n_bytes += n;
        } else {
                static const char too_long[] = "(a line that is too long)";

                ret->is_long = true;
                ret->text = too_long;
                ret->n_text = sizeof(too_long) - 1;
                forget_rest(l);
                return 1;
        }
        ret->next = l->data + l->begin;
        ret->n_next = l->end - l->begin;
        while (n > 0 && text[n - 1] == '\r')
                ret->n_text = --n;
        ret->is_binary = lines_is_binary(text, n);
        return 1;
}

void lines_done(Lines *l) {
        if (!l->data)
                return;
        (void) close(l->fd);
        free(l->data);
}
