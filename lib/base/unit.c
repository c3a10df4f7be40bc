/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers are read as integer and decimal fraction, never through floating point. */

#include <ctype.h>
#include <inttypes.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/unit.h"

/* Reads "12" off *@s. */
static int read_digits(const char **s, uint64_t *ret) {
        uint64_t n = 0;

        if (!isdigit((unsigned char) **s))
                return -EINVAL;
        for (; isdigit((unsigned char) **s); ++*s)
                if (__builtin_mul_overflow(n, 10, &n) ||
                    __builtin_add_overflow(n, (uint64_t) (**s - '0'), &n))
                        return -ERANGE;
        *ret = n;
        return 0;
}

int parse_u64(const char *s, uint64_t max, uint64_t *ret) {
        uint64_t n;
        int r = read_digits(&s, &n);

        if (r < 0 || *s)
                return r < 0 ? r : -EINVAL;
        if (n > max)
                return -ERANGE;
        *ret = n;
        return 0;
}

/* Reads "12.375" off *@s; *@fraction is in units of 1e-9. */
static int read_number(const char **s, uint64_t *whole, uint64_t *fraction) {
        uint64_t scale = 100000000;
        int r = read_digits(s, whole);

        *fraction = 0;
        if (r < 0 || **s != '.')
                return r;
        if (!isdigit((unsigned char) *++*s))
                return -EINVAL;
        for (; isdigit((unsigned char) **s); ++*s, scale /= 10)
                *fraction += scale * (uint64_t) (**s - '0');
        return 0;
}

static int scale_number(uint64_t whole, uint64_t fraction, uint64_t unit, uint64_t *ret) {
        unsigned __int128 n = (unsigned __int128) whole * unit +
                              (unsigned __int128) fraction * unit / 1000000000U;

        if (n > INT64_MAX)
                return -ERANGE;
        *ret = (uint64_t) n;
        return 0;
}

int parse_seconds(const char **s, uint64_t *ret_ns) {
        uint64_t whole, fraction;
        const char *p = *s;

        if (read_number(&p, &whole, &fraction) < 0 ||
            scale_number(whole, fraction, NSEC_PER_SEC, ret_ns) < 0)
                return -EINVAL;
        *s = p;
        return 0;
}

/* A number and perhaps one of @suffixes, each of which is @step times the one before. */
static int parse_scaled(const char *s, const char *suffixes, uint64_t step, bool is_bytes,
                        uint64_t *ret) {
        uint64_t whole, fraction, unit = 1, scale = step;
        int r = read_number(&s, &whole, &fraction);

        if (r < 0)
                return r;
        if (is_bytes)
                s += strspn(s, " ");
        for (; *suffixes; suffixes++, scale *= step)
                if (toupper(*s) == *suffixes)
                        unit = scale;
        s += unit > 1;
        if (is_bytes && *s == 'i' && unit > 1 && s[1] == 'B')
                s++;
        if (is_bytes && *s == 'B')
                s++;
        if (*s || (unit == 1 && fraction > 0))
                return -EINVAL;
        return scale_number(whole, fraction, unit, ret);
}

int parse_bytes(const char *s, uint64_t *ret) {
        return parse_scaled(s, "KMGT", 1024, true, ret);
}

int parse_count(const char *s, uint64_t *ret) {
        return parse_scaled(s, "KMG", 1000, false, ret);
}

int parse_percent(const char *s, uint64_t *ret_ppm) {
        uint64_t whole, fraction;
        int r = read_number(&s, &whole, &fraction);

        if (r < 0)
                return r;
        s += *s == '%';
        return *s ? -EINVAL : scale_number(whole, fraction, 10000, ret_ppm);
}

/* The short names, and the longer ones and spans that systemd.time(7) has. */
static const struct {
        const char *names;
        uint64_t ns;
} duration_units[] = {
        { "ns", 1 },
        { "us usec", NSEC_PER_USEC },
        { "ms msec", NSEC_PER_MSEC },
        { "s sec second seconds", NSEC_PER_SEC },
        { "m min minute minutes", 60 * NSEC_PER_SEC },
        { "h hr hour hours", 3600 * NSEC_PER_SEC },
        { "d day days", 86400 * NSEC_PER_SEC },
        { "w week weeks", 7 * 86400 * NSEC_PER_SEC },
        { "M month months", 2629800 * NSEC_PER_SEC },
        { "y year years", 31557600 * NSEC_PER_SEC },
};

/* True if the @n bytes at @word are one of @names, which have a blank between them. */
static bool is_one_of(const char *names, const char *word, size_t n) {
        for (size_t n_name; *names; names += n_name + (names[n_name] == ' ')) {
                n_name = strcspn(names, " ");
                if (n_name == n && strncmp(names, word, n) == 0)
                        return true;
        }
        return false;
}

