/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Contact: the daemon, or a sentence why not
 *
 * cli/contact/client.h with people in mind: failures are said on stderr, with the way
 * out, and come back as exit statuses (cli/options/status.h).
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"
#include "meta/meta.h"

const char *contact_socket(const Options *o);
/* Connects to the daemon; an exit status. */
int contact_daemon(Client **ret, const Options *o);
/* The same; *@ret is NULL if the store is to be read or changed without one: --store, or none runs. */
int contact_unless_store(Client **ret, const Options *o);
/*
 * contact_recorder() - the daemon, or a private one
 * @talk_private: said if a private one stands in for one that does not run; may be NULL
 *
 * Root does not need a daemon to record: a private one is started if none listens, or if --store
 * is given.
 */
int contact_recorder(Client **ret, const Options *o, const char *talk_private);
/* Ends with @c, and with a private daemon, which first learns what @m, if there is one, says it is
 * to; if that takes a while, says so. */
Client *contact_end(Client *c, const Options *o, const SessionMeta *m);

/* The answer of a method that gives it in parts, as `more` wants it: the first, with @array of all of them; an
 * exit status. */
int contact_gather(Client *c, const char *method, json_t *parameters, const char *array,
                   json_t **ret);
/* client_call(), with everything but 0 said on stderr; an exit status. */
int contact_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds);
/* The same of one that takes a "session". */
int contact_call_session(Client *c, const char *method, const char *name, json_t **ret);
/* Says what is wrong with the result @r (CLIENT_E_*, -errno) of what was sent or received; an exit status. */
int contact_failure(const Client *c, int r, const Refusal *refusal);
/* That the socket is not for us, and what to do, for whoever says it otherwise. */
#define CONTACT_TEXT_MAX 256
void contact_forbidden_texts(const Options *o, char ret_why[static CONTACT_TEXT_MAX],
                             char ret_fix[static CONTACT_TEXT_MAX]);
