/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A line that its kind of text does not know is tried as what it may be in an envelope
 * (import/envelope.h), then as another kind of text.  What none of these is, is skipped, and said to be;
 * what would be one if it were decoded, or had not been broken, is damaged.
 */

#include "import/text-private.h"

#define BROKEN_MIN 40 /* nobody's window is narrower */

/* In trials a line that is no good makes TEXT_TRY, and is not remarked. */
static int guess(TextTrace *t, const Line *line, Step *ret) {
        int r = TEXT_TRY;
        Line inner;

        for (int weak = 0; weak < 2 && r == TEXT_TRY; weak++)
                if (envelope_guess(&t->envelope, weak, line, &inner) && inner.n_text > 0)
                        r = text_take_line(t, &inner, ret);
        t->envelope.is_prefixed |= r != TEXT_TRY && t->envelope.has_prefix;
        return r;
}

/* --- what is refused by its name --------------------------------------------------------------- */

/* Codes of what a tracer prints. */
static const struct {
        const char *code;
        char c;
        bool is_html;
} codes[] = {
        { "&gt;", '>', true },    { "&lt;", '<', true },    { "&amp;", '&', true },
        { "&nbsp;", ' ', true },  { "&quot;", '"', true },  { "&#124;", '|', true },
        { "&#160;", ' ', true },  { "&#39;", '\'', true },  { "<pre>", ' ', true },
        { "</pre>", ' ', true },  { "<p>", ' ', true },     { "</p>", ' ', true },
        { "<br>", ' ', true },    { "<br/>", ' ', true },   { "<code>", ' ', true },
        { "</code>", ' ', true }, { "</span>", ' ', true }, { "=3D", '=', false },
        { "=20", ' ', false },    { "=C2=A0", ' ', false }, { "=09", ' ', false },
};

/* Behind @s, which is written to @room, with @n_room left; whether all of it, and what it was written in. */
static bool decode(Scan s, char *room, size_t n_room, size_t *n, bool *is_html, bool *is_qp) {
        while (s.p < s.end && *n < n_room) {
                size_t i = *s.p == '&' || *s.p == '<' || *s.p == '=' ? 0 : ELEMENTSOF(codes);

                while (i < ELEMENTSOF(codes) && !scan_text(&s, codes[i].code))
                        i++;
                if (i < ELEMENTSOF(codes))
                        *(codes[i].is_html ? is_html : is_qp) = true;
                room[(*n)++] = i < ELEMENTSOF(codes) ? codes[i].c : *s.p++;
        }
        return s.p == s.end;
}

/* Whether @text is a line of a tracer, whichever. */
static bool is_trace(TextTrace *t, const char *text, size_t n_text) {
        Line line = { .text = text, .n_text = n_text };
        Scan s = { text, text + n_text };
        TextLine l;

        (void) prefix_skip(&s);
        for (int i = 0; i < 2; i++) {
                for (TextKind kind = 0; kind < TEXT_N_KINDS; kind++) {
                        t->kinds[kind]->parse(t, &line, &l);
                        if (l.kind >= LINE_RULE)
                                return true;
                }
                line.text = s.p;
                line.n_text = scan_left(&s);
        }
        return false;
}

/* What @line, which is of no trace, was written in, if that hides a trace's line; NULL. */
static const ForeignText *find_coding(TextTrace *t, const Line *line) {
        static const ForeignText html = { "HTML", "save the page as text" },
                                 qp = { "quoted-printable",
                                        "decode it first (\"python3 -m quopri -d\")" };
        Scan s = { line->text, line->text + line->n_text };
        bool is_html = false, is_qp = false, is_soft;
        char room[512];
        size_t n = 0;
        Line next;

        if (!memchr(s.p, '=', scan_left(&s)) && !memchr(s.p, '&', scan_left(&s)) &&
            !memchr(s.p, '<', scan_left(&s)))
                return NULL;
        while (s.end > s.p && s.end[-1] == ' ')
                s.end--;
        is_soft = s.end > s.p && s.end[-1] == '=';
        s.end -= is_soft;
        if (!decode(s, room, sizeof(room), &n, &is_html, &is_qp))
                return NULL;
        if (is_soft && envelope_peek(&t->envelope, line, &next)) {
                s = (Scan){ next.text, next.text + next.n_text };
                is_qp = decode(s, room, sizeof(room), &n, &is_html, &is_qp);
        }
        return (is_html || is_qp) && is_trace(t, room, n) && !is_trace(t, line->text, line->n_text)
                       ? (is_qp ? &qp : &html)
                       : NULL;
}

