/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Views: tables over the calls of a SOURCE, for the verbs that show them
 *
 * A table is told row by row (cli/terminal/terminal.h), so that one description is its text and its JSON.
 */

#include "analyze/breakdown.h"
#include "analyze/call-tree.h"
#include "analyze/overhead.h"
#include "analyze/pairing.h"
#include "calls/census.h"
#include "causes/critical-path.h"
#include "causes/waits.h"
#include "causes/why.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

/* --- counting (counting.c): all calls of a SOURCE, for a verb that adds them up --------------- */

typedef struct Counting {
        Reading reading;
        Pairing *pairing;  /* after counting_init() whatever is added to it is told of the calls */
        bool with_floor;   /* somebody asks what tracing costs */
        Floor *floor;      /* then, after counting_open() */
        Overhead overhead; /* after counting_run() */
} Counting;

/* 0 or -errno; what is to be told of the calls may fail in the same line. */
int counting_init(Counting *ret, bool with_floor);
/* All of these: an exit status, after having said why.  @c must stay where it is from now on; @o
 * is borrowed as long. */
int counting_open(Counting *c, const Options *o, const char *word);
int counting_run(Counting *c);
int counting_read(Counting *c, const Options *o, const char *word); /* both */
/* How many calls were left out of what leaves out those in which ftraced changed hooks; nothing for none. */
void counting_say_own_work(const Counting *c);
/* What the source was short of; also why nothing is shown, if nothing was recorded. */
int counting_end(const Counting *c);
void counting_done(Counting *c);
#define _cleanup_counting_ _cleanup_(counting_done)

/* The result @r (0 or -errno) of adding up as an exit status, after having said why. */
int counting_status(int r);
/* A line with overhead_describe(); nothing, if there are no calls. */
void counting_headline(const Counting *c, Buf *out);
/* @t below that and @below it; an exit status. */
int counting_show(const Counting *c, Table *t, const char *below);
/* The same as counting_headline() for JSON; NULL without memory. */
json_t *counting_cost_json(const Counting *c);

/* --- top (top-view.c): the rows of a breakdown ------------------------------------------------ */

#define TOP_VIEW_LIMIT 30
#define TOP_VIEW_COLUMNS 20

typedef struct TopView {
        BreakdownBy by;
        const FloorCost *cost;     /* NULL: times are as they were recorded */
        uint64_t all_ns;           /* 100 % of self times */
        const BreakdownRow **rows; /* in the order of --sort; n of them */
        size_t n;
        unsigned char columns[TOP_VIEW_COLUMNS]; /* those of --columns; n_columns of them */
        size_t n_columns;
} TopView;

/* Where the source of functions is, by which they are added up. */
typedef struct TopPlaces {
        BreakdownBy by; /* to be set before: FILE, DIR, LAYER */
        Lines *lines[2];
        size_t n_lines;
} TopPlaces;

/* Functions are of a recording from now on, or also of this one; an exit status. */
int top_places_add(TopPlaces *p, Reading *reading);
/* A BreakdownPlace. */
const char *top_places_find(void *places, const Function *f, size_t *ret_n);
/* "LAYER": what a column of names is called. */
const char *top_view_title(BreakdownBy by);
/* --by, --sort and --columns, if they are any.  An exit status. */
int top_view_check(const Options *o, BreakdownBy *ret_by);
/* And that @reading knows what @by asks for.  An exit status. */
int top_view_check_owners(const Reading *reading, BreakdownBy by);
/* @a: top_view_check() returned STATUS_OK; @total_ns: what all took.  0 or -ENOMEM. */
int top_view_init(TopView *ret, const AnalysisOptions *a, Breakdown *b, BreakdownBy by,
                  const FloorCost *cost, uint64_t total_ns);
/* The first @n rows; JSON has all columns. */
void top_view_tell(const TopView *v, Table *t, size_t n);
/* Whether interrupts or waits were met whose columns are not shown. */
bool top_view_has_more(const TopView *v);
void top_view_done(TopView *v);
#define _cleanup_top_view_ _cleanup_(top_view_done)

/* The same while it is recorded.  On a terminal it is drawn anew in place, and the key q ends
 * it; else it is printed every time, with an empty line before it. */
typedef struct LiveTop LiveTop;

/* --by, --sort, --limit and --corrected count.  An exit status. */
int live_top_new(LiveTop **ret, const Options *o);
/* For DrawingOptions: @userdata is the live top.  0 or -errno. */
int live_top_step(void *userdata, const Step *step);
/* Draws, unless the last time was less than a second ago, or, if @is_last, anyhow.  @census: what
 * was lost so far.  0 or -errno, -EPIPE if nobody reads any more. */
int live_top_draw(LiveTop *t, const Census *census, bool is_last);
/* Whether q was pressed. */
bool live_top_wants_end(LiveTop *t);
/* Gives the terminal back. */
LiveTop *live_top_free(LiveTop *t);
DEFINE_CLEANUP(LiveTop *, live_top_free);

/* --- tree (tree-view.c) ----------------------------------------------------------------------- */

/* What took longest comes first; the way from the top to where most of the time went is marked. */
typedef struct TreeView {
        const CallNode *root;
        const FloorCost *cost; /* NULL: times are as they were recorded */
        uint64_t total_ns;     /* 100 % */
        uint64_t min_ns;       /* nodes below that are left out */
        int32_t depth;         /* and levels beyond that; 0: none */
        size_t n_left_out;     /* because of min_ns, of what was told so far */
} TreeView;

