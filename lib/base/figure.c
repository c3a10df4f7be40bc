/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The unit and the digits are those of what is printed: 999,960 ns are "1.00 ms", not "1000.0 us". */

#include <inttypes.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/figure.h"
#include "base/unit.h"

char *figure_round(char text[static FIGURE_MAX], uint64_t ns) {
        static const struct {
                double ns;
                const char *name;
        } units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };
        size_t i = 0;
        double v;

        while (i < ELEMENTSOF(units) - 1 && (double) ns >= 999.95 * units[i].ns)
                i++;
        v = (double) ns / units[i].ns;
        (void) snprintf(text, FIGURE_MAX, "%.*f %s",
                        v < 0.9995  ? 3
                        : v < 9.995 ? 2
                                    : 1,
                        v, units[i].name);
        return text;
}

char *figure_mean(char text[static FIGURE_MAX], double ns) {
        return figure_round(text, ns > 0 ? (uint64_t) (ns + 0.5) : 0);
}

char *figure_change(char text[static FIGURE_MAX], double ns) {
        char size[FIGURE_MAX];

        (void) snprintf(text, FIGURE_MAX, "%c%.40s", ns < 0 ? '-' : '+',
                        figure_mean(size, ns < 0 ? -ns : ns));
        return text;
}

char *figure_range(char text[static FIGURE_MAX], uint64_t low_ns, uint64_t high_ns) {
        char low[FIGURE_MAX], high[FIGURE_MAX];
        const char *unit = strchr(figure_round(low, low_ns), ' ');

        if (streq(low, figure_round(high, high_ns)))
                (void) snprintf(text, FIGURE_MAX, "%.20s", high);
        else if (streq(unit, strchr(high, ' ')))
                (void) snprintf(text, FIGURE_MAX, "%.*s to %.20s", (int) (unit - low), low, high);
        else
                (void) snprintf(text, FIGURE_MAX, "%.20s to %.20s", low, high);
        return text;
}

char *figure_date(char text[static FIGURE_MAX], uint64_t realtime_ns) {
        time_t t = (time_t) (realtime_ns / NSEC_PER_SEC);
        struct tm tm;

        if (!localtime_r(&t, &tm) || strftime(text, FIGURE_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                (void) snprintf(text, FIGURE_MAX, "?");
        return text;
}

char *figure_moment(char text[static FIGURE_MAX], uint64_t ns, unsigned n_digits) {
        uint64_t part = ns % NSEC_PER_SEC;

        for (unsigned i = n_digits; i < 9; i++)
                part /= 10;
        if (n_digits == 0)
                (void) snprintf(text, FIGURE_MAX, "%llu", ns / NSEC_PER_SEC);
        else
                (void) snprintf(text, FIGURE_MAX, "%llu.%0*" PRIu64, ns / NSEC_PER_SEC,
                                (int) n_digits, part);
        return text;
}
