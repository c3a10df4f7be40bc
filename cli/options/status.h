/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What ftracectl exits with (ftracectl(1), EXIT STATUS)
 *
 * Functions of cli/ that "return an exit status" return STATUS_OK, or one of
 * the others after having said why on stderr.
 */

#include "base/array.h"
#include "base/log.h"

enum {
        STATUS_OK = 0,
        STATUS_FAILED = 1,
        STATUS_USAGE = 2,
        STATUS_NOT_FOUND = 3,    /* no such session, no such function */
        STATUS_FORBIDDEN = 4,    /* not permitted */
        STATUS_BUSY = 5,         /* somebody else holds it */
        STATUS_INCOMPLETE = 6,   /* the recording lacks something */
        STATUS_REFUSED = 7,      /* refused for safety */
        STATUS_SLOWER = 8,       /* diff --fail-over: it has become slower */
        STATUS_UNABLE = 77,      /* this kernel cannot */
        STATUS_UNTOLD = 125,     /* diff --fail-over: it cannot be told; "git bisect run" skips */
        STATUS_NO_EXEC = 126,    /* run: the command cannot be executed ... */
        STATUS_NO_COMMAND = 127, /* ... or does not exist */
        STATUS_NO_VERDICT = 129, /* diff --fail-over: wrong usage; "git bisect run" ends */
        STATUS_PIPE = 141,       /* nobody reads stdout any more: 128 + SIGPIPE */
};

/* Says on stderr what went wrong: "return failed(STATUS_USAGE, ...)". */
#define failed(status, ...) (log_error(__VA_ARGS__), (status))
/* The same of @error, -errno, with %m; STATUS_FAILED. */
#define failed_errno(error, ...) (log_error_errno((error), __VA_ARGS__), STATUS_FAILED)
/* Warns of each of these sentences, which have no full stop. */
static inline void warn_each(const Strv *sentences) {
        for (size_t i = 0; i < sentences->n; i++)
                log_warning("%s.", sentences->items[i]);
}
