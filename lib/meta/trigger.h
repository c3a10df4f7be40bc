/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trigger: what an armed session waits for, and what it does then
 *
 * A rule is a text, as it stands in a spec and is shown: what to do, a space, what to wait for.
 *
 *      start,stop:10s function:nf_log_packet
 *      snapshot event:sched:sched_switch:prev_comm=="x"
 *
 *      start            record from now on
 *      stop[:TIME]      end the recording, TIME later
 *      snapshot[:TIME]  keep what a ring has as a session of its own, TIME later
 *
 *      command              only `ftracectl trigger`
 *      signal               SIGUSR2 to the daemon
 *      function:NAME        a function is called, by whomever
 *      event:SYS:NAME[:FILTER]   a tracepoint is passed; FILTER as the kernel's event filters
 *      return:NAME[:FILTER]      a function returns, by whomever it was called; FILTER is about `ret`
 *      slower:TIME          a root took TIME or longer
 *      count:N              the roots were called N times, all together, since it waits
 *      at:HH:MM[:SS]        a time of the day, local
 *      at:@SECONDS[.FRACTION]  a moment, which comes once: seconds since 1970, UTC
 *      in:TIME              that long after it was armed
 */

#include "meta/json-field.h"

#define TRIGGER_MAX 8               /* rules of a session */
#define TRIGGER_RULE_BYTES_MAX 1024 /* of a rule's text */
#define TRIGGER_WHY_MAX 192

typedef enum TriggerKind {
        TRIGGER_COMMAND,
        TRIGGER_SIGNAL,
        TRIGGER_FUNCTION,
        TRIGGER_EVENT,
        TRIGGER_RETURN,
        TRIGGER_SLOWER,
        TRIGGER_COUNT,
        TRIGGER_AT,
        TRIGGER_IN,
        _TRIGGER_KIND_N,
} TriggerKind;

typedef enum TriggerAction {
        TRIGGER_START,
        TRIGGER_STOP,
        TRIGGER_SNAPSHOT,
        _TRIGGER_ACTION_N,
} TriggerAction;

typedef struct Trigger {
        TriggerKind kind;
        bool does[_TRIGGER_ACTION_N];
        uint64_t delay_ns[_TRIGGER_ACTION_N];
        char *system;   /* of an event */
        char *name;     /* of a function or an event */
        char *filter;   /* NULL: none */
        uint64_t value; /* slower, in: ns; count: calls; at: seconds since midnight ... */
        bool is_moment; /* ... or, if that is set, ns since 1970 */
} Trigger;

/*
 * trigger_parse() - read a rule
 * @ret:  filled on success; trigger_done() it
 * @why:  on TRIGGER_E_INVALID what is wrong, half a sentence that quotes the word
 *
 * Return: 0, TRIGGER_E_INVALID, -ENOMEM.
 */
enum { TRIGGER_E_INVALID = 1 };
int trigger_parse(Trigger *ret, const char *rule, char why[static TRIGGER_WHY_MAX]);
bool trigger_rule_is_valid(const char *rule);
void trigger_done(Trigger *t);
#define _cleanup_trigger_ _cleanup_(trigger_done)

const char *trigger_rule_on(const char *rule); /* what it waits for: behind its first space */
int trigger_rule_n_do(const char *rule); /* how many bytes in front of that say what it does */
/* "@SECONDS[.FRACTION]" since 1970, UTC, of which nine digits count, and its [ns].  0 or -EINVAL; @text. */
#define TRIGGER_MOMENT_MAX 32
int trigger_read_moment(const char *text, uint64_t *ret);
char *trigger_write_moment(char text[static TRIGGER_MOMENT_MAX], uint64_t moment_ns);
/* True if some recording begins with it: start or snapshot. */
bool trigger_is_capture(const Trigger *t);

/*
 * Captures: what a session's triggers came to
 *
 * As JSON session.json's "captures":
 *
 *      { "n": 3, "times_ns": [176..., 176...],
 *        "triggers": [ { "fired": 3, "suppressed": 40, "last_ns": 176... } ] }
 *
 * "triggers" are those of the spec, in its order; "times_ns" are those of the last day at most,
 * since a cap may be one on a day's.  All times are CLOCK_REALTIME.
 */
#define CAPTURES_MAX_A_DAY 1000
#define CAPTURES_DAY_NS (UINT64_C(24) * 3600 * 1000000000)

typedef struct TriggerCount {
        uint64_t fired;      /* and something was done */
        uint64_t suppressed; /* and nothing was: too soon, too many, or one was under way */
        uint64_t last_ns;    /* when it fired last, 0: never */
} TriggerCount;

typedef struct Captures {
        uint64_t n; /* made in all */
        uint64_t *
                times_ns; /* n_times of them, ascending, of the last day; a JsonList, as the next */
        size_t n_times;
        TriggerCount *triggers;
        size_t n_triggers;
} Captures;

/* How long until there may be another [ns]; 0: now; UINT64_MAX: never.  Of the limits 0 is none. */
uint64_t captures_wait(const Captures *c, uint64_t max, uint64_t max_a_day, uint64_t min_gap_ns,
                       uint64_t now_ns);
int captures_note(Captures *c,
                  uint64_t now_ns); /* one is made now; 0 or -ENOMEM: no cap knows of it */
extern const JsonTable captures_table;
