/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lean: which functions are hooked for a session
 *
 * function_graph hooks every function that can be traced, whatever its roots are, and everybody
 * pays.  Lean hooks what the roots call: what was seen below them here (daemon/lean/lean-cache.h) and what is shipped of
 * them (daemon/lean/trees), and besides the functions where tasks wait (daemon/lean/waiting.h).  What others then pay is
 * measured, and what costs too much is left out (daemon/lean/thinning.h).  For roots that nobody knows there is a lesson:
 * everything is hooked for a moment (daemon/session/session-lean.c).
 */

#include "daemon/instances/instance.h"
#include "daemon/lean/lean-cache.h"
#include "daemon/lean/thinning.h"
#include "meta/meta.h"
#include "meta/spec.h"
#include "wire/refusal.h"

#define LEAN_MIN_CALLS 100 /* of the roots; less says too little of what they call */

/* How much is hooked. */
typedef enum LeanScope {
        LEAN_TREE, /* what is known of the roots; while that is nothing, as much as the spec asks for */
        LEAN_CALLERS, /* of that only what calls others: a guard wants less */
        LEAN_LESSON,  /* everything, whatever is known */
        LEAN_ROOTS,   /* the roots, and where tasks wait */
} LeanScope;

typedef struct LeanChoice {
        Hooks hooks;      /* none: everything ... */
        Hooks not_hooked; /* ... but these */
        /* As in SessionMeta. */
        Strv left_out, left_out_in, left_out_why, callees_unknown_of;
        uint32_t n_known;
        TreeOrigin tree_from;
        bool callees_unknown;
        uint64_t learned_ns;    /* when, on the real time clock; 0: nothing was learned here */
        uint64_t learned_calls; /* of the roots, from which */
        bool learns;            /* what is seen is to be learned */
} LeanChoice;

/* Whether what the roots call decides what is hooked. */
bool lean_asks(const Spec *spec);
/* Whether less may be hooked for others' sake: not while somebody watches. */
bool lean_thins(const Spec *spec);

/*
 * Whether what others call is counted while it records.  That is what was called less what was recorded, so both have
 * to be known: not of what stays in the kernel's buffer, by another clock, or of slow calls alone.
 */
bool lean_watches(const Spec *spec);

/* What a choice depends on; all borrowed. */
typedef struct LeanQuestion {
        int store_fd, root_fd; /* the store's directory; where proc/ and sys/ are */
        const Functions *functions;
        const Spec *spec;
        const Strv *roots, *notrace; /* sorted; what is left out with all below it */
        LeanScope scope;
        const Load *load; /* of others; NULL: nobody looks at it yet */
} LeanQuestion;

/*
 * lean_choose()
 * @warnings: what is to be said of it
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

/* Adds what was seen to what is known; names that this kernel does not have are left out.  0 or -errno. */
int lean_learn(int store_fd, int root_fd, const Functions *f, const Strv *roots, const char *kernel,
               const LeanCache *new);
