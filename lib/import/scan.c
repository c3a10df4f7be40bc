/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times as tracers print them; what is longer than 584 years is no duration. */

#include "import/text-private.h"

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

bool scan_sign(Scan *s, char sign) {
        const char *begin = s->p;

        switch (sign) {
        case '$':
                return s->p == s->end;
        case '^':
                (void) scan_blanks(s);
                return true;
        case '9':
                return skip_signs(s, is_digit);
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
