/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Symbols: an address's name, as the kernel itself would print it
 *
 * A table made from the text of /proc/kallsyms: lines of "ADDRESS TYPE NAME" or
 * "ADDRESS TYPE NAME\t[MODULE]".  libtraceevent 1.7.1 reads that text too but
 * cannot tell the module, which the kernel prints.
 *
 * Source: linux 6.1 kernel/kallsyms.c, s_show() writes it, get_symbol_pos() and
 * kallsyms_lookup() say which name an address has: that of the last symbol not
 * after it, of several at one address the first.
 */

#include "base/cleanup.h"
#include "store/session-dir.h"

typedef struct Symbols Symbols;

typedef struct Symbol {
        uint64_t address;
        const char *name; /* n_name bytes, not ended by a NUL; lives as long as the table */
        size_t n_name;
        const char *module; /* n_module bytes, without brackets; NULL: part of the kernel */
        size_t n_module;
        char type;        /* of nm(1): 't' or 'T' for code */
        uint64_t n_bytes; /* up to the next symbol; 0: not known, as of a module's last */
} Symbol;

/* No function is longer: an address farther behind its symbol belongs to something that has left
 * the table, a module that was unloaded for instance. */
#define SYMBOL_BYTES_MAX (UINT64_C(1) << 20)

/*
 * symbols_new() - a table from kallsyms text
 * @text: NUL-terminated, malloc()ed; consumed, also on failure; NULL makes an empty table
 *
 * Lines that are no symbols are passed over.  Return: 0, -ENOMEM, -EFBIG (2 GiB and more).
 */
int symbols_new(Symbols **ret, char *text, size_t n_text);
/* The same of parts, which are read when they are needed; *@parts is consumed, also on failure. */
int symbols_take(Symbols **ret, SymbolParts *parts);
/* True if a part that was needed could not be unpacked or is not as its index says: its functions have no names. */
bool symbols_are_damaged(const Symbols *s);
/* False: there are none, or all addresses are 0: whoever copied the text was not allowed to see them
 * (kptr_restrict). */
bool symbols_have_names(const Symbols *s);
bool symbols_find(const Symbols *s, uint64_t address, Symbol *ret);
/* The first symbol that begins behind @address; false: there is none. */
bool symbols_find_behind(const Symbols *s, uint64_t address, Symbol *ret);
/* The first symbol of this name; false if there is none.  Looks at every one, but for a SYMBOL_IRQENTRY. */
bool symbols_find_name(const Symbols *s, const char *name, Symbol *ret);
Symbols *symbols_free(Symbols *s);
DEFINE_CLEANUP(Symbols *, symbols_free);

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
/* Adds a map that is later than those of *@a, which is made if it is NULL; @symbols is consumed, also on failure. */
int symbol_timeline_add(SymbolTimeline **a, uint64_t unchanged_ns, uint64_t from_ns,
                        Symbols *symbols);
/* Takes over the maps that @meta, a later account of the same recording, has beyond ours.
 * 1: there were some, and spans that were handed out are void; 0; -ENOMEM. */
int symbol_timeline_refresh(SymbolTimeline *a, const SessionMeta *meta);
/* True if a map, or what was needed of it, is damaged, so that its functions have no names. */
bool symbol_timeline_is_damaged(const SymbolTimeline *a);
/* Unpacks all of every map, for symbol_timeline_is_damaged().  0 or -ENOMEM. */
int symbol_timeline_check(SymbolTimeline *a);
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

/*
 * Tasks: the name of a process id, from the recording's saved_cmdlines
 *
 * Lines of "PID COMM"; a comm may hold spaces.  Names are those of the moment
 * when the file was read, as in the kernel's own text.
 *
 * Source: linux 6.1 kernel/trace/trace.c, saved_cmdlines_show(), __trace_find_cmdline().
 */
typedef struct Tasks Tasks;

#define TASK_COMM_BYTES 16 /* TASK_COMM_LEN, its NUL included */

/* @text: NUL-terminated, borrowed; NULL is an empty list.  0 or -ENOMEM. */
int tasks_new(Tasks **ret, const char *text);
/* "<idle>" for 0, "<XXX>" below, "<...>" for the unknown; never NULL. */
const char *tasks_comm(const Tasks *t, int32_t pid);
Tasks *tasks_free(Tasks *t);
DEFINE_CLEANUP(Tasks *, tasks_free);
