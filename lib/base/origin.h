/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Origin: where an error began
 *
 * A negative errno is forwarded unchanged (HACKING, Style), so that at the edge only a number is left.
 * Where a system call's errno becomes one, ORIGIN() notes the place:
 *
 *      if (fsync(fd) < 0)
 *              return ORIGIN(-errno);
 *      if (close_range(3, ~0U, 0) < 0)
 *              return ORIGIN_STEP(-errno, "close_range");      people are told that word
 *
 * and origin_text() tells it: "close_range: Invalid argument", and with FTRACED_DEBUG=origin also the place,
 * "[daemon/process/spawn.c:77, spawn_worker()]".
 *
 * Each thread has its last ORIGIN_N notes.  The one that counts for a number is the newest with that number since
 * origin_forget(), which is called between one piece of work and the next; if there is none, none is told.
 * A note costs a few stores, only where something failed.  Nothing is allocated or locked, so that ORIGIN() may be
 * used in signal handlers and after fork().
 */

#include <errno.h>
#include <stdbool.h>

#define ORIGIN_N 8
#define ORIGIN_TEXT_MAX 256

typedef struct Origin {
        int error; /* > 0; 0: no note */
        int line;
        const char *file; /* "daemon/process/spawn.c"; all of these live as long as the program */
        const char *function;
        const char *step; /* NULL: it has no name that tells people something */
} Origin;

#define ORIGIN(error) ORIGIN_STEP((error), NULL)
/* The value is an expression of its own, so that the compiler still sees that it is negative. */
#define ORIGIN_STEP(error, step)                                                                   \
        ({                                                                                         \
                int _error = (error);                                                              \
                origin_note(_error, (step), __FILE__, __LINE__, __func__);                         \
                _error;                                                                            \
        })

/* True if FTRACED_DEBUG ("reader,store", or "all") asks to be told what @domain does. */
bool log_debug_enabled(const char *domain);

/* What is not negative is not noted. */
void origin_note(int error, const char *step, const char *file, int line, const char *function)
        __attribute__((cold));
/* What comes now is another piece of work. */
void origin_forget(void);
/* @error: negative or not.  False: nobody noted it. */
bool origin_find(Origin *ret, int error);
/* strerror(), behind the step if that is known, and before the place for whoever debugs; until the thread's next
 * call of these two. */
const char *origin_text(int error);
/* The same with the place in any case: where an error is told that nobody counted on. */
const char *origin_report(int error);
