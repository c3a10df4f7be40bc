/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The room that talks to a daemon here, or to ftracectl on other hosts
 */

#include <jansson.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/options/options.h"
#include "cli/terminal/terminal.h"
#include "meta/meta.h"
#include "wire/frame.h"
#include "wire/refusal.h"

/*
 * Client: one connection to a daemon
 *
 * The daemon that listens on the socket, or, for verbs that allow it and run as root, a private one: `ftraced
 * --private` started on one end of a socket pair, in a session of its own so that Ctrl-C reaches only us.  It
 * leaves when the connection closes.
 */

#define CLIENT_DEFAULT_SOCKET RUNSTATEDIR "/ftraced/org.ftraced"

typedef struct Client {
        Frame *frame;
        const char *socket; /* NULL: its own, of a private daemon */
        bool is_private;
        pid_t pid; /* of the private daemon, until it was waited for */
} Client;

enum {
        CLIENT_E_NO_DAEMON = 1,   /* nothing listens there (ENOENT, ECONNREFUSED) */
        CLIENT_E_FORBIDDEN = 2,   /* EACCES, EPERM */
        CLIENT_E_GONE = 3,        /* the connection ended before the answer */
        CLIENT_E_NONSENSE = 4,    /* the peer does not speak Varlink */
        CLIENT_E_INTERRUPTED = 5, /* client_receive(): the wake descriptor became readable */
        CLIENT_E_TOO_LONG = 6,    /* the call is longer than FRAME_CALL_MAX, and was not sent */
        CLIENT_E_REFUSED = 16,    /* an error was answered, which the Refusal has */
};

/* @socket_path: borrowed for its life.  0, CLIENT_E_*, -errno. */
int client_connect(Client **ret, const char *socket_path);
/* The daemon that belongs to this program, or the one that FTRACED_DAEMON names; the caller frees.  0, -ENOMEM. */
int client_find_daemon(char **ret);
/* A daemon for this process alone.  @store, @config_root: passed as such options; NULL: the defaults. */
int client_start_private(Client **ret, const char *store, const char *config_root);
/*
 * client_call() - call and wait for the one reply
 * @method:     "Start": of interface org.ftraced, or a full name
 * @parameters: consumed; NULL: {}
 * @ret:        the reply's parameters, the caller owns them; may be NULL
 * @ret_fds:    FRAME_FDS_MAX descriptors (-EBADF where none), the caller owns them; may be NULL
 *
 * Return: 0, CLIENT_E_*, -errno.
 */
int client_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds,
                Refusal *refusal);
/* The same in two steps, for replies that go on: *@ret_continues says whether another follows.
 * @wake_fd: returns CLIENT_E_INTERRUPTED when it becomes readable; -EBADF: never.
 * @timeout_ms: -ETIMEDOUT after so long; -1: never. */
int client_send(Client *c, const char *method, json_t *parameters, bool more);
int client_receive(Client *c, json_t **ret, int *ret_fds, bool *ret_continues, Refusal *refusal,
                   int wake_fd, int timeout_ms);
/* Closes; of a private daemon waits until it has left (at most some seconds) and put everything back. */
Client *client_free(Client *c);
DEFINE_CLEANUP(Client *, client_free);

/*
 * Contact: the daemon, or a sentence why not
 *
 * A Client with people in mind: failures are said on stderr, with the way out, and come back as exit statuses.
 */

const char *contact_socket(const Options *o);
int contact_daemon(Client **ret, const Options *o);
/* The same; *@ret is NULL if the store is to be read without one: --store, or none runs. */
int contact_unless_store(Client **ret, const Options *o);
/* Whoever may change the store: the daemon, or a private one with --store, or if none runs. */
int contact_keeper(Client **ret, const Options *o);
/* The daemon, or for root a private one, if none listens, or with --store.
 * @talk_private: said if a private one stands in for one that does not run; may be NULL */
int contact_recorder(Client **ret, const Options *o, const char *talk_private);
/* As client_call(). */
int contact_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds);
/* The same of one that takes a "session". */
int contact_call_session(Client *c, const char *method, const char *name, json_t **ret);
/* Of a method that answers in parts, as `more` wants it: the first, with @array of all of them. */
int contact_gather(Client *c, const char *method, json_t *parameters, const char *array,
                   json_t **ret);
/* Says what is wrong with the result @r (CLIENT_E_*, -errno) of what was sent or received. */
int contact_failure(const Client *c, int r, const Refusal *refusal);
/* That the socket is not for us, and what to do, for whoever says it otherwise. */
#define CONTACT_TEXT_MAX 256
void contact_forbidden_texts(const char *path, char ret_why[static CONTACT_TEXT_MAX],
                             char ret_fix[static CONTACT_TEXT_MAX]);

/*
 * Remote: the same verb on another host (-H)
 *
 * By ssh, which runs ftracectl there with the same arguments: a daemon hands over file descriptors,
 * which cross no network, so what reads a recording must be where it is.  Nothing but ssh's port is
 * needed.  Words that are files, and --store and --socket, are of that host; -o is of this one.
 */

/* [user@]host[:port], or [user@][v6]:port: whether it may be one; ssh has the last word. */
bool remote_host_is_valid(const char *text);

/*
 * remote_command() - ssh and its arguments, the last of which is the shell's line for the other host
 * @with_terminal: for a program there that talks to a person here
 *
 * A host that does not answer is given up after a minute.  $FTRACED_SSH, or $SYSTEMD_SSH, is a program that stands for
 * ssh.  0 or -ENOMEM.
 */