static bool is_in_word(char c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
               c == '.';
}

/* What follows @line is no line by itself, and both together are one. */
static bool is_broken(TextTrace *t, const Line *line) {
        char room[512];
        TextLine l;
        Line next;

        if (!envelope_peek(&t->envelope, line, &next) ||
            line->n_text + 1 + next.n_text > sizeof(room))
                return false;
        for (TextKind kind = 0; kind < TEXT_N_KINDS; kind++) {
                if (text_shape(t, kind, line) != TEXT_SHAPE_HALF ||
                    text_shape(t, kind, &next) == TEXT_SHAPE_WHOLE)
                        continue;
                memcpy(room, line->text, line->n_text);
                for (size_t n_blanks = 0; n_blanks < 2; n_blanks++) {
                        Line whole = { .text = room, .n_text = line->n_text + n_blanks };

                        room[line->n_text] = ' ';
                        memcpy(room + whole.n_text, next.text, next.n_text);
                        whole.n_text += next.n_text;
                        t->kinds[kind]->parse(t, &whole, &l);
                        if (l.kind >= LINE_EVENT)
                                return true;
                }
        }
        return false;
}

bool text_is_cut(TextTrace *t, const Line *line) {
        Line rest, next;

        if (!t->has_layout || line->n_text < BROKEN_MIN ||
            !is_in_word(line->text[line->n_text - 1]) ||
            !envelope_peek(&t->envelope, line, &rest) || rest.n_text == 0 ||
            text_shape(t, t->layout.kind, &rest) != TEXT_SHAPE_NONE)
                return false;
        for (size_t i = 0; i < rest.n_text; i++)
                if (!is_in_word(rest.text[i]))
                        return false;
        return envelope_peek(&t->envelope, &rest, &next) &&
               text_shape(t, t->layout.kind, &next) != TEXT_SHAPE_NONE;
}

/* --- what is skipped --------------------------------------------------------------------------- */

static int damaged_by_coding(TextTrace *t, const Line *line, const ForeignText *coding) {
        char problem[80];

        if (!t->foreign && t->count.n_traces == 0) {
                t->foreign = coding;
                t->n_foreign_line = line->number;
        }
        (void) snprintf(problem, sizeof(problem), "it is %s: %s", coding->name, coding->reason);
        return text_damaged(t, line, problem);
}

/* Nothing helps. */
static int skip(TextTrace *t, const Line *line, Step *ret) {
        const ForeignText *coding;
        const Line *inner;
        Line room;

        t->is_trial = false;
        (void) envelope_guess(&t->envelope, false, line, &room);
        if (line->is_binary && room.n_text == 0)
                return text_note(t, TEXT_NOT_TRACE, line->number, "", 0);
        if (line->is_binary)
                return text_damaged(t, line, TEXT_IS_BINARY);
        coding = find_coding(t, line);
        if (coding)
                return damaged_by_coding(t, line, coding);
        if (is_broken(t, &room))
                return text_damaged(t, line, TEXT_IS_BROKEN);
        text_find_foreign(t, &room);
        inner = envelope_open(&t->envelope, line, &room);
        if (inner->n_text > 0) {
                t->after_talk = true;
                t->after_command =
                        t->has_layout && (t->after_command || envelope_is_command(inner));
        }
        return text_take_line(t, inner, ret);
}

int text_unwrap(TextTrace *t, const Line *line, Step *ret) {
        int r = TEXT_TRY;

        t->is_trial = true;
        if (line->n_text > 0) {
                r = guess(t, line, ret);
                if (r == TEXT_TRY && t->has_layout && text_is_of_another_kind(t, line))
                        r = text_another(t, line, ret);
        }
        if (r == TEXT_TRY)
                r = skip(t, line, ret);
        t->is_trial = false;
        return r;
}
