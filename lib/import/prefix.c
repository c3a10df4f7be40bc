/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each kind is a function that moves the scan behind what it knows, and they are tried until none
 * finds anything more: prefixes are put before prefixes.
 */

#include "import/prefix.h"

#define QUOTER_MAX 12  /* "PeterZ> " */
#define BRACKET_MAX 48 /* "[Tue Nov 22 18:30:01 2026] " */
#define WORD_MAX 64    /* a host's name, a program's */

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* One @c or more. */
static size_t skip_while(Scan *s, bool (*is)(char c)) {
        const char *begin = s->p;

        while (s->p < s->end && is(*s->p))
                s->p++;
        return (size_t) (s->p - begin);
}

static bool is_in_word(char c) {
        return (unsigned char) c > ' ';
}

static bool skip_word(Scan *s) {
        size_t n = skip_while(s, is_in_word);

        return n > 0 && n <= WORD_MAX && scan_text(s, " ");
}

/* Moves the scan behind what it knows; where it does not, anywhere. */
typedef bool (*Kind)(Scan *s);

static bool skip(Scan *s, Kind kind) {
        Scan t = *s;

        if (!kind(&t))
                return false;
        *s = t;
        return true;
}

/* "> ", ">>", "| > ", "PeterZ> " */
static bool skip_quote(Scan *s) {
        if (skip_while(s, is_letter) > QUOTER_MAX || !scan_text(s, ">"))
                return false;
        while (scan_text(s, ">"))
                ;
        (void) scan_text(s, " ");
        return true;
}

/* "<4>" */
static bool skip_level(Scan *s) {
        uint64_t level;

        return scan_text(s, "<") && scan_number(s, 999, &level) && scan_text(s, ">");
}

static bool is_in_bracket(char c) {
        return is_letter(c) || is_digit(c) || (c && strchr(" :.,+-/@_", c));
}

/* "[  210.412454] ", "[ T123] ", "[Nov22 18:30] " */
static bool skip_bracket(Scan *s) {
        bool has_digit = false;
        const char *begin;
        size_t n;

        if (!scan_text(s, "["))
                return false;
        begin = s->p;
        n = skip_while(s, is_in_bracket);
        for (const char *p = begin; p < s->p; p++)
                has_digit = has_digit || is_digit(*p);
        if (!has_digit || n > BRACKET_MAX || !scan_text(s, "]"))
                return false;
        if (scan_left(s) > 1 && memcmp(s->p, " |", 2) == 0)
                return false; /* uftrace's thread */
        if (scan_left(s) > 0 &&
            (*s->p == '(' || (scan_left(s) == 3 && memcmp(s->p, " */", 3) == 0)))
                return false; /* the module of a function whose line was broken */
        if (scan_left(s) == 0 || *s->p != '[')
                (void) scan_text(s, " ");
        return true;
}

/* "kern  :warn  : " */
static bool skip_facility(Scan *s) {
        for (int i = 0; i < 2; i++) {
                if (skip_while(s, is_letter) == 0)
                        return false;
                (void) scan_blanks(s);
                if (!scan_text(s, ":"))
                        return false;
        }
        (void) scan_text(s, " ");
        return true;
}

/* "6,1234,210412454,-;" */
static bool skip_kmsg(Scan *s) {
        const char *semicolon;
        uint64_t v;

        for (int i = 0; i < 3; i++)
                if (!scan_number(s, UINT64_MAX / 10, &v) || !scan_text(s, ","))
                        return false;
        semicolon = scan_find(s, ";");
        if (!semicolon || semicolon - s->p > WORD_MAX)
                return false;
        s->p = semicolon + 1;
        return true;
}

/* "18:30:01", "18:30:01.123456", "18:30:01,123" */
static bool skip_time(Scan *s) {
        uint64_t v;

        if (scan_number(s, 99, &v) != 2 || !scan_text(s, ":") || scan_number(s, 99, &v) != 2 ||
            !scan_text(s, ":") || scan_number(s, 99, &v) != 2)
                return false;
        if (scan_left(s) > 1 && (*s->p == '.' || *s->p == ',') && is_digit(s->p[1])) {
                s->p++;
                (void) skip_while(s, is_digit);
        }
        return true;
}

/* "Nov 22 " */
static bool skip_month(Scan *s) {
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        const char *at;
        uint64_t day;

        if (scan_left(s) < 6)
                return false;
        at = memmem(months, sizeof(months) - 1, s->p, 3);
        if (!at || (at - months) % 3 != 0)
                return false;
        s->p += 3;
        return scan_blanks(s) > 0 && scan_number(s, 31, &day) && scan_text(s, " ");
}

/* "2026-11-22T", "2026-11-22 ", "11-22 " */
static bool skip_date(Scan *s) {
        uint64_t v;
        size_t n = scan_number(s, 9999, &v);

        if (n == 4 && (!scan_text(s, "-") || scan_number(s, 12, &v) != 2))
                return false;
        if ((n != 4 && n != 2) || !scan_text(s, "-") || scan_number(s, 31, &v) != 2)
                return false;
        return scan_text(s, "T") || scan_text(s, " ");
}

static bool is_in_zone(char c) {
        return is_digit(c) || c == ':' || c == '+' || c == '-' || c == 'Z';
}

/* Behind a task of thread_indent(): "-> f" */
static bool is_arrow(Scan s) {
        (void) scan_blanks(&s);
        return scan_left(&s) > 1 && (memcmp(s.p, "->", 2) == 0 || memcmp(s.p, "<-", 2) == 0);
}

