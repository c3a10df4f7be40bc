/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Text source: a text that a tracer printed, as the SOURCE of a verb that reads
 *
 * A file (cli/source/source.h), or "-", standard input.  What it is, its content tells.
 */

#include "base/cleanup.h"
#include "cli/options/options.h"
#include "cli/source/drawing.h"
#include "import/text-trace.h"

typedef struct TextSource {
        const char *name; /* as messages call it; borrowed */
        TextTrace *trace;
        bool is_utf16;
        uint64_t n_uncounted; /* places that say that events were lost, and not how many */
} TextSource;

/* What source_find() found to be a text; @fd is consumed.  An exit status. */
int text_source_take_fd(TextSource *ret, const Options *o, const char *word, int fd);
/* Fills what @options leave open: how @s was drawn.  @is_format_given: --format was. */
RenderContext text_source_layout(const TextSource *s, const Options *o, DrawingOptions *d);
/* The next step; 1, 0 at the end, or a negative exit status after having said why. */
int text_source_next(TextSource *s, Step *ret);
/* Says that there are no durations, to who adds them up. */
void text_source_say_untimed(const TextSource *s);
/* Says what was skipped, what was damaged, and what is missing; an exit status: STATUS_FAILED
 * after damage, STATUS_INCOMPLETE after a loss. */
int text_source_finish(const TextSource *s, const Options *o);
void text_source_done(TextSource *s);
#define _cleanup_text_source_ _cleanup_(text_source_done)
