/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A connection does one thing at a time: it reads a call, or waits for the
 * answer of a method, or waits until the peer has read the answer.  It never
 * reads ahead, so what a peer can make us hold is one call, one answer, and for
 * a stream of answers FRAME_OUT_MAX.  connection_update() derives from that
 * state what to listen for.
 *
 *                    +------ whole call ------+
 *                    |                        v
 *      connect -> reading <-- all written -- answering -- answer --> writing --+
 *                    ^                                                         |
 *                    +---------------------------------------------------------+
 *
 * Connections take turns, also those that have more calls than one in their buffer.
 *
 * A connection that fails is only marked dead: it may be in the hands of a
 * method further up the stack.  Its event handlers free it, from the loop.
 */

#include <assert.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/name.h"
#include "daemon/server/server-private.h"
#include "meta/spec.h"

/* For a whole message, once it has begun. */
#define MESSAGE_USEC ((uint64_t) 5 * 1000 * 1000)
#define ACCURACY_USEC ((uint64_t) 50 * 1000)

/* --- connections ------------------------------------------------------------------------------ */

static bool connection_is_reading(const Connection *c) {
        return !c->call && !c->ended && !frame_wants_write(c->frame);
}

/* Sets the event sources to what the state asks for. */
static void connection_update(Connection *c) {
        bool reading = connection_is_reading(c), writing = frame_wants_write(c->frame),
             waiting = reading && frame_has_begun(c->frame);

        if (c->ended && !c->call && !writing)
                c->dead = true;
        if (c->dead) {
                (void) sd_event_source_set_enabled(c->io, SD_EVENT_OFF);
                (void) sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
                (void) sd_event_source_set_enabled(c->again, SD_EVENT_ONESHOT);
                return;
        }

        /* A peer that has hung up is told at every turn of the loop, whatever is asked for. */
        (void) sd_event_source_set_enabled(c->io, SD_EVENT_ON);
        (void) sd_event_source_set_io_events(c->io,
                                             (reading ? EPOLLIN : 0) | (writing ? EPOLLOUT : 0));
        (void) sd_event_source_set_enabled(c->again, reading && frame_has_buffered(c->frame)
                                                             ? SD_EVENT_ONESHOT
                                                             : SD_EVENT_OFF);
        if (waiting && !c->has_deadline)
                (void) sd_event_source_set_time_relative(c->deadline, MESSAGE_USEC);
        if (waiting != c->has_deadline)
                (void) sd_event_source_set_enabled(c->deadline,
                                                   waiting ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        c->has_deadline = waiting;
}

/* It is nobody's fault, and no news. */
static void connection_lose(Connection *c, const char *why) {
        log_debug("server", "Closing the connection of process %i of %s: %s", (int) c->who.pid,
                  FORMAT_USER(c->who.uid), why);
        c->dead = true;
        connection_update(c);
}

static void connection_tell(const Connection *c, const char *why) {
        const Server *s = c->server;

        if (s->closed && !c->dead)
                s->closed(&c->who, why, s->userdata);
}

void connection_kill(Connection *c, const char *why) {
        connection_tell(c, why);
        connection_lose(c, why);
}

/* What the kernel says of the socket. */
static void connection_fail(Connection *c, int error) {
        if (error == -ENOBUFS)
                connection_kill(c, "it does not read its answers");
        else if (error == -ECONNRESET || error == -EPIPE)
                connection_lose(c, origin_text(error));
        else
                connection_kill(c, origin_text(error));
}

/* The peer is told why, and loses its connection when it has read that. */
static int connection_refuse(Connection *c, const Refusal *refusal) {
        json_t *message = server_refusal_to_json(refusal);
        int r = message ? frame_send(c->frame, message, NULL, 0) : -ENOMEM;

        connection_tell(c, refusal_message(refusal));
        json_decref(message);
        c->ended = true;
        return r;
}

/* Counts what it holds; false: that is too much. */
static bool connection_hold(Connection *c) {
        return quota_hold(&c->server->quota, &c->who, &c->n_held,
                          (c->frame ? frame_room(c->frame) : 0) + c->n_call);
}

/* Parts a call and its connection; the call may be freed. */
static void connection_drop_call(Connection *c) {
        ServerCall *call = TAKE_PTR(c->call);

        if (!call)
                return;
        call->connection = NULL;
        quota_remove_call(&c->server->quota, &c->who);
        c->n_call = 0;
        (void) connection_hold(c);
        server_call_unref(call);
}

Connection *connection_free(Connection *c) {
        Server *s;
        uint64_t peer;

        if (!c)
                return NULL;

        s = c->server;
        peer = c->peer;
        if (peer > 0)
                LIST_REMOVE(c, link);

        sd_event_source_disable_unref(c->io);
        sd_event_source_disable_unref(c->again);
        sd_event_source_disable_unref(c->deadline);
        connection_drop_call(c);
        c->frame = frame_free(c->frame);
        (void) connection_hold(c);
        if (peer > 0)
                quota_remove_connection(&s->quota, &c->who);
        free(c);
        if (peer > 0 && s->gone)
                s->gone(peer, s->userdata);
        return NULL;
}
DEFINE_CLEANUP(Connection *, connection_free);

static int refuse_long(Connection *c) {
        _cleanup_refusal_ Refusal refusal = {};

        (void) refusal_set_quota(
                &refusal, "CallBytes", FRAME_CALL_MAX,
                "the call is longer than %zuK, which has room for %i names. Name fewer "
                "functions, or globs (udp_*)",
                FRAME_CALL_MAX >> 10, 2 * SPEC_MAX_ROOTS);
        return connection_refuse(c, &refusal);
}

static int refuse_heavy(Connection *c) {
        _cleanup_refusal_ Refusal refusal = {};

        (void) refusal_set_quota(
                &refusal, "CallBytes", QUOTA_BYTES_PER_USER,
                "pending calls take too much memory: at most %zuM per user and %zuM in "
                "all. Try again when some are answered, or name globs (udp_*)",
                QUOTA_BYTES_PER_USER >> 20, QUOTA_BYTES >> 20);
        return connection_refuse(c, &refusal);
}

static void connection_handle(Connection *c, json_t *message, const int *fds) {
        if (c->has_deadline)
                (void) sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
        c->has_deadline = false;
        c->n_call = frame_weight(c->frame);
        if (connection_hold(c))
                c->server->handle(c, message, fds);
        else {
                int r = refuse_heavy(c);

                if (r < 0)
                        connection_fail(c, r);
        }
        if (!c->call)
                c->n_call = 0;
        (void) connection_hold(c);
}

/* At most one message. */
static void connection_read(Connection *c) {
        int fds[FRAME_FDS_MAX], r;
        json_t *message;

        r = frame_receive(c->frame, &message, fds);
        if (r == FRAME_E_AGAIN)
                r = connection_hold(c) ? 0 : refuse_heavy(c);
        else if (r == FRAME_E_CLOSED)
                c->ended = true;
        else if (r == FRAME_E_TOO_LONG)
                r = refuse_long(c);
        else if (r == FRAME_E_INVALID)
                connection_kill(c, frame_problem(c->frame));
        else if (r == 0) {
                connection_handle(c, message, fds);
                for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                        safe_close(fds[i]);
                json_decref(message);
        }
        if (r < 0)
                connection_fail(c, r);
}

static void connection_go_on(Connection *c) {
        if (!c->dead && connection_is_reading(c))
                connection_read(c);
        connection_update(c);
        if (c->dead)
                connection_free(c);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Connection *c = userdata;

        /* The peer neither sends nor reads any more: nobody waits for this answer. */
        if ((events & (EPOLLHUP | EPOLLERR)) && c->call)
                connection_lose(c, "the peer has hung up");
        else if (frame_wants_write(c->frame)) {
                int r = frame_flush(c->frame);

                if (r < 0)
                        connection_fail(c, r);
        }
        connection_go_on(c);
        return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        connection_go_on(userdata);
        return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Connection *c = userdata;

        connection_kill(c, "it does not end the message it has begun");
        connection_free(c);
        return 0;
}

int connection_new(Server *s, int fd, const Peer *who) {
        _cleanup_(connection_freep) Connection *c = NULL;
        int r;

        c = NEW(Connection, .server = s, .who = *who);
        if (!c)
                return -ENOMEM;
        r = sd_event_add_io(s->event, &c->io, fd, EPOLLIN, on_io, c);
        if (r >= 0)
                r = sd_event_add_time(s->event, &c->again, CLOCK_MONOTONIC, 0, 0, on_again, c);
        if (r >= 0)
                r = sd_event_source_set_enabled(c->again, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time(s->event, &c->deadline, CLOCK_MONOTONIC, UINT64_MAX,
                                      ACCURACY_USEC, on_deadline, c);
        if (r >= 0)
                r = frame_new(&c->frame, fd, FRAME_CALL_MAX);
        if (r < 0)
                return r;

        c->peer = ++s->last_peer;
        LIST_INSERT_HEAD(&s->connections, c, link);
        connection_update(TAKE_PTR(c));
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------- */

bool server_call_is_connected(const ServerCall *call) {
        return call->connection && !call->connection->dead;
}

/* Queues one message for the caller, @message or @text; both are consumed, and NULL is -ENOMEM.  After the last one
 * of a call the connection may go on to its next. */
static int call_send(ServerCall *call, json_t *message, char *text, const int *fds, size_t n_fds,
                     bool is_last) {
        Connection *c = call->connection;
        int r = 0;

        if (!server_call_is_connected(call) || call->oneway)
                free(text);
        else if (text)
                r = frame_send_text(c->frame, text);
        else
                r = message ? frame_send(c->frame, message, fds, n_fds) : -ENOMEM;
        json_decref(message);
        if (!server_call_is_connected(call))
                return 0;
        if (r < 0)
                connection_fail(c, r);
        if (is_last)
                connection_drop_call(c);
        connection_update(c);
        return r;
}

int server_call_reply(ServerCall *call, json_t *parameters, const int *fds, size_t n_fds) {
        return call_send(call, json_pack("{s:o}", "parameters", parameters ?: json_object()), NULL,
                         fds, n_fds, true);
}

int server_call_reply_text(ServerCall *call, char *text) {
        return call_send(call, NULL, text, NULL, 0, true);
}

bool server_call_is_behind(const ServerCall *call) {
        return server_call_is_connected(call) && frame_wants_write(call->connection->frame);
}

int server_call_continue_text(ServerCall *call, char *text) {
        assert(call->wants_more);

        return call_send(call, NULL, text, NULL, 0, false);
}

int server_call_continue(ServerCall *call, json_t *parameters) {
        assert(call->wants_more);

        return call_send(call,
                         json_pack("{s:o, s:b}", "parameters", parameters ?: json_object(),
                                   "continues", true),
                         NULL, NULL, 0, false);
}

json_t *server_refusal_to_json(const Refusal *refusal) {
        json_t *parameters = refusal->parameters ? json_incref(refusal->parameters) : json_object();

        return json_pack("{s:s, s:o}", "error", refusal_error_name(refusal->kind), "parameters",
                         parameters);
}

int server_call_refuse(ServerCall *call, const Refusal *refusal) {
        const Server *s;

        if (!server_call_is_connected(call))
                return 0;
        s = call->connection->server;
        if (s->refused)
                s->refused(call, refusal, s->userdata);
        return call_send(call, server_refusal_to_json(refusal), NULL, NULL, 0, true);
}

void server_call_fail(ServerCall *call, int error, const char *what) {
        _cleanup_refusal_ Refusal refusal = {};

        (void) refusal_set_errno(&refusal, error, "%s: %s", what, origin_report(error));
        (void) server_call_refuse(call, &refusal);
}

ServerCall *server_call_ref(ServerCall *call) {
        call->n_ref++;
        return call;
}

ServerCall *server_call_unref(ServerCall *call) {
        if (!call)
                return NULL;

        call->n_ref--;
        if (call->n_ref == 0)
                free(call);
        else if (call->n_ref == 1 && server_call_is_connected(call))
                /* Only the connection is left to hold it: nobody will answer. */
                server_call_fail(call, ECANCELED, "the daemon gave the call up");
        return NULL;
}
