/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Filtering: what of a recording is to be read, from the command line's words
 */

#include "analyze/quantiles.h"
#include "calls/filter.h"
#include "calls/playback.h"
#include "cli/options/options.h"
#include "meta/meta.h"

/* A moment as it was said. */
typedef struct Moment {
        enum { MOMENT_NONE, MOMENT_TRACE, MOMENT_SINCE_BEGIN, MOMENT_OF_DAY } kind;
        uint64_t ns;       /* of the trace clock, since the first event, since midnight */
        uint64_t ticks;    /* TRACE: the number, for clocks that do not count nanoseconds */
        unsigned n_digits; /* TRACE: behind the point */
} Moment;

/* How long the slowest calls of each root take: the FilterLimits (calls/filter.h) of
 * --keep-slower=p99. Roots are told apart by their names. */
typedef struct RootLimits {
        unsigned permille; /* of calls that are no slower than the limit */
        struct RootLimit {
                char *name;
                Quantiles quantiles;
                uint64_t limit_ns; /* UINT64_MAX: not asked for yet */
        } * roots;                 /* sorted by name */
        size_t n;
        FilterLimits limits;
} RootLimits;

typedef struct Filtering {
        FilterSpec spec;
        int32_t *pids;
        bool *cpus;
        Moment from, to;
        RootLimits limits;
        bool has_left; /* a call that was not left out: for whoever reads to note */
} Filtering;

/* @o: borrowed for the filtering's life, during which @ret must stay where it is; filtering_done() it
 * also after a failure.  An exit status. */
int filtering_init(Filtering *ret, const Options *o);
/* What a recording of ours was told, it does not have: --pid, --depth, --notrace, --slower. */
void filtering_forget_spec(Filtering *f);
/* Whether anything is left out. */
bool filtering_is_empty(const Filtering *f);
/* What depends on the recording: when "+20ms" or "10:42:03" was.  @m: NULL: there is none, of a text.  @begin_ns:
 * its first event.  0; FILTERING_E_UNKNOWN: @ret_problem is half a sentence, a constant. */
enum { FILTERING_E_UNKNOWN = 1 };
int filtering_resolve(Filtering *f, const SessionMeta *m, uint64_t begin_ns,
                      const char **ret_problem);
/* Resolves @f and leaves out of @p what it does not ask for; as playback_filter(). */
int filtering_apply(Filtering *f, Playback *p, char **ret_problem);
void filtering_done(Filtering *f);
#define _cleanup_filtering_ _cleanup_(filtering_done)

/* "1234.5", "414492044876" (nanoseconds, or ticks), "+20ms", "10:42:03.5".  0 or -EINVAL. */
int moment_parse(const char *s, Moment *ret);
