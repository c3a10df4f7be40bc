/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which sessions: those named, all that record, or, if nothing is said, the only one that does. */

#include "base/log.h"
#include "base/unit.h"
#include "cli/contact.h"
#include "cli/recording.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "store/silence.h"

/* Names of the sessions that record; an exit status. */
static int list_live(Strv *ret, const Options *o, Client *c) {
        json_auto_t *reply = NULL;
        json_t *session;
        size_t i;
        int r, status;

        status = contact_call(c, o, "List", NULL, &reply, NULL);
        if (status != STATUS_OK)
                return status;
        json_array_foreach (json_object_get(reply, "sessions"), i, session) {
                const char *name = json_string_value(json_object_get(session, "name"));
                const char *text = json_string_value(json_object_get(session, "state"));
                int state = text ? session_state_from_name(text) : -EINVAL;

                if (!name || state < 0 || !session_state_is_live((SessionState) state))
                        continue;
                r = strv_add(ret, name);
                if (r < 0) {
                        log_error_errno(r, "Failed to list the sessions: %m");
                        return STATUS_FAILED;
                }
        }
        return STATUS_OK;
}

static int choose(Strv *ret, const Options *o, Client *c) {
        int status;

        if (o->words.n > 0 && o->all) {
                log_error("name the sessions, or say --all, not both; see \"ftracectl stop "
                          "--help\".");
                return STATUS_USAGE;
        }
        if (o->words.n > 0) {
                if (strv_copy(ret, &o->words) < 0)
                        return STATUS_FAILED;
                return STATUS_OK;
        }
        status = list_live(ret, o, c);
        if (status != STATUS_OK)
                return status;
        if (ret->n == 0) {
                talk(o, "Nothing is being recorded.");
                return o->all ? STATUS_OK : STATUS_NOT_FOUND;
        }
        if (ret->n > 1 && !o->all) {
                _cleanup_free_ char *names = strv_join(ret, ", ");

                log_error("%zu sessions record: %s. Name those to stop, or say --all.", ret->n,
                          names ?: "");
                return STATUS_USAGE;
        }
        return STATUS_OK;
}

static void describe_end(Buf *out, const SessionMeta *m) {
        char events[UNIT_TEXT_MAX], size[UNIT_TEXT_MAX], loss[SUMMARY_MAX],
                silence[SUMMARY_SILENCE_MAX];

        buf_printf(out, "%s: %s, %s events, %s, %s.\n", m->name, session_state_name(m->state),
                   summary_events(events, m), format_bytes(size, session_meta_n_bytes(m)),
                   summary_loss(loss, m));
        if (silence_is_total(m))
                buf_printf(out, "%s: no calls: %s.\n", m->name, summary_silence(silence, m));
        if (m->state == SESSION_FAILED && m->reason)
                buf_printf(out, "%s: %s\n", m->name, m->reason);
}

int verb_stop(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_strv_ Strv names = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *ended = json_array();
        int status, result = STATUS_OK;

        for (size_t i = 0; i < o->words.n; i++) {
                status = source_check_name(o->words.items[i]);
                if (status != STATUS_OK)
                        return status;
        }
        status = contact_daemon(&c, o);
        if (status == STATUS_OK)
                status = choose(&names, o, c);
        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < names.n; i++) {
                json_auto_t *reply = NULL;
                _cleanup_(session_meta_freep) SessionMeta *meta = NULL;

                /* All are tried; the first failure is the exit status. */
                status = contact_call(c, o, "Stop", json_pack("{s:s}", "session", names.items[i]),
                                      &reply, NULL);
                if (status == STATUS_OK)
                        status = source_meta_from_reply(&meta, reply);
                if (status != STATUS_OK) {
                        result = result ?: status;
                        continue;
                }
                describe_end(&out, meta);
                (void) json_array_append(ended, json_object_get(reply, "session"));
        }
        if (o->json != JSON_OFF)
                status = stdout_json(o, json_incref(ended));
        else
                status = o->quiet ? STATUS_OK : stdout_end(&out);
        return result ?: status;
}
