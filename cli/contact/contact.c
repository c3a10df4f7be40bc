/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The store's lock tells whether a daemon has it, and nothing tells when it is given back, so who waits for it
 * looks a few times a second.  Of several who wait one is first; the others' daemons end at once, and they wait
 * on. */

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/contact/contact.h"
#include "store/store.h"

#define LOOK_NS (200 * NSEC_PER_MSEC)

const char *contact_socket(const Options *o) {
        return o->socket ?: CLIENT_DEFAULT_SOCKET;
}

void contact_forbidden_texts(const char *path, char ret_why[static CONTACT_TEXT_MAX],
                             char ret_fix[static CONTACT_TEXT_MAX]) {
        const struct passwd *user = getpwuid(geteuid());
        struct stat st;
        /* Its directory may hide the socket: then the group that is made at installation. */
        const struct group *group =
                stat(path, &st) >= 0 ? getgrgid(st.st_gid) : getgrnam("ftraced");

        if (!group || streq(group->gr_name, "root")) {
                (void) snprintf(ret_why, CONTACT_TEXT_MAX, "only root and its group may use it");
                (void) snprintf(ret_fix, CONTACT_TEXT_MAX, "sudo ftracectl ...");
                return;
        }
        /* Who was added to it since may be in the group, and still has to log in again. */
        (void) snprintf(ret_why, CONTACT_TEXT_MAX, "this login is not in group %s", group->gr_name);
        (void) snprintf(ret_fix, CONTACT_TEXT_MAX, "sudo usermod -aG %s %s, then log in again",
                        group->gr_name, user ? user->pw_name : "$USER");
}

/* What is wrong with the result @r of connecting; an exit status. */
static int unconnected(const Options *o, int r) {
        char why[CONTACT_TEXT_MAX], fix[CONTACT_TEXT_MAX];
        const char *sudo = geteuid() == 0 ? "" : "sudo ";

        if (r == CLIENT_E_FORBIDDEN) {
                contact_forbidden_texts(contact_socket(o), why, fix);
                return failed(STATUS_FORBIDDEN, "no permission for %s: %s. Way out: %s",
                              contact_socket(o), why, fix);
        }
        if (r != CLIENT_E_NO_DAEMON)
                return failed_errno(r, "Failed to talk to the daemon at %s: %m", contact_socket(o));
        if (o->socket)
                return failed(STATUS_FAILED,
                              "no daemon listens on %s. Start one there: \"ftraced --socket %s\", "
                              "or read a store without one: --store DIR",
                              o->socket, o->socket);
        return failed(STATUS_FAILED,
                      "no daemon is running: nothing listens on %s. Start it with \"%ssystemctl "
                      "start ftraced.socket\", or record without one: \"%sftracectl run\".",
                      contact_socket(o), sudo, sudo);
}

int contact_failure(const Client *c, int r, const Refusal *refusal) {
        switch (r) {
        case CLIENT_E_GONE:
                return c->is_private ? failed(STATUS_FAILED,
                                              "the private daemon ended before it answered.")
                                     : failed(STATUS_FAILED,
                                              "the daemon ended the connection before it answered; "
                                              "its journal says why: journalctl -u ftraced");
        case CLIENT_E_TOO_LONG:
                return failed(STATUS_REFUSED,
                              "so many names exceed %zuK, the limit of a call. Name fewer "
                              "functions, or globs (udp_*).",
                              FRAME_CALL_MAX >> 10);
        case CLIENT_E_NONSENSE:
                return failed(STATUS_FAILED, "what listens on %s is not ftraced.",
                              c->socket ?: "the private socket");
        case CLIENT_E_REFUSED:
                log_error("%s", refusal_message(refusal));
                return refusal_exit_status(refusal->kind);
        default:
                return failed_errno(r, "Failed to talk to the daemon at %s: %m",
                                    c->socket ?: "the private socket");
        }
}

int contact_daemon(Client **ret, const Options *o) {
        int r = client_connect(ret, contact_socket(o));

        return r == 0 ? STATUS_OK : unconnected(o, r);
}

int contact_unless_store(Client **ret, const Options *o) {
        int r = o->store ? CLIENT_E_NO_DAEMON : client_connect(ret, contact_socket(o));

        if (r == 0)
                return STATUS_OK;
        *ret = NULL;
        return r == CLIENT_E_NO_DAEMON && (o->store || !o->socket) ? STATUS_OK : unconnected(o, r);
}

/* --- a private daemon ------------------------------------------------------------------------- */

