/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Server: Varlink calls over Unix sockets, on sd-event
 *
 * Accepts connections, checks the peer, bounds what each may queue, finds the method in a table and hands it a
 * ServerCall.  Knows nothing of tracing.
 */

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "wire/refusal.h"

#define SERVER_MAX_CONNECTIONS 256
#define SERVER_MAX_CONNECTIONS_PER_USER 64 /* unless set, as the next */
#define SERVER_MAX_CALLS_PER_USER 32

typedef struct Server Server;
typedef struct Connection Connection;

/*
 * Who is at the other end of a socket, and what he may
 *
 * Both are taken once, when the connection is accepted, and from the kernel (SO_PEERCRED and SO_PEERGROUPS, unix(7)):
 * what a process was when it connected counts, not what it became, and no name service is asked.  The group whose
 * members may do something is that of the socket's file, if its mode lets the group write to it, and it is not root's,
 * so that SocketGroup= of a unit, or chgrp(1), say all there is to say.
 */
typedef struct Peer {
        uid_t uid;
        pid_t pid;
        enum {
                PEER_NOTHING, /* but ask who is there */
                PEER_MEMBER,  /* of the socket's group: what ftraced.conf leaves him */
                PEER_ALL,     /* root, and whoever the daemon runs as */
        } right;
} Peer;

/* A call that is being answered; only the server writes to it. */
typedef struct ServerCall {
        Peer who;
        uint64_t peer; /* unique for each connection, never 0, never reused */
        bool wants_more, oneway;
        unsigned n_ref;
        Connection *connection; /* NULL: gone, or answered */
} ServerCall;

/*
 * A method either answers before it returns or keeps the call (server_call_ref()) and answers
 * later. A negative return is answered as org.ftraced.SystemError; REFUSED needs @refusal filled
 * and is answered with it.  A call that is dropped without an answer is answered as SystemError.
 * @parameters: borrowed; an object, empty if the caller sent none
 *
 * PEER_ALL may call everything, PEER_MEMBER what is for_members, others org.varlink.service.  What a member may ask for
 * in a call is the method's to look at.  Calls of one connection are answered one after the other: while one is kept,
 * or a reply waits to be read, no more is read from that connection.
 */
typedef int (*ServerMethodHandler)(ServerCall *call, json_t *parameters, Refusal *refusal,
                                   void *userdata);

typedef struct ServerMethod {
        const char *name; /* "org.ftraced.Start" */
        ServerMethodHandler handler;
        /* Up to NULL, as the interface has them: "session: string", "newest: ?int", "spec: ?Spec".  Null is absent, for
         * some languages' Varlink sends it so; of a name alone the type is the method's to look at. */
        const char *const *parameters;
        bool needs_more;               /* refused with ExpectedMore if called without `more` */
        bool for_members;              /* not only for PEER_ALL */
} ServerMethod;

/* Called when a connection has gone, whatever calls were pending on it.  From the event loop, never from within a
 * server_call_ function, and not from server_free(). */
typedef void (*ServerGone)(uint64_t peer, void *userdata);
/* For the log: called before a call is refused, and when a peer loses its connection, or gets none, for a
 * reason other than that it has hung up. */
typedef void (*ServerRefused)(const ServerCall *call, const Refusal *refusal, void *userdata);
typedef void (*ServerClosed)(const Peer *who, const char *why, void *userdata);

/* @methods: n_methods of them, static.  org.varlink.service is answered by the server itself. */
int server_new(Server **ret, sd_event *event, const ServerMethod *methods, size_t n_methods,
               ServerGone gone, void *userdata);
void server_set_log(Server *s, ServerRefused refused, ServerClosed closed);
/* What each user may have; 0: no limit but the server's.  Who has more keeps it. */
void server_set_quota(Server *s, size_t max_connections_per_user, size_t max_calls_per_user);
/*
 * address_bind() - a listening Unix socket at @path, mode 0600
 *
 * The directory is made if it is missing.  A socket that nobody listens on is replaced.
 * Return: a descriptor; -EADDRINUSE if somebody listens there, -EEXIST if @path is no socket,
 * -ENAMETOOLONG, other -errno.
 */
int address_bind(const char *path);
int server_add_listener(Server *s, int fd);   /* consumed on success */
int server_add_connection(Server *s, int fd); /* an already connected socket; consumed on success */
size_t server_n_connections(const Server *s);
/* Not from within a method.  Calls that are still kept lose their connection. */
Server *server_free(Server *s);
DEFINE_CLEANUP(Server *, server_free);

/*
 * Answers.  All are harmless on a call whose connection has gone, or that was `oneway`: 0.
 * @parameters is consumed (NULL: {}), @fds are dup()ed; @text is the whole message, "{\"parameters\":{...}}", with
 * "continues":true beside them where more follow, and consumed.
 * Return: 0, or -errno, after which the connection is lost and nothing is left to do.
 */
int server_call_reply(ServerCall *c, json_t *parameters, const int *fds, size_t n_fds);
int server_call_reply_text(ServerCall *c, char *text);
int server_call_continue(ServerCall *c, json_t *parameters); /* more follow */
int server_call_continue_text(ServerCall *c, char *text);
int server_call_refuse(ServerCall *c, const Refusal *refusal);
bool server_call_is_connected(const ServerCall *c);
/* The client has not taken all that was sent to it. */
bool server_call_is_behind(const ServerCall *c);
ServerCall *server_call_ref(ServerCall *c);
ServerCall *server_call_unref(ServerCall *c);
DEFINE_CLEANUP(ServerCall *, server_call_unref);
