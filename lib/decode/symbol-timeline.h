/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Symbol timeline: the symbols of a recording, each for its time
 *
 * Modules come and go, and an address that was one function may be another
 * later.  The recording holds a map for each set of modules (meta/meta.h);
 * an event's address is looked up in the map of the event's time.  Between the
 * last look that saw the old set and the first that saw the new one, both maps
 * are asked.  What is recorded are beginnings of functions, so an address has
 * the name that it has in the map in which a function begins there; if one
 * does in both, the older map's until a function was met that is in the newer
 * one alone.
 */

#include "base/cleanup.h"
#include "decode/symbols.h"
#include "store/session-dir.h"

typedef struct SymbolTimeline SymbolTimeline;

/* A stretch of time in which every address has one name. */
typedef struct SymbolTimelineSpan {
        uint64_t begin_ns, end_ns; /* [begin, end) in the trace clock; end UINT64_MAX: open */
        const Symbols *older;      /* lives until the next span is asked for */
        const Symbols *newer;      /* the same as `older` where only one map can hold */
        bool has_turned;           /* a function that is in `newer` alone was met */
} SymbolTimelineSpan;

/*
 * symbol_timeline_open() - the symbols of a recording
 * @dir: borrowed for the symbol timeline's life
 *
 * A recording whose symbols were hidden, are damaged, or came without a store, has an empty symbol timeline.
 * Return: 0, -errno.
 */
int symbol_timeline_open(SymbolTimeline **ret, const SessionDir *dir, const SessionMeta *meta);
/* One map that holds for ever; @symbols is consumed, also on failure. */
int symbol_timeline_new(SymbolTimeline **ret, Symbols *symbols);
/* Adds a later map: @symbols is consumed, also on failure. */
int symbol_timeline_add(SymbolTimeline *a, uint64_t unchanged_ns, uint64_t from_ns,
                        Symbols *symbols);
/* Takes over the maps that @meta, a later account of the same recording, has beyond ours.
 * 1: there were some, and spans that were handed out are void; 0; -ENOMEM. */
int symbol_timeline_refresh(SymbolTimeline *a, const SessionMeta *meta);
/* Whether a map that was asked for is damaged, so that its functions have no names. */
bool symbol_timeline_is_damaged(const SymbolTimeline *a);
/* Whether addresses have names at all. */
bool symbol_timeline_has_names(const SymbolTimeline *a);

/* The span that @timestamp_ns lies in.  A map that is missing or damaged is empty.  0 or
 * -errno. */
int symbol_timeline_span(SymbolTimeline *a, uint64_t timestamp_ns, SymbolTimelineSpan *ret);
/* Addresses in the order of their time; after it has_turned may be another, and names that were
 * found before are void. */
bool symbol_timeline_span_find(SymbolTimelineSpan *s, uint64_t address, Symbol *ret);

SymbolTimeline *symbol_timeline_free(SymbolTimeline *a);
DEFINE_CLEANUP(SymbolTimeline *, symbol_timeline_free);
