/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Text report: a text of a tracer's, drawn again
 */

#include "cli/source/reading.h"

/* On stdout, through a pager on a terminal; in the text's own format and columns, unless the
 * options say otherwise.  An exit status. */
int text_report(Reading *reading, const Options *o);
