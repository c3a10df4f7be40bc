/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signs are written anew into a room of ours, prefixes are skipped in place. */

#include "import/text-private.h"

#define TAB_COLUMNS 8

static void set_text(Line *line, Scan s) {
        line->text = s.p;
        line->n_text = scan_left(&s);
}

/* --- signs ------------------------------------------------------------------------------------- */

static const ForeignText html = { "HTML", "save the page as text" },
                         quoted_printable = { "quoted-printable",
                                              "decode it first (\"python3 -m quopri -d\")" };

/*
 * What is ASCII where a tracer's line is, and is written otherwise: in UTF-8, with a byte order mark and blanks of
 * no width; rsyslog's names of what cannot be printed (#011), and cat -v's (^M).  Behind them the codes of what is
 * refused.
 */
static const struct {
        const char *to;
        const char *from[20];
        const ForeignText *refused;
} signs[] = {
        { " ",
          { "\xc2\xa0", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83",
            "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
            "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xaf", "\xe3\x80\x80" } },
        { "u", { "\xc2\xb5", "\xce\xbc" } },
        { "",
          { "\xef\xbb\xbf", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e",
            "\xef\xbf\xbc", "#015", "^M" } },
        { "|", { "\xe2\x94\x82", "\xe2\x94\x83", "\xef\xbd\x9c" } },
        { "-",
          { "\xe2\x80\x90", "\xe2\x80\x91", "\xe2\x80\x92", "\xe2\x80\x93", "\xe2\x80\x94",
            "\xe2\x88\x92" } },
        { "\t", { "#011", "^I" } },
        { "=", { "=3D" }, &quoted_printable },
        { " ", { "=20", "=C2=A0", "=09" }, &quoted_printable },
        { " ",
          { "&nbsp;", "&#160;", "<pre>", "</pre>", "<p>", "</p>", "<br>", "<br/>", "<code>",
            "</code>", "</span>" },
          &html },
        { ">", { "&gt;" }, &html },
        { "<", { "&lt;" }, &html },
        { "&", { "&amp;" }, &html },
        { "\"", { "&quot;" }, &html },
        { "|", { "&#124;" }, &html },
        { "'", { "&#39;" }, &html },
};

/* "ESC [ 31 m", "ESC ] 0 ; title BEL", with the escape written in any of three ways. */
static bool scan_escape(Scan *s) {
        Scan t = *s;

        if (!scan_text(&t, "\033") && !scan_text(&t, "^[") && !scan_text(&t, "#033"))
                return false;
        if (scan_text(&t, "[")) {
                while (t.p < t.end && *t.p >= 0x20 && *t.p < 0x40)
                        t.p++;
                t.p += t.p < t.end;
        } else if (scan_text(&t, "]")) {
                while (t.p < t.end && *t.p != '\a' && *t.p != '\033')
                        t.p++;
                t.p += t.p < t.end && *t.p == '\a';
        } else if (*s->p == '\033')
                t.p += scan_left(&t) >= 2 && *t.p && strchr("()#%", *t.p) ? 2 : scan_left(&t) >= 1;
        else
                return false;
        *s = t;
        return true;
}

/* True if a sign begins with it, which hardly any byte of a damaged line does. */
static bool begins_sign(char c) {
        static const char firsts[] = "\xc2\xce\xe2\xe3\xef#^=&<";

        return memchr(firsts, c, sizeof(firsts) - 1);
}

/* @refused: NULL: codes stay; else what the first one is of. */
static const char *scan_written(Scan *s, const ForeignText **refused) {
        for (size_t i = begins_sign(*s->p) ? 0 : ELEMENTSOF(signs);
             i < ELEMENTSOF(signs) && (refused || !signs[i].refused); i++)
                for (const char *const *from = signs[i].from; *from; from++)
                        if (**from == *s->p && scan_text(s, *from)) {
                                if (refused)
                                        *refused = *refused ?: signs[i].refused;
                                return signs[i].to;
                        }
        if ((unsigned char) *s->p == 0xa0 || (unsigned char) *s->p == 0xb5) /* Latin-1 */
                return (unsigned char) *s->p++ == 0xa0 ? " " : "u";
        return NULL;
}

/* Which an escape or a sign can begin with. */
static inline bool is_odd(char c, bool or_code) {
        return (unsigned char) c < ' ' || (unsigned char) c >= 0x7f || c == '^' || c == '#' ||
               (or_code && (c == '=' || c == '&' || c == '<'));
}

/* Blanks and signs of UTF-8 and Latin-1, tabs, and what a terminal makes colours of.  At most LINES_MAX_BYTES, the
 * rest is cut.  @refused: as in scan_written(). */
static void write_signs(Line *line, char *room, const ForeignText **refused) {
        Scan s = scan_of(line);
        size_t n = 0;

        while (s.p < s.end && n < LINES_MAX_BYTES) {
                const char *to;
                char c;

                if (!is_odd(*s.p, refused)) {
                        room[n++] = *s.p++;
                        continue;
                }
                if (scan_escape(&s))
                        continue;
                to = scan_written(&s, refused);
                if (to && !*to)
                        continue;
                c = to ? *to : *s.p++;
                if (c == '\b')
                        n -= n > 0;
                else if (c == '\t')
                        do
                                room[n++] = ' ';
                        while (n % TAB_COLUMNS != 0 && n < LINES_MAX_BYTES);
                else if (c != '\f' && c != '\v' && c != '\a' && c != '\r' && c != 0x7f)
                        room[n++] = c;
        }
        set_text(line, (Scan){ room, room + n });
}

