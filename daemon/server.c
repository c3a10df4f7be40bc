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
 * A connection that fails is only marked dead: it may be in the hands of a
 * method further up the stack.  Its event handlers free it, from the loop.
 */

#include <assert.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/name.h"
#include "daemon/listener.h"
#include "daemon/request.h"
#include "daemon/server.h"
#include "wire/frame.h"
#include "wire/interface.h"

#define SERVICE "org.varlink.service"
#define MESSAGE_USEC ((uint64_t) 5 * 1000 * 1000) /* for a whole message, once it has begun */
#define ACCURACY_USEC ((uint64_t) 50 * 1000)

typedef struct Connection Connection;

struct Connection {
        Server *server;
        Connection *previous, *next;
        Frame *frame;
        sd_event_source *io, *again, *deadline;
        ServerCall *call; /* being answered; a reference */
        uint64_t peer;
        struct ucred credentials;
        bool has_deadline;
        bool ended; /* the peer sends no more, but may still read */
        bool dead;
};

struct ServerCall {
        unsigned n_ref;
        Connection *connection; /* NULL: gone, or answered */
        uint64_t peer;
        struct ucred credentials;
        bool wants_more;
        bool oneway;
};

struct Server {
        sd_event *event;
        const ServerMethod *methods;
        size_t n_methods;
        ServerGone gone;
        void *userdata;

        Listener **listeners;
        size_t n_listeners;

        Connection *connections;
        size_t n_connections;
        uint64_t last_peer;
};

static const struct {
        const char *name, *text;
} descriptions[] = {
        { SERVICE, interface_org_varlink_service },
        { "org.ftraced", interface_org_ftraced },
};

/*
 * Connections
 */

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

static void connection_kill(Connection *c, const char *why) {
        log_debug("server", "Closing the connection of process %i (user %u): %s",
                  (int) c->credentials.pid, (unsigned) c->credentials.uid, why);
        c->dead = true;
        connection_update(c);
}

/* Parts a call and its connection; the call may be freed. */
static void connection_drop_call(Connection *c) {
        ServerCall *call = TAKE_PTR(c->call);

        if (!call)
                return;
        call->connection = NULL;
        server_call_unref(call);
}

static Connection *connection_free(Connection *c) {
        Server *s;
        uint64_t peer;

        if (!c)
                return NULL;

        s = c->server;
        peer = c->peer;
        if (c->previous)
                c->previous->next = c->next;
        else if (s->connections == c)
                s->connections = c->next;
        if (c->next)
                c->next->previous = c->previous;

        sd_event_source_disable_unref(c->io);
        sd_event_source_disable_unref(c->again);
        sd_event_source_disable_unref(c->deadline);
        connection_drop_call(c);
        frame_free(c->frame);
        free(c);
        if (peer == 0)
                return NULL;

        s->n_connections--;
        if (s->gone)
                s->gone(peer, s->userdata);
        return NULL;
}
DEFINE_CLEANUP(Connection *, connection_free);

static void connection_handle_message(Connection *c, json_t *message, const int *fds);

/* At most one message. */
static void connection_read(Connection *c) {
        int fds[FRAME_FDS_MAX], r;
        json_t *message;

        r = frame_receive(c->frame, &message, fds);
        if (r == FRAME_E_AGAIN)
                return;
        if (r == FRAME_E_CLOSED)
                c->ended = true;
        else if (r == FRAME_E_INVALID)
                connection_kill(c, frame_problem(c->frame));
        else if (r < 0)
                connection_kill(c, strerror(-r));
        else {
                if (c->has_deadline)
                        (void) sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
                c->has_deadline = false;
                connection_handle_message(c, message, fds);
                for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                        safe_close(fds[i]);
                json_decref(message);
        }
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
                connection_kill(c, "the peer has hung up");
        else if (frame_wants_write(c->frame)) {
                int r = frame_flush(c->frame);

                if (r < 0)
                        connection_kill(c, strerror(-r));
        }
        connection_go_on(c);
        return 0;
}

static int on_again(sd_event_source *source, void *userdata) {
        connection_go_on(userdata);
        return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Connection *c = userdata;

        connection_kill(c, "it does not end the message it has begun");
        connection_free(c);
        return 0;
}

