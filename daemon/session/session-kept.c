/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session that came without a word of when it was kept, from an older ftraced or from another store,
 * is taken for kept when it is first asked (retention/vacuum.h), and the janitor has that written down when
 * there is time.
 */

#include "base/array.h"
#include "daemon/session/session-kept.h"
#include "retention/vacuum.h"

void session_kept_note(SessionMeta *m, const Uptime *u) {
        if (text_replace(&m->kept_of, u->id) >= 0)
                m->kept_ns = uptime_now(u);
}

uint64_t session_kept_at(SessionMeta *m, const Uptime *u, SessionKeptNews *ret) {
        uint64_t kept_ns = vacuum_kept_ns(m, u, uptime_now(u));
        bool is_guessed;

        *ret = SESSION_KEPT_NO_NEWS;
        if (session_state_is_live(m->state) || (m->kept_of && streq(m->kept_of, u->id)))
                return kept_ns;
        is_guessed = vacuum_kept_ns(m, u, UINT64_MAX) == UINT64_MAX;
        if (session_kept_set(m, u, kept_ns) >= 0)
                *ret = is_guessed ? SESSION_KEPT_GUESSED : SESSION_KEPT_CONVERTED;
        return kept_ns;
}

int session_kept_set(SessionMeta *m, const Uptime *u, uint64_t kept_ns) {
        int r = text_replace(&m->kept_of, u->id);

        if (r >= 0)
                m->kept_ns = kept_ns;
        return r;
}

/* @at_ns in the time of the clock on the wall. */
static int add_time(json_t *o, const char *key, uint64_t at_ns, const Uptime *u) {
        return json_object_set_new(
                o, key,
                json_integer((json_int_t) MIN(uptime_to_realtime(u, at_ns), (uint64_t) INT64_MAX)));
}

int session_kept_to_json(json_t *o, uint64_t kept_ns, const Uptime *u, const Limits *limits) {
        RetainItem item = { .kept_ns = kept_ns };
        RetainLimits l = vacuum_limits(limits);
        uint64_t now = uptime_now(u), stays_ns = retain_stays_until(&item, &l, now),
                 goes_ns = retain_goes_at(&item, &l, now);
        int r = 0;

        if (stays_ns > now)
                r = add_time(o, "stays_until_ns", stays_ns, u);
        if (r >= 0 && goes_ns < UINT64_MAX)
                r = add_time(o, "goes_at_ns", goes_ns, u);
        return r;
}
