/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The table in lib/meta/spec.c says for each member of a Spec what has to be allowed if a call has it.
 *
 * A glob is not expanded to see whether it is allowed: what it stands for changes with the modules
 * that are loaded.  It is compared as text, by a rule that can only err on the side of refusing.
 */

#include <fnmatch.h>

#include "base/array.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/api/api.h"
#include "meta/event-choice.h"
#include "meta/trigger.h"
#include "types/args-choice.h"

#define GLOB_CHARS "*?[\\"

int allowance_ask(unsigned *ret, const json_t *given, bool has_profile, Refusal *refusal) {
        unsigned asked = has_profile ? 0 : SPEC_ASKS_ALL;
        const char *name;
        json_t *value;

        json_object_foreach ((json_t *) given, name, value) {
                const SpecMember *member = spec_find_member(name);

                if (!member)
                        return refusal_set(
                                refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                "only root may use \"%s\": nothing in ftraced.conf allows "
                                "it. Ask root for a profile that has it",
                                NAME_QUOTED(name));
                asked |= member->asks;
        }
        *ret = asked;
        return 0;
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

/* A list of [Members], and what it is about. */
typedef struct Allowed {
        const Strv *list; /* NULL: everything */
        const char *what, *key;
} Allowed;

static int check_name(const Allowed *a, const char *verb, const char *asked, Refusal *refusal) {
        _cleanup_free_ char *list = NULL;

        if (!a->list || allowance_covers(a->list, asked))
                return 0;
        list = strv_join(a->list, " ");
        if (!list)
                return -ENOMEM;
        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                           "you may not %s the %s \"%s\": ftraced.conf allows its group %s %s "
                           "(%s= in [Members]). Ask root for that, or for a profile that has it",
                           verb, a->what, NAME_QUOTED(asked), a->list->n > 0 ? "only" : "none",
                           list, a->key);
}

static int check_names(const Allowed *a, const char *verb, const Strv *asked, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < asked->n; i++)
                r = check_name(a, verb, asked->items[i], refusal);
        return r;
}

/*
 * A filter may compare what is in the event, which could be recorded.  It may not follow an address in it
 * to what is in memory: of whoever passes it (.ustring), nor of the kernel, as a text that a system call's
 * argument is compared with does.  Whoever makes the call chooses the address, and would be told byte by
 * byte what is there (linux 6.1 kernel/trace/trace_events_filter.c, filter_assign_type(): "const char *",
 * parse_pred()).
 */
static bool follows_addresses(const char *system, const char *filter) {
        return strstr(filter, ".ustring") ||
               (startswith(system, "syscalls") && strpbrk(filter, "\"'~"));
}

static int check_event(const Allowed *a, const char *verb, const char *system, const char *name,
                       const char *filter, Refusal *refusal) {
        _cleanup_free_ char *text = NULL;
        int r;

        if (asprintf(&text, "%s:%s", system, name) < 0)
                return -ENOMEM;
        r = check_name(a, verb, text, refusal);
        if (r != 0 || !filter || !follows_addresses(system, filter))
                return r;
        return refusal_set(
                refusal, REFUSAL_PERMISSION_DENIED, NULL,
                "only root may filter the event \"%s\" by what is in memory behind an "
                "address in it (.ustring, texts of system calls). Ask root for a profile "
                "that does",
                NAME_QUOTED(text));
}

static int check_events(const Allowed *a, const char *verb, const Strv *events,
                        Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < events->n; i++) {
                EventChoice e = {};

                (void) event_choice_parse(&e, events->items[i]); /* it is valid */
                r = check_event(a, verb, e.system, e.name, e.filter, refusal);
        }
        return r;
}

/* One that is not here is nobody's but root's. */
static int check_trigger(const Allowed *functions, const Allowed *events, const char *rule,
                         Refusal *refusal) {
        _cleanup_trigger_ Trigger t = {};
        char why[TRIGGER_WHY_MAX];
        int r = trigger_parse(&t, rule, why);

        if (r < 0)
                return r;
        switch (r == 0 ? t.kind : _TRIGGER_KIND_N) {
        case TRIGGER_COMMAND: /* these are its own functions, a time, or who may end it anyway */
        case TRIGGER_SIGNAL:
        case TRIGGER_SLOWER:
        case TRIGGER_COUNT:
        case TRIGGER_AT:
        case TRIGGER_IN:
                return 0;
        case TRIGGER_FUNCTION:
                return check_name(functions, "wait for", t.name, refusal);
        case TRIGGER_EVENT:
                return check_event(events, "wait for", t.system, t.name, t.filter, refusal);
        case TRIGGER_RETURN: /* compared with numbers alone */
                r = check_name(functions, "wait for", t.name, refusal);
                if (r != 0 || !t.filter || !strpbrk(t.filter, ".\"'~"))
                        return r;
                break;
        case _TRIGGER_KIND_N:
                break;
        }
        return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                           "only root may wait for \"%s\". Ask root for a profile that does",
                           NAME_QUOTED(trigger_rule_on(rule)));
}

