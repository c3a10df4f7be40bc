/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SealWorker: the process that seals one segment
 *
 * The daemon runs its own program again, with this word and the pages' byte order ("little",
 * "big") as its arguments and these descriptors:
 */

enum {
        SEAL_WORKER_FD_IN = 0,      /* the closed segment, to read */
        SEAL_WORKER_FD_OUT = 1,     /* an empty file, to write and to read back */
        SEAL_WORKER_FD_NULL = 2,    /* what libraries print */
        SEAL_WORKER_FD_FORMATS = 3, /* texts of format files, each with its NUL */
};

#define SEAL_WORKER_OPTION "--seal-worker"

/* Exit statuses. */
enum {
        SEAL_WORKER_DONE = 0,        /* written, on the disk, read back, and equal */
        SEAL_WORKER_E_UNFIT = 10,    /* the segment is not closed, or not of its length */
        SEAL_WORKER_E_DIFFERS = 11,  /* what was written does not decode to what was read */
        SEAL_WORKER_E_SANDBOX = 12,  /* it cannot lock itself up here */
        SEAL_WORKER_E_NO_SPACE = 13, /* disk full, or quota */
        SEAL_WORKER_E_NO_MEMORY = 14,
        SEAL_WORKER_E_IO = 15, /* the disk fails, or is read-only */
        SEAL_WORKER_E_USAGE = 16,
};
/* What the daemon says of one, or NULL if it is none of them: half a sentence. */
const char *seal_worker_problem(int status);

/* Locks itself up, seals, and gives the exit status. */
int seal_worker(const char *byte_order);
