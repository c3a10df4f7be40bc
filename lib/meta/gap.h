/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gap: a stretch of time of which a recording may lack something, and why
 *
 * The counts of a CPU's account say how much was lost; a gap says where.  From
 * and to are the narrowest bounds that whoever noted it knew: an overrun lies
 * between two looks at the kernel's counters, a tracer that was switched off
 * between the two writes to its file.  Pages that follow lost events carry the
 * kernel's own mark, so a reader can narrow an overrun down (store/page.h).
 *
 * As JSON an element of session.json's "gaps":
 *
 *      { "cause": "overrun", "cpu": 3, "from_ns": 812..., "to_ns": 814..., "events": 2646 }
 *
 * Absent members: cpu (all of them), to_ns (it lasts), events (not known),
 * pages (none), count (one).
 */

#include "meta/json-field.h"

typedef enum GapCause {
        GAP_OVERRUN,       /* the kernel's buffer was full: its oldest events gave way */
        GAP_DROPPED,       /* the same, and the new events were not taken */
        GAP_INTERRUPTED,   /* the buffer wrapped while an interrupted writer held its page */
        GAP_CLEARED,       /* somebody emptied the buffer (trace, trace_clock, its size, a probe) */
        GAP_TRACING_OFF,   /* somebody wrote 0 to tracing_on */
        GAP_TRACER_OFF,    /* somebody wrote another tracer to current_tracer */
        GAP_FTRACE_OFF,    /* sysctl kernel.ftrace_enabled was 0 */
        GAP_CLOCK_CHANGED, /* somebody chose another trace_clock: times do not compare */
        GAP_FILTER_CHANGED, /* set_graph_function, set_ftrace_filter, ... are not what we wrote */
        GAP_NO_SPACE,       /* the disk was full (ENOSPC, EDQUOT): pages were read and not stored */
        GAP_DISK_FAILED,    /* the disk refused otherwise (EIO, EROFS, ...): the same */
        GAP_DAEMON_GONE,    /* nobody read the buffer, or what was in a pipe died with its daemon */
        GAP_ROOT_GONE,      /* a root's module came back, and it was not a root again yet */
        GAP_NOT_WRITTEN, /* pages were stored, and the disk failed when the kernel wrote them back */
        GAP_ROOTS_CHANGED, /* the tracer was quiesced while roots of others came or went */
        GAP_SNAPSHOT, /* of a black box: recording was off, and what is before was read and may be gone */
        GAP_NOT_RESCUED, /* a CPU's part of a black box was empty after the crash, and was not before */
        _GAP_CAUSE_N,
} GapCause;

/* Its word in JSON, and a sentence without a full stop. */
extern const char *const gap_causes[_GAP_CAUSE_N][2];
const char *gap_cause_sentence(GapCause c); /* "the kernel's buffer was full" */

#define GAP_ALL_CPUS UINT32_MAX
#define GAP_OPEN UINT64_MAX    /* to_ns: it has not ended */
#define GAP_UNKNOWN UINT64_MAX /* n_events */

typedef struct Gap {
        uint32_t cpu; /* or GAP_ALL_CPUS */
        GapCause cause;
        uint64_t from_ns, to_ns; /* trace clock; to_ns may be GAP_OPEN */
        uint64_t n_events;       /* or GAP_UNKNOWN */
        uint64_t n_pages;        /* read from the kernel and not stored */
        uint64_t n_merged;       /* gaps that this one stands for; 0 and 1: itself */
} Gap;

/* In the order in which they were noted. */
typedef struct Gaps {
        Gap *items;
        size_t n;
} Gaps;

#define GAPS_MAX 1000
/* On reading: what merging cannot merge may be added to GAPS_MAX, two of each cause. */
#define GAPS_READ_MAX (GAPS_MAX + 2 * _GAP_CAUSE_N)

