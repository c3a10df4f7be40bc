/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a peer sends finds its method in a table, if he may call it.  org.varlink.service is the server's own. */

#include <assert.h>

#include "base/array.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/server/server-private.h"
#include "wire/interface.h"

#define SERVICE "org.varlink.service"

/* --- org.varlink.service ---------------------------------------------------------------------- */

static const struct {
        const char *name, *text;
} descriptions[] = {
        { SERVICE, interface_org_varlink_service },
        { "org.ftraced", interface_org_ftraced },
};

/* The one that a method is, or would be, of; NULL: there is none. */
static const char *find_interface(const char *method) {
        for (size_t i = 0; i < ELEMENTSOF(descriptions); i++) {
                const char *rest = startswith(method, descriptions[i].name);

                if (rest && rest == strrchr(method, '.'))
                        return descriptions[i].name;
        }
        return NULL;
}

static int method_get_info(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        json_t *interfaces = json_array();

        for (size_t i = 0; i < ELEMENTSOF(descriptions); i++)
                (void) json_array_append_new(interfaces, json_string(descriptions[i].name));
        return server_call_reply(call,
                                 json_pack("{s:s, s:s, s:s, s:s, s:o}", "vendor", PACKAGE_NAME,
                                           "product", PACKAGE_NAME, "version", PACKAGE_VERSION,
                                           "url", PACKAGE_URL, "interfaces", interfaces),
                                 NULL, 0);
}

static int method_get_description(ServerCall *call, json_t *parameters, Refusal *refusal,
                                  void *userdata) {
        const char *name = json_string_value(json_object_get(parameters, "interface"));

        if (!name)
                return refusal_set_of(refusal, REFUSAL_INVALID_PARAMETER, "parameter", "interface",
                                      "\"interface\" must be the name of an interface");
        for (size_t i = 0; i < ELEMENTSOF(descriptions); i++)
                if (streq(name, descriptions[i].name))
                        return server_call_reply(
                                call, json_pack("{s:s}", "description", descriptions[i].text), NULL,
                                0);
        return refusal_set_of(refusal, REFUSAL_INTERFACE_NOT_FOUND, "interface", name,
                              "there is no interface %s", NAME_QUOTED(name));
}

static const ServerMethod service[] = {
        { SERVICE ".GetInfo", method_get_info, (const char *const[]){ NULL }, false },
        { SERVICE ".GetInterfaceDescription", method_get_description,
          (const char *const[]){ "interface", NULL }, false },
};

/* --- from a message to a method --------------------------------------------------------------- */

int request_parse(Request *ret, json_t *message) {
        Request q = {};
        const char *key;
        json_t *value;

        json_object_foreach (message, key, value) {
                bool *flag = streq(key, "more")      ? &q.more
                             : streq(key, "oneway")  ? &q.oneway
                             : streq(key, "upgrade") ? &q.upgrade
                                                     : NULL;

                if (flag && json_is_boolean(value))
                        *flag = json_is_true(value);
                else if (streq(key, "method") && json_is_string(value))
                        q.method = json_string_value(value);
                else if (streq(key, "parameters") && json_is_object(value))
                        q.parameters = value;
                else
                        return ORIGIN(-EBADMSG);
        }
        if (!q.method || q.more + q.oneway + q.upgrade > 1)
                return ORIGIN(-EBADMSG);

        *ret = q;
        return 0;
}

static const ServerMethod *find_method(const ServerMethod *methods, size_t n, const char *name) {
        for (size_t i = 0; i < n; i++)
                if (streq(methods[i].name, name))
                        return methods + i;
        return NULL;
}

static int refuse_unknown(const char *name, Refusal *refusal) {
        const char *dot = strrchr(name, '.');

        if (find_interface(name))
                return refusal_set_of(refusal, REFUSAL_METHOD_NOT_FOUND, "method", name,
                                      "there is no method %s", NAME_QUOTED(name));
        return refusal_set(
                refusal, REFUSAL_INTERFACE_NOT_FOUND,
                json_pack("{s:s%}", "interface", name, dot ? (size_t) (dot - name) : (size_t) 0),
                "there is no interface for the method %s", NAME_QUOTED(name));
}

