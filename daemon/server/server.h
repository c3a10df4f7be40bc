/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Server: Varlink calls over Unix sockets, on sd-event
 *
 * Accepts connections, checks the peer, bounds what each may queue, finds the
 * method in a table and hands it a ServerCall.  Knows nothing of tracing.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "wire/refusal.h"

typedef struct Server Server;
typedef struct ServerCall ServerCall;

#define SERVER_MAX_CONNECTIONS 256
#define SERVER_MAX_CONNECTIONS_PER_USER 64 /* unless set, as the next */
#define SERVER_MAX_CALLS_PER_USER 32

/*
 * A method either answers before it returns or keeps the call (server_call_ref()) and answers
 * later. A negative return is answered as org.ftraced.SystemError; REFUSED needs @refusal filled
 * and is answered with it.  A call that is dropped without an answer is answered as SystemError.
 * @parameters: borrowed; an object, empty if the caller sent none
 *
 * Who may call what is decided by the peer (daemon/server/peer.h): PEER_ALL everything, PEER_MEMBER what is
 * for_members, others org.varlink.service; the rest is PermissionDenied.  What a member may ask for
 * in a call is the method's to look at (server_call_may_all()).  Calls of one connection are answered one after the other: while one is
 * kept, or a reply waits to be read, no more is read from that connection.
 */
typedef int (*ServerMethodHandler)(ServerCall *call, json_t *parameters, Refusal *refusal,
                                   void *userdata);

typedef struct ServerMethod {
        const char *name; /* "org.ftraced.Start" */
        ServerMethodHandler handler;
        const char *const
                *parameters; /* NULL-terminated: every name allowed; others are InvalidParameter */
        bool needs_more;     /* refused with ExpectedMore if called without `more` */
        bool for_members;    /* not only for PEER_ALL */
} ServerMethod;

/* Called when a connection has gone, whatever calls were pending on it; @peer identifies it.  From
 * the event loop, never from within a server_call_ function, and not from server_free(). */
typedef void (*ServerGone)(uint64_t peer, void *userdata);
/* For the log: called before a call is refused, and when a peer loses its connection, or gets none, for a
 * reason other than that it has hung up. */
typedef void (*ServerRefused)(const ServerCall *call, const Refusal *refusal, void *userdata);
typedef void (*ServerClosed)(uid_t uid, pid_t pid, const char *why, void *userdata);

/* @methods: n_methods of them, static.  org.varlink.service is answered by the server itself. */
int server_new(Server **ret, sd_event *event, const ServerMethod *methods, size_t n_methods,
               ServerGone gone, void *userdata);
void server_set_log(Server *s, ServerRefused refused, ServerClosed closed);
/* What each user may have; 0: no limit but the server's.  Who has more keeps it. */
void server_set_quota(Server *s, size_t max_connections_per_user, size_t max_calls_per_user);
int server_add_listener(Server *s, int fd);   /* consumed on success */
int server_add_connection(Server *s, int fd); /* an already connected socket; consumed on success */
size_t server_n_connections(const Server *s);
/* Not from within a method.  Calls that are still kept lose their connection. */
Server *server_free(Server *s);
DEFINE_CLEANUP(Server *, server_free);

uint64_t
server_call_peer(const ServerCall *c); /* unique for each connection, never 0, never reused */
uid_t server_call_uid(const ServerCall *c);
pid_t server_call_pid(const ServerCall *c);
bool server_call_may_all(const ServerCall *c); /* root, or the daemon's own user */
bool server_call_wants_more(const ServerCall *c);
/*
 * Answers.  All are harmless on a call whose connection has gone, or that was `oneway`: 0.
 * @parameters is consumed (NULL: {}), @fds are dup()ed.
 * Return: 0, or -errno, after which the connection is lost and nothing is left to do.
 */
int server_call_reply(ServerCall *c, json_t *parameters, const int *fds,
                      size_t n_fds); /* the last reply */
/* The same with the whole message, "{\"parameters\":{...}}"; @text is consumed. */
int server_call_reply_text(ServerCall *c, char *text);
int server_call_continue(ServerCall *c, json_t *parameters); /* more follow */
/* As server_call_reply_text(), with "continues":true beside the parameters. */
int server_call_continue_text(ServerCall *c, char *text);
int server_call_refuse(ServerCall *c, const Refusal *refusal);
bool server_call_is_connected(const ServerCall *c);
/* The client has not taken all that was sent to it. */
bool server_call_is_behind(const ServerCall *c);
ServerCall *server_call_ref(ServerCall *c);
ServerCall *server_call_unref(ServerCall *c);
DEFINE_CLEANUP(ServerCall *, server_call_unref);
