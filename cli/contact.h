/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Contact: the daemon, or a sentence why not
 *
 * cli/client.h with people in mind: failures are said on stderr, with the way
 * out, and come back as exit statuses (cli/status.h).
 */

#include "cli/client.h"
#include "cli/options.h"

const char *contact_socket(const Options *o);
/* Connects to the daemon; an exit status. */
int contact_daemon(Client **ret, const Options *o);
/*
 * contact_recorder() - the daemon, or a private one
 * @talk_private: said if a private one stands in for one that does not run; may be NULL
 *
 * Root does not need a daemon to record: a private one is started if none listens, or if --store
 * is given (cli/private.h).
 */
int contact_recorder(Client **ret, const Options *o, const char *talk_private);

/* client_call(), with everything but 0 said on stderr; an exit status. */
int contact_call(Client *c, const Options *o, const char *method, json_t *parameters, json_t **ret,
                 int *ret_fds);
/* Says what is wrong with the result @r (CLIENT_E_*, -errno) of a client function. */
int contact_failure(const Options *o, int r, const Refusal *refusal);
/* Says that nobody listens, and what to do. */
int contact_no_daemon(const Options *o);
/* Says that the socket is not for us, and what to do. */
int contact_forbidden(const Options *o);
/* The same in two parts, for whoever says it otherwise. */
#define CONTACT_TEXT_MAX 256
void contact_forbidden_texts(const Options *o, char ret_why[static CONTACT_TEXT_MAX],
                             char ret_fix[static CONTACT_TEXT_MAX]);
