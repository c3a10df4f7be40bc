/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two calls that take a session's name and answer with a session. */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/source/source.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"

/* An exit status; *@ret_reply holds what @ret was read from. */
static int ask(SessionMeta **ret, json_t **ret_reply, const Options *o, const char *method) {
        _cleanup_(client_freep) Client *c = NULL;
        const char *name = o->words.items[0];
        int status = source_check_name(name) ?: contact_daemon(&c, o);

        if (status == STATUS_OK)
                status = contact_call(c, o, method, json_pack("{s:s}", "session", name), ret_reply,
                                      NULL);
        return status == STATUS_OK ? source_meta_from_reply(ret, *ret_reply) : status;
}

int verb_trigger(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        json_auto_t *reply = NULL;
        int status = ask(&meta, &reply, o, "Trigger");

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(json_object_get(reply, "session")));
        talk(o, "%s: %s.", meta->name, session_state_name(meta->state));
        return STATUS_OK;
}

/* Whether it is not on the disk, all of it; that is said. */
static bool is_unwritten(const SessionMeta *m) {
        bool is = m->pages_unsynced > 0;

        for (size_t i = 0; i < m->gaps.n; i++)
                is = is || m->gaps.items[i].cause == GAP_NOT_WRITTEN;
        if (is)
                log_warning("%s: %s.", m->name, SUMMARY_LOSS(m));
        return is;
}

int verb_snapshot(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *reply = NULL;
        int status = ask(&meta, &reply, o, "Snapshot");

        if (status != STATUS_OK)
                return status;
        if (is_unwritten(meta))
                status = STATUS_INCOMPLETE;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(json_object_get(reply, "session"))) ?: status;
        if (isatty(STDERR_FILENO))
                talk(o, "Kept %s, %s: ftracectl report %s",
                     FORMAT_BYTES(session_meta_total(meta).n_bytes),
                     FORMAT_DURATION(session_meta_length_ns(meta)), meta->name);
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out) ?: status;
}
