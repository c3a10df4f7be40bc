/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Encodings are undone into a room of ours, prefixes are skipped in place.  The order is that of the
 * way back: what encoded last (quoted-printable) is undone first.
 */

#include "import/envelope.h"
#include "import/decode.h"
#include "import/prefix.h"

#define N_INDENTED 16 /* lines that are looked at */
#define CODE_BLANKS 4 /* Markdown's; fewer are some tracer's */

struct Envelope {
        bool is_prefixed, is_html, is_qp, is_unknown; /* of lines before */
        bool is_any;                                  /* of these */
        uint32_t shape;                               /* of the unknown prefix */
        struct {
                bool prefixed, html, qp;
                uint32_t shape;
        } guess, layers_guess; /* what the last one did; what layers did */
        EnvelopeGuess guessed;
        bool is_guessing; /* the last line was not opened, but guessed */
        Line layers;      /* what open_layers() made of line number layers_of, in room[0] */
        uint64_t layers_of;
        bool layers_are_other;
        size_t n_joint;
        char joint[LINES_MAX_BYTES];
        char room[2][LINES_MAX_BYTES]; /* of the line, and of the one behind it */
};

int envelope_new(Envelope **ret) {
        Envelope *e = calloc(1, sizeof(*e));

        if (!e)
                return -ENOMEM;
        *ret = e;
        return 0;
}

static Scan scan_of(const Line *line) {
        return (Scan){ line->text, line->text + line->n_text };
}

static void set_text(Line *line, Scan s) {
        line->text = s.p;
        line->n_text = scan_left(&s);
}

/* The line behind @line as it is in the file, which is taken off its rest. */
static bool take_next(Line *line, Scan *ret) {
        const char *end = line->n_next > 0 ? memchr(line->next, '\n', line->n_next) : NULL;
        size_t n;

        if (line->n_next == 0 || (!end && line->n_next >= LINES_AHEAD_BYTES))
                return false;
        n = end ? (size_t) (end - line->next) : line->n_next;
        *ret = (Scan){ line->next, line->next + n };
        line->next += n + (end != NULL);
        line->n_next -= n + (end != NULL);
        if (n > 0 && ret->end[-1] == '\r')
                ret->end--;
        return true;
}

static void undo_qp(Envelope *e, Line *line, char *room) {
        Scan s = scan_of(line), next;
        size_t n = 0;

        for (;;) {
                bool is_soft = decode_qp(&s, room, LINES_MAX_BYTES, &n);

                if (!is_soft || line->n_more == LINES_MORE_MAX || !take_next(line, &next))
                        break;
                line->n_more++;
                s = next;
        }
        set_text(line, (Scan){ room, room + n });
}

static void undo(Line *line, char *room, size_t (*decode)(Scan s, char *room)) {
        size_t n = decode(scan_of(line), room);

        set_text(line, (Scan){ room, room + n });
}

static void skip_prefixes(Line *line) {
        Scan s = scan_of(line);

        (void) prefix_skip(&s);
        set_text(line, s);
}

static bool skip_unknown(Line *line, uint32_t *ret_shape) {
        Scan s = scan_of(line);
        const char *begin = s.p;

        if (!prefix_skip_unknown(&s) || s.p == begin)
                return false;
        *ret_shape = prefix_shape(begin, s.p);
        set_text(line, s);
        return true;
}

static void open_usual(Envelope *e, Line *line, char *room) {
        uint32_t shape;

        if (e->is_qp && memchr(line->text, '=', line->n_text))
                undo_qp(e, line, room);
        if (e->is_html && memchr(line->text, '&', line->n_text))
                undo(line, room, decode_html);
        if (e->is_prefixed || (line->n_text > 0 && line->text[0] == '>'))
                skip_prefixes(line);
        if (e->is_unknown) {
                Line inner = *line;

                if (skip_unknown(&inner, &shape) && shape == e->shape)
                        *line = inner;
        }
}