int parse_duration(const char *s, uint64_t *ret_ns) {
        uint64_t total = 0;

        s += strspn(s, " ");
        if (*s == 0)
                return -EINVAL;
        while (*s) {
                uint64_t whole, fraction, part, unit = 0;
                size_t n_unit;
                int r = read_number(&s, &whole, &fraction);

                if (r < 0)
                        return r;
                s += strspn(s, " ");
                n_unit = strcspn(s, " 0123456789.");
                if (n_unit == 0 && *s == 0 && total == 0)
                        unit = NSEC_PER_SEC;
                for (size_t i = 0; unit == 0 && i < ELEMENTSOF(duration_units); i++)
                        if (is_one_of(duration_units[i].names, s, n_unit))
                                unit = duration_units[i].ns;
                if (unit == 0)
                        return -EINVAL;
                s += n_unit;
                s += strspn(s, " ");
                r = scale_number(whole, fraction, unit, &part);
                if (r < 0)
                        return r;
                if (__builtin_add_overflow(total, part, &total) || total > INT64_MAX)
                        return -ERANGE;
        }
        *ret_ns = total;
        return 0;
}

/* "8.5 us" below 10, "85 us" above; rounded to the nearest. */
static void print_scaled(char *text, uint64_t whole, uint64_t thousandths, const char *unit) {
        uint64_t tenths = whole * 10 + (thousandths + 50) / 100;

        if (tenths < 100 && tenths % 10 > 0)
                snprintf(text, UNIT_TEXT_MAX, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10,
                         unit);
        else
                snprintf(text, UNIT_TEXT_MAX, "%" PRIu64 "%s", whole + (thousandths >= 500), unit);
}

char *format_bytes(char text[static UNIT_TEXT_MAX], uint64_t n_bytes) {
        static const char *const units[] = { "B", "K", "M", "G", "T", "P", "E" };
        uint64_t whole = n_bytes, rest = 0;
        size_t i = 0;

        while (whole >= 1024) {
                rest = whole % 1024 * 1000 / 1024;
                whole /= 1024;
                i++;
        }
        if (whole == 1023 && rest >= 500 && i + 1 < ELEMENTSOF(units)) { /* is printed as 1024 */
                whole = 1;
                rest = 0;
                i++;
        }
        print_scaled(text, whole, rest, units[i]);
        return text;
}

/* "1min 12s", "10min" */
static void print_two(char text[static UNIT_TEXT_MAX], uint64_t n, const char *unit, uint64_t rest,
                      const char *rest_unit) {
        int length = snprintf(text, UNIT_TEXT_MAX, "%" PRIu64 "%s", n, unit);

        if (rest > 0)
                snprintf(text + length, (size_t) (UNIT_TEXT_MAX - length), " %" PRIu64 "%s", rest,
                         rest_unit);
}

char *format_duration(char text[static UNIT_TEXT_MAX], uint64_t duration_ns) {
        uint64_t s = duration_ns / NSEC_PER_SEC;

        /* What is rounded to 1000, or 60, is one of the next unit. */
        if (s == 59 && duration_ns % NSEC_PER_SEC >= NSEC_PER_SEC / 2)
                s = 60;
        if (duration_ns < NSEC_PER_USEC)
                snprintf(text, UNIT_TEXT_MAX, "%" PRIu64 " ns", duration_ns);
        else if (duration_ns < NSEC_PER_MSEC - NSEC_PER_USEC / 2)
                print_scaled(text, duration_ns / NSEC_PER_USEC, duration_ns % NSEC_PER_USEC, " us");
        else if (duration_ns < NSEC_PER_SEC - NSEC_PER_MSEC / 2)
                print_scaled(text, duration_ns / NSEC_PER_MSEC,
                             duration_ns % NSEC_PER_MSEC / NSEC_PER_USEC, " ms");
        else if (s < 60)
                print_scaled(text, s, duration_ns % NSEC_PER_SEC / NSEC_PER_MSEC, " s");
        else if (s < 3600)
                print_two(text, s / 60, "min", s % 60, "s");
        else if (s < 86400)
                print_two(text, s / 3600, "h", s % 3600 / 60, "min");
        else
                print_two(text, s / 86400, "d", s % 86400 / 3600, "h");
        return text;
}

char *format_count(char text[static UNIT_TEXT_MAX], uint64_t n) {
        char digits[UNIT_TEXT_MAX], *out = text;
        int n_digits = snprintf(digits, sizeof(digits), "%" PRIu64, n);

        for (int i = 0; i < n_digits; i++) {
                if (i > 0 && (n_digits - i) % 3 == 0)
                        *out++ = ',';
                *out++ = digits[i];
        }
        *out = 0;
        return text;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* The unit and the digits are those of what is printed: 999,960 ns are "1.00 ms", not "1000.0 us". */
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

char *figure_bounds(char text[static FIGURE_MAX], uint64_t low_ns, uint64_t high_ns) {
        char low[FIGURE_MAX];

        if (high_ns != UINT64_MAX)
                return figure_range(text, low_ns, high_ns);
        (void) snprintf(text, FIGURE_MAX, "%.20s or longer", figure_round(low, low_ns));
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
