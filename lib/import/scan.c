/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times as tracers print them; what is longer than 584 years is no duration. */

#include "import/text-private.h"

static bool is_of(char c, char class) {
        switch (class) {
        case '9':
        case '8':
                return is_digit(c);
        case '^':
                return c == ' ';
        case '~':
                return (unsigned char) c > ' ';
        case '!':
                return is_letter(c);
        default:
                return is_digit(c) || is_letter(c) || (c && strchr("_.->", c));
        }
}

bool scan_sign(Scan *s, char sign) {
        const char *begin = s->p;

        if (sign == '$')
                return s->p == s->end;
        if (!strchr("98^~!&", sign))
                return s->p < s->end && *s->p++ == sign;
        while (s->p < s->end && is_of(*s->p, sign))
                s->p++;
        return sign == '^' || (sign == '8' ? s->p == begin + 2 : s->p > begin);
}

bool scan_read(Scan *s, const char *pattern, uint64_t *values) {
        Scan t = *s;

        for (; *pattern; pattern++) {
                Scan u = t;

                if (!scan_sign(&t, *pattern))
                        return false;
                if (*pattern == '9' && values && !scan_number(&u, UINT64_MAX, values++))
                        return false;
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