int remote_command(Strv *ret, const Options *o, const char *host, bool with_terminal);
/* Begins it with these descriptors as its standard input, output and error; its pid or -errno.  It ends with us. */
pid_t remote_spawn(const Strv *command, int in_fd, int out_fd, int err_fd);
/* The exit status of a child, which is waited for: 128 + N for signal N, REMOTE_SSH_FAILED: the host was not
 * reached. */
#define REMOTE_SSH_FAILED 255
int remote_wait(pid_t pid);
/* Whether it is there, what there is of a recording with losses. */
static inline bool remote_is_good(int status) {
        return status == STATUS_OK || status == STATUS_INCOMPLETE;
}
/*
 * What may be done with the file that another host has sent, before it is there
 * @path: as messages shall call it
 * @said: gets half a sentence, why it is not what was asked for, or what it lacks
 * @ret_is_told: whether who reads it later will know that it lacks something, or nothing
 *
 * Return: STATUS_OK, STATUS_INCOMPLETE, or STATUS_FAILED.
 */
typedef int SentCheck(int fd, const char *path, Buf *said, bool *ret_is_told);

/* @check: of the file of -o; NULL: any will do.  An exit status, of ours or of what was executed there. */
int remote_run(const Options *o, SentCheck *check);

/*
 * What another host sends, on its way to a terminal here
 *
 * The host may be anybody's, and its recordings hold anybody's names.  Of what it sends the plain
 * text (base/buf.h) reaches the terminal, and of what a terminal obeys the codes that ftracectl
 * itself writes: colours, lines that are written over, a table that is drawn again.  Everything else
 * becomes "\xNN".
 */
#define REMOTE_TEXT_HELD_MAX 8
typedef struct RemoteText {
        char held[REMOTE_TEXT_HELD_MAX]; /* of a code or a character of which the rest is to come */
        size_t n_held;
} RemoteText;

/* Adds to @out, a BUF_OF_TEXT, what of @n bytes more may go there; @is_end: no more will come. */
void remote_text_add(RemoteText *t, Buf *out, const char *data, size_t n, bool is_end);

/*
 * Fleet: a verb on many hosts at the same time (--hosts)
 *
 * The same for each line of a file, FLEET_AT_ONCE at a time.  fleet_run() is all of it for most verbs: a line for
 * each host as it is done, and one exit status.
 *
 * A host may be broken, or lie.  It is given up if it keeps silent, is as good as silent, or says more than what was
 * asked for can be.
 */

#define FLEET_AT_ONCE 32
#define FLEET_LOOK_NS (60 * NSEC_PER_SEC)       /* of silence, where it only has to look */
#define FLEET_WORK_NS (5 * 60 * NSEC_PER_SEC)   /* where it has something to do */
#define FLEET_BYTES_PER_S ((uint64_t) 16 << 10) /* less is silence */
#define MEMBER_SAID_MAX ((size_t) 4 << 20)      /* bytes of each of out and err */

/* One host, and what it answered. */
typedef struct Member {
        const char *name; /* as the list has it */
        char *path;       /* of the file for its output; NULL: it goes into none */
        bool is_chosen;   /* it is to be asked; may be changed between two works */
        Buf out, err;     /* what it wrote; of what went into a file, out has the path in a line */
        uint64_t max_bytes; /* of the file; 0: half the room that there is */
        uint64_t n_bytes;   /* of the file */
        bool is_told;       /* as its check has it */
        int status;         /* an exit status, when it is over */
        /* for the fleet alone */
        Outfile file;
        int error;                  /* -errno: the file could not be written */
        bool is_given_up;           /* err says why */
        uint64_t n_heard, left_ns;  /* bytes of everything; how long it may yet be silent */
        pid_t pid;                  /* of ssh */
        int pid_fd, out_fd, err_fd; /* -EBADF: it does not run, has written all */
} Member;

typedef struct Fleet {
        const Options *o;
        Strv names;
        Member *members;
        size_t n;
        json_t *results; /* as fleet_run() prints them */
        /* of fleet_work() */
        const Options *asked; /* the verb, its words, and what was said of its options */
        SentCheck *check;     /* of that; NULL: any will do */
        uint64_t looked_ns;   /* CLOCK_MONOTONIC: until when all silence is counted */
        void (*ended)(struct Fleet *f, Member *m, void *userdata);
        void *userdata;
} Fleet;

/* Reads and checks the list of o->hosts; all are chosen, and have files DIR/PREFIXhost.dat if o->output says DIR.
 * fleet_done() it; an exit status. */
int fleet_open(Fleet *f, const Options *o, const char *prefix);
/* Asks all that are chosen, and returns when each is over. */
void fleet_work(Fleet *f);
void fleet_done(Fleet *f);
#define _cleanup_fleet_ _cleanup_(fleet_done)
/* All of it.  STATUS_OK if all hosts say so; what those say that do not if they agree; else STATUS_FAILED. */
int fleet_run(const Options *o, SentCheck *check);

/* Hosts of @text, one a line; # begins a comment.  0 or -ENOMEM. */
int fleet_read(Strv *ret, const char *text);
/* The first line of @b, or the last, without its end; the caller frees.  NULL without memory. */
char *fleet_line(const Buf *b, bool is_last);
