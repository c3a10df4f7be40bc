/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why: what slow calls have that usual ones have not
 *
 * The means of two cohorts (Cohorts) are compared path by path.  Their difference is divided into causes
 * that add up to it exactly:
 *
 *      running   a function under a path takes longer by itself, each time
 *      waiting   it waits longer, each time
 *      calls     it is called more often, or less, each time its caller is; each such call counts as a
 *                usual one, with all that is below it
 *      only      only slow calls have it at all; with all that is below it
 *      never     only usual calls have it
 *
 * With n, own time and total of a path in a mean call, of its caller P, in the slow (s) and the usual (u)
 * calls:
 *
 *      running, waiting   own_s - n_s * own_u / n_u
 *      calls              (n_s - nP_s * n_u / nP_u) * total_u / n_u
 *
 * Of a path that usual calls have too seldom to tell what a call of it takes, calls that slow ones have
 * besides count as their own.
 *
 * Told besides is where slow calls were (the CPU, the task) more often, and what of the difference that explains: the
 * same time, seen from another side.  And what they were given or returned more often, which divides the calls, not
 * their time; one that has several values meets a condition by the part of them that do.
 *
 * Each has its p (causes/chance.h), for causes and places corrected for how many there are.  Calls that were chosen by how
 * long they took have more of all that varies: a cause's p is that of independent parts' having as much, too.  The whole has one of its
 * own; of two recordings it is that of the calls' ranks, so that a few very slow ones do not count for more than one
 * each.  Of a window, or of two recordings, one burst is one event: of two halves it is in one by chance.
 */

#include "analyze/breakdown.h"
#include "causes/anatomy.h"

/*
 * Cohorts: which outermost calls of a root are slow, and which are usual; only the slowest and slower ones were chosen by
 * how long they took: what has humps is divided where it divides itself
 *
 *      slowest    the slowest hundredth, but at least 8 of 80 and more; usual: the middle half
 *      hump       the uppermost of the humps that the durations have, if one wants the slowest and these are of it;
 *                 usual: the lower ones
 *      slower     at least so long; usual: the middle half of all, without these
 *      window     begun within it; usual: all others
 *      failed     returned an error; usual: those that returned something else
 *      source     of the last recording; usual: of those before
 */
#define COHORTS_CALLS_MIN 20 /* of a root, to tell anything */

typedef enum CohortsBy {
        COHORTS_BY_SLOWEST,
        COHORTS_BY_HUMP,
        COHORTS_BY_DURATION,
        COHORTS_BY_WINDOW,
        COHORTS_BY_FAILURE,
        COHORTS_BY_SOURCE,
} CohortsBy;

typedef struct CohortsSpec {
        CohortsBy by;
        uint64_t slower_ns;      /* DURATION; where the uppermost hump begins, 0: there is one or none */
        bool has_several;        /* more than two humps */
        uint64_t from_ns, to_ns; /* WINDOW: both included, trace clock; to_ns 0: no end */
} CohortsSpec;

/* An outermost function; of several recordings, which have calls of it. */
typedef struct CohortsRoot {
        const CallNode *node;
        uint64_t total_ns;
        bool in_first, in_last;
        const size_t *calls; /* indices of the anatomy's */
        size_t n_calls;
} CohortsRoot;

/* All roots, those with the most time first, without idle calls if these are left out; the caller frees, which is all.
 * 0 or -ENOMEM. */
int cohorts_roots(CohortsRoot **ret, size_t *ret_n, const Anatomy *a);

#define WHY_P_MAX 0.002     /* what is above may be chance */
#define WHY_SHARE_MIN 0.1   /* a cause of less is not named as the cause */
#define WHY_SHARE_ALONE 0.5 /* of so much, it is the cause even if everything takes longer alike */
#define WHY_SHARE_MOST                                                                             \
        0.75 /* likewise, of waiting or calls, even if these vary so much by themselves */
#define WHY_SECOND_MIN 0.25 /* nor, besides another one, of less than this */
#define WHY_FACTOR_MIN 0.25 /* likewise, a place */
#define WHY_VALUE_MIN 0.25  /* slow calls must have it so much more often */
#define WHY_ALIKE_MIN 0.9   /* from here on everything takes longer alike */
#define WHY_BURST_MAX 0.25  /* nor one burst that is so likely to be in its cohort by chance */
#define WHY_EVEN_MIN 0.8    /* of a place, likewise */

typedef enum WhyKind { WHY_RUNNING, WHY_WAITING, WHY_CALLS, WHY_ONLY, WHY_NEVER } WhyKind;

/* Where in one cohort nearly all of a cause is: calls that follow each other, which are not most of it. */
typedef struct WhyBurst {
        uint64_t from_ns, to_ns; /* the first and the last began; trace clock */
        size_t n_calls;          /* 0: it is spread over the cohort */
        double share;            /* of what the cohort has more */
        double chance;           /* that it is in this cohort, had it come at any time */
        bool is_usual;           /* it is usual calls that have more */
} WhyBurst;

typedef struct WhyCause {
        WhyKind kind;
        const CallNode *node;
        const CallNode *hottest;  /* CALLS, ONLY, NEVER: where most of the time below is */
        double change_ns;         /* of a mean call */
        double share;             /* of the whole difference */
        double slow_ns, usual_ns; /* in a mean call: own time, or total if calls are the cause */
        double slow_n, usual_n;   /* calls in a mean call */
        double p;                 /* NAN: not looked at, being too little */
        const Waker *waker; /* WAITING, ONLY: who ended most of it in slow calls; NULL: not known */
        double waker_share; /* of that waiting */
        double queued_share; /* of it, after the task was woken: waiting for a CPU; 0: not known */
        WhyBurst burst;      /* of calls that were not chosen one by one */
        bool is_rare;        /* CALLS: usual calls have too few to tell what one takes */
        bool may_lack; /* CALLS, ONLY, NEVER: it was not hooked all the time, in one of both recordings */
} WhyCause;

