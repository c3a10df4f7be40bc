/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Envelope: what a text was put into on its way, taken off again
 *
 *      > > [  210.412454]  0)   0.890 us    |  }      a mail that quotes a kernel's log
 *      Nov 22 18:30:01 host kernel:  0)   0.890 us    |  }
 *
 * There are prefixes (quoting, logs, lists, line numbers), blanks and signs of other alphabets, and a
 * terminal's colours.  What a line is inside of them only its reader can tell, so that this module makes
 * guesses, the likely ones first, and the reader says which one was right.  A line that is right as it
 * stands is looked at for one byte; a prefix that was right is skipped at once from then on.
 */

#include "base/cleanup.h"
#include "import/lines.h"

typedef enum EnvelopeGuess {
        ENVELOPE_LAYERS,  /* what is surely none of a trace */
        ENVELOPE_WEAK,    /* also a prefix that may be some: "+ ", "- ", "| ", "12:" */
        ENVELOPE_UNKNOWN, /* anything before a CPU's number, if the next line has the like */
        ENVELOPE_N_GUESSES,
} EnvelopeGuess;

typedef struct Envelope {
        bool is_prefixed, is_unknown; /* of lines before */
        uint32_t shape;               /* of the unknown prefix */
        bool has_prefix;              /* what the last guess took off */
        uint32_t guessed_shape;
        EnvelopeGuess guessed;
        bool is_guessing; /* the last line was not opened, but guessed */
        Line layers;      /* what the first guess made of line number layers_of, in room[0] */
        uint64_t layers_of;
        bool layers_are_other;
        char room[2][LINES_MAX_BYTES]; /* of the line, and of the one behind it */
} Envelope;

/* @line without what was taken off lines before it: itself, or @room, which then is it. */
const Line *envelope_open(Envelope *e, const Line *line, Line *room);
/* What @line may be.  False: nothing that it is not already.  @ret is valid until the next line is
 * asked for, or the next guess. */
bool envelope_guess(Envelope *e, EnvelopeGuess guess, const Line *line, Line *ret);
/* That guess was right. */
void envelope_keep(Envelope *e, EnvelopeGuess guess);
/* The line behind @line, opened as that was, or was guessed to be.  False: there is none. */
bool envelope_peek(Envelope *e, const Line *line, Line *ret);
/* Whether @line is a command behind a prompt, "# cat trace", whose output follows, or a tracer's last
 * word: what comes next was recorded another time. */
bool envelope_is_command(const Line *line);
/* What was taken off most lines: "quoted", NULL: nothing. */
const char *envelope_name(const Envelope *e);