static int wait_for_store(const Options *o, const char *path, uint64_t end_ns, bool *is_told) {
        static const struct timespec look = { .tv_nsec = LOOK_NS };
        char text[STORE_OWNER_MAX];
        sigset_t ends;
        pid_t owner;

        (void) sigemptyset(&ends);
        (void) sigaddset(&ends, SIGINT);
        (void) sigaddset(&ends, SIGTERM);
        (void) sigaddset(&ends, SIGHUP);
        for (;;) {
                _cleanup_(store_freep) Store *s = NULL;
                int signal;

                if (store_open(&s, path) < 0 || store_is_owned(s, &owner) <= 0)
                        return STATUS_OK;
                if (now_ns(CLOCK_MONOTONIC) >= end_ns)
                        return failed(STATUS_BUSY,
                                      "another ftraced (%s) has the store %s. %s, or record into "
                                      "another one: --store",
                                      store_owner_text(text, owner), path,
                                      o->wait_ns > 0 ? "Wait longer for it (--wait)"
                                                     : "Wait for it with --wait");
                if (!*is_told)
                        talk(o, "Waiting: another ftraced (%s) has the store %s.",
                             store_owner_text(text, owner), path);
                *is_told = true;
                signal = sigtimedwait(&ends, NULL, &look); /* if they are blocked */
                if (signal > 0)
                        return failed(128 + signal, "interrupted before anything was recorded.");
        }
}

/* On --store, or the usual store; waits for that as long as --wait says.  An exit status. */
static int start_private(Client **ret, const Options *o) {
        const char *path = options_store(o);
        uint64_t now = now_ns(CLOCK_MONOTONIC), end_ns = now + MIN(o->wait_ns, UINT64_MAX - now);
        bool is_told = false;

        for (;;) {
                _cleanup_(client_freep) Client *c = NULL;
                int status = wait_for_store(o, path, end_ns, &is_told), r;

                if (status != STATUS_OK)
                        return status;
                r = client_start_private(&c, o->store, o->config_root);
                if (r < 0) {
                        _cleanup_free_ char *program = NULL;

                        (void) client_find_daemon(&program);
                        return failed(STATUS_FAILED, "Cannot start the private daemon %s: %s",
                                      program ?: "", origin_text(r));
                }
                if (is_told) /* others may have waited, too */
                        r = client_call(c, "org.varlink.service.GetInfo", NULL, NULL, NULL, NULL);
                if (r == CLIENT_E_GONE && now_ns(CLOCK_MONOTONIC) < end_ns)
                        continue;
                *ret = TAKE_PTR(c);
                return STATUS_OK;
        }
}

int contact_keeper(Client **ret, const Options *o) {
        int status = contact_unless_store(ret, o);

        if (status != STATUS_OK || *ret)
                return status;
        if (geteuid() == 0 || access(options_store(o), W_OK) >= 0)
                return start_private(ret, o);
        return failed(
                STATUS_FORBIDDEN,
                "no daemon is running, and without one %s may be changed by root and its owner "
                "only.",
                options_store(o));
}

int contact_recorder(Client **ret, const Options *o, const char *talk_private) {
        int status = contact_unless_store(ret, o);

        if (status != STATUS_OK || *ret)
                return status;
        if (geteuid() != 0 && o->store)
                return failed(STATUS_FORBIDDEN,
                              "using %s takes a private daemon, which only root can start. Leave "
                              "--store out, or become root.",
                              o->store);
        if (geteuid() != 0)
                return failed(STATUS_FORBIDDEN,
                              "no daemon is running (nothing listens on %s), and without one only "
                              "root may do this: repeat with sudo, or start it with \"sudo "
                              "systemctl start ftraced.socket\".",
                              contact_socket(o));
        if (talk_private && o->store)
                talk(o, "Recording into %s with a private daemon.", o->store);
        else if (talk_private)
                talk(o, "%s", talk_private);
        return start_private(ret, o);
}

/* --- calls ------------------------------------------------------------------------------------ */

int contact_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = client_call(c, method, parameters, ret, ret_fds, &refusal);

        return r == 0 ? STATUS_OK : contact_failure(c, r, &refusal);
}

int contact_call_session(Client *c, const char *method, const char *name, json_t **ret) {
        return contact_call(c, method, json_pack("{s:s}", "session", name), ret, NULL);
}

int contact_gather(Client *c, const char *method, json_t *parameters, const char *array,
                   json_t **ret) {
        json_auto_t *all = NULL;
        bool continues = true;
        int r = client_send(c, method, parameters, true);

        while (r == 0 && continues) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;

                r = client_receive(c, &reply, NULL, &continues, &refusal, -EBADF, -1);
                if (r != 0)
                        return contact_failure(c, r, &refusal);
                if (!json_is_array(json_object_get(reply, array)))
                        return failed(STATUS_FAILED, "the daemon's list of sessions is not valid.");
                if (!all)
                        all = TAKE_PTR(reply);
                else if (json_array_extend(json_object_get(all, array),
                                           json_object_get(reply, array)) < 0)
                        r = -ENOMEM;
        }
        if (r != 0)
                return contact_failure(c, r, NULL);
        *ret = TAKE_PTR(all);
        return STATUS_OK;
}
