/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spec: what a session records
 *
 * Made by the client from its command line, carried as JSON by the wire, kept
 * as JSON in session.json.  The JSON keys are the struct's names; keys with
 * their default are left out; unknown keys are refused by name.
 */

#include "meta/json-field.h"

#define SPEC_MAX_ROOTS 4096            /* patterns in one list */
#define SPEC_DEFAULT_MAX_FUNCTIONS 200 /* roots after expansion */
#define SPEC_DEFAULT_BUFFER_BYTES (8ULL << 20)
#define SPEC_SEGMENT_BYTES_MIN (64ULL << 10)
#define SPEC_SEGMENT_NS_MIN 1000000000ULL
#define SPEC_DEPTH_MAX 50 /* FTRACE_RETFUNC_DEPTH, linux 6.1 include/linux/ftrace.h */

/* What a session does when the disk takes no more pages. */
typedef enum SpecOnFull {
        SPEC_ON_FULL_WAIT, /* leave them in the kernel's buffer until it does */
        SPEC_ON_FULL_STOP, /* end with what there is */
        _SPEC_ON_FULL_N,
} SpecOnFull;

const char *spec_on_full_name(SpecOnFull o); /* "wait", "stop" */

/* Which functions are hooked. */
typedef enum SpecLean {
        LEAN_DEFAULT, /* as ftraced.conf says */
        LEAN_OFF,     /* all of the kernel's */
        LEAN_FULL,    /* those that were learned: of earlier versions, and refused now */
        LEAN_AUTO,    /* what the roots call, and where tasks wait */
        _LEAN_N,
} SpecLean;

/* "default", "off", "full", "auto": the value, or -EINVAL. */
int spec_lean_from_name(const char *s);

/* What happens with lean=auto while nobody knows what the roots call. */
typedef enum SpecLesson {
        LESSON_YES, /* all functions are hooked for a moment */
        LESSON_NO,  /* the roots and where tasks wait are hooked */
        LESSON_WHOLE, /* all functions are hooked as long as it takes, and nothing is left out: somebody watches */
        _LESSON_N,
} SpecLesson;

/* A limit that ended a session (daemon/watch/watch.h). */
typedef enum SessionLimit {
        SESSION_LIMIT_NONE,
        SESSION_LIMIT_EVENT_RATE,
        SESSION_LIMIT_WRITE_RATE,
        SESSION_LIMIT_CPU,
        _SESSION_LIMIT_N,
} SessionLimit;
extern const char *const session_limit_names[_SESSION_LIMIT_N]; /* "none", "max_event_rate", ... */

typedef struct Spec {
        Strv functions;       /* names and globs whose call trees are recorded; at least one */
        Strv notrace;         /* names and globs that are left out with all below them */
        Strv pids;            /* decimal, with all their threads and children; empty: every task */
        Strv comms;           /* names of tasks; likewise */
        Strv cgroups;         /* paths of control groups, with all below them; likewise */
        Strv cpus;            /* "3", "0-3": what happens on these; empty: on all */
        bool flat;            /* the functions alone, not what they call */
        uint64_t slower_ns;   /* only calls that take so long; 0: all */
        bool no_irqs;         /* not what interrupts call */
        bool no_sleep_time;   /* times without those in which the task slept */
        char *clock;          /* the trace clock; NULL: SPEC_DEFAULT_CLOCK */
        uint64_t depth;       /* levels recorded from the root; 0: all */
        uint64_t duration_ns; /* ends the session; 0: no end */
        uint64_t max_bytes;   /* of pages stored, ends the session; 0: no limit */
        uint64_t segment_bytes; /* of one CPU's pages in a segment; 0: as ftraced.conf says */
        uint64_t segment_ns;    /* length of a period; 0: as ftraced.conf says */
        bool ring;              /* max_bytes does not end it: the oldest is dropped instead */
        uint64_t buffer_bytes;  /* the kernel's buffer for each CPU */
        uint64_t max_functions; /* more roots than this after expansion are refused */
        SpecOnFull on_full;
        SpecLean lean; /* which functions are hooked */
        SpecLesson lesson;
        uint64_t budget_ppm; /* what lean=auto may cost others [millionths] */
        Strv events;         /* recorded beside the calls (meta/event-choice.h); each name once */
        bool args; /* the roots' arguments, or all calls', where the kernel records them by itself */
        bool retval; /* and what the roots return, where the kernel does it by itself what all do */
        bool kernel_stack; /* and who calls the roots: the kernel's stack above each call of one */
        bool user_stack;   /* and above that the program's own (spaces/spaces.h) */
        uint64_t stack_bytes;  /* of each stack that are copied besides, to be unwound; 0: none */
        uint64_t stack_every;  /* of so many calls on a CPU one; 0: of each */
        bool whose;            /* and whose tasks are (lib/owner/owners.h) */
        Strv retval_functions; /* names and globs: what these return, too */
        Strv args_functions;   /* the same for arguments, or of fields (types/args-choice.h) */
        bool what;             /* and what the roots work on: files, ports, devices, tasks */
        Strv hooked;           /* names and globs: only these and the roots are recorded */
        /* Past these a session is not begun, or ends; 0: as ftraced.conf says. */
        uint64_t max_hooked;     /* functions that `hooked` and the like stand for */
        uint64_t max_event_rate; /* events a second */
        uint64_t max_write_rate; /* bytes of pages stored in a second */
        uint64_t max_cpu_ppm;    /* what storing them takes of a CPU [millionths] */
        Strv triggers;           /* rules (meta/trigger.h); with any it is armed */
        bool in_kernel;          /* a ring that is in the kernel's buffer alone until a snapshot */
        bool black_box; /* in the buffer that survives a reboot (daemon/instances/instance.h); in_kernel, too */
        uint64_t max_captures, max_captures_a_day; /* by triggers; 0: no limit */
        uint64_t min_gap_ns;                       /* between two of them */
        uint64_t
                sample_ppm; /* share of the hosts that record it [millionths]; 0: it is no sample */
} Spec;

