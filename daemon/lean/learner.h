/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Learner: has functions counted in pages, by a process without privileges
 *
 * The daemon never looks into pages; the worker (below) does, and what it
 * says is text to be checked.
 */

#include <systemd/sd-event.h>

#include "daemon/lean/lean.h"

typedef struct Learner Learner;

/* What it found, which may be taken away; or NULL and -errno.  The learner may be freed meanwhile. */
typedef void (*LearnerDone)(LeanTree *counts, int error, void *userdata);

typedef struct LearnerJob {
        const int *fds; /* borrowed */
        size_t n_fds;
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        const char *format, *field, *exit_format; /* as of FunctionCountsConfig */
        uint64_t from_ns, to_ns;                  /* the same */
} LearnerJob;

#define LEARNER_MAX_SECONDS 120

/* 0 or -errno; @done is called later, once. */
int learner_start(Learner **ret, sd_event *event, const LearnerJob *job, LearnerDone done,
                  void *userdata);
/* Ends the worker, if it runs: @done is then not called. */
Learner *learner_free(Learner *l);
DEFINE_CLEANUP(Learner *, learner_free);

/* The worker's answer, lines of function_counts_name(), sorted; what is no function's name is left out.  0;
 * LEARNER_E_INVALID: this is no answer; -ENOMEM. */
enum { LEARNER_E_INVALID = 1 };
int learner_read(LeanTree *ret, const char *answer);

/*
 * LearnWorker: the process that counts functions in pages
 *
 * The daemon runs its own program again, with this word as its argument and these descriptors:
 */

enum {
        LEARN_WORKER_FD_JOB = 0,     /* LearnWorkerJob, then the texts of format files */
        LEARN_WORKER_FD_OUT = 1,     /* lines of function_counts_name() */
        LEARN_WORKER_FD_NULL = 2,    /* what libraries print */
        LEARN_WORKER_FD_SYMBOLS = 3, /* kallsyms */
        LEARN_WORKER_FD_PAGES = 4,   /* and those behind it */
};

#define LEARN_WORKER_OPTION "--learn-worker"
#define LEARN_WORKER_MAX_OUT ((size_t) 8 << 20) /* more is no answer */

typedef struct LearnWorkerJob {
        uint32_t n_sources;  /* descriptors with pages */
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        uint32_t
                n_format; /* bytes of the event's format, with its NUL; that of exits is behind it */
        char field[20];
        uint64_t from_ns, to_ns;
} LearnWorkerJob;

/* Locks itself up, counts, and gives the exit status: 0 if all could be read. */
int learn_worker(void);