const Line *envelope_open(Envelope *e, const Line *line, Line *room) {
        e->is_guessing = false;
        if (_likely_(!e->is_any && (line->n_text == 0 || line->text[0] != '>')))
                return line;
        *room = *line;
        e->layers_of = 0;
        open_usual(e, room, e->room[0]);
        room->is_binary = lines_is_binary(room->text, room->n_text);
        return room;
}

/* "[/code]", "{noformat}", "</pre>": where the one at the end begins; NULL: there is none. */
static const char *find_tag(const Scan *s) {
        static const char *const kinds[] = { "[/]", "{}", "</>" };
        const char *p = s->end - 1;
        size_t i = 0;

        if (scan_left(s) < 3)
                return NULL;
        while (i < ELEMENTSOF(kinds) && kinds[i][strlen(kinds[i]) - 1] != *p)
                i++;
        if (i == ELEMENTSOF(kinds))
                return NULL;
        for (; p > s->p && (p[-1] | 0x20) >= 'a' && (p[-1] | 0x20) <= 'z'; p--)
                ;
        if (p == s->end - 1)
                return NULL;
        for (size_t n = strlen(kinds[i]) - 1; n > 0; n--)
                if (p == s->p || *--p != kinds[i][n - 1])
                        return NULL;
        return p;
}

/* What closes a box that a text was put into: marks of forums, wikis and pages, and what stands behind
 * the end of a file that was longer.  There is no line that ends so. */
static void drop_closing(Line *line) {
        static const char *const marks[] = { "```", "~~~", "]]>", "\"\"\"", "'''" };
        Scan s = scan_of(line);
        bool again = true;

        while (again) {
                const char *end = s.end;
                Scan t = s;

                while (t.end > t.p && (t.end[-1] == ' ' || !t.end[-1] || t.end[-1] == 0x1a))
                        t.end--;
                if (memchr(t.end, 0, (size_t) (s.end - t.end)) ||
                    memchr(t.end, 0x1a, (size_t) (s.end - t.end)))
                        s.end = t.end;
                for (size_t i = 0; i < ELEMENTSOF(marks); i++)
                        if (scan_has_suffix(&t, marks[i]))
                                s.end = t.end - strlen(marks[i]);
                if (s.end == end)
                        s.end = find_tag(&t) ?: end;
                again = s.end < end;
        }
        set_text(line, s);
}

/* Encodings and what is surely a prefix.  Whether anything changed. */
static bool open_layers(Envelope *e, Line *line, char *room) {
        const char *text = line->text;
        size_t n_text = line->n_text;
        Scan s = scan_of(line);

        memset(&e->guess, 0, sizeof(e->guess));
        if (e->is_qp || decode_is_qp(&s)) {
                undo_qp(e, line, room);
                e->guess.qp = true;
        }
        drop_closing(line);
        s = scan_of(line);
        if (e->is_html || decode_is_html(&s)) {
                undo(line, room, decode_html);
                e->guess.html = true;
        }
        s = scan_of(line);
        if (decode_is_odd(&s)) {
                line->is_tabbed = line->is_tabbed || memchr(s.p, '\t', scan_left(&s));
                undo(line, room, decode_odd);
        }
        s = scan_of(line);
        e->guess.prefixed = prefix_skip(&s);
        set_text(line, s);
        /* Also with the same bytes it may be a text at last. */
        return line->is_binary || line->n_text != n_text || memcmp(line->text, text, n_text) != 0;
}

static bool is_weak(EnvelopeGuess guess) {
        return guess >= ENVELOPE_WEAK && guess <= ENVELOPE_WEAKEST;
}

/* How many such prefixes. */
static int n_weak(EnvelopeGuess guess) {
        return (int) (guess - ENVELOPE_WEAK) + 1;
}

static bool open_weak(Line *line, int n) {
        Scan s = scan_of(line);
        bool found = true;

        for (int i = 0; i < n && found; i++) {
                found = prefix_skip_weak(&s);
                (void) prefix_skip(&s);
        }
        /* Behind it: the end of a cell, of a string. */
        while (found && s.end > s.p && s.end[-1] && strchr("\"\\$,", s.end[-1]))
                s.end--;
        if (scan_has_suffix(&s, "\\n"))
                s.end -= 2;
        set_text(line, s);
        return found;
}

