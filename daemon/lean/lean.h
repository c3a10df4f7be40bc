/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lean: which functions are hooked for a session
 *
 * function_graph hooks every function that can be traced, whatever its roots are, and everybody
 * pays.  Lean hooks the functions that were seen under the roots before (daemon/lean/lean-cache.h);
 * with a budget, without those that ordinary work of others calls most: calls of these are then
 * part of their callers' own time.  What was not seen yet is not hooked and so is missing; what
 * nobody knows yet, and what was learned LEAN_RELEARN_NS ago, is learned with everything hooked, or
 * with everything but what ordinary work calls (daemon/lean/ordinary.h) where others are not to pay.
 * A shipped profile begins with what its roots were seen to call elsewhere (daemon/lean/first-guess.h).
 */

#include "daemon/instances/instance.h"
#include "daemon/lean/lean-cache.h"
#include "meta/meta.h"
#include "meta/spec.h"
#include "wire/refusal.h"

#define LEAN_MIN_CALLS 100 /* of the roots; less says too little of what they call */

typedef struct LeanChoice {
        Hooks hooks;                /* none: everything ... */
        Hooks not_hooked;           /* ... but these */
        uint32_t n_ordinary;        /* of them, because ordinary work calls them */
        Strv left_out, left_out_in; /* as in SessionMeta */
        uint64_t learned_ns;        /* when, on the real time clock; 0: hooks are a guess */
        uint64_t learned_calls;     /* of the roots, from which */
        bool learns;                /* what is seen is to be learned */
} LeanChoice;

/* Whether what was learned of its roots decides what is hooked. */
bool lean_asks(const Spec *spec);

/* What a choice depends on; all borrowed. */
typedef struct LeanQuestion {
        int store_fd, root_fd; /* the store's directory; where proc/ and sys/ are */
        const Functions *functions;
        const Spec *spec;
        const Strv *roots, *notrace; /* sorted; what is left out with all below it */
        bool is_profile;             /* a profile names the roots */
        bool is_being_learned;       /* what the roots call, from another session, at this moment */
        bool is_wide; /* although it is known what they call, to see whether they call more by now */
} LeanQuestion;

/*
 * lean_choose()
 * @warnings: if everything is hooked although lean was asked for, why
 *
 * A flat spec hooks the roots alone, one with a list that list, whatever lean is.  With lean off all is
 * hooked, and what is seen is learned unless it is known.
 * Return: 0; REFUSED (a function in spec->hooked that there is not); -errno.
 */
int lean_choose(LeanChoice *ret, const LeanQuestion *q, Strv *warnings, Refusal *refusal);
void lean_choice_done(LeanChoice *c);
/* Fills what @m says of it.  0 or -ENOMEM. */
int lean_choice_tell(const LeanChoice *c, SessionMeta *m);
#define _cleanup_lean_choice_ _cleanup_(lean_choice_done)

/*
 * lean_select() - all functions of @c but those that cost others more than @budget_ppm
 *
 * Of the task that suffers most the function that costs it most is left out, again and again, until
 * no task takes longer by more than the budget.  Roots stay.  0 or -ENOMEM.
 */
int lean_select(const LeanCache *c, const Strv *roots, uint64_t budget_ppm, Strv *ret_names,
                Strv *ret_left_out);

/*
 * lean_learn() - add what was seen to what is known
 * @new: names and weights; those that this kernel does not have are left out
 *
 * Weights replace those of before, also what others were seen to call often, which they may not any more.  What was
 * learned LEAN_RELEARN_NS ago is forgotten.
 * Return: 0 or -errno.
 */
int lean_learn(int store_fd, int root_fd, const Functions *f, const Strv *roots, const char *kernel,
               const LeanCache *new);

/*
 * lean_learn_hot() - others call these functions often while these roots are recorded
 * @ppm: what each costs them, which counts like the cost of a task of the reference workload, LEAN_HOST_TASK
 *
 * Names that are not known to be called by the roots are left out.  0 or -errno.
 */
#define LEAN_HOST_TASK "host"
int lean_learn_hot(int store_fd, int root_fd, const Functions *f, const Strv *roots,
                   const char *kernel, const Strv *names, const uint32_t *ppm);
