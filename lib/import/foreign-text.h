/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Foreign text: what a text without calls is, for whoever is told that it is not read
 *
 * Other tracers, and other views of the same ones, print what calls and their
 * durations cannot be told from.  A line is enough to know most of them.
 */

#include <stddef.h>

typedef struct ForeignText {
        const char *name;   /* "the function tracer's text" */
        const char *reason; /* why there are no calls in it, a sentence's end */
} ForeignText;

/* NULL: @text, a line, is of nothing that is known. */
const ForeignText *foreign_text_find(const char *text, size_t n_text);
