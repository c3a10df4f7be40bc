/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The server's inside, for daemon/server/server.c (who may come, which method is called),
 * daemon/server/introspection.c (org.varlink.service), which it calls, and below both
 * daemon/server/connection.c (one peer, and the calls he makes).
 */

#include <sys/queue.h>

#include "daemon/server/listener.h"
#include "daemon/server/quota.h"
#include "daemon/server/server.h"
#include "wire/frame.h"

typedef struct Connection Connection;

/* A whole message has come: @message and @fds are borrowed. */
typedef void (*ConnectionMessage)(Connection *c, json_t *message, const int *fds);

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

struct ServerCall {
        unsigned n_ref;
        Connection *connection; /* NULL: gone, or answered */
        uint64_t peer;
        Peer who;
        bool wants_more;
        bool oneway;
};

struct Server {
        sd_event *event;
        const ServerMethod *methods;
        size_t n_methods;
        ConnectionMessage handle;
        ServerGone gone;
        ServerRefused refused;
        ServerClosed closed;
        void *userdata;

        Listener **listeners;
        size_t n_listeners;

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

/* introspection.c */
extern const ServerMethod introspection_methods[];
extern const size_t introspection_n_methods;
bool introspection_same_interface(const char *method, const char *other);
size_t introspection_interface_length(const char *method); /* how much of a method's name is it */
