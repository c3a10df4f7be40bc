/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Outliers: the outermost calls that took longest, each with its own tree
 *
 * Calls in which ftraced changed what is hooked (meta/gap.h) are left out, and idle ones if that is wanted.  Beside
 * them a sample of the calls of each root is kept, OUTLIERS_SAMPLES of them, drawn evenly from all; the one of these that
 * took nearest to the median stands for what is usual; of idle ones, if these are told apart, there is a sample as well.
 * Of more than OUTLIERS_ROOTS roots the others have no median.
 *
 * For a timeline the slowest can also keep their spans: when each call below began and ended, and
 * where the task was off the CPU, the longest n_spans of them, and the usual ones half as many.  A call's
 * span is no longer than that of who called it, so what is kept has its callers.
 */

#include "analyze/call-tree.h"
#include "analyze/quantiles.h"
#include "causes/waits.h"

#define OUTLIERS_SAMPLES 32
#define OUTLIERS_ROOTS 64

/* A call of an invocation, or a time off the CPU. */
typedef struct InvocationSpan {
        const Function *function;  /* NULL: off the CPU */
        uint64_t begin_ns, end_ns; /* within its caller's; trace clock */
        uint64_t blocked_ns;       /* of its own time, waited */
        int32_t level;             /* 0: the outermost call */
        bool in_irq;
        bool is_cut;
        Waker waker;    /* of a time off the CPU; like the next two */
        bool is_woken;  /* somebody was seen to */
        bool is_forced; /* it was preempted */
} InvocationSpan;

/* An outermost call. */
typedef struct Invocation {
        const Function *root;
        uint64_t number;               /* among the outermost calls, by their beginnings, from 1 */
        uint64_t start_ns;             /* trace clock */
        uint64_t duration_ns, most_ns; /* as a Call has them */
        uint64_t blocked_ns, irq_ns;
        uint32_t cpu; /* on which it ended */
        int32_t pid;
        char comm[16];
        Object *object;                   /* NULL: its own was not recorded */
        const Callers *callers, *program; /* NULL: likewise; the source's */
        bool is_cut;
        CallTree *tree;        /* finished, when it is asked for */
        InvocationSpan *spans; /* if they are kept, by their beginnings; callers first */
        size_t n_spans, n_spans_left_out;
        size_t n_spans_room; /* the outliers' own, like what follows */
        unsigned n_uses;
        bool is_slow; /* among the slowest */
        bool is_idle;
        struct Invocation *next, *next_spare;
} Invocation;

typedef struct Outliers {
        Invocation **slowest; /* after outliers_finish(): the slowest first */
        size_t n;
        Idle idle;

        /* Its own: */
        size_t n_wanted, n_spans; /* n_spans: of each that are kept; 0: none */
        size_t n_slowest[2];      /* of others, and of idle ones, which stand from n_wanted on */
        Invocation *all, *spare;  /* all there are, and of them those that are in no use */
        struct OutlierRoot {
                const Function *function;
                Quantiles all, busy; /* busy: not the idle ones, if these are told apart */
                Invocation *samples[2][OUTLIERS_SAMPLES]; /* likewise, as n */
                uint64_t n[2];
        } roots[OUTLIERS_ROOTS];
        size_t n_roots;
        uint64_t random;
} Outliers;

/* A sink of @pairing, which must outlive its last step.  0 or -ENOMEM. */
int outliers_new(Outliers **ret, Pairing *pairing, size_t n_wanted);
/* Before the first step.  Sets @pairing to place calls and to tell of waits. */
void outliers_keep_spans(Outliers *s, Pairing *pairing, size_t n_spans);
/* After the last call.  0 or -ENOMEM. */
int outliers_finish(Outliers *s);
/* Of the same root, near the median; NULL: there is none. */
const Invocation *outliers_usual(const Outliers *s, const Invocation *slow);
/* How long calls of its root took; NULL: that was not counted. */
const Quantiles *outliers_quantiles(const Outliers *s, const Invocation *slow);
Outliers *outliers_free(Outliers *s);
DEFINE_CLEANUP(Outliers *, outliers_free);
