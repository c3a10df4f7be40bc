/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Envelope: what a text was put into on its way, taken off again
 *
 *      > > [  210.412454]  0)   0.890 us    |  }      a mail that quotes a kernel's log
 *      Nov 22 18:30:01 host kernel:  0)   0.890 us    |  }
 *      =C2=A00)=C2=A0=C2=A0 0.890 us=                 quoted-printable
 *
 * There are prefixes (quoting, logs, lists, line numbers), encodings (quoted-printable, HTML,
 * UTF-8's blanks, a terminal's colours) and lines that were broken.  What a line is inside of them
 * only its reader can tell, so that this module makes guesses, the likely ones first, and the reader
 * says which one was right.  A line that is right as it stands is looked at for one byte; what was
 * right is done at once from then on.
 */

#include "base/cleanup.h"
#include "import/lines.h"

typedef enum EnvelopeGuess {
        ENVELOPE_LAYERS,  /* encodings, and prefixes that are nothing else */
        ENVELOPE_WEAK,    /* also what may be some of a trace: "+ ", "- ", "| ", "12:" */
        ENVELOPE_WEAKER,  /* two of them: "+12: " */
        ENVELOPE_WEAKEST, /* three */
        ENVELOPE_UNKNOWN, /* anything before a CPU's number, if the next line has the like */
        ENVELOPE_N_GUESSES,
} EnvelopeGuess;

typedef struct Envelope Envelope;

int envelope_new(Envelope **ret);
/* @line without what was taken off lines before it: itself, or @room, which then is it. */
const Line *envelope_open(Envelope *e, const Line *line, Line *room);
/* What @line may be.  False: nothing that it is not already.  @ret is valid until the next line is
 * asked for, or the next guess. */
bool envelope_guess(Envelope *e, EnvelopeGuess guess, const Line *line, Line *ret);
/* That guess was right. */
void envelope_keep(Envelope *e, EnvelopeGuess guess);
/*
 * envelope_join() - @line and what follows it, which were one
 * @first:     @line as it was opened, or NULL: the last joint goes on
 * @separator: what stood where it was broken, with blanks around it; NULL: nothing is lost there
 *
 * False: there is no next line.
 */
bool envelope_join(Envelope *e, const Line *first, const char *separator, Line *ret);
/* The line behind @line, opened as that was, or was guessed to be.  False: there is none. */
bool envelope_peek(Envelope *e, const Line *line, Line *ret);
/* Whether @line says that somebody has left lines out: "[...]", "<snip>". */
bool envelope_is_elision(const Line *line);
/* Whether @line is a command behind a prompt, "# cat trace", whose output follows, or a tracer's last
 * word: what comes next was recorded another time. */
bool envelope_is_command(const Line *line);
/* What was taken off most lines: "quoted", NULL: nothing. */
const char *envelope_name(const Envelope *e);
Envelope *envelope_free(Envelope *e);
DEFINE_CLEANUP(Envelope *, envelope_free);
