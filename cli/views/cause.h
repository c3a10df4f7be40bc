/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Cause: what "why" says of a SOURCE, for whoever shows it beside something else
 */

#include "cli/options/options.h"

/* Of the slowest hundredth of the root with the most time; NULL: there are too few calls, or the SOURCE can be read
 * only once.  The caller frees.  An exit status. */
int cause_of(char **ret, const Options *o, const char *word);
