/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A trigger is answered with what the session has become, when all that it records is hooked, so that
 * whoever goes on then finds it all recorded.  A snapshot takes the readers a moment, and the disk another one, so
 * its call is kept until session_snapshot() and session_when_synced() tell.
 */

#include <stdio.h>

#include "daemon/api/api.h"
#include "daemon/watch/snapshot.h"

/* "session 'boot' is recording" and @text. */
static int refuse_state(Refusal *refusal, const Session *s, const char *text) {
        return methods_refuse_state(refusal, s, "session '%s' is %s%s", session_name(s),
                                    session_state_name(session_meta(s)->state), text);
}

/* The session is what the call waited for. */
static void on_ready(Session *s, int error, void *userdata) {
        ServerCall *call = userdata;

        (void) parameter_reply(call, "session", session_meta_to_json(session_meta(s)));
        (void) server_call_unref(call); /* or whoever asked has gone */
}

int method_trigger(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Session *s;
        char who[64];
        int r = methods_get_session(userdata, call, parameters, METHODS_CHANGE, &s, refusal);

        if (r != 0)
                return r;
        (void) snprintf(who, sizeof(who), "triggered by uid %u", (unsigned) call->who.uid);
        r = session_trigger(s, who);
        if (r == -EINVAL)
                return refuse_state(refusal, s,
                                    " and waits for no trigger; `ftracectl arm` "
                                    "begins one that does");
        if (r == -EBUSY)
                return refuse_state(refusal, s, ": its trigger has nothing to do now");
        if (r < 0)
                return r;
        if (session_when_hooked(s, on_ready, server_call_ref(call)) < 0)
                on_ready(s, 0, call);
        return 0;
}

static void on_snapshot(Session *s, int error, void *userdata) {
        _cleanup_refusal_ Refusal refusal = {};
        ServerCall *call = userdata;
        int r = 0;

        if (error == 0) {
                if (session_when_synced(s, on_ready, call) < 0)
                        on_ready(s, 0, call);
                return;
        }
        if (error == SNAPSHOT_E_EMPTY)
                r = refuse_state(&refusal, s,
                                 " and has nothing yet: none of its functions was "
                                 "called since it began, or since the last snapshot");
        else if (error == -ECANCELED)
                r = refuse_state(&refusal, s, ": it ended before the snapshot was there");
        else
                r = refusal_set_errno(&refusal, error < 0 ? -error : EIO,
                                      "no snapshot of session '%s' can be kept: %s",
                                      session_name(s), strerror(error < 0 ? -error : EIO));
        if (r == REFUSED)
                r = server_call_refuse(call, &refusal);
        (void) r; /* whoever asked has gone */
        (void) server_call_unref(call);
}

int method_snapshot(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        char reason[96];
        Session *s;
        int r = methods_get_session(m, call, parameters, METHODS_CHANGE, &s, refusal);

        if (r != 0)
                return r;
        if (!session_meta(s)->spec.ring)
                return refuse_state(refusal, s,
                                    ", and it is not a ring, which alone has snapshots: what it "
                                    "has stored can be drawn while it records");
        if (session_meta(s)->state != SESSION_RECORDING)
                return refuse_state(refusal, s, ", so there is nothing to keep a snapshot of");
        r = sessions_admit_snapshot(s, refusal, m->sessions);
        if (r != 0)
                return r;
        (void) snprintf(reason, sizeof(reason), "asked for by uid %u", (unsigned) call->who.uid);
        r = session_snapshot(s, reason, on_snapshot, server_call_ref(call));
        if (r < 0)
                (void) server_call_unref(call);
        return r;
}
