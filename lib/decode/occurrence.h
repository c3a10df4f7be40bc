/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Occurrence: which of a kernel's events and symbols there are in pages
 *
 * For a copy of a recording that carries no more names than it needs.  What an event of another kind
 * than the graph's holds is not known here, so each of its words that lies in a symbol keeps that
 * symbol.
 */

#include "base/buf.h"
#include "decode/formats.h"
#include "pages/page-source.h"

typedef struct Occurrence Occurrence;

/*
 * occurrence_new()
 * @formats: borrowed for its life
 * @symbols: text of kallsyms, NUL-terminated; consumed, also on failure
 *
 * Return: 0, -ENOMEM, -EFBIG (symbols_new()).
 */
int occurrence_new(Occurrence **ret, const Formats *formats, char *symbols, size_t n_symbols);
/* Takes in what of a page is undamaged, and counts its records, and what is not. */
void occurrence_add(Occurrence *o, const PageInfo *info, const void *page, PageCount *count);

/* True if an event of this id was there. */
bool occurrence_has_event(const Occurrence *o, uint16_t id);
/* The lines whose symbols were there, in the text's order: of several at one address the one that
 * the kernel prints.  And one behind them all, made up: libtraceevent 1.7.1 takes an address for
 * the last symbol's only if it is where that begins (src/event-parse.c, func_map_init()), and what is
 * recorded of a function may be 4 bytes behind.  And the bounds of .irqentry.text, if any was in there.
 * An error is @out's. */
void occurrence_put_symbols(Occurrence *o, Buf *out);

Occurrence *occurrence_free(Occurrence *o);
DEFINE_CLEANUP(Occurrence *, occurrence_free);

/* When the first and the last event of a page are, as far as it is undamaged; false: it has none. */
bool occurrence_span(const PageInfo *info, const void *page, bool big_endian,
                     uint64_t *ret_first_ns, uint64_t *ret_last_ns);