static int connection_new(Server *s, int fd, const struct ucred *credentials) {
        _cleanup_(connection_freep) Connection *c = NULL;
        int r;

        c = malloc(sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = (Connection){ .server = s, .credentials = *credentials };
        r = sd_event_add_io(s->event, &c->io, fd, EPOLLIN, on_io, c);
        if (r < 0)
                return r;
        r = sd_event_add_defer(s->event, &c->again, on_again, c);
        if (r < 0)
                return r;
        r = sd_event_add_time_relative(s->event, &c->deadline, CLOCK_MONOTONIC, MESSAGE_USEC,
                                       ACCURACY_USEC, on_deadline, c);
        if (r < 0)
                return r;
        (void) sd_event_source_set_enabled(c->again, SD_EVENT_OFF);
        (void) sd_event_source_set_enabled(c->deadline, SD_EVENT_OFF);
        r = frame_new(&c->frame, fd, FRAME_CALL_MAX);
        if (r < 0)
                return r;

        c->peer = ++s->last_peer;
        c->next = s->connections;
        if (c->next)
                c->next->previous = c;
        s->connections = TAKE_PTR(c);
        s->n_connections++;
        return 0;
}

/*
 * Calls
 */

uint64_t server_call_peer(const ServerCall *call) {
        return call->peer;
}

uid_t server_call_uid(const ServerCall *call) {
        return call->credentials.uid;
}

pid_t server_call_pid(const ServerCall *call) {
        return call->credentials.pid;
}

bool server_call_wants_more(const ServerCall *call) {
        return call->wants_more;
}

bool server_call_is_connected(const ServerCall *call) {
        return call->connection && !call->connection->dead;
}

/* Queues one message for the caller; @message is consumed, NULL is -ENOMEM. */
static int call_send(ServerCall *call, json_t *message, const int *fds, size_t n_fds) {
        Connection *c = call->connection;
        int r = 0;

        if (!message)
                r = -ENOMEM;
        else if (!call->oneway)
                r = frame_send(c->frame, message, fds, n_fds);
        json_decref(message);
        if (r < 0)
                connection_kill(c, r == -ENOBUFS ? "it does not read its answers" : strerror(-r));
        return r;
}

/* The last message of a call: the connection may go on to its next. */
static int call_finish(ServerCall *call, json_t *message, const int *fds, size_t n_fds) {
        Connection *c = call->connection;
        int r;

        r = call_send(call, message, fds, n_fds);
        connection_drop_call(c);
        connection_update(c);
        return r;
}

int server_call_reply(ServerCall *call, json_t *parameters, const int *fds, size_t n_fds) {
        if (!server_call_is_connected(call)) {
                json_decref(parameters);
                return 0;
        }
        return call_finish(call, json_pack("{s:o}", "parameters", parameters ?: json_object()), fds,
                           n_fds);
}

int server_call_continue(ServerCall *call, json_t *parameters, const int *fds, size_t n_fds) {
        int r;

        assert(call->wants_more);

        if (!server_call_is_connected(call)) {
                json_decref(parameters);
                return 0;
        }
        r = call_send(call,
                      json_pack("{s:o, s:b}", "parameters", parameters ?: json_object(),
                                "continues", true),
                      fds, n_fds);
        connection_update(call->connection);
        return r;
}

int server_call_refuse(ServerCall *call, const Refusal *refusal) {
        json_t *parameters;

        if (!server_call_is_connected(call))
                return 0;
        parameters = refusal->parameters ? json_incref(refusal->parameters) : json_object();
        return call_finish(call,
                           json_pack("{s:s, s:o}", "error", refusal_error_name(refusal->kind),
                                     "parameters", parameters),
                           NULL, 0);
}

static void call_fail(ServerCall *call, int error, const char *what) {
        _cleanup_refusal_ Refusal refusal = {};

        (void) refusal_set(&refusal, REFUSAL_SYSTEM_ERROR, json_pack("{s:i}", "errno", error),
                           "%s: %s", what, strerror(error));
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
                call_fail(call, ECANCELED, "the daemon gave the call up");
        return NULL;
}

/*
 * org.varlink.service
 */

/* How much of a method's name is its interface's. */
static size_t interface_length(const char *method) {
        const char *dot = strrchr(method, '.');

        return dot ? (size_t) (dot - method) : 0;
}

static bool same_interface(const char *method, const char *other) {
        size_t n = interface_length(method);

        return n == interface_length(other) && memcmp(method, other, n) == 0;
}

static int method_get_info(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        json_t *interfaces = json_pack("[s]", SERVICE);
        const Server *s = userdata;

        for (size_t i = 0; i < s->n_methods; i++)
                if (i == 0 || !same_interface(s->methods[i].name, s->methods[i - 1].name))
                        (void) json_array_append_new(
                                interfaces, json_stringn(s->methods[i].name,
                                                         interface_length(s->methods[i].name)));
        return server_call_reply(call,
                                 json_pack("{s:s, s:s, s:s, s:s, s:o}", "vendor", PACKAGE_NAME,
                                           "product", PACKAGE_NAME, "version", PACKAGE_VERSION,
                                           "url", PACKAGE_URL, "interfaces", interfaces),
                                 NULL, 0);
}

static int method_get_description(ServerCall *call, json_t *parameters, Refusal *refusal,
                                  void *userdata) {
        const char *name = json_string_value(json_object_get(parameters, "interface"));
        char quoted[NAME_QUOTE_MAX];

        if (!name)
                return refusal_set(refusal, REFUSAL_INVALID_PARAMETER,
                                   json_pack("{s:s}", "parameter", "interface"),
                                   "\"interface\" must be the name of an interface");
        for (size_t i = 0; i < ELEMENTSOF(descriptions); i++)
                if (streq(name, descriptions[i].name))
                        return server_call_reply(
                                call, json_pack("{s:s}", "description", descriptions[i].text), NULL,
                                0);
        return refusal_set(refusal, REFUSAL_INTERFACE_NOT_FOUND,
                           json_pack("{s:s}", "interface", name), "there is no interface %s",
                           name_quote(quoted, name));
}

static const ServerMethod service_methods[] = {
        { SERVICE ".GetInfo", method_get_info, (const char *const[]){ NULL }, false },
        { SERVICE ".GetInterfaceDescription", method_get_description,
          (const char *const[]){ "interface", NULL }, false },
};

/*
 * From a message to a method
 */

static bool may_call(const struct ucred *credentials) {
        return credentials->uid == 0 || credentials->uid == geteuid();
}

static const ServerMethod *find_method(const ServerMethod *methods, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (streq(methods[i].name, name))
                        return methods + i;
        return NULL;
}

static int refuse_unknown(const Server *s, const char *name, Refusal *refusal) {
        bool known = same_interface(name, service_methods[0].name);
        char quoted[NAME_QUOTE_MAX];

        for (size_t i = 0; i < s->n_methods && !known; i++)
                known = same_interface(name, s->methods[i].name);
        if (known)
                return refusal_set(refusal, REFUSAL_METHOD_NOT_FOUND,
                                   json_pack("{s:s}", "method", name), "there is no method %s",
                                   name_quote(quoted, name));
        return refusal_set(refusal, REFUSAL_INTERFACE_NOT_FOUND,
                           json_pack("{s:s%}", "interface", name, interface_length(name)),
                           "there is no interface for the method %s", name_quote(quoted, name));
}

static int refuse_parameter(const char *parameter, Refusal *refusal, const char *problem) {
        char quoted[NAME_QUOTE_MAX];

        return refusal_set(refusal, REFUSAL_INVALID_PARAMETER,
                           json_pack("{s:s}", "parameter", parameter), "parameter \"%s\" %s",
                           name_quote(quoted, parameter), problem);
}

/* Everything that can be said against a call without knowing the method. */
static int check_request(const ServerMethod *m, const Request *q, bool has_fds, Refusal *refusal) {
        const char *key;
        json_t *value;

        if (q->upgrade)
                return refuse_parameter("upgrade", refusal, "is not supported");
        if (has_fds)
                return refuse_parameter("fds", refusal, "is not one: no method takes descriptors");
        if (m->needs_more && !q->more)
                return refusal_set(refusal, REFUSAL_EXPECTED_MORE, NULL,
                                   "%s must be called with \"more\"", m->name);
        json_object_foreach (q->parameters, key, value) {
                const char *const *p = m->parameters;

                while (p && *p && !streq(*p, key))
                        p++;
                if (!p || !*p)
                        return refuse_parameter(key, refusal, "is not one of the method's");
        }
        return 0;
}

static int carry_out(Server *s, ServerCall *call, const Request *q, bool has_fds,
                     Refusal *refusal) {
        _cleanup_(json_decrefp) json_t *none = NULL;
        const ServerMethod *m;
        void *userdata = s;
        int r;

        m = find_method(service_methods, ELEMENTSOF(service_methods), q->method);
        if (!m) {
                if (!may_call(&call->credentials) &&
                    !same_interface(q->method, service_methods[0].name))
                        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                           "user %u may not use ftraced; only root may",
                                           (unsigned) call->credentials.uid);
                m = find_method(s->methods, s->n_methods, q->method);
                userdata = s->userdata;
        }
        if (!m)
                return refuse_unknown(s, q->method, refusal);
        r = check_request(m, q, has_fds, refusal);
        if (r != 0)
                return r;

        if (!q->parameters) {
                none = json_object();
                if (!none)
                        return -ENOMEM;
        }
        return m->handler(call, q->parameters ?: none, refusal, userdata);
}