typedef enum WhyPlace { WHY_CPU, WHY_TASK } WhyPlace;

/* Where slow calls are more often. */
typedef struct WhyFactor {
        WhyPlace place;
        uint32_t cpu;                 /* CPU */
        const char *task;             /* TASK: its name */
        double slow_part, usual_part; /* of the calls, 0 to 1 */
        double change_ns, share;      /* what that explains */
        double evenness;              /* 1: all paths take longer there, in proportion */
        double p;
} WhyFactor;

typedef enum WhyRelation { WHY_EQUAL, WHY_ABOVE, WHY_BELOW } WhyRelation;

/* What slow calls were given or returned more often. */
typedef struct WhyValue {
        uint32_t variable;    /* of the anatomy's */
        const CallNode *node; /* whose it is */
        const char *name;     /* of an argument or a field, "ret", "callers" or "stack" */
        const char *text;     /* what it is equal to, of the anatomy's; NULL: that is a number */
        WhyRelation relation;
        ValueNumber bound; /* what it is equal to, above or below */
        double slow_part,
                usual_part; /* of the calls, 0 to 1; of several calls of a function below the
                                       * outermost call, their part counts */
        double slow_has,
                usual_has; /* of the calls, those that have a value at all; usual_has 0: too few */
        double change_ns, share; /* what that comes to */
        double p;
} WhyValue;

/* What functions that are counted together take themselves in a mean call; those of a cohort add up to its mean. */
typedef struct WhyArea {
        const char *name; /* as the BreakdownPlace has it */
        size_t n_name;
        double slow_ns, usual_ns, p; /* p: NAN, if there are too few calls */
        int32_t n_unhooked;          /* the most below one of them, in either cohort (Unhooked) */
} WhyArea;

typedef struct Why {
        const CallNode *root;
        CohortsSpec spec;
        size_t n_slow, n_usual, n_all;
        double slow_ns, usual_ns; /* means */
        uint64_t slow_median_ns, usual_median_ns, slow_p90_ns, usual_p90_ns;
        double difference_ns; /* of the means; 0 if a cohort is empty */
        double chosen_ns; /* of calls that were chosen for it, what at most it were if all parts varied independently */
        double p;       /* of the whole difference; 1 if there are too few calls */
        bool is_enough; /* calls to tell anything; else causes have no p, and nothing is named */
        double evenness; /* part of the usual time that takes longer in proportion, or at least half so much */
        WhyCause *causes; /* the greatest first */
        size_t n_causes;
        WhyFactor *factors; /* likewise; only those that slow calls have more often */
        size_t n_factors;
        WhyValue *
                values; /* the best of each variable, the best first; only with a p of at most WHY_P_MAX */
        size_t n_values;
        WhyArea *areas; /* NULL: nobody asked for them; else those that changed most first */
        size_t n_areas;
        CallTree *paths; /* of two calls, the nodes' */

        /* What is named; each NULL if there is none that stands out: */
        bool is_no_chance; /* the whole difference; true where calls were chosen by how long they took */
        const WhyCause *cause;  /* the greatest that is no chance, if none has twice its share */
        const WhyCause *second; /* after it */
        const WhyCause *
                burst; /* what were the cause, but that it is one burst that may be there by chance */
        const WhyFactor *factor; /* all paths take longer there */
        bool is_factor_first;    /* it explains more than any cause */
        const WhyValue *value;   /* that enough more of the slow calls have */

        /* Of calls that failed: */
        ValueNumber error;          /* what most of them returned */
        size_t n_error;             /* how many; 0: not known */
        const WhyValue *deepest_error; /* of the functions below that return it as well; NULL: none is known */
} Why;

/* @a: borrowed for its life.  0 or -ENOMEM. */
int why_new(Why **ret, const Anatomy *a, const CohortsRoot *root, const CohortsSpec *spec);
/* The same difference by where functions are, as @place says.  @a and @root: those of @w.  0 or -ENOMEM. */
int why_add_areas(Why *w, const Anatomy *a, const CohortsRoot *root, BreakdownPlace place,
                  void *userdata);
/* What one call has that another one of the same root has not, of their finished trees: causes alone, without p.
 * 0 or -ENOMEM. */
int why_new_of_two(Why **ret, CallTree *slow, CallTree *usual);
/* How much more often slow calls have it than if they did as usual ones do that call its function: 0 to 1. */
double why_value_surplus(const WhyValue *v);
/* Of calls that failed: whether it is that a function returns what most of them do. */
bool why_value_is_error(const Why *w, const WhyValue *v);
Why *why_free(Why *w);
DEFINE_CLEANUP(Why *, why_free);

/* In words, without control characters. */

/* "udp_recvmsg: the slowest 1 % take 22.8 ms instead of 1.2 ms; 94 % of that is waiting in schedule below
 * __skb_wait_for_more_packets, woken by client-347 in udp_queue_rcv_one_skb.": one sentence, with its full
 * stop.  If nothing stands out it says so. */
void why_sentence(Buf *out, const Why *w);
/* "waiting in schedule below __skb_wait_for_more_packets, woken by client-347 in udp_queue_rcv_one_skb" */
void why_describe_cause(Buf *out, const Why *w, const WhyCause *c);
/* "CPU 3", "task client" */
void why_describe_factor(Buf *out, const WhyFactor *f);
/* "97 % of them have len > 1400, 0.8 % of the usual ones" */
void why_describe_parts(Buf *out, const Why *w, const WhyValue *v);
/* "the usual ones", "the earlier ones" */
const char *why_others(const Why *w);
