/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each conversion is taken apart, its value loaded, and a conversion that we have made printed: none
 * of the format's own ever reaches printf().
 */

#include <ctype.h>

#include "decode/event-text.h"
#include "decode/records.h"

#define WIDTH_MAX 256

/* Returns what stands between the quotes, which is @n bytes long; NULL without memory. */
static char *unescape(const char *s, size_t n) {
        char *ret = malloc(n + 1), *p = ret;

        for (size_t i = 0; ret && i < n; i++) {
                if (s[i] == '\\' && i + 1 < n)
                        i++, *p++ = s[i] == 'n' ? '\n' : s[i] == 't' ? '\t' : s[i];
                else
                        *p++ = s[i];
        }
        if (ret)
                *p = 0;
        return ret;
}

static int add_line(Printk *p, const char *line, size_t n) {
        const char *begin = memchr(line, '"', n), *end = memrchr(line, '"', n);
        uint64_t address = strtoull(line, NULL, 16);
        char *format;

        if (!begin || end <= begin || printk_find(p, address))
                return 0;
        format = unescape(begin + 1, (size_t) (end - begin - 1));
        if (!format || hash_add_ptr(&p->formats, address, format) < 0) {
                free(format);
                return -ENOMEM;
        }
        return 0;
}

int printk_init(Printk *p, const char *text) {
        int r = 0;

        *p = (Printk){};
        for (const char *line = text, *end; r == 0 && line && *line; line = *end ? end + 1 : end) {
                end = strchrnul(line, '\n');
                r = add_line(p, line, (size_t) (end - line));
        }
        return r;
}

void printk_done(Printk *p) {
        for (size_t i = 0; i < p->formats.n_slots; i++)
                free((void *) (uintptr_t) p->formats.slots[i].value);
        hash_done(&p->formats);
}

/* --- values ----------------------------------------------------------------------------------- */

typedef struct Values {
        const uint8_t *data;
        size_t n, at;
        bool swap;
        size_t n_long; /* bytes of a long */
        bool are_over; /* more was asked for than there is */
} Values;

static uint64_t take(Values *v, size_t n_bytes) {
        size_t alignment = MIN(n_bytes, (size_t) 4),
               at = (v->at + alignment - 1) & ~(alignment - 1);
        const uint8_t *p = v->data + at;

        if (v->are_over || at > v->n || n_bytes > v->n - at) {
                v->are_over = true;
                return 0;
        }
        v->at = at + n_bytes;
        return n_bytes == 8   ? load_u64(p, v->swap)
               : n_bytes == 4 ? load_u32(p, v->swap)
               : n_bytes == 2 ? load_u16(p, v->swap)
                              : *p;
}

static const char *take_text(Values *v, size_t *ret_n) {
        const char *text = (const char *) v->data + v->at;
        const char *end = v->are_over ? NULL : memchr(text, 0, v->n - v->at);

        if (!end) {
                v->are_over = true;
                return NULL;
        }
        *ret_n = (size_t) (end - text);
        v->at += *ret_n + 1;
        return text;
}

/* --- conversions ------------------------------------------------------------------------------ */

typedef struct Conversion {
        char flags[8];
        int width, precision; /* -1: none */
        size_t n_bytes;       /* of a number */
        char kind;            /* 'd', 's', 'p', ... */
        char extension;       /* behind 'p' */
} Conversion;

static int read_width(const char **s, Values *v) {
        long n;

        if (**s == '*') {
                ++*s;
                n = (int32_t) take(v, 4);
        } else {
                for (n = 0; isdigit((unsigned char) **s); ++*s)
                        n = MIN(n * 10 + (**s - '0'), (long) WIDTH_MAX);
        }
        n = MIN(n, (long) WIDTH_MAX);
        return (int) MAX(n, (long) -WIDTH_MAX);
}

