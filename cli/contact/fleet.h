/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Fleet: a verb on many hosts at the same time (--hosts)
 *
 * cli/contact/remote.h for each line of a file, FLEET_AT_ONCE at a time; or with --via a part of them by
 * each of these hosts, which does the same (cli/contact/gateway.h).  fleet_run() is all of it for most
 * verbs: a line for each host as it is done, and one exit status.
 */

#include "cli/contact/member.h"
#include "cli/options/options.h"

#define FLEET_AT_ONCE 32

/* Hosts of @text, one a line; # begins a comment.  0 or -ENOMEM. */
int fleet_read(Strv *ret, const char *text);
/* STATUS_OK if all hosts say so; what they say if they agree; STATUS_FAILED otherwise. */
int fleet_run(const Options *o);

/* One verb on some or all of them. */
typedef struct FleetWork {
        const Options *o;   /* the verb, its words, and what was said of its options */
        uint64_t until_ns;  /* CLOCK_REALTIME; who has not answered then is late.  0: whenever */
        uint64_t silent_ns; /* who says nothing for so long is late, too.  0: nobody */
        bool can_be_ended;  /* by Ctrl-C and its kin, as if it were until_ns */
        /* Where the output of @host is written, if o->output is set; NULL: OUTPUT/HOST.dat.  0, -errno. */
        int (*name)(char **ret, const char *host, void *userdata);
        /* @m is over; NULL: fleet_tell() */
        void (*ended)(Member *m, void *userdata);
        void *userdata;
} FleetWork;

typedef struct Fleet Fleet;

/* Reads and checks the list of o->hosts, and o->via; all are chosen.  An exit status. */
int fleet_open(Fleet **ret, const Options *o);
Fleet *fleet_free(Fleet *f);
DEFINE_CLEANUP(Fleet *, fleet_free);
size_t fleet_size(const Fleet *f);
/* The @i-th; is_chosen may be changed between two works. */
Member *fleet_member(Fleet *f, size_t i);
/* Asks all that are chosen, and returns when each is over.  False: it was ended; who is unknown is then also whose
 * process may have been ended by the same signal. */
bool fleet_work(Fleet *f, const FleetWork *work);
/* Prints what @m said in a line, or notes it for fleet_end(). */
void fleet_tell(Fleet *f, Member *m);
/* Prints what was noted as JSON, and how many did well; the exit status of all. */
int fleet_end(Fleet *f);

/* The first line of @b, or the last, without its end; the caller frees.  NULL without memory. */
char *fleet_line(const Buf *b, bool is_last);
