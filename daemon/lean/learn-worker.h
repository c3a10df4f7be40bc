/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * LearnWorker: the process that counts functions in pages
 *
 * The daemon runs its own program again, with this word as its argument and these descriptors:
 */

enum {
        LEARN_WORKER_FD_JOB = 0,     /* LearnWorkerJob, then the text of the event's format file */
        LEARN_WORKER_FD_OUT = 1,     /* lines "NAME COUNT...", a count for each window */
        LEARN_WORKER_FD_NULL = 2,    /* what libraries print */
        LEARN_WORKER_FD_SYMBOLS = 3, /* kallsyms */
        LEARN_WORKER_FD_PAGES = 4,   /* and those behind it */
};

#define LEARN_WORKER_OPTION "--learn-worker"
#define LEARN_WORKER_MAX_OUT ((size_t) 8 << 20) /* more is no answer */

#include <stdint.h>

#include "learn/function-counts.h"

typedef struct LearnWorkerJob {
        uint32_t n_sources;  /* descriptors with pages */
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        uint32_t n_windows;
        char field[20];
        FunctionCountsWindow windows[FUNCTION_COUNTS_MAX_WINDOWS];
        uint32_t pids
                [FUNCTION_COUNTS_MAX_PIDS]; /* n_pids of them: whose events count; 0: everybody's */
        uint32_t n_pids;
} LearnWorkerJob;

/* Locks itself up, counts, and gives the exit status: 0 if all could be read. */
int learn_worker(void);
