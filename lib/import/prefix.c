/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 *      > > text                                    mails, Markdown
 *      <4>[  210.412454][ T123] text               printk, with the caller (CONFIG_PRINTK_CALLER)
 *      [Tue Nov 22 18:30:01 2026] text             dmesg -T
 *      [  210.412454 <    0.000012>] text          dmesg -d
 *      kern  :warn  : [  210.412454] text          dmesg -x
 *      Nov 22 18:30:01 host kernel: text           syslog, journalctl
 *      2026-11-22T18:30:01.123456+00:00 host kernel: text
 *      1795372201.123456 host kernel: text         journalctl -o short-unix
 *      Tue 2026-11-22 18:30:01 UTC host kernel: text        -o short-full
 *      Nov 22 18:30:01 host kern.warn kernel: text BusyBox
 *      Tue Nov 22 18:30:01 2026 kern.warn kernel: text      OpenWrt's logread
 *      6,1234,210412454,-;text                     /dev/kmsg, netconsole
 *
 * Kinds are tried until none finds anything more: prefixes are put before prefixes.
 */

#include "import/text-private.h"

#define BRACKET_MAX 48 /* "[Tue Nov 22 18:30:01 2026 <    0.000012>] " */

static size_t skip_while(Scan *s, const char *more) {
        const char *begin = s->p;

        while (s->p < s->end &&
               (is_letter(*s->p) || is_digit(*s->p) || (*s->p && strchr(more, *s->p))))
                s->p++;
        return (size_t) (s->p - begin);
}

/* "[  210.412454] ", "[ T123] ", "[Nov22 18:30] " */
static bool skip_bracket(Scan *s) {
        bool has_digit = false;
        Scan t = *s;
        size_t n;

        if (scan_like(&(Scan){ s->p, s->end }, "[^9] |")) /* uftrace's thread */
                return false;
        if (!scan_text(&t, "["))
                return false;
        n = skip_while(&t, " :.,+-/@_<>");
        for (const char *p = t.p - n; p < t.p; p++)
                has_digit = has_digit || is_digit(*p);
        if (!has_digit || n > BRACKET_MAX || !scan_text(&t, "]"))
                return false;
        if (scan_left(&t) > 0 &&
            (*t.p == '(' || (scan_left(&t) == 3 && memcmp(t.p, " */", 3) == 0)))
                return false; /* the module of a function whose line was broken */
        if (scan_left(&t) == 0 || *t.p != '[')
                (void) scan_text(&t, " ");
        *s = t;
        return true;
}

/* Behind a task of thread_indent(): "-> f" */
static bool is_arrow(Scan s) {
        return scan_like(&s, "^->") || scan_like(&s, "^<-");
}

/* A date, a time, or both; and who says it: "host kernel: ", "kernel[1]: " */
static bool skip_stamp(Scan *s) {
        static const char *const dates[] = { "! ^9 ", "9-8-8T", "9-8-8 ", "8-8 " };
        bool dated = false;
        Scan t = *s;

        /* "Nov", "2026-", "18:", not " 3) " */
        if (scan_left(&t) < 8 ||
            (!is_letter(t.p[0]) && !strchr("-:", t.p[2] ?: ' ') && t.p[4] != '-'))
                return false;
        for (size_t i = 0; i < ELEMENTSOF(dates) && !dated; i++)
                dated = scan_like(&t, dates[i]);
        if (!scan_like(&t, "8:8:8"))
                return false;
        (void) (scan_like(&t, ".9") || scan_like(&t, ",9"));
        while (t.p < t.end && *t.p && (is_digit(*t.p) || strchr(":+-Z", *t.p)))
                t.p++;
        if (t.p < t.end && !scan_text(&t, " "))
                return false;
        *s = t;
        for (int i = 0; dated && i < 2; i++)
                if (scan_like(&t, "~ ") && t.p[-2] == ':' && !is_arrow(t)) {
                        *s = t;
                        break;
                }
        return true;
}

bool prefix_skip(Scan *s) {
        /* A quotation, printk's level, the facility, who says it; and the kernel's own format. */
        static const char *const words[] = { "> ",
                                             ">",
                                             "!> ",
                                             "!>",
                                             "<9>",
                                             "!^:!^: ",
                                             "!^:!^:",
                                             "kernel: ",
                                             "~ kernel: ",
                                             "~ ~ kernel: ",
                                             "! 9-8-8 8:8:8 ~ ~ kernel: ",
                                             "! ! ^9 8:8:8 9 ~ kernel: ",
                                             "~ kernel:",
                                             NULL },
                                 *const numbers[] = { "9,9,9,-;",   "9,9,9,c;",
                                                      "9,9,9,+;",   "9,9,9,-,caller=&;",
                                                      "~ kernel: ", "~ ~ kernel: ",
                                                      "~ kernel:",  NULL };
        const char *begin = s->p;
        bool again;

        do {
                const char *const *pattern;
                Scan t = *s;

                (void) scan_blanks(&t);
                again = skip_bracket(&t) || skip_stamp(&t);
                for (pattern = t.p < t.end && is_digit(*t.p) ? numbers : words; *pattern && !again;
                     pattern++)
                        again = scan_like(&t, *pattern);
                if (again)
                        *s = t;
        } while (again);
        return s->p > begin;
}

bool prefix_skip_weak(Scan *s) {
        uint64_t number;
        Scan t = *s, u;
        bool is_colon;
        size_t n = 0;

        (void) scan_blanks(&t);
        if (scan_number(&t, UINT32_MAX, &number)) {
                if (scan_left(&t) < 2 || !*t.p || !strchr(":|.- ", *t.p))
                        return false;
                /* "12:30:01", "0.125"; but "12:100250 cat(7)" is grep's */
                is_colon = *t.p++ == ':';
                u = t;
                if (is_digit(*t.p) && (!is_colon || !scan_like(&u, "9 ")))
                        return false;
        } else {
                /* Up to three signs, as " * ", "//", "- ". */
                for (; t.p < t.end && *t.p && strchr("|+-*#$%:;/.\"'`~\\", *t.p); t.p++)
                        n++;
                if (n == 0 || n > 3)
                        return false;
                (void) scan_text(&t, " ");
        }
        if (t.p == t.end)
                return false;
        *s = t;
        return true;
}
