/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines of printk_formats, each of which is an address and a text in quotes. */

#include "decode/event-text.h"

/* What stands between the quotes, which is @n bytes long; NULL without memory. */
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