/* The line behind @line, as that one was opened; shapes are compared by who asks. */
static void open_next(Envelope *e, Line *next) {
        const typeof(e->guess) guess = e->guess;

        (void) open_layers(e, next, e->room[1]);
        e->guess = guess;
}

static bool open_unknown(Envelope *e, Line *line) {
        Line next = *line;
        uint32_t shape;
        Scan s;

        if (!skip_unknown(line, &e->guess.shape))
                return false;
        if (e->guess.shape == e->shape)
                return true;
        if (!take_next(&next, &s))
                return false;
        set_text(&next, s);
        open_next(e, &next);
        return skip_unknown(&next, &shape) && shape == e->guess.shape;
}

/* The layers of a line are the same for every guess. */
static bool open_layers_once(Envelope *e, Line *line) {
        if (e->layers_of != line->number) {
                e->layers_of = line->number;
                e->layers = *line;
                e->layers_are_other = open_layers(e, &e->layers, e->room[0]);
                e->layers_guess = e->guess;
        }
        *line = e->layers;
        e->guess = e->layers_guess;
        return e->layers_are_other;
}

bool envelope_guess(Envelope *e, EnvelopeGuess guess, const Line *line, Line *ret) {
        bool is_other;

        *ret = *line;
        e->guessed = guess;
        e->is_guessing = true;
        is_other = open_layers_once(e, ret);
        if (is_weak(guess))
                is_other = open_weak(ret, n_weak(guess));
        else if (guess == ENVELOPE_UNKNOWN)
                is_other = open_unknown(e, ret);
        ret->is_binary = lines_is_binary(ret->text, ret->n_text);
        return is_other && !ret->is_binary;
}

void envelope_keep(Envelope *e, EnvelopeGuess guess) {
        e->is_prefixed = e->is_prefixed || e->guess.prefixed;
        e->is_html = e->is_html || e->guess.html;
        e->is_qp = e->is_qp || e->guess.qp;
        if (guess == ENVELOPE_UNKNOWN) {
                e->is_unknown = true;
                e->shape = e->guess.shape;
        }
        e->is_any = e->is_prefixed || e->is_html || e->is_qp || e->is_unknown;
}

/* How far what follows @line is indented, all of it. */
static size_t common_indentation(const Line *line) {
        Line next = *line;
        size_t n_common = 0;
        Scan s;

        for (int i = 0; i < N_INDENTED && take_next(&next, &s); i++) {
                size_t n = scan_blanks(&s);

                if (scan_left(&s) > 0 && (n_common == 0 || n < n_common))
                        n_common = n;
                if (scan_left(&s) > 0 && n < CODE_BLANKS)
                        return 0;
        }
        return n_common;
}

bool envelope_join(Envelope *e, const Line *first, const char *separator, Line *ret) {
        size_t n_separator = separator ? strlen(separator) : 0, n;
        Line next;
        Scan s;

        if (first) {
                e->n_joint = first->n_text;
                memmove(e->joint, first->text, first->n_text);
                *ret = *first;
        }
        next = *ret;
        if (!take_next(&next, &s))
                return false;
        set_text(&next, s);
        (void) open_layers(e, &next, e->room[1]);
        s = scan_of(&next);
        n = e->n_joint;
        while (n > 0 && e->joint[n - 1] == ' ')
                n--;
        /* Blanks behind a bar are the depth, unless who knows what they are. */
        if (n > 0 && e->joint[n - 1] == '|'
                    ? (separator && n == e->n_joint) || common_indentation(&next) >= CODE_BLANKS
                    : separator != NULL) {
                (void) scan_blanks(&s);
                e->n_joint = n;
        }
        if (scan_left(&s) == 0 || e->n_joint + n_separator + scan_left(&s) > LINES_MAX_BYTES ||
            lines_is_binary(s.p, scan_left(&s)))
                return false;
        if (separator)
                memcpy(e->joint + e->n_joint, separator, n_separator);
        memcpy(e->joint + e->n_joint + n_separator, s.p, scan_left(&s));
        e->n_joint += n_separator + scan_left(&s);
        ret->text = e->joint;
        ret->n_text = e->n_joint;
        ret->n_more = next.n_more + 1;
        ret->next = next.next;
        ret->n_next = next.n_next;
        return true;
}

