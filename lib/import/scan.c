/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times as tracers print them; what is longer than 584 years is no duration. */

#include "import/scan.h"

static const struct {
        const char *unit;
        uint64_t ns;
        bool is_short; /* one that blanks may be missing before */
} units[] = {
        { "ns", 1, false },
        { "us", 1000, true },
        { "ms", 1000000, true },
        { "s", 1000000000, true },
        { "m", UINT64_C(60) * 1000000000, false },
        { "h", UINT64_C(3600) * 1000000000, false },
};

/* Of so few digits that the fraction of the longest unit fits. */
static bool scan_time(Scan *s, bool is_tight, uint64_t *ret_ns) {
        uint64_t whole, fraction = 0, scale = 1;
        Scan t = *s;
        size_t n;

        if (!scan_number(&t, UINT64_MAX, &whole))
                return false;
        if (scan_text(&t, ".")) {
                n = scan_number(&t, 999999999, &fraction);
                if (n == 0 || n > (is_tight ? 9 : 6))
                        return false;
                for (; n > 0; n--)
                        scale *= 10;
        }
        if (scan_blanks(&t) == 0 && !is_tight)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                Scan u = t;

                if (!scan_text(&u, units[i].unit) || (is_tight && !units[i].is_short) ||
                    (!is_tight && u.p<u.end && * u.p> ' ' && *u.p != '|'))
                        continue;
                if (__builtin_mul_overflow(whole, units[i].ns, &whole) ||
                    __builtin_add_overflow(whole, fraction * units[i].ns / scale, ret_ns))
                        return false;
                *s = u;
                return true;
        }
        return false;
}

bool scan_duration(Scan *s, uint64_t *ret_ns) {
        return scan_time(s, false, ret_ns);
}

bool scan_tight_duration(Scan *s, uint64_t *ret_ns) {
        return scan_time(s, true, ret_ns);
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
