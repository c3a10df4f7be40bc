/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From what somebody wants to be recorded to a session that records: its name, its limits, its admission. */

#include <ctype.h>
#include <sys/random.h>

#include "base/name.h"
#include "base/unit.h"
#include "daemon/api/api.h"

#define NAME_STEM_MAX 48 /* characters of a generated name before the -XXXX */
#define NAME_TRIES 64

/* "udp_*msg" becomes "udp_msg-4f1c"; so does a profile's name. */
static int make_name(Sessions *s, const char *function, char **ret) {
        char stem[NAME_STEM_MAX + 1];
        size_t n = 0;

        for (const char *p = function; *p && n < NAME_STEM_MAX; p++)
                if (isalnum((unsigned char) *p) || (n > 0 && (*p == '_' || *p == '-')))
                        stem[n++] = *p;
        stem[n] = 0;

        for (unsigned i = 0; i < NAME_TRIES; i++) {
                _cleanup_free_ char *name = NULL;
                uint16_t random;

                if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                        return ORIGIN(-errno);
                if (asprintf(&name, "%s-%04x", n > 0 ? stem : "session", random) < 0) {
                        name = NULL;
                        return -ENOMEM;
                }
                if (session_name_is_valid(name) && !sessions_find(s, name)) {
                        *ret = TAKE_PTR(name);
                        return 0;
                }
        }
        return ORIGIN(-EEXIST);
}

/* Root, or whoever the daemon belongs to, may ask for more than ftraced.conf allows; others get what
 * it allows. */
static int apply_guards(const Limits *l, SessionMeta *m) {
        bool may_raise = m->owner_uid == 0 || m->owner_uid == geteuid();
        size_t at;
        int r = 0;

        for (const ConfigKey *key = config_keys; r >= 0 && key->name; key++) {
                uint64_t *value, limit, asked;

                if (!config_limits_member(key, &at))
                        continue;
                value = (void *) ((char *) &m->spec + at);
                limit = *(const uint64_t *) (const void *) ((const char *) &l->spec + at);
                limit = MIN(limit ?: SPEC_UNLIMITED, SPEC_UNLIMITED);
                asked = *value;
                if (asked > 0 && (asked <= limit || may_raise))
                        continue;
                *value = limit;
                /* Who watches sees whether it takes long: a slow host is no danger. */
                if (asked == 0 && may_raise && m->spec.lesson == LESSON_WHOLE &&
                    value == &m->spec.max_cpu_ppm)
                        *value = SPEC_UNLIMITED;
                if (asked > 0)
                        r = strv_addf(&m->warnings,
                                      "only root may ask for more than %s= in ftraced.conf allows",
                                      key->name);
        }
        return r;
}

/* Writes into the spec what ftraced.conf says where the spec says nothing, and less where it says
 * too much. */
static int apply_limits(const Limits *l, SessionMeta *m) {
        Spec *spec = &m->spec;
        int r;

        r = apply_guards(l, m);
        if (r < 0)
                return r;
        /* 0 in a spec is "as ftraced.conf says", there it is "no limit". */
        spec->segment_bytes = spec->segment_bytes ?: l->max_segment_bytes ?: SPEC_UNLIMITED;
        spec->segment_ns = spec->segment_ns ?: l->max_segment_ns;
        if (spec->lean == LEAN_DEFAULT)
                spec->lean = (SpecLean) l->lean;
        if (spec->max_bytes == 0 && (spec->ring || l->session_is_limited))
                spec->max_bytes = l->max_session_bytes;
        if (!l->session_is_limited || spec->max_bytes <= l->max_session_bytes)
                return 0;
        spec->max_bytes = l->max_session_bytes;
        return strv_addf(&m->warnings, "its size is limited to %s by MaxSessionSize=",
                         FORMAT_BYTES(l->max_session_bytes));
}

int sessions_prepare(Sessions *s, Janitor *j, const SessionRequest *q, Refusal *refusal) {
        const Limits *l = s->context.limits;
        SessionMeta *m = q->meta;
        AllowanceUse use;
        int r;

        if (m->name && sessions_find(s, m->name))
                return refusal_set_of(
                        refusal, REFUSAL_SESSION_EXISTS, "session", m->name,
                        "a session named \"%s\" exists; choose another name, or remove "
                        "it with \"ftracectl remove %s\"",
                        m->name, m->name);
        r = j ? janitor_has_room(j, refusal) : 0;
        if (r == 0 && !m->name)
                r = make_name(s, m->profile ?: m->spec.functions.items[0], &m->name);
        if (r == 0 && q->is_member) {
                use = sessions_use_of(s, m->owner_uid);
                r = allowance_check(l, &m->spec, q->asked, refusal)
                            ?: allowance_admit(&l->member, &use, refusal)
                            ?: allowance_narrow(&l->member, &use, &m->spec, &m->warnings);
        }
        return r ?: apply_limits(l, m);
}

/* First, so that whoever draws them live is ready for what the new roots bring.  @told: those
 * for whom it is news. */
static int tell_neighbours(Sessions *s, const SessionMeta *m, Strv *told) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_awake; i++)
                if (session_add_neighbour(s->awake[i], m->name))
                        r = strv_add(told, session_name(s->awake[i]));
        return r;
}

int sessions_start(Sessions *s, Janitor *j, Session **ret, SessionRequest *q, Refusal *refusal) {
        _cleanup_(admission_freep) Admission *admission = NULL;
        _cleanup_strv_ Strv told = {};
        Session *session = NULL;
        int r = sessions_prepare(s, j, q, refusal);

        /* All that can be asked before anything is made, and before anybody is told of a neighbour. */
        r = r
                    ?: controller_admit(s->context.controller, &admission, q->meta, q->force, false,
                                        refusal);
        if (r != 0)
                return r;
        s->is_starting = true;
        r = tell_neighbours(s, q->meta, &told);
        if (r >= 0)
                r = session_start(&session, &s->context, q->meta, admission, q->peer, refusal);
        s->is_starting = false;
        if (r != 0) {
                for (size_t i = 0; i < s->n_awake; i++)
                        if (strv_contains(&told, session_name(s->awake[i])))
                                session_drop_neighbour(s->awake[i], q->meta->name);
                return r;
        }
        q->meta = NULL;
        r = sessions_add(s, session);
        if (r < 0)
                return r;
        *ret = session;
        s->context.changed(session, s);
        return 0;
}
