/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

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

#include <stdint.h>

#include "learn/function-counts.h"

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