int allowance_check(const Limits *l, const Spec *spec, unsigned asked, Refusal *refusal) {
        static const Strv none = {};
        const Allowed functions = { l->member_functions, "function", "Functions" },
                      events = { l->member_events ?: &none, "event", "Events" };
        const struct {
                unsigned bit;
                const Strv *names;
                const char *verb;
        } lists[] = {
                { SPEC_ASKS_FUNCTIONS, &spec->functions, "record" },
                { SPEC_ASKS_NOTRACE, &spec->notrace, "leave out" },
                { SPEC_ASKS_HOOKED, &spec->hooked, "choose" },
                { SPEC_ASKS_FUNCTIONS, &spec->retval_functions, "probe" },
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < ELEMENTSOF(lists); i++)
                if (asked & lists[i].bit)
                        r = check_names(&functions, lists[i].verb, lists[i].names, refusal);
        for (size_t i = 0; r == 0 && asked & SPEC_ASKS_FUNCTIONS && i < spec->args_functions.n;
             i++) {
                _cleanup_free_ char *function = args_choice_function(spec->args_functions.items[i]);

                r = function ? check_name(&functions, "probe", function, refusal) : -ENOMEM;
        }
        if (r == 0 && asked & SPEC_ASKS_FUNCTIONS && spec_asks_for_fields(spec))
                r = refusal_set(
                        refusal, REFUSAL_PERMISSION_DENIED, NULL,
                        "only root may record what is behind arguments (--what, fields of "
                        "--args): it may be other users'. Ask root for a profile that does");
        if (r == 0 && asked & SPEC_ASKS_FUNCTIONS && spec->user_stack)
                r = refusal_set(
                        refusal, REFUSAL_PERMISSION_DENIED, NULL,
                        "only root may record where programs are (--user-stack): they may be other "
                        "users'. Ask root for a profile that does");
        if (r == 0 && spec->stack_bytes > 0) /* also what a profile says */
                r = refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                "only root may record copies of stacks (--user-stack=copy): there "
                                "are secrets of other users in them, and no profile lends that");
        if (r == 0 && (asked & SPEC_ASKS_EVENTS))
                r = check_events(&events, spec->black_box ? "have a black box record" : "record",
                                 &spec->events, refusal);
        for (size_t i = 0; r == 0 && (asked & SPEC_ASKS_TRIGGERS) && i < spec->triggers.n; i++)
                r = check_trigger(&functions, &events, spec->triggers.items[i], refusal);
        return r;
}

int allowance_admit(const MemberLimits *l, const AllowanceUse *use, Refusal *refusal) {
        if (l->max_sessions > 0 && use->n_sessions >= l->max_sessions)
                return refusal_set_quota(
                        refusal, "MaxSessions", l->max_sessions,
                        "%zu sessions of yours have not ended, and ftraced.conf allows "
                        "no more (MaxSessions= in [Members]); stop one of them first",
                        use->n_sessions);
        if (l->max_stored_bytes > 0 && use->stored_bytes >= l->max_stored_bytes)
                return refusal_set_quota(
                        refusal, "MaxStored", l->max_stored_bytes,
                        "the sessions of %s count as %s on disk, and ftraced.conf "
                        "allows %s (MaxStored= in [Members]); remove some of them first",
                        FORMAT_USER(use->uid), FORMAT_BYTES(use->stored_bytes),
                        FORMAT_BYTES(l->max_stored_bytes));
        return 0;
}

int allowance_narrow(const MemberLimits *l, const AllowanceUse *use, Spec *spec, Strv *warnings) {
        uint64_t room = l->max_stored_bytes - use->stored_bytes;

        if (l->max_stored_bytes == 0 || (spec->max_bytes > 0 && spec->max_bytes <= room))
                return 0;
        spec->max_bytes = room;
        return strv_addf(warnings,
                         "its size is limited to %s, what your sessions leave of MaxStored= in "
                         "[Members]",
                         FORMAT_BYTES(room));
}

int allowance_describe(const Limits *l, char **ret) {
        _cleanup_free_ char *functions =
                l->member_functions ? strv_join(l->member_functions, " ") : strdup("*");
        char at_once[40] = "";

        if (!functions)
                return -ENOMEM;
        if (l->member.max_sessions > 0)
                (void) snprintf(at_once, sizeof(at_once), ", %llu at once",
                                (unsigned long long) l->member.max_sessions);
        return text_format(ret, "functions %s%s", *functions ? functions : "of profiles alone",
                           at_once);
}
