/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who may talk to the daemon is decided by the socket's owner, group and mode,
 * so that is what the sentence about a missing permission is made from.
 */

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/name.h"
#include "cli/contact/contact.h"
#include "cli/contact/private.h"
#include "cli/options/status.h"
#include "cli/terminal/terminal.h"

const char *contact_socket(const Options *o) {
        return o->socket ?: CLIENT_DEFAULT_SOCKET;
}

/* Says that nobody listens, and what to do. */
static int no_daemon(const Options *o) {
        if (o->socket)
                log_error("no daemon listens on %s. Start one there: \"ftraced --socket %s\", or "
                          "read a store without one: --store DIR",
                          o->socket, o->socket);
        else if (geteuid() == 0)
                log_error("no daemon is running: nothing listens on %s. Start it with \"systemctl "
                          "start ftraced.socket\", or record without one: \"ftracectl run\".",
                          contact_socket(o));
        else
                log_error("no daemon is running: nothing listens on %s. Start it with \"sudo "
                          "systemctl start ftraced.socket\", or record without one: \"sudo "
                          "ftracectl run\".",
                          contact_socket(o));
        return STATUS_FAILED;
}

void contact_forbidden_texts(const Options *o, char ret_why[static CONTACT_TEXT_MAX],
                             char ret_fix[static CONTACT_TEXT_MAX]) {
        const struct passwd *user = getpwuid(geteuid());
        const char *name = user ? user->pw_name : "$USER";
        const struct group *group = NULL;
        bool is_member = false;
        struct stat st;

        /* Its directory may hide the socket: then the group that is made at installation. */
        group = stat(contact_socket(o), &st) >= 0 ? getgrgid(st.st_gid) : getgrnam("ftraced");
        if (!group || streq(group->gr_name, "root")) {
                (void) snprintf(ret_why, CONTACT_TEXT_MAX, "only root and its group may use it");
                (void) snprintf(ret_fix, CONTACT_TEXT_MAX, "sudo ftracectl ...");
                return;
        }
        for (char **m = group->gr_mem; *m; m++)
                is_member = is_member || streq(*m, name);
        (void) snprintf(ret_why, CONTACT_TEXT_MAX, "you are not in group %s%s", group->gr_name,
                        is_member ? " yet in this login" : "");
        if (is_member)
                (void) snprintf(ret_fix, CONTACT_TEXT_MAX, "newgrp %s, or log in again",
                                group->gr_name);
        else
                (void) snprintf(ret_fix, CONTACT_TEXT_MAX,
                                "sudo usermod -aG %s %s, then log in again", group->gr_name, name);
}

static int forbidden(const Options *o) {
        char why[CONTACT_TEXT_MAX], fix[CONTACT_TEXT_MAX];

        contact_forbidden_texts(o, why, fix);
        return failed(STATUS_FORBIDDEN, "no permission for %s: %s. Way out: %s", contact_socket(o),
                      why, fix);
}

int contact_failure(const Options *o, int r, const Refusal *refusal) {
        switch (r) {
        case CLIENT_E_NO_DAEMON:
                return no_daemon(o);
        case CLIENT_E_FORBIDDEN:
                return forbidden(o);
        case CLIENT_E_GONE:
                return failed(STATUS_FAILED, "the daemon ended the connection before it answered; "
                                             "its journal says why: journalctl -u ftraced");
        case CLIENT_E_TOO_LONG:
                return failed(STATUS_REFUSED,
                              "so many names exceed %zuK, the limit of a call. Name fewer "
                              "functions, or globs (udp_*).",
                              FRAME_CALL_MAX >> 10);
        case CLIENT_E_NONSENSE:
                return failed(STATUS_FAILED, "what listens on %s is not ftraced.",
                              contact_socket(o));
        case CLIENT_E_REFUSED:
                log_error("%s", refusal_message(refusal));
                return refusal_exit_status(refusal->kind);
        default:
                return failed_errno(r, "Failed to talk to the daemon at %s: %m", contact_socket(o));
        }
}

int contact_daemon(Client **ret, const Options *o) {
        int r = client_connect(ret, contact_socket(o));

        return r == 0 ? STATUS_OK : contact_failure(o, r, NULL);
}

int contact_unless_store(Client **ret, const Options *o) {
        int r;

        *ret = NULL;
        if (o->store)
                return STATUS_OK;
        r = client_connect(ret, contact_socket(o));
        if (r == 0 || (r == CLIENT_E_NO_DAEMON && !o->socket))
                return STATUS_OK;
        return contact_failure(o, r, NULL);
}

/* Without a daemon, and not root. */
static int need_root(const Options *o) {
        return failed(
                STATUS_FORBIDDEN,
                "no daemon is running (nothing listens on %s), and without one only root may do "
                "this: repeat with sudo, or start it with \"sudo systemctl start ftraced.socket\".",
                contact_socket(o));
}

int contact_recorder(Client **ret, const Options *o, const char *talk_private) {
        int r;

        if (!o->store) {
                r = client_connect(ret, contact_socket(o));
                if (r == 0)
                        return STATUS_OK;
                if (r != CLIENT_E_NO_DAEMON || o->socket)
                        return contact_failure(o, r, NULL);
                if (geteuid() != 0)
                        return need_root(o);
                if (talk_private)
                        talk(o, "%s", talk_private);
        } else if (geteuid() != 0)
                return failed(STATUS_FORBIDDEN,
                              "using %s takes a private daemon, which only root can start. Leave "
                              "--store out, or become root.",
                              o->store);
        else if (talk_private)
                talk(o, "Recording into %s with a private daemon.", o->store);
        return private_start(ret, o);
}

int contact_call(Client *c, const Options *o, const char *method, json_t *parameters, json_t **ret,
                 int *ret_fds) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = client_call(c, method, parameters, ret, ret_fds, &refusal);

        if (r == CLIENT_E_GONE && client_is_private(c))
                return failed(STATUS_FAILED, "the private daemon ended before it answered.");
        return r == 0 ? STATUS_OK : contact_failure(o, r, &refusal);
}

int contact_gather(Client *c, const Options *o, const char *method, json_t *parameters,
                   const char *array, json_t **ret) {
        json_auto_t *all = NULL;
        bool continues = true;
        int r = client_send(c, method, parameters, true);

        while (r == 0 && continues) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;

                r = client_receive(c, &reply, NULL, &continues, &refusal, -EBADF, -1);
                if (r != 0)
                        return contact_failure(o, r, &refusal);
                if (!json_is_array(json_object_get(reply, array)))
                        return failed(STATUS_FAILED, "the daemon's list of sessions is not valid.");
                if (!all)
                        all = TAKE_PTR(reply);
                else if (json_array_extend(json_object_get(all, array),
                                           json_object_get(reply, array)) < 0)
                        r = -ENOMEM;
        }
        if (r != 0)
                return contact_failure(o, r, NULL);
        *ret = TAKE_PTR(all);
        return STATUS_OK;
}
