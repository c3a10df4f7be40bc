/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Roster: every session that there is, by name
 *
 * There may be tens of thousands, of which a few are awake (daemon/session/session.h).  Of the others there is
 * what session_rest() kept; of those that nobody has looked at yet, since the daemon began, the name.
 */

#include "base/cleanup.h"
#include "daemon/session/session.h"

typedef struct Roster Roster;
typedef struct RosterSymbols RosterSymbols;

typedef struct RosterEntry {
        char *name;
        Session *session;       /* borrowed; NULL: it rests, or is not known yet */
        bool is_known;          /* somebody has looked at it */
        SessionRest rest;       /* as of when it was laid down, if it is known and has no session */
        RosterSymbols *symbols; /* with rest: roster_set_symbols() */
        size_t at;              /* the roster's */
} RosterEntry;

int roster_new(Roster **ret);
/* One that there is not yet, and that is not known.  0 or -ENOMEM. */
int roster_add(Roster *r, const char *name, RosterEntry **ret);
/* NULL: there is none. */
RosterEntry *roster_find(const Roster *r, const char *name);
RosterEntry *roster_find_id(const Roster *r, const char *id); /* of those that are known */
size_t roster_n(const Roster *r);
/* In no order; a removal moves the last one to its place. */
RosterEntry *roster_get(const Roster *r, size_t i);
/* All, oldest first: by start, then by name; the caller frees the array.  0 or -ENOMEM. */
int roster_sort(const Roster *r, RosterEntry ***ret);
void roster_remove(Roster *r, RosterEntry *e);
/* What of the store's symbols it refers to; most sessions share the same.  @names is consumed on
 * success.  0 or -ENOMEM. */
int roster_set_symbols(Roster *r, RosterEntry *e, Strv *names);
/* Adds those of all that rest.  0 or -ENOMEM. */
int roster_add_symbols(const Roster *r, Strv *ret);
uint64_t roster_start_ns(const RosterEntry *e); /* CLOCK_REALTIME; of one that is known */
Roster *roster_free(Roster *r);
DEFINE_CLEANUP(Roster *, roster_free);