bool envelope_peek(Envelope *e, const Line *line, Line *ret) {
        uint32_t shape;
        Scan s;

        *ret = *line;
        if (!take_next(ret, &s))
                return false;
        set_text(ret, s);
        if (_likely_(!e->is_guessing)) {
                open_usual(e, ret, e->room[1]);
                return true;
        }
        open_next(e, ret);
        if (is_weak(e->guessed))
                (void) open_weak(ret, n_weak(e->guessed));
        else if (e->guessed == ENVELOPE_UNKNOWN)
                (void) skip_unknown(ret, &shape);
        return true;
}

static bool is_one_of(const char *const *words, size_t n_words, const Scan *word) {
        for (size_t i = 0; i < n_words; i++)
                if (strlen(words[i]) == scan_left(word) &&
                    strncasecmp(words[i], word->p, scan_left(word)) == 0)
                        return true;
        return false;
}

/* Marks, and no words but these, of which one must be there, or three dots. */
bool envelope_is_elision(const Line *line) {
        static const char *const saying[] = { "snip",    "snipped", "skip",    "skipped",
                                              "cut",     "elided",  "omitted", "truncated",
                                              "trimmed", "removed", "deleted" };
        static const char *const beside[] = { "lines", "line",  "more", "here",   "etc",  "and",
                                              "so",    "on",    "of",   "output", "many", "the",
                                              "rest",  "trace", "some", "a",      "lot" };
        bool is_said = false;
        unsigned n_dots = 0;
        Scan s = scan_of(line);

        while (s.p < s.end) {
                Scan word = s;

                if (scan_text(&s, "\xe2\x80\xa6"))
                        is_said = true;
                else if ((*s.p | 0x20) >= 'a' && (*s.p | 0x20) <= 'z') {
                        while (s.p < s.end && (*s.p | 0x20) >= 'a' && (*s.p | 0x20) <= 'z')
                                s.p++;
                        word.end = s.p;
                        if (is_one_of(saying, ELEMENTSOF(saying), &word))
                                is_said = true;
                        else if (!is_one_of(beside, ELEMENTSOF(beside), &word))
                                return false;
                } else {
                        if ((unsigned char) *s.p >= 0x80)
                                return false;
                        n_dots += *s.p == '.' || *s.p == ':';
                        s.p++;
                }
        }
        return is_said || n_dots >= 2 || (n_dots == 1 && line->n_text <= 3);
}

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
        static const struct {
                const char *program, *argument;
        } printers[] = {
                { "cat", "trace" },   { "head", "trace" },  { "tail", "trace" },
                { "perf", "ftrace" }, { "trace-cmd", "" },  { "stap", "" },
                { "funcgraph", "" },  { "funcslower", "" }, { "ftracectl", "" },
                { "dmesg", "" },      { "journalctl", "" },
        };
        Scan s = scan_of(line), word;

        (void) scan_blanks(&s);
        if (scan_text(&s, "Ending tracing..."))
                return true; /* perf-tools' */
        if (!skip_prompt(&s))
                return false;
        (void) scan_blanks(&s);
        if (scan_text(&s, "sudo "))
                (void) scan_blanks(&s);
        for (word = s; s.p < s.end && *s.p != ' '; s.p++)
                if (*s.p == '/')
                        word.p = s.p + 1;
        word.end = s.p;
        for (size_t i = 0; i < ELEMENTSOF(printers); i++)
                if (is_one_of(&printers[i].program, 1, &word) &&
                    scan_find(&s, printers[i].argument))
                        return true;
        return false;
}

const char *envelope_name(const Envelope *e) {
        return e->is_qp         ? "quoted-printable"
               : e->is_html     ? "HTML"
               : e->is_prefixed ? "quoted, or a log's"
               : e->is_unknown  ? "a log's"
                                : NULL;
}

Envelope *envelope_free(Envelope *e) {
        return mfree(e);
}
