/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A text, drawn again: on stdout, through a pager on a terminal; in its own format and columns, unless the options say
 * otherwise. */

#include "cli/source/reading.h"

/* @is_live: more of it comes, and what has come is shown at once, without a pager.  An exit status. */
int text_drawing(Reading *reading, const Options *o, bool is_live);