/*
 * gaps_add() - note one more
 *
 * What begins before the last one of the same CPU and cause has ended lengthens that one.  From
 * GAPS_MAX on a gap is merged into the last one of its CPU and cause, which then reaches from the
 * earliest to the latest and counts how many it is; where there is none, into the one of the cause
 * for all CPUs.  What is not known is never added to what was counted: the sums over all gaps are
 * those of the accounts.
 * Return: 0 or -ENOMEM.
 */
int gaps_add(Gaps *g, const Gap *gap);
/* Ends all open gaps of @cause; with _GAP_CAUSE_N of every cause. */
void gaps_close(Gaps *g, GapCause cause, uint64_t to_ns);

extern const JsonTable gap_table; /* whoever has a list of them frees its items */

/*
 * Something that is wrong with a recording at the moment
 *
 * A session that has any is degraded: it goes on, and may lack something later.
 * What it then lacks is a gap.
 *
 * As JSON an element of session.json's "degraded":
 *
 *      { "cause": "no_space", "since_ns": 176..., "reason": "storing pages failed: ..." }
 */
typedef struct Condition {
        GapCause cause;
        uint64_t since_ns; /* CLOCK_REALTIME */
        char *reason;      /* one sentence */
} Condition;

/* At most one of each cause. */
typedef struct Conditions {
        Condition *items;
        size_t n;
} Conditions;

const Condition *conditions_find(const Conditions *c, GapCause cause);
/* @cause holds from @since_ns; if it did before, only the reason is new.  1 if that changes
 * anything, 0, -ENOMEM. */
int conditions_set(Conditions *c, GapCause cause, uint64_t since_ns, const char *reason);
bool conditions_clear(Conditions *c, GapCause cause); /* whether there was one */
void conditions_done(Conditions *c);

extern const JsonTable condition_table;

/*
 * HookChange: what was hooked for a recording, since when
 *
 * What is hooked may become less while a session records, when a lesson is over or calls cost more than they may; and
 * more, when the load has gone, or for a while to see whether the roots call more by now.  Nothing that was
 * recorded goes because of it, but what is not recorded differs, and a reader may want to know.
 */
typedef enum HookReason {
        HOOK_NARROWED, /* to what the roots are known to call: a lesson is over */
        HOOK_WIDENED,  /* to all, to learn what they call by now */
        HOOK_SPARED,   /* what others call often; by earlier versions */
        HOOK_MODULES,  /* to what modules that came have of it */
        HOOK_THINNED,  /* by what costs more than it may */
        HOOK_RESTORED, /* by what costs less again */
        _HOOK_REASON_N,
} HookReason;

typedef struct HookChange {
        uint64_t trace_ns; /* on the session's trace clock */
        HookReason reason;
        uint32_t n_hooked, n_known; /* as in SessionMeta, from then on */
} HookChange;

typedef struct HookChanges {
        HookChange *items; /* n of them, in order of time; the oldest go when they are too many */
        size_t n;
} HookChanges;

#define HOOK_CHANGES_MAX 100

const char *hook_reason_text(HookReason r);                     /* "narrowed to what was learned" */
int hook_changes_add(HookChanges *h, const HookChange *change); /* 0 or -ENOMEM */
extern const JsonTable hook_change_table;                       /* none before the last one */

/*
 * OwnWork: when ftraced itself changed what is hooked while a session recorded
 *
 * Meanwhile the kernel patches code, holds locks and interrupts all CPUs, so a call that overlaps such a window may
 * be slow because of us.  Windows are on the session's trace clock, in order, and do not overlap.
 */
typedef struct OwnWork {
        uint64_t from_ns, to_ns;
} OwnWork;

typedef struct OwnWorks {
        OwnWork *items; /* n of them */
        size_t n;
} OwnWorks;

#define OWN_WORKS_MAX 256

/* What it touches, and what is later, is joined to it; of too many, the two with the least in between are.
 * 0 or -ENOMEM. */
int own_works_add(OwnWorks *w, uint64_t from_ns, uint64_t to_ns);
bool own_works_overlap(const OwnWorks *w, uint64_t from_ns, uint64_t to_ns);
extern const JsonTable own_work_table;
