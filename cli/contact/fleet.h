/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Fleet: a verb on many hosts at the same time (--hosts)
 *
 * cli/contact/remote.h for each line of a file, FLEET_AT_ONCE at a time.  fleet_run() is all of it for
 * most verbs: a line for each host as it is done, and one exit status.
 */

#include "base/buf.h"
#include "cli/contact/remote.h"
#include "cli/terminal/outfile.h"

#define FLEET_AT_ONCE 32
#define MEMBER_SAID_MAX ((size_t) 4 << 20) /* bytes of each of out and err; more is left out */

/* One host, and what it answered. */
typedef struct Member {
        const char *name; /* as the list has it */
        RemoteHost host;
        bool is_chosen;   /* it is to be asked; may be changed between two works */
        Buf out, err;     /* what it wrote; of what went into a file, out has the path in a line */
        uint64_t n_bytes; /* of the file */
        int status;       /* an exit status, when it is over */
        /* for the fleet alone */
        Outfile file;
        int error; /* -errno: the file could not be written */
        pid_t pid; /* of ssh */
        int out_fd, err_fd;
        uint64_t heard_ns; /* CLOCK_MONOTONIC */
} Member;

/* Hosts of @text, one a line; # begins a comment.  0 or -ENOMEM. */
int fleet_read(Strv *ret, const char *text);
/* @silent_ns: as below.  STATUS_OK if all hosts say so; what those say that do not if they agree; else
 * STATUS_FAILED. */
int fleet_run(const Options *o, uint64_t silent_ns);

/* One verb on some or all of them. */
typedef struct FleetWork {
        const Options *o;   /* the verb, its words, and what was said of its options */
        const char *prefix; /* of the file for each host's output, if o->output is set */
        uint64_t silent_ns; /* who says nothing for so long is given up.  0: nobody */
        void (*ended)(Member *m, void *userdata); /* NULL: prints a line */
        void *userdata;
} FleetWork;

typedef struct Fleet Fleet;

/* Reads and checks the list of o->hosts; all are chosen.  An exit status. */
int fleet_open(Fleet **ret, const Options *o);
Fleet *fleet_free(Fleet *f);
DEFINE_CLEANUP(Fleet *, fleet_free);
/* Asks all that are chosen, and returns when each is over. */
void fleet_work(Fleet *f, const FleetWork *work);

/* Where that file is: DIR/PREFIXhost.dat; the caller frees.  0 or -ENOMEM. */
int fleet_path(char **ret, const char *dir, const char *prefix, const char *host);
/* The first line of @b, or the last, without its end; the caller frees.  NULL without memory. */
char *fleet_line(const Buf *b, bool is_last);