#define SPEC_DEFAULT_BUDGET_PPM 20000
#define SPEC_DEFAULT_STACK_BYTES 8192
#define SPEC_STACK_BYTES_MIN 1024
#define SPEC_STACK_BYTES_MAX 49152 /* a record has less than 64 KiB */
#define SPEC_STACK_EVERY_MAX 1000000
#define SPEC_MAX_EVENTS 256
#define SPEC_MAX_VALUES 64 /* patterns in each of the two lists of functions with values */
#define SPEC_DEFAULT_CLOCK "mono"
#define SPEC_MAX_HOOKED 16384 /* patterns */
#define SPEC_PID_MAX 4194304  /* PID_MAX_LIMIT, linux 6.1 include/linux/threads.h, 64 bit */
#define SPEC_MAX_COMMS 16
#define SPEC_MAX_CGROUPS 64
#define SAMPLE_ALL_PPM 1000000  /* sample_ppm of all hosts */
#define SPEC_SLOWER_NS_MIN 1000 /* what tracing_thresh counts in */

/* Of the four max_hooked to max_cpu_ppm, and of segment_bytes: what reads JSON with numbers as
 * doubles gives it back as it is. */
#define SPEC_UNLIMITED (UINT64_C(1) << 53)
#define SPEC_DEFAULT_CAPTURES_A_DAY 20
#define SPEC_DEFAULT_GAP_NS (UINT64_C(10) * 1000000000)

#define SPEC_INIT                                                                                  \
        ((Spec){ .buffer_bytes = SPEC_DEFAULT_BUFFER_BYTES,                                        \
                 .max_functions = SPEC_DEFAULT_MAX_FUNCTIONS,                                      \
                 .budget_ppm = SPEC_DEFAULT_BUDGET_PPM,                                            \
                 .max_captures_a_day = SPEC_DEFAULT_CAPTURES_A_DAY,                                \
                 .min_gap_ns = SPEC_DEFAULT_GAP_NS })

/* How a profile says a member, KEY=VALUE (meta/profile.c). */
typedef enum SpecValue {
        SPEC_VALUE_WORDS, /* separated by blanks or commas; each assignment adds to those before */
        SPEC_VALUE_LINE,  /* a list, too, each assignment one of it */
        SPEC_VALUE_WORD,
        SPEC_VALUE_NUMBER,
        SPEC_VALUE_COUNT,
        SPEC_VALUE_BYTES,
        SPEC_VALUE_DURATION,
        SPEC_VALUE_PERCENT,
        SPEC_VALUE_SAMPLE,
        SPEC_VALUE_BOOL,
} SpecValue;

/* What a member of ftraced's group has to be allowed who says it (daemon/api/allowance.c). */
typedef enum SpecAsks {
        SPEC_ASKS_FUNCTIONS = 1 << 0,
        SPEC_ASKS_NOTRACE = 1 << 1,
        SPEC_ASKS_HOOKED = 1 << 2,
        SPEC_ASKS_EVENTS = 1 << 3,
        SPEC_ASKS_TRIGGERS = 1 << 4,
        SPEC_ASKS_ALL = (1 << 5) - 1,
} SpecAsks;

/* All that is told of a member, but for its option (cli/options/options.c). */
typedef struct SpecMember {
        JsonField json; /* its key is the member's name */
        const char *key;
        SpecValue value;
        unsigned asks; /* of SpecAsks */
} SpecMember;

const SpecMember *spec_member(size_t i); /* NULL: there are no more */
const SpecMember *spec_find_member(const char *name);

json_t *spec_to_json(const Spec *spec); /* NULL without memory */
/* Adds the member at @offset in a Spec to @o, also if it has its default.  0, -ENOENT, -ENOMEM. */
int spec_member_to_json(json_t *o, const Spec *spec, size_t offset);

/*
 * Checks types, ranges and every name (base/name.h), and adds what a black box brings along; whether its members go
 * together is checked by whoever arms it.
 * Return: 0, SPEC_E_INVALID (*@ret_field is the key, and lives as long as @o), -ENOMEM.
 */
enum { SPEC_E_INVALID = 1 };
int spec_from_json(Spec *ret, const json_t *o, const char **ret_field);
int spec_copy(Spec *ret, const Spec *spec);
/* Of arguments, not only of fields; of fields or what roots work on. */
bool spec_asks_for_args(const Spec *spec);
bool spec_asks_for_fields(const Spec *spec);
void spec_done(Spec *spec);
#define _cleanup_spec_ _cleanup_(spec_done)
