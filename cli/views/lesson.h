/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lesson: which functions a SOURCE saw below its roots
 *
 *      lesson_init()  ->  [its pairing is fed]  ->  lesson_end()
 *
 * What was called counts, also by interrupts and in trees that are not whole.  Roots are the recording's;
 * of a file that does not say which were asked for, the outermost functions.
 */

#include "analyze/pairing.h"
#include "base/hash.h"
#include "meta/meta.h"

#define LESSON_CALLERS 4 /* of a function that are noted */

typedef struct LessonFunction {
        const Function *function;
        const Function *callers[LESSON_CALLERS]; /* NULL behind the last */
        uint64_t n_calls;                        /* whose beginnings were seen */
        int32_t outermost; /* the lowest depth at which it was called by nobody; INT32_MAX */
} LessonFunction;

typedef struct Lesson {
        LessonFunction *seen; /* n_seen of them */
        size_t n_seen;
        Hash by_function; /* index + 1 */
        Strv roots;       /* sorted */
        Strv functions;   /* "NAME CALLER...", sorted; each name once */
        uint64_t n_calls; /* of the roots */
        bool has_more;    /* something besides the roots was called */
} Lesson;

/* Is told of all that @pairing pairs.  @ret must stay where it is; lesson_done() it. */
void lesson_init(Lesson *ret, Pairing *pairing);
/*
 * lesson_end() - roots, functions and n_calls
 * @m:     NULL: of a text
 * @roots: names and globs that are meant; empty: all of it
 *
 * Functions without a name are left out.  As long as what was paired is open.  0 or -ENOMEM.
 */
int lesson_end(Lesson *l, const SessionMeta *m, const Strv *roots);
void lesson_done(Lesson *l);
#define _cleanup_lesson_ _cleanup_(lesson_done)

/* Why a recording of that kind does not tell what its roots call, half a sentence; NULL: it does. */
const char *lesson_problem(const SessionMeta *m);
/* Whether what ordinary work calls may not have been hooked. */
bool lesson_lacks_ordinary(const SessionMeta *m);
