/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A line that its kind of text does not know is tried as what it may be in an
 * envelope (import/envelope.h), then as one half of a broken line, then as another
 * kind of text.  What none of these is, is skipped, and said to be.
 */

#include "import/text-trace-private.h"

#define N_SEPARATORS 3
#define JOINTS_MAX 3   /* a mailer breaks a line of 76 characters, and a trace's have 200 at most */
#define WRAPPED_MIN 40 /* nobody's window is narrower */
#define N_AHEAD 512    /* lines that are looked at */

/* In trials a line that is no good makes TEXT_TRY, and is not remarked. */
static int guess(TextTrace *t, const Line *line, Step *ret) {
        Line inner;
        int r;

        for (EnvelopeGuess g = 0; g < ENVELOPE_N_GUESSES; g++) {
                if (!envelope_guess(t->envelope, g, line, &inner) || inner.n_text == 0)
                        continue;
                r = text_take_line(t, &inner, ret);
                if (r != TEXT_TRY) {
                        envelope_keep(t->envelope, g);
                        return r < 0 ? r : text_skip(t, inner.n_more) ?: r;
                }
        }
        return TEXT_TRY;
}

static bool is_in_word(char c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
               c == '.';
}

/* Between two letters, so that there was a blank, which is lost, or none. */
static bool is_inside_word(const Line *line, const Line *next) {
        const char *p = next->text, *end = p + next->n_text;

        while (p < end && *p == ' ')
                p++;
        return line->n_text > 0 && p < end && is_in_word(line->text[line->n_text - 1]) &&
               is_in_word(*p);
}

/*
 * What may have stood where @line was broken, the likely first
 *
 * Who breaks at blanks leaves one, or takes it away; who breaks at a column (a terminal, fold) does
 * neither, and makes no line longer than another.
 */
static const char *const *separators_of(const TextTrace *t, const Line *line, const Line *next) {
        static const char *const hard[N_SEPARATORS] = { NULL, " ", "" };
        static const char *const soft[N_SEPARATORS] = { " ", "", NULL };
        static const char behind_blank[] = "[{/|"; /* "f [m]() {" */
        bool is_new_word = next->n_text > 0 && memchr(behind_blank, next->text[0], 4) &&
                           line->n_text > 0 && line->text[line->n_text - 1] != ' ';

        return line->n_text < t->width || is_new_word ? soft : hard;
}

/* @line with @n of those that follow it, which are no lines by themselves: whether that is one. */
static bool join_lines(TextTrace *t, TextKind kind, const Line *line, const char *separator, int n,
                       Line *ret) {
        bool more = envelope_join(t->envelope, line, separator, ret);

        while (more && --n > 0) {
                Line next;

                more = envelope_peek(t->envelope, ret, &next) &&
                       text_shape(t, kind, &next) == TEXT_SHAPE_NONE &&
                       envelope_join(t->envelope, NULL, separator, ret);
        }
        return more && text_shape(t, kind, ret) == TEXT_SHAPE_WHOLE;
}

/* What follows @line is its other half if it is no line by itself, and both together are one. */
static int join(TextTrace *t, TextKind kind, const Line *line, Step *ret) {
        const char *const *separators;
        Line first, next, whole;
        int r;

        (void) envelope_guess(t->envelope, ENVELOPE_LAYERS, line, &first);
        if (first.is_binary || text_shape(t, kind, &first) != TEXT_SHAPE_HALF)
                return TEXT_TRY;
        /* The guess is in a room that looking at the next line does not touch. */
        if (!envelope_peek(t->envelope, &first, &next) ||
            text_shape(t, kind, &next) == TEXT_SHAPE_WHOLE)
                return TEXT_TRY;
        separators = separators_of(t, &first, &next);
        t->width = MAX(t->width, first.n_text);
        for (int i = 0; i < JOINTS_MAX * N_SEPARATORS; i++) {
                if (!join_lines(t, kind, &first, separators[i % N_SEPARATORS], i / N_SEPARATORS + 1,
                                &whole))
                        continue;
                r = text_take_line(t, &whole, ret);
                if (r != TEXT_TRY) {
                        envelope_keep(t->envelope, ENVELOPE_LAYERS);
                        return r < 0 ? r : text_skip(t, whole.n_more) ?: r;
                }
        }
        return TEXT_TRY;
}

