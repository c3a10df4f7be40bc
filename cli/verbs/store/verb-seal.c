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
        _cleanup_progress_ Progress bar;
        char what[SESSION_NAME_MAX + 16];
        int r;

        (void) snprintf(what, sizeof(what), "Sealing %s", name);
        progress_begin(&bar, o, what);
        r = client_send(c, "Seal", json_pack("{s:s}", "session", name), true);
        while (r == 0) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;
                json_int_t done, total;
                bool continues = false;

                r = client_receive(c, &reply, NULL, &continues, &refusal, signals_fd, -1);
                if (r == CLIENT_E_INTERRUPTED && !signals_want_end(signals_fd)) {
                        r = 0;
                        continue;
                }
                if (r != 0 || !continues)
                        progress_end(&bar);
                if (r == CLIENT_E_INTERRUPTED)
                        return failed(128 + SIGINT, "interrupted: \"%s\" is sealed all the same.",
                                      name);
                if (r != 0)
                        return contact_failure(o, r, &refusal);
                if (!continues) {
                        *ret = json_incref(json_object_get(reply, "session"));
                        return STATUS_OK;
                }
                if (json_unpack(reply, "{s:{s:I, s:I}}", "progress", "done", &done, "total",
                                &total) == 0)
                        progress_write(&bar, (uint64_t) done, (uint64_t) total);
        }
        return contact_failure(o, r, NULL);
}

int verb_seal(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_signals_ int signals_fd = -EBADF;
        json_auto_t *sealed = json_array();
        int status = source_check_names(&o->words) ?: contact_daemon(&c, o), result = STATUS_OK;

        for (size_t i = 0; status == STATUS_OK && i < o->words.n; i++)
                status = source_check_name(o->words.items[i]);
        if (status == STATUS_OK)
                status = contact_daemon(&c, o);
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
