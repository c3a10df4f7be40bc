/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Labels: each function that a text names, once
 *
 * A recording's functions are known by their address (calls/function.h), a
 * text's by what is printed: the name and, in brackets, the module.  Functions
 * stay where they are for the table's life; their address is a number that
 * counts them, from 1.
 */

#include "base/hash.h"
#include "calls/function.h"

#define LABELS_MAX ((size_t) 1 << 20) /* a kernel with all its modules has a fourth of that */

/* One of zeroes is empty. */
typedef struct Labels {
        Hash functions; /* by label */
} Labels;

/* @n_label: of it the first @n_name are the name.  NULL without memory, or beyond LABELS_MAX. */
const Function *labels_get(Labels *l, const char *label, size_t n_label, size_t n_name);
/* What a return belongs to whose call nobody saw, and that has no name. */
extern const Function labels_unknown;
/* The unknown one is not counted. */
static inline size_t labels_n(const Labels *l) {
        return l->functions.n;
}
void labels_done(Labels *l);