/* @min_ppm: nodes that took less of the whole are left out. */
TreeView tree_view_of(const CallNode *root, const FloorCost *cost, uint64_t min_ppm);
/* A row for each node; in JSON the outermost ones, each with its "children".  0 or -ENOMEM. */
int tree_view_tell(TreeView *v, Table *t);

/* --- path (path-view.c): critical paths as a sentence and a table ----------------------------- */

#define PATH_VIEW_LIMIT 30

/* Of one call: its segments in the order of time.  Of several, added up: what took longest
 * first, with times for each call on average. */
typedef struct PathView {
        const Function *function;
        const char *comm;     /* of one call, like the next three */
        int64_t task;         /* step_task_key() */
        uint64_t number;      /* among the outermost calls, from 1 */
        uint64_t start_ns;    /* trace clock */
        uint64_t duration_ns; /* of all together */
        uint64_t n_calls;     /* how many these are */
        uint64_t n_all;       /* of how many they are the slowest */
        const CriticalPath *path;
        const PathSum *sum; /* of the same */
        const WaitsRow *
                between; /* where the task, or callers of the function, were longest off the CPU between
                                  * calls; NULL: nowhere */
        const Idle *idle;        /* what was left out */
} PathView;

/* First what was between calls, if that was longer than the call.
 * "udp_recvmsg, call 12, took 22.8 ms: 94 % waiting for client-347, which was in ..." */
void path_view_sentence(const PathView *v, Buf *out);
/* At most @limit rows; 0: PATH_VIEW_LIMIT.  The shortest are left out, and their times are in
 * one row; JSON has all. 0 or -ENOMEM. */
int path_view_tell(const PathView *v, Table *t, size_t limit);
/* The object that has the segments of path_view_tell() as a list, which is consumed. */
json_t *path_view_json(const PathView *v, json_t *segments);

/* --- why (why-view.c): what one cohort of calls has that another has not ---------------------- */

/* What is compared: one recording with itself, or with an earlier one. */
typedef struct WhySides {
        Counting now, before; /* before: nothing, if there is none */
        Anatomy *anatomy;
        Waits *between; /* of now */
        bool leaves_idle_out; /* to be set before: Idle's is_wanted */
} WhySides;

/* @s must stay where it is; why_sides_done() it also after a failure.  @before: NULL: there is
 * none.  An exit status. */
int why_sides_read(WhySides *s, const Options *o, const char *before, const char *now);
/* why_new(), with what may lack in one of two recordings; an exit status. */
int why_sides_explain(Why **ret, const WhySides *s, const CohortsRoot *root,
                      const CohortsSpec *spec);
/* What was left out, and what the sources were short of; an exit status. */
int why_sides_end(const WhySides *s);
void why_sides_done(WhySides *s);
#define _cleanup_why_sides_ _cleanup_(why_sides_done)

/* A row for each cause, at most @limit, and in the text the sum; unless @is_all none of next to nothing. */
void why_view_tell_causes(const Why *w, Table *t, size_t limit, bool is_all);
/* The same of areas, whose column is @title. */
void why_view_tell_areas(const Why *w, Table *t, const char *title, size_t limit);
/* The sentence, the causes, and what goes with them.  @limit: 0: not said.  0 or -errno. */
int why_view_add(Buf *out, const Why *w, uint64_t limit, bool legend);
json_t *why_view_json(const Why *w, const WaitsRow *between, const Idle *idle, uint64_t limit);
/* A sentence of @between, if that is more than what slow calls of @w take longer. */
void why_view_between(Buf *out, const Why *w, const WaitsRow *between);

/* --- waits (waits-view.c): what was waited for ------------------------------------------------- */

void row_waits(Row r, const WaitsRow *row);
json_t *waits_json(const WaitsRow *row); /* null of NULL */

/* What was left out of it, as a note, and as a list that is empty of nothing. */
void idle_say(const Options *o, const Idle *idle);
json_t *idle_json(const Idle *idle);

/* An object's elements. */
void row_waker(Row r, const Waker *w);
/* A note that names the root to record by which it shows whether a task, @comm, itself woke in a softirq what waited in
 * @receiver (a Waker's); nothing, if that is NULL or the root was recorded. */
void waits_view_hint(const Counting *c, const Function *receiver, const char *comm, int32_t pid);

/* --- where (where.c): which calls a condition lets through ------------------------------------ */

/*
 *      ret < 0 && len > 1400
 *      ret == -EAGAIN || !(cpu == 0) && duration >= 5ms
 *      flags & 0x40
 *
 *      condition   and { "||" and }
 *      and         not { "&&" not }
 *      not         "!" not | "(" condition ")" | NAME OPERATOR VALUE
 *      OPERATOR    == != < <= > >=, and & ("has one of these bits")
 *      VALUE       decimal, 0x..., -decimal, -ERRNO or ERRNO by name, of times also "5ms"
 *
 * NAMEs are ret, duration and self [ns], cpu, pid, and else arguments'.  A comparison with what a
 * call does not have is false, its contrary ("!") therefore true.  What a function returns counts
 * as negative if it is in 32 bits, as lib/calls/step.h has it; an argument is what is drawn of
 * it, in hex without a sign.
 */
typedef struct Where Where;

#define WHERE_WHY_MAX 160

enum { WHERE_E_INVALID = 1 };
/* @ret: for free().  @why: on WHERE_E_INVALID half a sentence that quotes the place.  0, WHERE_E_INVALID, -ENOMEM. */
int where_parse(Where **ret, const char *text, char why[static WHERE_WHY_MAX]);
bool where_matches(Where *w, const Call *call);
/* A name that no call had that was asked for; NULL: there is none. */
const char *where_unmet(const Where *w);
