/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who connects becomes a Connection (daemon/server/connection.c) if there is a place for him; what he sends
 * finds its method in a table, if he may call it.
 */

#include <assert.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/server/listener.h"
#include "daemon/server/request.h"
#include "daemon/server/server-private.h"

/*
 * From a message to a method
 */

static const ServerMethod *find_method(const ServerMethod *methods, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (streq(methods[i].name, name))
                        return methods + i;
        return NULL;
}

static int refuse_unknown(const Server *s, const char *name, Refusal *refusal) {
        bool known = introspection_same_interface(name, introspection_methods[0].name);
        char quoted[NAME_QUOTE_MAX];

        for (size_t i = 0; i < s->n_methods && !known; i++)
                known = introspection_same_interface(name, s->methods[i].name);
        if (known)
                return refusal_set_of(refusal, REFUSAL_METHOD_NOT_FOUND, "method", name,
                                      "there is no method %s", name_quote(quoted, name));
        return refusal_set(
                refusal, REFUSAL_INTERFACE_NOT_FOUND,
                json_pack("{s:s%}", "interface", name, introspection_interface_length(name)),
                "there is no interface for the method %s", name_quote(quoted, name));
}

static int refuse_parameter(const char *parameter, Refusal *refusal, const char *problem) {
        char quoted[NAME_QUOTE_MAX];

        return refusal_set_of(refusal, REFUSAL_INVALID_PARAMETER, "parameter", parameter,
                              "parameter \"%s\" %s", name_quote(quoted, parameter), problem);
}

static int refuse_stranger(const Peer *who, Refusal *refusal) {
        return refusal_set(
                refusal, REFUSAL_PERMISSION_DENIED, NULL,
                "user %u may not use ftraced: only root may, and members of the group of "
                "its socket",
                (unsigned) who->uid);
}

static int refuse_member(const ServerMethod *m, const Peer *who, Refusal *refusal) {
        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                           "user %u may not call %s: only root may; repeat it with sudo",
                           (unsigned) who->uid, m->name);
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
        void *userdata = s;
        int r;
        const ServerMethod *m =
                find_method(introspection_methods, introspection_n_methods, q->method);

        if (!m) {
                if (call->who.right == PEER_NOTHING &&
                    !introspection_same_interface(q->method, introspection_methods[0].name))
                        return refuse_stranger(&call->who, refusal);
                m = find_method(s->methods, s->n_methods, q->method);
                userdata = s->userdata;
                if (m && !m->for_members && call->who.right != PEER_ALL)
                        return refuse_member(m, &call->who, refusal);
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

static int refuse_connection(const Server *s, const Peer *who, Refusal *refusal) {
        const QuotaLimits *l = &s->quota.limits;

        if (!quota_is_full(&s->quota, who))
                return refusal_set(
                        refusal, REFUSAL_QUOTA_EXCEEDED,
                        json_pack("{s:s, s:I}", "quota", "connections", "limit",
                                  (json_int_t) l->max_connections),
                        "the daemon has all the connections it takes (%zu, %zu of them for root); "
                        "try again when some are closed",
                        l->max_connections, l->max_connections_per_user);
        return refusal_set(refusal, REFUSAL_QUOTA_EXCEEDED,
                           json_pack("{s:s, s:I}", "quota", "MaxConnections", "limit",
                                     (json_int_t) l->max_connections_per_user),
                           "you have %zu connections to the daemon, and it takes no more of one "
                           "user (MaxConnections= in [Members] of ftraced.conf); end one that "
                           "follows, waits or runs first",
                           l->max_connections_per_user);
}

static int refuse_call(const Server *s, Refusal *refusal) {
        size_t max = s->quota.limits.max_calls_per_user;

        return refusal_set(refusal, REFUSAL_QUOTA_EXCEEDED,
                           json_pack("{s:s, s:I}", "quota", "MaxCalls", "limit", (json_int_t) max),
                           "%zu calls of yours wait for their answers, and ftraced.conf allows no "
                           "more (MaxCalls= in [Members]); end one of them first",
                           max);
}

static void on_message(Connection *c, json_t *message, const int *fds) {
        _cleanup_(server_call_unrefp) ServerCall *call = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Server *s = c->server;
        bool has_fds = false, has_place;
        Request q;
        int r = request_parse(&q, message);

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
                .who = c->who,
                .wants_more = q.more,
                .oneway = q.oneway,
        };
        c->call = server_call_ref(call);

        has_place = quota_add_call(&s->quota, &c->who);
        r = has_place ? carry_out(s, call, &q, has_fds, &refusal) : refuse_call(s, &refusal);
        assert(r <= 0 || r == REFUSED);
        if (r == REFUSED)
                (void) server_call_refuse(call, &refusal);
        else if (r < 0 && server_call_is_connected(call)) {
                log_error_errno(r, "%s for process %i failed: %m", q.method, (int) c->who.pid);
                server_call_fail(call, -r, q.method);
        }
}

