/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One buffer, of which a line is handed out in place.  What is not yet a whole
 * line is moved to the front when more is read.
 */

#include "import/text-private.h"

#define ROOM_BYTES (LINES_MAX_BYTES * 4)

int lines_init_take_fd(Lines *l, int fd) {
        *l = (Lines){ .fd = fd, .data = malloc(ROOM_BYTES) };
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
        do
                n = read(l->fd, l->data + l->end, ROOM_BYTES - l->end);
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

/* --- scan -------------------------------------------------------------------------------------- */

static inline bool skip_signs(Scan *s, bool (*is)(char c)) {
        const char *begin = s->p;

        while (s->p < s->end && is(*s->p))
                s->p++;
        return s->p > begin;
}

static bool is_in_word(char c) {
        return (unsigned char) c > ' ';
}

static bool is_in_function(char c) {
        return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '-' || c == '>';
}

static bool scan_sign(Scan *s, char sign) {
        const char *begin = s->p;
        uint64_t value;

        switch (sign) {
        case '$':
                return s->p == s->end;
        case '^':
                (void) scan_blanks(s);
                return true;
        case '9':
                return skip_signs(s, is_digit);
        case '%':
                return scan_hex(s, &value);
        case '8':
                return skip_signs(s, is_digit) && s->p == begin + 2;
        case '~':
                return skip_signs(s, is_in_word);
        case '!':
                return skip_signs(s, is_letter);
        case '&':
                return skip_signs(s, is_in_function);
        default:
                return s->p < s->end && *s->p++ == sign;
        }
}

static bool scan_sign_value(Scan *s, char sign, uint64_t **values) {
        Scan t = *s;

        if (!scan_sign(s, sign))
                return false;
        if (!*values || (sign != '9' && sign != '%'))
                return true;
        return sign == '9' ? scan_number(&t, UINT64_MAX, (*values)++) : scan_hex(&t, (*values)++);
}

/* Where what follows a "*" may begin, at or behind @p; NULL: nowhere. */
static const char *place_of(const char *pattern, const char *p, const char *end) {
        return memchr("98%^~!&$", *pattern, 8) ? (p <= end ? p : NULL)
               : p < end                       ? memchr(p, *pattern, (size_t) (end - p))
                                               : NULL;
}

bool scan_read(Scan *s, const char *pattern, uint64_t *values) {
        const char *star = NULL, *at = s->p;
        uint64_t *values_before = values;
        Scan t = *s;

        while (*pattern) {
                if (*pattern == '*') {
                        star = ++pattern;
                        values_before = values;
                        at = place_of(star, t.p, t.end);
                } else if (scan_sign_value(&t, *pattern, &values)) {
                        pattern++;
                        continue;
                } else if (star) {
                        pattern = star;
                        values = values_before;
                        at = place_of(star, at + 1, t.end);
                } else
                        return false;
                if (!at)
                        return false;
                t.p = at;
        }
        *s = t;
        return true;
}

bool scan_is_comm(const char *comm, size_t n, size_t max) {
        return n <= max || plain_undo(NULL, 0, comm, n) <= max;
}

bool scan_hex(Scan *s, uint64_t *ret) {
        const char *p = s->p;
        uint64_t v = 0;

        for (; p < s->end && p < s->p + 16 &&
               (is_digit(*p) || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f'));
             p++)
                v = v << 4 | (uint64_t) (is_digit(*p) ? *p - '0' : (*p | 0x20) - 'a' + 10);
        if (p == s->p)
                return false;
        *ret = v;
        s->p = p;
        return true;
}

bool scan_duration(Scan *s, uint64_t *ret_ns) {
        uint64_t whole, fraction = 0, scale = 1, unit_ns = 1000000000;
        Scan t = *s;
        size_t n;

        if (!scan_number(&t, UINT64_MAX, &whole))
                return false;
        if (scan_text(&t, ".")) {
                n = scan_number(&t, 999999999, &fraction);
                if (n == 0 || n > 9)
                        return false;
                for (; n > 0; n--)
                        scale *= 10;
        }
        (void) scan_blanks(&t);
        if (scan_text(&t, "us"))
                unit_ns = 1000;
        else if (scan_text(&t, "ms"))
                unit_ns = 1000000;
        else if (!scan_text(&t, "s"))
                return false;
        if (__builtin_mul_overflow(whole, unit_ns, &whole) ||
            __builtin_add_overflow(whole, fraction * unit_ns / scale, ret_ns))
                return false;
        *s = t;
        return true;
}

bool scan_value(Scan *s, uint64_t *ret) {
        Scan t = *s;
        bool is_negative = scan_text(&t, "-");

        if (!(scan_text(&t, "0x") ? scan_hex(&t, ret) : scan_number(&t, UINT64_MAX, ret)))
                return false;
        *ret = is_negative ? -*ret : *ret;
        *s = t;
        return true;
}

bool scan_retval(Scan s, uint64_t *ret) {
        const char *at = scan_find(&s, "ret=");

        if (at)
                s.p = at + 4;
        else if (!scan_text(&s, " = "))
                return false;
        return scan_value(&s, ret);
}