/* --- prefixes ---------------------------------------------------------------------------------- */

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

/* One that may be some of a trace as well: a list's sign, a diff's, a line's number. */
static bool prefix_skip_weak(Scan *s) {
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

/* --- layers ------------------------------------------------------------------------------------ */

/* The line behind @line as it is in the file, which is taken off its rest. */
static bool take_next(Line *line) {
        const char *text = line->next,
                   *end = line->n_next > 0 ? memchr(text, '\n', line->n_next) : NULL;
        size_t n = end ? (size_t) (end - text) : line->n_next;

        if (line->n_next == 0 || (!end && line->n_next >= LINES_AHEAD_BYTES))
                return false;
        line->next += n + (end != NULL);
        line->n_next -= n + (end != NULL);
        line->text = text;
        line->n_text = n - (n > 0 && text[n - 1] == '\r');
        return true;
}

static bool skip_prefixes(Line *line) {
        Scan s = scan_of(line);
        bool found = prefix_skip(&s);

        set_text(line, s);
        return found;
}

static bool has_quote(const Line *line) {
        return line->n_text > 0 && line->text[0] == '>';
}

const Line *envelope_open(Envelope *e, const Line *line, Line *room) {
        e->is_guessing = false;
        if (_likely_(!e->is_prefixed && !has_quote(line)))
                return line;
        *room = *line;
        (void) skip_prefixes(room);
        room->is_binary = lines_is_binary(room->text, room->n_text);
        return room;
}

/* Signs, and what is surely a prefix.  @ret_prefix: whether there was one.  Whether anything changed. */
static bool open_layers(Line *line, char *room, bool *ret_prefix) {
        const Line before = *line;
        Scan t = scan_of(line);

        /* What stands behind the end of a file that was longer. */
        while (t.end > t.p && (t.end[-1] == ' ' || !t.end[-1] || t.end[-1] == 0x1a))
                t.end--;
        if (lines_is_binary(t.end, (size_t) (line->text + line->n_text - t.end)))
                set_text(line, t);
        line->is_tabbed = line->is_tabbed || memchr(line->text, '\t', line->n_text);
        write_signs(line, room, NULL);
        *ret_prefix = skip_prefixes(line);
        /* Also with the same bytes it may be a text at last. */
        return line->is_binary || line->n_text != before.n_text ||
               memcmp(line->text, before.text, before.n_text) != 0;
}

static bool open_weak(Line *line) {
        Scan s = scan_of(line);
        bool found = prefix_skip_weak(&s);

        (void) prefix_skip(&s);
        set_text(line, s);
        return found;
}

bool envelope_guess(Envelope *e, bool weak, const Line *line, Line *ret) {
        bool is_other;

        e->is_weak = weak;
        e->is_guessing = true;
        *ret = *line;
        is_other = open_layers(ret, e->room[0], &e->has_prefix);
        if (weak)
                is_other = open_weak(ret);
        ret->is_binary = lines_is_binary(ret->text, ret->n_text);
        return is_other && !ret->is_binary;
}

const ForeignText *envelope_decode(Envelope *e, const Line *line, Line *ret) {
        const ForeignText *refused = NULL;

        *ret = *line;
        write_signs(ret, e->room[0], &refused);
        if (refused)
                (void) skip_prefixes(ret);
        return refused;
}

bool envelope_peek(Envelope *e, const Line *line, Line *ret) {
        bool has_prefix;

        *ret = *line;
        if (!take_next(ret))
                return false;
        if (_likely_(!e->is_guessing)) {
                if (e->is_prefixed || has_quote(ret))
                        (void) skip_prefixes(ret);
                return true;
        }
        (void) open_layers(ret, e->room[1], &has_prefix);
        if (e->is_weak)
                (void) open_weak(ret);
        return true;
}

/* --- prompts ----------------------------------------------------------------------------------- */

/* "# ", "$ ", "[root@host ~]# ", "host:/sys # ", "\xe2\x9d\xaf " and whatever else begins with no ASCII. */
static bool skip_prompt(Scan *s) {
        Scan t = *s;
        bool is_host = t.p < t.end && *t.p == '[';

        for (; t.p < t.end && (unsigned char) *t.p >= 0x80; t.p++)
                ;
        if (t.p > s->p && scan_blanks(&t) > 0) {
                *s = t;
                return true;
        }
        for (t = *s; t.p < t.end; t.p++) {
                is_host = is_host || *t.p == '@' || *t.p == ':' || *t.p == '~';
                if (memchr("#$%", *t.p, 3) && t.p + 1 < t.end && t.p[1] == ' ') {
                        if (t.p > s->p && !is_host)
                                return false;
                        s->p = t.p + 2;
                        return true;
                }
        }
        return false;
}

bool envelope_is_command(const Line *line) {
        static const char *const commands[] = {
                "cat *trace", "head *trace", "tail *trace", "perf *ftrace", "trace-cmd",  "stap ",
                "funcgraph",  "funcslower",  "ftracectl",   "dmesg",        "journalctl",
        };
        Scan s = scan_of(line);

        (void) scan_blanks(&s);
        if (scan_text(&s, "Ending tracing..."))
                return true; /* perf-tools' */
        if (!skip_prompt(&s))
                return false;
        (void) scan_like(&s, "^sudo ");
        (void) scan_blanks(&s);
        for (const char *p = s.p; p < s.end && *p != ' '; p++)
                if (*p == '/')
                        s.p = p + 1;
        for (size_t i = 0; i < ELEMENTSOF(commands); i++)
                if (scan_like(&(Scan){ s.p, s.end }, commands[i]))
                        return true;
        return false;
}