/*
 * The server
 */

/* What a peer for whom there is no place is told before the connection closes, if it takes it. */
static void turn_away(const Server *s, int fd, const Peer *who) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_free_ char *text = NULL;
        json_auto_t *message = NULL;

        (void) refuse_connection(s, who, &refusal);
        if (s->closed)
                s->closed(who->uid, who->pid, refusal_message(&refusal), s->userdata);
        message = server_refusal_to_json(&refusal);
        text = message ? json_dumps(message, JSON_COMPACT) : NULL;
        if (text)
                (void) send(fd, text, strlen(text) + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* @fd is consumed on success.  0, QUOTA_E_FULL, -errno. */
static int server_accept(Server *s, int fd, Peer *ret) {
        int r = peer_of_socket(ret, fd);

        if (r >= 0)
                r = quota_add_connection(&s->quota, ret);
        if (r != 0)
                return r;
        r = connection_new(s, fd, ret);
        if (r < 0)
                quota_remove_connection(&s->quota, ret);
        return r;
}

static void on_accepted(int accepted_fd, void *userdata) {
        _cleanup_close_ int fd = accepted_fd;
        Peer who;
        int r = server_accept(userdata, fd, &who);

        if (r == 0)
                TAKE_FD(fd);
        else if (r == QUOTA_E_FULL)
                turn_away(userdata, fd, &who);
        else
                log_error_errno(r, "Cannot serve a connection: %m");
}

int server_new(Server **ret, sd_event *event, const ServerMethod *methods, size_t n_methods,
               ServerGone gone, void *userdata) {
        Server *s = NEW(Server, .event = sd_event_ref(event), .methods = methods,
                        .n_methods = n_methods, .handle = on_message, .gone = gone,
                        .userdata = userdata);

        if (!s)
                return -ENOMEM;
        server_set_quota(s, SERVER_MAX_CONNECTIONS_PER_USER, SERVER_MAX_CALLS_PER_USER);
        *ret = s;
        return 0;
}

int server_add_listener(Server *s, int fd) {
        int r;

        if (!ARRAY_GROW(s->listeners, s->n_listeners))
                return -ENOMEM;
        r = listener_new(&s->listeners[s->n_listeners], s->event, fd, on_accepted, s);
        if (r < 0)
                return r;
        s->n_listeners++;
        return 0;
}

void server_set_log(Server *s, ServerRefused refused, ServerClosed closed) {
        s->refused = refused;
        s->closed = closed;
}

void server_set_quota(Server *s, size_t max_connections_per_user, size_t max_calls_per_user) {
        s->quota.limits = (QuotaLimits){
                .max_connections = SERVER_MAX_CONNECTIONS,
                .max_connections_per_user = MIN(max_connections_per_user ?: SIZE_MAX,
                                                (size_t) SERVER_MAX_CONNECTIONS / 2),
                .max_calls_per_user = max_calls_per_user ?: SIZE_MAX,
        };
}

int server_add_connection(Server *s, int fd) {
        Peer who;
        int r = server_accept(s, fd, &who);

        return r == QUOTA_E_FULL ? -EMFILE : r;
}

size_t server_n_connections(const Server *s) {
        const Connection *c;
        size_t n = 0;

        LIST_FOREACH(c, &s->connections, link)
        n++;
        return n;
}

Server *server_free(Server *s) {
        if (!s)
                return NULL;

        s->gone = NULL;
        while (!LIST_EMPTY(&s->connections))
                connection_free(LIST_FIRST(&s->connections));
        while (s->n_listeners > 0)
                listener_free(s->listeners[--s->n_listeners]);
        free(s->listeners);
        quota_done(&s->quota);
        sd_event_unref(s->event);
        return mfree(s);
}
