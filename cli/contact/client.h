/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Client: one connection to a daemon
 *
 * The daemon that listens on the socket, or, for verbs that allow it and run as
 * root, a private one: `ftraced --private` started on one end of a socket pair,
 * in a session of its own so that Ctrl-C reaches only us.  It leaves when the
 * connection closes.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "wire/frame.h"
#include "wire/refusal.h"

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
};

/* @socket_path: borrowed for its life.  0, CLIENT_E_*, -errno. */
int client_connect(Client **ret, const char *socket_path);
/* The daemon that belongs to this program, or the one that FTRACED_DAEMON names; the caller frees.  0, -ENOMEM. */
int client_find_daemon(char **ret);
/*
 * client_start_private() - a daemon for this process alone
 * @store:   passed as --store, NULL: its default
 * @tracefs: passed as --tracefs, NULL: its default
 *
 * The program is $FTRACED_DAEMON, or "ftraced" beside this executable, or SBINDIR/ftraced.
 */
int client_start_private(Client **ret, const char *store, const char *tracefs);

/*
 * client_call() - call and wait for the one reply
 * @method:     "Start": of interface org.ftraced, or a full name
 * @parameters: consumed; NULL: {}
 * @ret:        the reply's parameters, the caller owns them; may be NULL
 * @ret_fds:    FRAME_FDS_MAX descriptors (-EBADF where none), the caller owns them; may be NULL
 *
 * Return: 0; REFUSED-as-error is CLIENT_E_REFUSED with @refusal filled; CLIENT_E_*; -errno.
 */
#define CLIENT_E_REFUSED 16
int client_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds,
                Refusal *refusal);

/* The same in two steps, for replies that go on: *@ret_continues says whether another follows.
 * @wake_fd: returns CLIENT_E_INTERRUPTED when it becomes readable; -EBADF: never.
 * @timeout_ms: -ETIMEDOUT after so long; -1: never. */
int client_send(Client *c, const char *method, json_t *parameters, bool more);
int client_receive(Client *c, json_t **ret, int *ret_fds, bool *ret_continues, Refusal *refusal,
                   int wake_fd, int timeout_ms);

/* Closes; whether a private daemon has left within @ms.  Only client_free() is for it afterwards. */
bool client_leave(Client *c, uint64_t ms);
/* Closes; of a private daemon waits until it has left (at most some seconds) and put everything
 * back. */
Client *client_free(Client *c);
DEFINE_CLEANUP(Client *, client_free);
