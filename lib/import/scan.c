/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times as tracers print them; what is longer than 584 years is no duration. */

#include "base/cleanup.h"
#include "import/scan.h"

bool scan_duration(Scan *s, uint64_t *ret_ns) {
        static const struct {
                const char *unit;
                uint64_t ns;
        } units[] = {
                { "ns", 1 },
                { "us", 1000 },
                { "ms", 1000000 },
                { "s", 1000000000 },
                { "m", UINT64_C(60) * 1000000000 },
                { "h", UINT64_C(3600) * 1000000000 },
        };
        uint64_t whole, fraction = 0, scale = 1, below;
        Scan t = *s;
        size_t n;

        if (!scan_number(&t, UINT64_MAX, &whole))
                return false;
        if (scan_text(&t, ".")) {
                n = scan_number(&t, 999999, &fraction);
                if (n == 0 || n > 6)
                        return false;
                for (; n > 0; n--)
                        scale *= 10;
        }
        if (scan_blanks(&t) == 0)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(units); i++) {
                Scan u = t;

                if (!scan_text(&u, units[i].unit) || (u.p<u.end && * u.p> ' ' && *u.p != '|'))
                        continue;
                below = fraction * units[i].ns / scale;
                if (__builtin_mul_overflow(whole, units[i].ns, &whole) ||
                    __builtin_add_overflow(whole, below, ret_ns))
                        return false;
                *s = u;
                return true;
        }
        return false;
}