static int refuse_parameter(const char *parameter, Refusal *refusal, const char *problem) {
        return refusal_set_of(refusal, REFUSAL_INVALID_PARAMETER, "parameter", parameter,
                              "parameter \"%s\" %s", NAME_QUOTED(parameter), problem);
}

static bool is_of_type(const json_t *value, const char *type) {
        if (!value || json_is_null(value))
                return *type == '?';
        type += *type == '?';
        return streq(type, "string") ? json_is_string(value)
               : streq(type, "int")  ? json_is_integer(value) && json_integer_value(value) >= 0
               : streq(type, "bool") ? json_is_boolean(value)
                                     : json_is_object(value);
}

static int check_types(const ServerMethod *m, const json_t *parameters, Refusal *refusal) {
        char name[64], problem[64];

        for (const char *const *p = m->parameters; p && *p; p++) {
                const char *type = strstr(*p, ": ");

                (void) snprintf(name, sizeof(name), "%.*s", (int) strcspn(*p, ":"), *p);
                if (!type || is_of_type(json_object_get(parameters, name), type + 2))
                        continue;
                (void) snprintf(problem, sizeof(problem), "is missing or not of type %s", type + 2);
                return refuse_parameter(name, refusal, problem);
        }
        return 0;
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

                while (p && *p &&
                       (strncmp(*p, key, strcspn(*p, ":")) != 0 || strlen(key) != strcspn(*p, ":")))
                        p++;
                if (!p || !*p)
                        return refuse_parameter(key, refusal, "is not one of the method's");
        }
        return check_types(m, q->parameters, refusal);
}

static int carry_out(Server *s, ServerCall *call, const Request *q, bool has_fds,
                     Refusal *refusal) {
        _cleanup_(json_decrefp) json_t *none = NULL;
        void *userdata = s;
        int r;
        const ServerMethod *m = find_method(service, ELEMENTSOF(service), q->method);

        if (!m) {
                if (call->who.right == PEER_NOTHING &&
                    !streq_ptr(find_interface(q->method), SERVICE))
                        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                           "%s may not use ftraced: only root may, and "
                                           "members of the group of its socket",
                                           FORMAT_USER(call->who.uid));
                m = find_method(s->methods, s->n_methods, q->method);
                userdata = s->userdata;
                if (m && !m->for_members && call->who.right != PEER_ALL)
                        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                           "%s may not call %s: only root may; repeat it with sudo",
                                           FORMAT_USER(call->who.uid), m->name);
        }
        if (!m)
                return refuse_unknown(q->method, refusal);
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

static int refuse_call(const Server *s, Refusal *refusal) {
        size_t max = s->quota.max_calls_per_user;

        return refusal_set_quota(
                refusal, "MaxCalls", max,
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

        call = NEW(ServerCall, .n_ref = 1, .connection = c, .peer = c->peer, .who = c->who,
                   .wants_more = q.more, .oneway = q.oneway);
        if (!call) {
                connection_kill(c, strerror(ENOMEM));
                return;
        }
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

/* --- the server ------------------------------------------------------------------------------- */

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

void server_set_log(Server *s, ServerRefused refused, ServerClosed closed) {
        s->refused = refused;
        s->closed = closed;
}

void server_set_quota(Server *s, size_t max_connections_per_user, size_t max_calls_per_user) {
        s->quota.max_connections = SERVER_MAX_CONNECTIONS;
        s->quota.max_connections_per_user =
                MIN(max_connections_per_user ?: SIZE_MAX, (size_t) SERVER_MAX_CONNECTIONS / 2);
        s->quota.max_calls_per_user = max_calls_per_user ?: SIZE_MAX;
}

size_t server_n_connections(const Server *s) {
        return s->quota.n_connections;
}

Server *server_free(Server *s) {
        if (!s)
                return NULL;

        s->gone = NULL;
        while (!LIST_EMPTY(&s->connections))
                connection_free(LIST_FIRST(&s->connections));
        for (Listener *l; (l = SLIST_FIRST(&s->listeners));) {
                SLIST_REMOVE_HEAD(&s->listeners, link);
                listener_free(l);
        }
        quota_done(&s->quota);
        sd_event_unref(s->event);
        return mfree(s);
}
