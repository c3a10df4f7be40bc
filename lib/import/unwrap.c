/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A line that its kind of text does not know is tried as what it may be in an
 * envelope (import/envelope.h), then as one half of a broken line, then as another
 * kind of text.  What none of these is, is skipped, and said to be.
 */

#include "import/text-trace-private.h"

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

/* What follows @line is its other half if it is no line by itself, and both together are one. */
static int join(TextTrace *t, TextKind kind, const Line *line, Step *ret) {
        static const char *const separators[] = { " ", "" };
        Line first, next, whole;
        int r;

        (void) envelope_guess(t->envelope, ENVELOPE_LAYERS, line, &first);
        if (first.is_binary || text_shape(t, kind, &first) != TEXT_SHAPE_HALF)
                return TEXT_TRY;
        /* The guess is in a room that looking at the next line does not touch. */
        if (!envelope_peek(t->envelope, &first, &next) ||
            text_shape(t, kind, &next) == TEXT_SHAPE_WHOLE)
                return TEXT_TRY;
        for (size_t i = 0; i < ELEMENTSOF(separators); i++) {
                bool more = envelope_join(t->envelope, &first, separators[i], &whole);

                for (; more; more = envelope_join(t->envelope, NULL, separators[i], &whole)) {
                        if (text_shape(t, kind, &whole) != TEXT_SHAPE_WHOLE)
                                continue;
                        r = text_take_line(t, &whole, ret);
                        if (r != TEXT_TRY) {
                                envelope_keep(t->envelope, ENVELOPE_LAYERS);
                                return r < 0 ? r : text_skip(t, whole.n_more) ?: r;
                        }
                }
        }
        return TEXT_TRY;
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
        if (line->is_binary)
                return text_damaged(t, line, "it holds bytes that are not text");
        find_foreign(t, line);
        inner = envelope_open(t->envelope, line, &room);
        if (inner->n_text > 0)
                t->after_talk = true;
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
                if (r == TEXT_TRY && t->has_layout && text_is_of_another_kind(t, line)) {
                        r = text_another(t, line);
                        r = r < 0 ? r : text_take_line(t, line, ret);
                }
        }
        if (r == TEXT_TRY)
                r = skip(t, line, ret);
        t->is_trial = false;
        return r;
}
