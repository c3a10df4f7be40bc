/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Excerpt: a session made of a part of another recording
 *
 * Its records are the other's, bit for bit, in pages of its own; so are formats, symbols, names of
 * tasks and what is known of the session and its losses.  Nobody's daemon is asked: the files are
 * written here.
 */

#include "cli/source/reading.h"
#include "store/store.h"

typedef struct ExcerptCount {
        uint64_t n_records, n_bytes;
        uint64_t n_missing; /* steps whose record was not found again: it is damaged meanwhile */
} ExcerptCount;

enum {
        EXCERPT_E_READING = 1, /* the reading failed, and said why */
        EXCERPT_E_EMPTY = 2,   /* nothing is left */
};

/*
 * excerpt_write()
 * @store:   opened for writing; the session @name is made there, or, after a failure, is not
 * @reading: of a recording, not of a text; read to its end
 * @why:     what was kept, half a sentence
 *
 * Return: 0, EXCERPT_E_*, -EEXIST, other -errno.
 */
int excerpt_write(Store *store, const char *name, Reading *reading, const char *why,
                  ExcerptCount *ret);
