/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Plan: changes of tracefs, in order
 *
 * Every change that arming makes is a step of a plan: added first, with what is there now, which
 * goes into the ledger; the ledger is committed; then plan_apply() makes it.  More steps may follow,
 * and another plan_apply(), which makes those.  Files that this kernel does not have, files that
 * already say the right thing, and what this kernel lets nobody set and nothing depends on
 * (buffer_percent) are no step.
 *
 * A dry plan is the same list with nothing made of it: plan_apply() does nothing, what is read of a
 * file is what the steps before would have left there, and an instance that a step would make is
 * full of what the kernel puts into a new one (plan_read()).  daemon/tracefs/plan.h prints it.
 */

#include <jansson.h>

#include "base/array.h"
#include "base/buf.h"
#include "daemon/tracefs/ledger.h"

typedef enum PlanKind {
        PLAN_MKDIR,
        PLAN_SET,  /* the file says @value from now on */
        PLAN_LINE, /* a command file is told @value, which may have spaces */
        /* Of a dry plan alone: what ledger_undo() and daemon/tracer/controller-filter.c write by themselves. */
        PLAN_RMDIR,
        PLAN_APPEND, /* the words in @value are added to a list */
        PLAN_REMOVE, /* they are taken out of it */
        PLAN_SELF,   /* whoever writes is added to a list of processes */
        PLAN_CLOSE,  /* a list that @stays_open acts only now */
} PlanKind;

typedef struct PlanStep {
        PlanKind kind;
        char *file;        /* relative to tracefs; of PLAN_MKDIR and PLAN_RMDIR the directory */
        const char *place; /* in @file: what it is another name of */
        char *now;       /* what it says before (daemon/tracefs/control.h); NULL: of no interest */
        char *value;     /* what it says afterwards, or the words */
        char *text;      /* what is written so that it does; NULL: @value */
        bool is_new;     /* it is in an instance that the plan makes, and @now from a table */
        bool stays_open; /* until PLAN_CLOSE */
} PlanStep;

typedef struct Plan {
        const Tracefs *fs;
        Ledger *ledger;
        const char *session; /* whose it is, for the ledger */
        PlanStep *steps;
        size_t n, n_applied;
        struct ControlPace *pace; /* of the lists of function_graph (daemon/tracefs/control.h); NULL: any */
        bool is_dry;
        bool shares_options; /* if dry: function_graph's options are one for all instances */
} Plan;

#define PLAN_INIT(l, s) ((Plan){ .fs = (l)->fs, .ledger = (l), .session = (s) })

/* A step as it stands.  0 or -ENOMEM. */
int plan_step(Plan *p, PlanKind kind, const char *file, const char *now, const char *value,
              const char *text);
/*
 * plan_add() - a file is to say something
 * @owner: session whose ledger record it becomes; NULL: none is needed, the file goes away with its
 *         instance
 */
int plan_add(Plan *p, const char *owner, const char *file, const char *value);
/* The same for a file that takes another text than it shows: @text makes it say @value. */
int plan_add_text(Plan *p, const char *owner, const char *file, const char *value,
                  const char *text);
/* A directory is made and, unless the plan is dry, is there afterwards: the ledger is committed and
 * the steps before it are made, too.  0 or -errno; *@ret_file as below.  What is there already (-EEXIST) is in the
 * ledger no more. */
int plan_make_dir(Plan *p, const char *dir, const char **ret_file);
/* A line for a command file, which the ledger will take out again: in a dry plan a step, else it is put there at once, and
 * what the kernel refuses is in the ledger no more. */
int plan_put_line(Plan *p, const char *file, const char *line);
/* Words are to be added to a list, in a dry plan.  Nothing becomes a record. */
int plan_append(Plan *p, const char *file, const Strv *words);

/* control_read(), and in a dry plan what the steps would have left. */
int plan_read(const Plan *p, const char *file, char **ret);
/* Makes the steps that it has not made: writes, reads back, compares.  A task leaves meanwhile
 * (daemon/process/background.h).  -errno, -EIO if the file does not say what was written, -ETIME if that is
 * CONTROL_E_SLOW; then *@ret_file is the file (as long as @p lives). */
int plan_apply(Plan *p, const char **ret_file);
/* Of one that failed with -EIO, in words: by what it differs. */
int plan_explain(const Plan *p, const char *file, char **ret);
/* The same for what takes no time: nothing happens in between. */
int plan_apply_at_once(Plan *p, const char **ret_file);
void plan_done(Plan *p);
#define _cleanup_plan_ _cleanup_(plan_done)

/*
 * Script: a plan as the shell lines that somebody would type
 *
 *      cd /sys/kernel/tracing
 *      mkdir instances/ftraced-x
 *      echo mono > instances/ftraced-x/trace_clock       # was local, in a new instance
 *      echo udp_sendmsg > set_graph_function             # was #### all functions enabled ####
 *
 * It runs in any POSIX shell: the first part arms, then it waits for Enter, and the second part
 * puts everything back.
 */

typedef struct ScriptInfo {
        const char *session, *kernel; /* its release */
        const char *tracefs;
        const Strv *warnings;
        size_t n_arm; /* steps that arm; the others put back */
        bool waits;   /* then it waits for a trigger */
} ScriptInfo;

/* An error is kept in @out. */
void script_write(Buf *out, const Plan *p, const ScriptInfo *info);
/* Steps as an array of Step (org.ftraced.varlink), from the @from-th to before the @to-th; NULL
 * without memory. */
json_t *script_steps(const Plan *p, size_t from, size_t to);