/* Behind the '%'; what follows is the result. */
static const char *read_conversion(Conversion *c, const char *s, Values *v) {
        size_t n = strspn(s, "-+ #0"), n_long;

        *c = (Conversion){ .precision = -1, .n_bytes = 4 };
        memcpy(c->flags, s, MIN(n, sizeof(c->flags) - 1));
        s += n;
        c->width = read_width(&s, v);
        if (*s == '.') {
                s++;
                c->precision = MAX(read_width(&s, v), 0);
        }
        n_long = strspn(s, "lLzZtjq");
        if (n_long > 0)
                c->n_bytes = n_long > 1 || strchr("Ljq", *s) ? 8 : v->n_long;
        s += n_long;
        for (; *s == 'h'; s++)
                c->n_bytes = MAX(c->n_bytes / 2, (size_t) 1);
        c->kind = *s;
        s += *s != 0;
        if (c->kind == 'p') {
                c->extension = isalnum((unsigned char) *s) ? *s : 0;
                while (isalnum((unsigned char) *s))
                        s++;
        }
        return s;
}

static void put_number(Buf *out, const Conversion *c, uint64_t value, char kind) {
        char format[32];

        if (kind == 'd' && c->n_bytes < 8)
                value = (uint64_t) ((int64_t) (value << (64 - 8 * c->n_bytes)) >>
                                    (64 - 8 * c->n_bytes));
        (void) snprintf(format, sizeof(format), "%%%s*.*ll%c", c->flags, kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buf_printf(out, format, c->width, c->precision, (unsigned long long) value);
#pragma GCC diagnostic pop
}

static void put_text(Buf *out, const Conversion *c, const char *text, size_t n) {
        size_t width = (size_t) abs(c->width);
        bool is_left = c->width < 0 || strchr(c->flags, '-');

        if (c->precision >= 0)
                n = MIN(n, (size_t) c->precision);
        if (!is_left && n < width)
                buf_pad(out, width - n, ' ');
        buf_add(out, text, n);
        if (is_left && n < width)
                buf_pad(out, width - n, ' ');
}

void printk_put(Buf *out, const char *format, const uint8_t *values, size_t n, bool swap,
                size_t n_long,
                void (*put_name)(void *userdata, Buf *out, uint64_t address, bool offset),
                void *userdata) {
        Values v = { .data = values, .n = n, .swap = swap, .n_long = n_long };

        while (*format) {
                size_t n_plain = strcspn(format, "%"), n_text = 0;
                const char *text = NULL;
                uint64_t value = 0;
                Conversion c;

                buf_add(out, format, n_plain);
                format += n_plain;
                if (*format == 0)
                        return;
                format = read_conversion(&c, format + 1, &v);
                if (c.kind == 's' ||
                    (c.kind == 'p' && c.extension && !strchr("sSfFBxKe", c.extension)))
                        text = take_text(&v, &n_text);
                else if (c.kind == 'p')
                        value = take(&v, n_long);
                else if (c.kind && strchr("diuxXo", c.kind))
                        value = take(&v, c.n_bytes);
                else if (c.kind == 'c')
                        value = take(&v, 1);
                if (v.are_over)
                        return;
                switch (c.kind) {
                case 'd':
                case 'i':
                        put_number(out, &c, value, 'd');
                        break;
                case 'u':
                case 'x':
                case 'X':
                case 'o':
                        put_number(out, &c, value, c.kind);
                        break;
                case 'c':
                        put_text(out, &c, (const char[]){ (char) value }, 1);
                        break;
                case 's':
                        put_text(out, &c, text, n_text);
                        break;
                case 'p':
                        if (text)
                                put_text(out, &c, text, n_text);
                        else if (c.extension && strchr("sSfFB", c.extension))
                                put_name(userdata, out, value, strchr("SB", c.extension));
                        else
                                buf_printf(out, "%0*llx", (int) (2 * n_long),
                                           (unsigned long long) value);
                        break;
                case '%':
                        buf_add(out, "%", 1);
                        break;
                default: /* not one of the kernel's */
                        return;
                }
        }
}
