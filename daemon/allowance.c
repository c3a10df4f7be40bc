/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A glob is not expanded to see whether it is allowed: what it stands for changes with the modules
 * that are loaded.  It is compared as text, by a rule that can only err on the side of refusing.
 */

#include <fnmatch.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/allowance.h"

#define GLOB_CHARS "*?[\\"

unsigned allowance_asked(const json_t *given, bool has_profile) {
        static const struct {
                const char *member;
                unsigned bit;
        } members[] = {
                { "functions", ALLOWANCE_FUNCTIONS }, { "events", ALLOWANCE_EVENTS },
                { "depth", ALLOWANCE_DEPTH },         { "duration_ns", ALLOWANCE_DURATION },
                { "max_bytes", ALLOWANCE_SIZE },
        };
        unsigned asked = 0;

        if (!has_profile)
                return ALLOWANCE_ALL;
        for (size_t i = 0; i < ELEMENTSOF(members); i++)
                if (json_object_get(given, members[i].member))
                        asked |= members[i].bit;
        return asked;
}

bool allowance_covers(const Strv *allowed, const char *pattern) {
        size_t n_plain = strcspn(pattern, GLOB_CHARS);
        bool is_name = !pattern[n_plain];

        for (size_t i = 0; i < allowed->n; i++) {
                const char *a = allowed->items[i];
                size_t n = strcspn(a, GLOB_CHARS);

                if (streq(a, pattern) || (is_name && fnmatch(a, pattern, 0) == 0))
                        return true;
                if (streq(a + n, "*") && n <= n_plain && strncmp(a, pattern, n) == 0)
                        return true;
        }
        return false;
}

static int refuse_one(const Strv *allowed, const char *what, const char *key, const char *asked,
                      Refusal *refusal) {
        _cleanup_free_ char *list = strv_join(allowed, " ");
        char quoted[NAME_QUOTE_MAX];

        if (!list)
                return -ENOMEM;
        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                           "you may not record the %s '%s': ftraced.conf allows its group %s %s "
                           "(%s= in [Members]). Ask root for that, or for a profile that has it",
                           what, name_quote(quoted, asked), allowed->n > 0 ? "only" : "none", list,
                           key);
}

int allowance_check(const Limits *l, const Spec *spec, unsigned asked, Refusal *refusal) {
        static const Strv none = {};
        const Strv *events = l->member_events ?: &none;

        if ((asked & ALLOWANCE_FUNCTIONS) && l->member_functions)
                for (size_t i = 0; i < spec->functions.n; i++)
                        if (!allowance_covers(l->member_functions, spec->functions.items[i]))
                                return refuse_one(l->member_functions, "function", "Functions",
                                                  spec->functions.items[i], refusal);
        if (asked & ALLOWANCE_EVENTS)
                for (size_t i = 0; i < spec->events.n; i++) {
                        const char *e = spec->events.items[i], *colon = strchr(e, ':');
                        size_t n = colon ? (size_t) (colon - e) + 1 + strcspn(colon + 1, ":")
                                         : strlen(e);
                        _cleanup_free_ char *name = strndup(e, n);

                        if (!name)
                                return -ENOMEM;
                        if (!allowance_covers(events, name))
                                return refuse_one(events, "event", "Events", name, refusal);
                }
        return 0;
}

int allowance_admit(const Limits *l, const AllowanceUse *use, Refusal *refusal) {
        char used[UNIT_TEXT_MAX], limit[UNIT_TEXT_MAX];
        const MemberLimits *m = &l->member;

        if (m->max_sessions > 0 && use->n_sessions >= m->max_sessions)
                return refusal_set(refusal, REFUSAL_QUOTA_EXCEEDED,
                                   json_pack("{s:s, s:I}", "quota", "MaxSessions", "limit",
                                             (json_int_t) m->max_sessions),
                                   "%zu sessions of yours have not ended, and ftraced.conf allows "
                                   "no more (MaxSessions= in [Members]); stop one of them first",
                                   use->n_sessions);
        if (m->max_stored_bytes > 0 && use->stored_bytes >= m->max_stored_bytes)
                return refusal_set(refusal, REFUSAL_QUOTA_EXCEEDED,
                                   json_pack("{s:s, s:I}", "quota", "MaxStored", "limit",
                                             (json_int_t) m->max_stored_bytes),
                                   "your sessions take %s on disk, and ftraced.conf allows %s "
                                   "(MaxStored= in [Members]); remove some of them first",
                                   format_bytes(used, use->stored_bytes),
                                   format_bytes(limit, m->max_stored_bytes));
        return 0;
}

/* Whether @value, of which 0 is no limit, had to become smaller. */
static bool narrow(uint64_t *value, uint64_t limit) {
        bool had_none = *value == 0;

        if (limit == 0 || (!had_none && *value <= limit))
                return false;
        *value = limit;
        return true;
}

int allowance_narrow(const Limits *l, const AllowanceUse *use, unsigned asked, Spec *spec,
                     Strv *warnings) {
        const MemberLimits *m = &l->member;
        char text[UNIT_TEXT_MAX], warning[160];
        uint64_t room = m->max_stored_bytes > use->stored_bytes
                                ? m->max_stored_bytes - use->stored_bytes
                                : 0;
        int r = 0;

        if ((asked & ALLOWANCE_DEPTH) && narrow(&spec->depth, m->max_depth)) {
                (void) snprintf(warning, sizeof(warning),
                                "its depth is limited to %llu by MaxDepth= in [Members]",
                                (unsigned long long) spec->depth);
                r = strv_add(warnings, warning);
        }
        if (r >= 0 && (asked & ALLOWANCE_DURATION) &&
            narrow(&spec->duration_ns, m->max_duration_ns)) {
                (void) snprintf(warning, sizeof(warning),
                                "its duration is limited to %s by MaxDurationSec= in [Members]",
                                format_duration(text, spec->duration_ns));
                r = strv_add(warnings, warning);
        }
        if (r >= 0 && (asked & ALLOWANCE_SIZE) && narrow(&spec->max_bytes, m->max_bytes)) {
                (void) snprintf(warning, sizeof(warning),
                                "its size is limited to %s by MaxSize= in [Members]",
                                format_bytes(text, spec->max_bytes));
                r = strv_add(warnings, warning);
        }
        if (r >= 0 && narrow(&spec->max_bytes, room)) {
                (void) snprintf(warning, sizeof(warning),
                                "its size is limited to %s, what your sessions leave of MaxStored= "
                                "in [Members]",
                                format_bytes(text, spec->max_bytes));
                r = strv_add(warnings, warning);
        }
        return r;
}

int allowance_describe(const Limits *l, char **ret) {
        _cleanup_free_ char *functions =
                l->member_functions ? strv_join(l->member_functions, " ") : strdup("*");
        _cleanup_buf_ Buf out = BUF_INIT;
        const MemberLimits *m = &l->member;
        char text[UNIT_TEXT_MAX];

        if (!functions)
                return -ENOMEM;
        buf_printf(&out, "functions %s", *functions ? functions : "of profiles alone");
        if (m->max_depth > 0)
                buf_printf(&out, ", depth %llu", (unsigned long long) m->max_depth);
        if (m->max_duration_ns > 0)
                buf_printf(&out, ", at most %s", format_duration(text, m->max_duration_ns));
        if (m->max_bytes > 0)
                buf_printf(&out, ", at most %s", format_bytes(text, m->max_bytes));
        if (m->max_sessions > 0)
                buf_printf(&out, ", %llu at once", (unsigned long long) m->max_sessions);
        return buf_take_string(&out, ret);
}
