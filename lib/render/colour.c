/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where in a line its duration is, which may be in a colour: the line is looked at again, for few are. */

#include "render/renderer.h"

/* Behind the number of a duration, and the bar behind that: a task may be called "a us b".  NULL: there is none. */
static const char *find_unit(const char *begin, const char *end, const char **ret_bar) {
        for (const char *p = begin; (p = memmem(p, (size_t) (end - p), " us ", 4)); p++) {
                const char *bar = p + 3;

                while (bar < end && *bar == ' ')
                        bar++;
                if (bar < end && *bar == '|' && p > begin && p[-1] >= '0' && p[-1] <= '9') {
                        *ret_bar = bar;
                        return p;
                }
        }
        return NULL;
}

_cold_ void render_coloured(Buf *out, const char *begin, const char *end, const char *code) {
        const char *bar = NULL, *from = code ? find_unit(begin, end, &bar) : NULL;
        _cleanup_buf_ Buf line = BUF_INIT;
        size_t n_before, n_until;

        while (bar && from > begin && memchr("0123456789.", from[-1], 11))
                from--;
        if (!bar || from - begin < 2)
                return buf_advance(out, (size_t) (end - begin), false);
        n_before = (size_t) (from - 2 - begin);
        n_until = (size_t) (bar - begin);
        buf_add(&line, begin, (size_t) (end - begin));
        out->error = out->error ?: line.error;
        buf_add(out, line.data, n_before);
        buf_add_code(out, code);
        buf_add(out, line.data + n_before, n_until - n_before);
        buf_add_code(out, "\033[0m");
        buf_add(out, line.data + n_until, line.n_data - n_until);
}
