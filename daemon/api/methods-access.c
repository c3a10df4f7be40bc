/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a call says, which session it names, who may do what with it, what he is told about that, and what the journal is
 * told when he may not.  Members of the group read all sessions, and change those that they have started.
 */

#include "base/io.h"
#include "base/name.h"
#include "daemon/api/api.h"
#include "retention/removed.h"

#define TOLD_MAX 20 /* of one user that are logged, of each kind, in so long */
#define TOLD_NS (10 * NSEC_PER_SEC)
#define NO_MORE " (that user's next ones are not logged for a while)"

int parameter_reply(ServerCall *call, const char *name, json_t *value) {
        json_t *reply = json_pack("{s:o}", name, value);

        return reply ? server_call_reply(call, reply, NULL, 0) : -ENOMEM;
}

static int refuse_unknown(const Methods *m, const char *name, Refusal *refusal) {
        _cleanup_removed_ Removed gone = {};
        _cleanup_free_ char *text = NULL;
        const char *like;

        if (removed_find(&gone, store_fd(m->store), name) > 0 &&
            removed_describe(&text, &gone) >= 0)
                return refusal_set(refusal, REFUSAL_SESSION_NOT_FOUND,
                                   json_pack("{s:s, s:{s:I, s:I, s:s}}", "session",
                                             NAME_QUOTED(name), "removed", "realtime_ns",
                                             (json_int_t) gone.realtime_ns, "n_bytes",
                                             (json_int_t) gone.n_bytes, "why", gone.why),
                                   "%s", text);
        like = sessions_nearest(m->sessions, name);
        return refusal_set_of(refusal, REFUSAL_SESSION_NOT_FOUND, "session", NAME_QUOTED(name),
                              "there is no session \"%s\"%s%s%s", NAME_QUOTED(name),
                              like ? ". Did you mean \"" : "", like ?: "; see \"ftracectl list\"",
                              like ? "\"?" : "");
}

int methods_get_session(Methods *m, const ServerCall *call, json_t *parameters, MethodsUse use,
                        Session **ret, Refusal *refusal) {
        bool is_change = use == METHODS_CHANGE || use == METHODS_CHANGE_NEWER;
        const SessionMeta *meta;
        const char *name = json_string_value(json_object_get(parameters, "session"));
        Session *s;
        int r = sessions_open(m->sessions, &s, name);

        if (r == SESSIONS_E_NONE)
                return refuse_unknown(m, name, refusal);
        if (r < 0)
                return refusal_set_errno(refusal, -r,
                                         "session.json of session \"%s\" in %s cannot be read: %s",
                                         NAME_QUOTED(name), store_path(m->store), origin_text(r));
        meta = session_meta(s);
        if (!session_meta_is_known(meta) && (use == METHODS_READ || use == METHODS_CHANGE))
                return methods_refuse_state(refusal, s, "session \"%s\" was %s", meta->name,
                                            meta->reason);
        if (is_change && call->who.right != PEER_ALL && meta->owner_uid != call->who.uid)
                return refusal_set(
                        refusal, REFUSAL_PERMISSION_DENIED, NULL,
                        "session \"%s\" is of %s, and you are %s: only that user and root may do "
                        "that; repeat it with sudo",
                        meta->name, FORMAT_USER(meta->owner_uid), FORMAT_USER(call->who.uid));
        *ret = s;
        return 0;
}

json_t *methods_check_rights(const Methods *m, const ServerCall *call) {
        _cleanup_free_ char *allowed = NULL;
        const char *text = call->who.uid == 0 ? "you may do everything: you are root"
                                              : "you may do everything: you are the user whom the "
                                                "daemon runs as";
        bool is_member = call->who.right != PEER_ALL;

        if (is_member) {
                if (allowance_describe(m->limits, &allowed) < 0)
                        return NULL;
                text = "you are in ftraced's group: you may read all recordings, end and remove "
                       "yours, and record what profiles say and ";
        }
        return json_pack("{ss ss ss+}", "name", "rights", "state", "good", "text", text,
                         allowed ?: "");
}

/* True if it is told: not of who does it in a loop, who would fill the journal, or have it drop the rest.
 * @ret_is_last: and for a while nothing more. */
static bool may_tell(Methods *m, int what, uid_t uid, bool *ret_is_last) {
        typeof(&m->told[0][0]) told = &m->told[what][uid % METHODS_TOLD_USERS];
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (now >= told->since_ns + TOLD_NS) {
                told->since_ns = now;
                told->n = 0;
        }
        if (told->n >= TOLD_MAX)
                return false;
        *ret_is_last = ++told->n == TOLD_MAX;
        return true;
}

/* @refusal: NULL: the connection is closed. */
static void tell_refused(Methods *m, const Peer *who, const Refusal *refusal, const char *why) {
        json_t *number = refusal ? json_object_get(refusal->parameters, "errno") : NULL;
        bool is_last;

        if (may_tell(m, METHODS_TOLD_REFUSED, who->uid, &is_last))
                journal_tell(&(JournalEntry){ JOURNAL_REFUSED, .uid = who->uid, .pid = who->pid,
                                              .error = refusal ? refusal_error_name(refusal->kind)
                                                               : NULL,
                                              .number = (int) json_integer_value(number),
                                              .reason = why },
                             "%s %s (pid %i): %s%s", refusal ? "Refused" : "Closed a connection of",
                             FORMAT_USER(who->uid), (int) who->pid, why, is_last ? NO_MORE : "");
}

void methods_on_refused(const ServerCall *call, const Refusal *refusal, void *userdata) {
        tell_refused(userdata, &call->who, refusal, refusal_message(refusal));
}

void methods_on_closed(const Peer *who, const char *why, void *userdata) {
        tell_refused(userdata, who, NULL, why);
}

void methods_tell_reading(Methods *m, const ServerCall *call, const SessionMeta *meta) {
        const Peer *who = &call->who;
        bool is_last;

        if (may_tell(m, METHODS_TOLD_READ, who->uid, &is_last))
                journal_tell(
                        &(JournalEntry){ JOURNAL_OPENED, meta, .uid = who->uid, .pid = who->pid },
                        "Session \"%s\" is read by %s (pid %i).%s", meta->name,
                        FORMAT_USER(who->uid), (int) who->pid, is_last ? NO_MORE : "");
}
