/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sentences that gather in a list, without a full stop
 */

#include <stdint.h>

#include "base/strv.h"

/* "CPU 3: 2,646 pages WHAT" with @where in front; nothing if @n is 0. */
int sentence_add_count(Strv *list, const char *where, uint64_t n, const char *one, const char *many,
                       const char *what);
