/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The sessions' inside, for daemon/api/sessions.c and daemon/api/sessions-survey.c (which of them are awake, and
 * what is known of the others)
 */

#include "daemon/api/roster.h"
#include "daemon/api/sessions.h"

struct Sessions {
        SessionContext context; /* what every session refers to */
        KernelSymbols *symbols;
        const Limits *limits;
        SessionChanged changed;
        SessionsKnown known;
        void *userdata;
        Roster *roster;      /* all of them */
        Session **items;     /* those that are awake */
        size_t n;            /* of those */
        size_t n_unreadable; /* in the store, and not here */
        Removal *removal;
        int (*has_room)(Refusal *refusal, void *userdata);
        void *room_userdata;
        bool is_starting; /* one more is about to be among them */

        /* sessions-survey.c */
        sd_event_source *survey; /* NULL: it is over */
        size_t i_survey, n_known;
};

/* Room for another one that is awake, and one that is starting.  0 or -ENOMEM. */
int sessions_make_room(Sessions *s);
/* It is among those that are awake from now on; there is room.  Owned on success.  0 or -ENOMEM. */
int sessions_add(Sessions *s, Session *session);
void sessions_lay_down(Sessions *s); /* all that may be */
/* Nobody ever needs it again. */
void sessions_forget(Sessions *s, RosterEntry *e);
void sessions_name_foreign(const Sessions *s);
