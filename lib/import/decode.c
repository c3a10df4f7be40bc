/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One pass for each encoding, from left to right. */

#include <ctype.h>

#include "import/decode.h"

#define TAB_COLUMNS 8

static int hex_of(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool decode_qp(const Scan *s, char *room, size_t n_room, size_t *n) {
        const char *end = s->end;

        while (end > s->p && (end[-1] == ' ' || end[-1] == '\t'))
                end--; /* added on the way: the encoding has none there */
        for (const char *p = s->p; p < end && *n < n_room; p++) {
                char c = *p;

                if (c == '=' && p + 1 == end)
                        return true;
                if (c == '=' && end - p >= 3 && hex_of(p[1]) >= 0 && hex_of(p[2]) >= 0) {
                        c = (char) (hex_of(p[1]) << 4 | hex_of(p[2]));
                        p += 2;
                }
                room[(*n)++] = c;
        }
        return false;
}

bool decode_is_qp(const Scan *s) {
        static const char *const codes[] = { "=3D", "=20", "=C2=A0", "=09", "=E2=80", "=C2=B5" };

        for (size_t i = 0; i < ELEMENTSOF(codes); i++)
                if (scan_find(s, codes[i]))
                        return true;
        return s->p < s->end && s->end[-1] == '=';
}

static const struct {
        const char *name;
        char c;
} entities[] = {
        { "&gt;", '>' },     { "&lt;", '<' },     { "&amp;", '&' },  { "&quot;", '"' },
        { "&apos;", '\'' },  { "&nbsp;", ' ' },   { "&ensp;", ' ' }, { "&emsp;", ' ' },
        { "&micro;", 'u' },  { "&mu;", 'u' },     { "&vert;", '|' }, { "&verbar;", '|' },
        { "&lpar;", '(' },   { "&rpar;", ')' },   { "&lcub;", '{' }, { "&rcub;", '}' },
        { "&lbrace;", '{' }, { "&rbrace;", '}' }, { "&semi;", ';' }, { "&num;", '#' },
        { "&plus;", '+' },   { "&ast;", '*' },    { "&sol;", '/' },  { "&equals;", '=' },
};

/* "&#124;", "&#x7c;" */
static bool scan_code(Scan *s, char *ret) {
        uint64_t code = 0;
        Scan t = *s;

        if (!scan_text(&t, "&#"))
                return false;
        if (scan_text(&t, "x") || scan_text(&t, "X")) {
                const char *begin = t.p;

                while (t.p < t.end && t.p < begin + 6 && hex_of((char) toupper(*t.p)) >= 0)
                        code = code << 4 | (uint64_t) hex_of((char) toupper(*t.p++));
        } else if (!scan_number(&t, 0x10ffff, &code))
                return false;
        if (!scan_text(&t, ";"))
                return false;
        *ret = code == 0xb5 || code == 0x3bc ? 'u' : code >= ' ' && code < 0x7f ? (char) code : ' ';
        *s = t;
        return true;
}

static bool scan_entity(Scan *s, char *ret) {
        if (*s->p != '&')
                return false;
        for (size_t i = 0; i < ELEMENTSOF(entities); i++)
                if (scan_text(s, entities[i].name)) {
                        *ret = entities[i].c;
                        return true;
                }
        return scan_code(s, ret);
}

/* "<span class=...>", "</pre>".  Not "<idle>", which is a task. */
static bool scan_tag(Scan *s) {
        static const char *const tags[] = {
                "span", "br",      "p",       "pre",   "code",   "div",        "b",
                "i",    "font",    "a",       "li",    "td",     "tr",         "em",
                "tt",   "ul",      "ol",      "samp",  "strong", "blockquote", "table",
                "html", "body",    "head",    "title", "h1",     "h2",         "h3",
                "h4",   "section", "article", "main",  "mark",   "kbd",        "u",
                "s",    "small",   "big",     "tbody", "th",     "center",     "hr"
        };
        const char *end;
        Scan t = *s;
        Scan name;

        if (!scan_text(&t, "<"))
                return false;
        (void) scan_text(&t, "/");
        name = t;
        while (t.p < t.end && isalpha((unsigned char) *t.p))
                t.p++;
        name.end = t.p;
        end = memchr(t.p, '>', scan_left(&t));
        if (!end || (*t.p != '>' && *t.p != ' ' && *t.p != '/'))
                return false;
        for (size_t i = 0; i < ELEMENTSOF(tags); i++)
                if (strlen(tags[i]) == scan_left(&name) &&
                    strncasecmp(tags[i], name.p, scan_left(&name)) == 0) {
                        s->p = end + 1;
                        return true;
                }
        return false;
}

size_t decode_html(Scan s, char *room) {
        /* "&amp;gt;" was encoded twice. */
        for (int pass = 0; pass < 2; pass++) {
                size_t n = 0;
                char c;

                while (s.p < s.end) {
                        if (scan_tag(&s))
                                continue;
                        if (scan_entity(&s, &c))
                                room[n++] = c;
                        else
                                room[n++] = *s.p++;
                }
                s = (Scan){ room, room + n };
        }
        return scan_left(&s);
}

bool decode_is_html(const Scan *s) {
        for (const char *p = s->p; (p = memchr(p, '&', (size_t) (s->end - p))); p++) {
                Scan t = { p, s->end };
                char c;

                if (scan_entity(&t, &c))
                        return true;
        }
        for (const char *p = s->p; (p = memchr(p, '<', (size_t) (s->end - p))); p++) {
                Scan t = { p, s->end };

                if (scan_tag(&t))
                        return true;
        }
        return false;
}

/*
 * What is written otherwise: UTF-8, of which one was taken for Latin-1 and encoded again, with a byte order
 * mark and blanks of no width; rsyslog's names of what cannot be printed (#011), and cat -v's (^M).
 */
static const struct {
        const char *to;
        const char *from[20];
} signs[] = {
        { " ",
          { "\xc3\x82\xc2\xa0", "\xc2\xa0", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
            "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87",
            "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xaf", "\xe3\x80\x80" } },
        { "u", { "\xc2\xb5", "\xce\xbc" } },
        { "",
          { "\xef\xbb\xbf", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e",
            "\xef\xbf\xbc", "#015", "^M" } },
        { "|", { "\xe2\x94\x82", "\xe2\x94\x83", "\xef\xbd\x9c" } },
        { "-",
          { "\xe2\x80\x90", "\xe2\x80\x91", "\xe2\x80\x92", "\xe2\x80\x93", "\xe2\x80\x94",
            "\xe2\x88\x92" } },
        { "\t", { "#011", "^I" } },
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

static const char *scan_sign(Scan *s) {
        for (size_t i = 0; i < ELEMENTSOF(signs); i++)
                for (const char *const *from = signs[i].from; *from; from++)
                        if (**from == *s->p && scan_text(s, *from))
                                return signs[i].to;
        if ((unsigned char) *s->p == 0xa0 || (unsigned char) *s->p == 0xb5) /* Latin-1 */
                return (unsigned char) *s->p++ == 0xa0 ? " " : "u";
        return NULL;
}

/* Which an escape or a sign can begin with. */
static inline bool is_odd(char c) {
        return (unsigned char) c < ' ' || (unsigned char) c >= 0x7f || c == '^' || c == '#';
}

size_t decode_odd(Scan s, char *room) {
        char text[LINES_MAX_BYTES];
        size_t n = 0;

        while (s.p < s.end && n < sizeof(text)) {
                const char *to;

                if (!is_odd(*s.p)) {
                        text[n++] = *s.p++;
                        continue;
                }
                if (scan_escape(&s))
                        continue;
                to = scan_sign(&s);
                if (!to || *to == '\t') {
                        char c = to ? *to : *s.p++;

                        if (c == '\b')
                                n -= n > 0;
                        else if (c == '\t')
                                do
                                        text[n++] = ' ';
                                while (n % TAB_COLUMNS != 0 && n < sizeof(text));
                        else if (c != '\f' && c != '\v' && c != '\a' && c != '\r' && c != 0x7f)
                                text[n++] = c;
                } else if (*to)
                        text[n++] = *to;
        }
        memcpy(room, text, n);
        return n;
}

bool decode_is_odd(const Scan *s) {
        for (const char *p = s->p; p < s->end; p++)
                if (is_odd(*p))
                        return true;
        return false;
}