static void connection_handle_message(Connection *c, json_t *message, const int *fds) {
        _cleanup_(server_call_unrefp) ServerCall *call = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        bool has_fds = false;
        Request q;
        int r;

        r = request_parse(&q, message);
        if (r < 0) {
                connection_kill(c, "it sent a message that is not a call");
                return;
        }
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                has_fds = has_fds || fds[i] >= 0;

        call = malloc(sizeof(*call));
        if (!call) {
                connection_kill(c, strerror(ENOMEM));
                return;
        }
        *call = (ServerCall){
                .n_ref = 1,
                .connection = c,
                .peer = c->peer,
                .credentials = c->credentials,
                .wants_more = q.more,
                .oneway = q.oneway,
        };
        c->call = server_call_ref(call);

        r = carry_out(c->server, call, &q, has_fds, &refusal);
        assert(r <= 0 || r == REFUSED);
        if (r == REFUSED)
                (void) server_call_refuse(call, &refusal);
        else if (r < 0 && server_call_is_connected(call)) {
                log_error_errno(r, "%s for process %i failed: %m", q.method,
                                (int) c->credentials.pid);
                call_fail(call, -r, q.method);
        }
}

/*
 * The server
 */

/* Whoever may do something finds a place however many connections others hold. */
static bool server_has_place(const Server *s, const struct ucred *credentials) {
        size_t n = 0, kept = may_call(credentials) ? 0 : SERVER_MAX_CONNECTIONS_PER_UID;

        for (const Connection *c = s->connections; c; c = c->next)
                n += c->credentials.uid == credentials->uid;
        return n < SERVER_MAX_CONNECTIONS_PER_UID &&
               s->n_connections < SERVER_MAX_CONNECTIONS - kept;
}