/* A date, a time, or both; and who says it. */
static bool skip_stamp(Scan *s) {
        bool dated = skip(s, skip_month) || skip(s, skip_date);
        Scan t;

        if (!skip_time(s))
                return false;
        (void) skip_while(s, is_in_zone);
        if (s->p < s->end && !scan_text(s, " "))
                return false;
        t = *s;
        /* "host kernel: ", "kernel[1]: " */
        for (int i = 0; dated && i < 2; i++)
                if (skip_word(&t) && t.p[-2] == ':' && !is_arrow(t)) {
                        *s = t;
                        break;
                }
        return true;
}

/* "kernel: ", "host kernel: " */
static bool skip_kernel(Scan *s) {
        return scan_text(s, "kernel: ") ||
               (skip_word(s) && (scan_text(s, "kernel: ") || scan_text(s, "kernel:")));
}

bool prefix_skip(Scan *s) {
        static const Kind kinds[] = {
                skip_quote, skip_level,    skip_bracket, skip_stamp,
                skip_kmsg,  skip_facility, skip_kernel,
        };
        const char *begin = s->p;
        bool again;

        do {
                Scan t = *s;

                again = false;
                (void) scan_blanks(&t);
                for (size_t i = 0; i < ELEMENTSOF(kinds) && !again; i++)
                        again = skip(&t, kinds[i]);
                if (again)
                        *s = t;
        } while (again);
        return s->p > begin;
}

/* Up to three of them, as " * ", "//", "- ". */
static bool is_sign(char c) {
        return c && strchr("|+-*#$%:;/.\"'`~\\", c);
}

bool prefix_skip_weak(Scan *s) {
        uint64_t number;
        Scan t = *s, u;
        bool is_colon;

        (void) scan_blanks(&t);
        if (scan_number(&t, UINT32_MAX, &number)) {
                if (scan_left(&t) < 2 || !*t.p || !strchr(":|.- ", *t.p))
                        return false;
                /* "12:30:01", "0.125"; but "12:100250 cat(7)" is grep's */
                is_colon = scan_text(&t, ":");
                t.p += !is_colon;
                u = t;
                if (t.p < t.end && is_digit(*t.p) &&
                    (!is_colon || !scan_number(&u, UINT64_MAX, &number) || !scan_text(&u, " ")))
                        return false;
        } else {
                size_t n = skip_while(&t, is_sign);

                if (n == 0 || n > 3)
                        return false;
                (void) scan_text(&t, " ");
        }
        if (t.p == t.end)
                return false;
        *s = t;
        return true;
}

/* Back over the columns that stand before a CPU's number at @p: "  210.412454 |   ". */
static const char *columns_begin(const char *begin, const char *p) {
        const char *q = p;

        while (q > begin && q[-1] == ' ')
                q--;
        if (q > begin && q[-1] == '|') {
                bool has_point = false;
                const char *time;

                for (time = q - 1; time > begin && time[-1] == ' '; time--)
                        ;
                for (; time > begin && (time[-1] == '.' || is_digit(time[-1])); time--)
                        has_point = has_point || time[-1] == '.';
                if (has_point)
                        return time;
        }
        return p - q > 1 ? p - 1 : q;
}

/* "0 ftp(7223): -> f", behind what is more than a number. */
static const char *find_indent_line(const Scan *s) {
        const char *colon = s->p, *p, *task;
        bool is_any = false;

        for (; (colon = memmem(colon, (size_t) (s->end - colon), "):", 2)); colon++)
                if (is_arrow((Scan){ colon + 2, s->end }))
                        break;
        for (p = colon; p && p > s->p && is_digit(p[-1]); p--)
                ;
        if (!p || p == colon || p == s->p || p[-1] != '(')
                return NULL;
        for (task = p - 1; task > s->p && colon - task < WORD_MAX; task--)
                if (task[-1] == ' ' && task - s->p > 1 && is_digit(task[-2]))
                        break;
        for (p = task - 1; p > s->p && is_digit(p[-1]); p--)
                ;
        if (p <= s->p || p >= task - 1 || p[-1] != ' ')
                return NULL;
        for (const char *q = s->p; q < p; q++)
                is_any = is_any || (*q > ' ' && !is_digit(*q));
        return is_any ? p : NULL;
}

bool prefix_skip_unknown(Scan *s) {
        static const char rule[] = " ----------------------------------------";
        const char *p = s->p;

        while ((p = memchr(p, ')', (size_t) (s->end - p)))) {
                const char *digits = p;

                while (digits > s->p && is_digit(digits[-1]))
                        digits--;
                if (digits < p && p + 1 < s->end && p[1] == ' ' && digits > s->p &&
                    !is_letter(digits[-1]) && digits[-1] != '(') {
                        s->p = columns_begin(s->p, digits);
                        return true;
                }
                p++;
        }
        p = find_indent_line(s) ?: scan_find(s, rule);
        if (!p)
                return false;
        s->p = p;
        return true;
}

uint32_t prefix_shape(const char *begin, const char *end) {
        uint32_t hash = 2166136261;
        char last = 0;

        for (const char *p = begin; p < end; p++) {
                char c = is_digit(*p) || is_letter(*p) ? 'a' : *p;

                if (c == last)
                        continue;
                hash = (hash ^ (uint8_t) c) * 16777619;
                last = c;
        }
        return hash;
}
