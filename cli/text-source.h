/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Text source: a text that a tracer printed, as the SOURCE of a verb that reads
 *
 * A word with a slash is a file, and so is one that ends in .txt, .trace or .log;
 * "-" is standard input.  What it is, its content tells.
 */

#include "base/cleanup.h"
#include "cli/drawing.h"
#include "cli/options.h"
#include "import/text-trace.h"

typedef struct TextSource {
        const char *name; /* as messages call it; borrowed */
        TextTrace *trace;
        bool is_utf16;
} TextSource;

/*
 * text_source_open()
 * @ret: trace is NULL if @word is not a text: a session's name, or the path of a recording
 *
 * An exit status.
 */
int text_source_open(TextSource *ret, const Options *o, const char *word);
/* Fills what @options leave open: how @s was drawn.  @is_format_given: --format was. */
void text_source_layout(const TextSource *s, const Options *o, DrawingOptions *d);
/* The next step; 1, 0 at the end, or a negative exit status after having said why. */
int text_source_next(TextSource *s, Step *ret);
/* Says what was skipped, what was damaged, and what is missing; an exit status: STATUS_FAILED
 * after damage, STATUS_INCOMPLETE after a loss. */
int text_source_finish(const TextSource *s, const Options *o);
void text_source_done(TextSource *s);
#define _cleanup_text_source_ _cleanup_(text_source_done)