/* Whether @line has the width of the longest, and what follows it is no line by itself. */
static bool is_cut(TextTrace *t, const Line *line, const Line *next) {
        return line->n_text >= MAX(t->width, (size_t) WRAPPED_MIN) && is_inside_word(line, next) &&
               next->text[0] != ' ' && text_shape(t, t->layout.kind, next) == TEXT_SHAPE_NONE;
}

/* A word alone, behind which the trace goes on. */
static bool is_rest_of_name(TextTrace *t, const Line *rest) {
        Line next;

        for (size_t i = 0; i < rest->n_text; i++)
                if (!is_in_word(rest->text[i]))
                        return false;
        return envelope_peek(t->envelope, rest, &next) &&
               text_shape(t, t->layout.kind, &next) != TEXT_SHAPE_NONE;
}

/* One line may end by chance where prose begins. */
static bool is_wrapped(TextTrace *t, const Line *line, const Line *rest) {
        Line at = *line, next;

        if (t->n_wrapped < 2 && is_rest_of_name(t, rest))
                return true;
        for (int i = 0; i < N_AHEAD && t->n_wrapped < 2; i++) {
                if (!envelope_peek(t->envelope, &at, &next) || next.n_text > t->width)
                        break;
                t->n_wrapped += is_cut(t, &at, &next);
                at = next;
        }
        return t->n_wrapped >= 2;
}

int text_rejoin(TextTrace *t, const Line *line, Step *ret) {
        Line next, whole;
        int r;

        if (!t->has_layout || !envelope_peek(t->envelope, line, &next) || !is_cut(t, line, &next) ||
            !is_wrapped(t, line, &next))
                return TEXT_TRY;
        if (!envelope_join(t->envelope, line, NULL, &whole) ||
            text_shape(t, t->layout.kind, &whole) != TEXT_SHAPE_WHOLE)
                return TEXT_TRY;
        r = text_take_line(t, &whole, ret);
        return r < 0 || r == TEXT_TRY ? r : text_skip(t, whole.n_more) ?: r;
}

/* What it is instead, out of whatever it came in. */
static void find_foreign(TextTrace *t, const Line *line) {
        Line inner;

        (void) envelope_guess(t->envelope, ENVELOPE_LAYERS, line, &inner);
        text_find_foreign(t, &inner);
}

/* Nothing helps. */
static int skip(TextTrace *t, const Line *line, Step *ret) {
        const Line *inner;
        Line room;

        t->is_trial = false;
        if (line->is_binary && envelope_guess(t->envelope, ENVELOPE_LAYERS, line, &room) &&
            room.n_text == 0)
                return text_note(t, TEXT_NOT_TRACE, line->number, "", 0);
        if (line->is_binary)
                return text_damaged(t, line, TEXT_IS_BINARY);
        find_foreign(t, line);
        inner = envelope_open(t->envelope, line, &room);
        if (inner->n_text > 0) {
                t->after_talk = true;
                t->after_command =
                        t->has_layout && (t->after_command || envelope_is_command(inner));
        }
        if (inner->n_text > 0 && envelope_is_elision(inner))
                return text_note(t, TEXT_ELISION, line->number, line->text, line->n_text);
        return text_take_line(t, inner, ret);
}

int text_unwrap(TextTrace *t, const Line *line, Step *ret) {
        int r = TEXT_TRY;

        t->is_trial = true;
        if (line->n_text > 0) {
                r = guess(t, line, ret);
                for (TextKind i = 0; i < TEXT_N_KINDS && r == TEXT_TRY; i++)
                        r = join(t, i, line, ret);
                if (r == TEXT_TRY && t->has_layout && text_is_of_another_kind(t, line))
                        r = text_another(t, line, ret);
        }
        if (r == TEXT_TRY)
                r = skip(t, line, ret);
        t->is_trial = false;
        return r;
}
