/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The server's inside: peer.c (who he is), quota.c (how much he has), connection.c (one peer, and the calls he makes),
 * listener.c (who may come), server.c (which method is called).
 */

#include <sys/queue.h>

#include "daemon/server/server.h"
#include "wire/frame.h"

/* --- peer.c ----------------------------------------------------------------------------------- */

/* @fd: a connected Unix socket.  0 or -errno. */
int peer_of_socket(Peer *ret, int fd);
/* The group that the socket's file lets in; PEER_NO_GROUP: none, or the socket has no file. */
#define PEER_NO_GROUP ((gid_t) -1)
gid_t peer_group_of_socket(int fd);
/* A Peer.right.  @gid, @groups: the process's own and its supplementary groups. */
int peer_right(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, gid_t group);

/* --- quota.c: what each user has of the server, and how much more he may have ----------------- */

/* What calls hold, from their first byte to their answer; PEER_ALL holds what he needs. */
#define QUOTA_FREE_BYTES ((size_t) 128 << 10)   /* of a connection: not counted */
#define QUOTA_BYTES_PER_USER ((size_t) 8 << 20) /* three of the longest calls */
#define QUOTA_BYTES ((size_t) 32 << 20)         /* of all together */

typedef struct QuotaAccount QuotaAccount;

typedef struct Quota {
        size_t max_connections; /* of all; as many as one user may have are kept for PEER_ALL */
        size_t max_connections_per_user;
        size_t max_calls_per_user; /* of a PEER_MEMBER, that wait for their answers */
        QuotaAccount *accounts;    /* of users that have connections */
        size_t n_connections, n_bytes;
} Quota;

/* A connection: 0, QUOTA_E_FULL, -ENOMEM. */
enum { QUOTA_E_FULL = 1 };
int quota_add_connection(Quota *q, const Peer *peer);
/* True if that user has as many as one may. */
bool quota_is_full(const Quota *q, const Peer *peer);
/* The last one of a user: nothing is counted any more. */
void quota_remove_connection(Quota *q, const Peer *peer);
/* A connection holds @n_bytes now, and @n_held (0 at first) of those are counted.  False: it may not, and
 * nothing has changed; never if it is less than before. */
bool quota_hold(Quota *q, const Peer *peer, size_t *n_held, size_t n_bytes);
/* A call that is not answered yet: whether there may be one. */
bool quota_add_call(Quota *q, const Peer *peer);
void quota_remove_call(Quota *q, const Peer *peer);
void quota_done(Quota *q); /* frees all accounts */

/* ---------------------------------------------------------------------------------------------- */

struct Connection {
        Server *server;
        LIST_ENTRY(Connection) link;
        Frame *frame;
        sd_event_source *io, *again, *deadline;
        ServerCall *call; /* being answered; a reference */
        uint64_t peer;
        Peer who;
        size_t n_held, n_call; /* bytes: counted in the quota; of the call */
        bool has_deadline;
        bool ended; /* the peer sends no more, but may still read */
        bool dead;
};

typedef struct Listener {
        SLIST_ENTRY(Listener) link;
        Server *server;
        int fd;
        sd_event_source *io, *pause;
} Listener;

struct Server {
        sd_event *event;
        const ServerMethod *methods;
        size_t n_methods;
        /* A whole message has come: @message and @fds are borrowed. */
        void (*handle)(Connection *c, json_t *message, const int *fds);
        ServerGone gone;
        ServerRefused refused;
        ServerClosed closed;
        void *userdata;
        SLIST_HEAD(, Listener) listeners;
        LIST_HEAD(, Connection) connections;
        Quota quota;
        uint64_t last_peer;
};

/* connection.c.  @fd and its place in the quota, which has been taken, are consumed on success. */
int connection_new(Server *s, int fd, const Peer *who);
Connection *connection_free(Connection *c);
void connection_kill(Connection *c, const char *why);
/* "{"error":...}", or NULL. */
json_t *server_refusal_to_json(const Refusal *refusal);
/* Answers with org.ftraced.SystemError. */
void server_call_fail(ServerCall *call, int error, const char *what);

Listener *listener_free(Listener *l);

/* server.c.  A Varlink call as it came. */
typedef struct Request {
        const char *method;
        json_t *parameters; /* NULL: none */
        bool more, oneway, upgrade;
} Request;

/* @ret: borrows from @message.  0, or -EBADMSG: not a call, so that there is nothing to answer.  As systemd does, a
 * member that is not known, or of the wrong type, or two flags at once, make it no call
 * (https://varlink.org/Method-Call). */
int request_parse(Request *ret, json_t *message);
