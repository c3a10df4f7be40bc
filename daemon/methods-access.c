/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who may do what with a session, what he is told about that, and what the journal is told when he may not.
 * Members of the group read all sessions, and change those that they have started.
 */

#include "base/now.h"
#include "daemon/allowance.h"
#include "daemon/journal.h"
#include "daemon/methods-private.h"

#define REFUSALS_MAX 20 /* of one user that are logged, in so long */
#define REFUSALS_NS (10 * NSEC_PER_SEC)

int methods_get_own_session(Methods *m, const ServerCall *call, json_t *parameters, Session **ret,
                            Refusal *refusal) {
        Session *s;
        int r;

        r = methods_get_session(m, parameters, &s, refusal);
        if (r != 0)
                return r;
        if (!server_call_may_all(call) && session_meta(s)->owner_uid != server_call_uid(call))
                return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                   "session '%s' is user %u's, and you are user %u: only he and "
                                   "root may do that; repeat it with sudo",
                                   session_name(s), (unsigned) session_meta(s)->owner_uid,
                                   (unsigned) server_call_uid(call));
        *ret = s;
        return 0;
}

json_t *methods_check_rights(const Methods *m, const ServerCall *call) {
        unsigned uid = (unsigned) server_call_uid(call);
        _cleanup_free_ char *allowed = NULL;

        if (server_call_may_all(call))
                return json_pack("{s:s, s:s, s:s+}", "name", "rights", "state", "good", "text",
                                 "you may do everything: you are ",
                                 uid == 0 ? "root" : "the user whom the daemon runs as");
        if (allowance_describe(m->limits, &allowed) < 0)
                return NULL;
        return json_pack("{s:s, s:s, s:s++}", "name", "rights", "state", "good", "text",
                         "you are in ftraced's group: you may read all recordings, end and remove "
                         "yours, and record what profiles say and ",
                         allowed, "");
}

void methods_on_refused(const ServerCall *call, const Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        uid_t uid = server_call_uid(call);
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        /* Who is refused in a loop does not fill the journal. */
        if (uid != m->refused_uid || now >= m->refused_since_ns + REFUSALS_NS) {
                m->refused_uid = uid;
                m->refused_since_ns = now;
                m->n_refused = 0;
        }
        if (++m->n_refused > REFUSALS_MAX)
                return;
        journal_tell(&(JournalEntry){ JOURNAL_REFUSED, .call = call,
                                      .error = refusal_error_name(refusal->kind),
                                      .reason = refusal_message(refusal) },
                     "Refused uid %u (pid %i): %s%s", (unsigned) uid, (int) server_call_pid(call),
                     refusal_message(refusal),
                     m->n_refused == REFUSALS_MAX ? " (his next ones are not logged for a while)"
                                                  : "");
}
