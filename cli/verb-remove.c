/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon owns its store while it runs.  With --store, or if none runs, the
 * store is opened for writing, which takes its lock and thereby makes sure that
 * really nobody owns it.
 */

#include "base/log.h"
#include "cli/contact.h"
#include "cli/recording.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verb.h"

static int remove_one(const Options *o, Client *c, const char *name) {
        _cleanup_(source_freep) Source *s = NULL;
        int status;

        if (!c) {
                status = source_open(&s, o, name); /* says it if there is none */
                if (status != STATUS_OK)
                        return status;
                name = s->meta->name;
        }
        status = recording_remove(o, c, name);
        if (status == STATUS_OK)
                talk(o, "Removed %s.", name);
        return status;
}

int verb_remove(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        int r, status, result = STATUS_OK;

        for (size_t i = 0; i < o->words.n; i++) {
                status = source_check_name(o->words.items[i]);
                if (status != STATUS_OK)
                        return status;
        }
        if (!o->store) {
                r = client_connect(&c, contact_socket(o));
                if (r != 0 && (r != CLIENT_E_NO_DAEMON || o->socket))
                        return contact_failure(o, r, NULL);
        }
        for (size_t i = 0; i < o->words.n; i++) {
                status = remove_one(o, c, o->words.items[i]);
                result = result ?: status;
        }
        return result;
}
