/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Private: a daemon for this command alone, and its turn at a store
 *
 * A store belongs to one daemon at a time, so who records into the same one has to wait for the other's
 * end, or is told whose it is.
 */

#include "cli/contact/client.h"
#include "cli/options/options.h"
#include "store/meta.h"

/* StartQueue it on --store, or the usual store; waits for that as long as --wait says.  An exit status. */
int private_start(Client **ret, const Options *o);
/* Ends with @c, and with a private daemon, which first learns what @m, if there is one, says it is to; if
 * that takes a while, says so. */
Client *private_end(Client *c, const Options *o, const SessionMeta *m);
