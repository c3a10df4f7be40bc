/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Remote: the same verb on another host (-H)
 *
 * By ssh, which runs ftracectl there with the same arguments: a daemon hands over file descriptors,
 * which cross no network, so what reads a recording must be where it is.  Nothing but ssh's port is
 * needed.  Words that are files, and --store and --socket, are of that host; -o is of this one.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "cli/options/options.h"
#include "cli/terminal/outfile.h"

/* [user@]host[:port], or [user@][v6]:port */
typedef struct RemoteHost {
        char *where; /* for ssh: [user@]host */
        char *port;  /* NULL: ssh's own */
} RemoteHost;

/* 0; REMOTE_E_INVALID; -ENOMEM. */
enum { REMOTE_E_INVALID = 1 };
int remote_host_parse(RemoteHost *ret, const char *text);
void remote_host_done(RemoteHost *h);
#define _cleanup_remote_host_ _cleanup_(remote_host_done)

/*
 * remote_command() - what is executed here
 * @ret: ssh and its arguments, the last of which is the shell's line for the other host
 * @with_terminal: for a program there that talks to a person here
 *
 * $FTRACED_SSH, or $SYSTEMD_SSH, is a program that stands for ssh.  0 or -ENOMEM.
 */
int remote_command(Strv *ret, const Options *o, const RemoteHost *h, bool with_terminal);
/* Begins it with these descriptors as its standard input, output and error; its pid or -errno.  It
 * ends with us. */
pid_t remote_spawn(const Strv *command, int in_fd, int out_fd, int err_fd);
/* The exit status of a child of remote_spawn(), which is waited for: 128 + N for signal N,
 * REMOTE_SSH_FAILED: the host was not reached. */
#define REMOTE_SSH_FAILED 255
int remote_wait(pid_t pid);
/* Whether it is there, what there is of a recording with losses. */
static inline bool remote_is_good(int status) {
        return status == STATUS_OK || status == STATUS_INCOMPLETE;
}
/* An exit status, of ours or of what was executed there. */
int remote_run(const Options *o);

/*
 * Remote output: what another host sends, on its way to a terminal or a file here
 *
 * The host may be anybody's, and its recordings hold anybody's names.  Of what it sends the plain
 * text (base/plain-text.h) reaches the terminal, and of what a terminal obeys the codes that ftracectl
 * itself writes: colours, lines that are written over, a table that is drawn again.  Everything else
 * becomes "\xNN".  What does not go to a terminal is not touched.
 *
 * A file is written here, for ssh ends well although the disk was full for the last of it.
 */

#define REMOTE_OUTPUT_HELD_MAX 8 /* of a code or a character of which the rest is to come */

typedef struct RemoteOutput {
        int in_fd;  /* a pipe's end, or -EBADF: there is nothing between */
        int out_fd; /* a terminal or a file, borrowed */
        bool is_file;
        int error; /* -errno: the file could not be written */
        char held[REMOTE_OUTPUT_HELD_MAX];
        size_t n_held;
} RemoteOutput;

#define REMOTE_OUTPUT_INIT ((RemoteOutput){ .in_fd = -EBADF, .out_fd = -EBADF })

/*
 * remote_output_open() - stand between somebody and @fd if that is a terminal or a regular file
 * @ret_fd: what he is given to write to: a pipe that the caller closes, or @fd
 *
 * 0 or -errno.
 */
int remote_output_open(RemoteOutput *o, int fd, int *ret_fd);
/* Passes on what comes until the process has ended, which is not waited for, and all is read. */
void remote_output_pass(RemoteOutput outputs[], size_t n, pid_t pid);
/* Adds to @out, a BUF_OF_TEXT, what of @n bytes more may go there; @is_end: no more will come. */
void remote_output_add(RemoteOutput *o, Buf *out, const char *data, size_t n, bool is_end);
void remote_output_done(RemoteOutput *o);
#define _cleanup_remote_output_ _cleanup_(remote_output_done)

/*
 * Fleet: a verb on many hosts at the same time (--hosts)
 *
 * The same for each line of a file, FLEET_AT_ONCE at a time.  fleet_run() is all of it for most verbs: a line for each
 * host as it is done, and one exit status.
 */

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
        int error;                  /* -errno: the file could not be written */
        pid_t pid;                  /* of ssh */
        int pid_fd, out_fd, err_fd; /* -EBADF: it does not run, has written all */
        uint64_t heard_ns;          /* CLOCK_MONOTONIC */
} Member;

typedef struct Fleet {
        const Options *o;
        Strv names;
        Member *members;
        size_t n;
        json_t *results; /* as fleet_run() prints them */
        /* of fleet_work() */
        const Options *asked; /* the verb, its words, and what was said of its options */
        const char *prefix;   /* of the file for each host's output, if asked->output is set */
        uint64_t silent_ns;   /* who says nothing for so long is given up.  0: nobody */
        void (*ended)(struct Fleet *f, Member *m, void *userdata);
        void *userdata;
} Fleet;

/* Reads and checks the list of o->hosts; all are chosen.  fleet_done() it; an exit status. */
int fleet_open(Fleet *f, const Options *o);
/* Asks all that are chosen, and returns when each is over. */
void fleet_work(Fleet *f);
void fleet_done(Fleet *f);
#define _cleanup_fleet_ _cleanup_(fleet_done)
/* All of it.  @silent_ns: as above.  STATUS_OK if all hosts say so; what those say that do not if they agree; else
 * STATUS_FAILED. */
int fleet_run(const Options *o, uint64_t silent_ns);

/* Hosts of @text, one a line; # begins a comment.  0 or -ENOMEM. */
int fleet_read(Strv *ret, const char *text);
/* Where that file is: DIR/PREFIXhost.dat; the caller frees.  0 or -ENOMEM. */
int fleet_path(char **ret, const char *dir, const char *prefix, const char *host);
/* The first line of @b, or the last, without its end; the caller frees.  NULL without memory. */
char *fleet_line(const Buf *b, bool is_last);