static int peer_credentials(struct ucred *ret, int fd) {
        socklen_t n = sizeof(*ret);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &n) < 0 ? -errno : 0;
}

static void on_accepted(int accepted_fd, void *userdata) {
        _cleanup_close_ int fd = accepted_fd;
        struct ucred credentials;
        Server *s = userdata;
        int r;

        r = peer_credentials(&credentials, fd);
        if (r >= 0 && !server_has_place(s, &credentials)) {
                log_debug("server", "Too many connections: turned away process %i (user %u)",
                          (int) credentials.pid, (unsigned) credentials.uid);
                return;
        }
        if (r >= 0)
                r = connection_new(s, fd, &credentials);
        if (r < 0) {
                log_error_errno(r, "Cannot serve a connection: %m");
                return;
        }
        TAKE_FD(fd);
}

int server_new(Server **ret, sd_event *event, const ServerMethod *methods, size_t n_methods,
               ServerGone gone, void *userdata) {
        Server *s = malloc(sizeof(*s));

        if (!s)
                return -ENOMEM;
        *s = (Server){
                .event = sd_event_ref(event),
                .methods = methods,
                .n_methods = n_methods,
                .gone = gone,
                .userdata = userdata,
        };
        *ret = s;
        return 0;
}

int server_add_listener(Server *s, int fd) {
        Listener **p;
        int r;

        p = realloc(s->listeners, (s->n_listeners + 1) * sizeof(Listener *));
        if (!p)
                return -ENOMEM;
        s->listeners = p;
        r = listener_new(&p[s->n_listeners], s->event, fd, on_accepted, s);
        if (r < 0)
                return r;
        s->n_listeners++;
        return 0;
}

int server_add_connection(Server *s, int fd) {
        struct ucred credentials;
        int r;

        r = peer_credentials(&credentials, fd);
        return r < 0 ? r : connection_new(s, fd, &credentials);
}

size_t server_n_connections(const Server *s) {
        return s->n_connections;
}

Server *server_free(Server *s) {
        if (!s)
                return NULL;

        s->gone = NULL;
        while (s->connections)
                connection_free(s->connections);
        while (s->n_listeners > 0)
                listener_free(s->listeners[--s->n_listeners]);
        free(s->listeners);
        sd_event_unref(s->event);
        free(s);
        return NULL;
}
