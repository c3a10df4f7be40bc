/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon seals what has ended by itself; this is for whoever wants to know when it is done, or has
 * made room on a disk that was full.
 */

#include <signal.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

static int seal_one(json_t **ret, const Options *o, Client *c, const char *name, int signals_fd) {
        char what[SESSION_NAME_MAX + 16], interrupted[SESSION_NAME_MAX + 64];
        json_auto_t *reply = NULL;
        int status;

        (void) snprintf(what, sizeof(what), "Sealing %s", name);
        (void) snprintf(interrupted, sizeof(interrupted),
                        "interrupted: \"%s\" is sealed all the same.", name);

        status = contact_follow(&reply, o, c, "Seal", json_pack("{s:s}", "session", name), what,
                                "done", "total", signals_fd, interrupted);
        if (status == STATUS_OK)
                *ret = json_incref(json_object_get(reply, "session"));
        return status;
}

int verb_seal(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_signals_ int signals_fd = -EBADF;
        json_auto_t *sealed = json_array();
        int status = source_check_names(&o->words) ?: contact_daemon(&c, o), result = STATUS_OK;

        if (status != STATUS_OK)
                return status;
        signals_fd = signals_open();
        if (signals_fd < 0)
                return contact_failure(o, signals_fd, NULL);
        for (size_t i = 0; result < 128 && i < o->words.n; i++) {
                _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                json_auto_t *session = NULL;
                const char *field;

                status = seal_one(&session, o, c, o->words.items[i], signals_fd);
                if (status == STATUS_OK && session_meta_from_json(&m, session, &field) != 0)
                        status = STATUS_FAILED;
                if (status != STATUS_OK) {
                        result = status >= 128 ? status : result ?: status;
                        continue;
                }
                buf_printf(&out, "%s: %s of pages take %s on disk.\n", m->name,
                           FORMAT_BYTES(session_meta_n_bytes(m)),
                           FORMAT_BYTES((uint64_t) json_integer_value(
                                   json_object_get(session, "disk_bytes"))));
                (void) json_array_append(sealed, session);
        }
        if (o->json != JSON_OFF)
                status = stdout_json(o, json_incref(sealed));
        else
                status = o->quiet ? STATUS_OK : stdout_end(&out);
        return result ?: status;
}
