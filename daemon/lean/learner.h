/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Learner: has functions counted in pages, by a process without privileges
 *
 * The daemon never looks into pages; the worker (daemon/lean/learn-worker.h) does, and what it
 * says is text to be checked.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/lean/learn-worker.h"

typedef struct Learner Learner;

/*
 * What it found: the lines of function_counts_name(), NUL-terminated, valid until the call returns; or NULL and
 * -errno.  The learner may be freed meanwhile.
 */
typedef void (*LearnerDone)(const char *counts, int error, void *userdata);

typedef struct LearnerJob {
        const int *fds; /* borrowed */
        size_t n_fds;
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        const char *format, *field, *exit_format; /* as of FunctionCountsConfig */
        uint64_t from_ns, to_ns;                  /* the same */
        const char *const *worker;                /* program and arguments; NULL: our own */
} LearnerJob;

#define LEARNER_MAX_SECONDS 120

/* 0 or -errno; @done is called later, once. */
int learner_start(Learner **ret, sd_event *event, const LearnerJob *job, LearnerDone done,
                  void *userdata);
/* Ends the worker, if it runs: @done is then not called. */
Learner *learner_free(Learner *l);
DEFINE_CLEANUP(Learner *, learner_free);

/* What is told of a function (function_counts_name()). */
typedef struct LearnerLine {
        char name[256]; /* NUL-terminated */
        uint64_t n_calls, n_own, is_leaf, total_ns;
} LearnerLine;

/* One line of the answer.  @text: moved behind it.  0; LEARNER_E_END; LEARNER_E_INVALID: this is no answer. */
enum { LEARNER_E_END = 1, LEARNER_E_INVALID = 2 };
int learner_next(const char **text, LearnerLine *ret);
/* The next caller of the function that learner_next() told last; LEARNER_E_END: no more. */
int learner_next_caller(const char **text, char ret_name[static 256]);
