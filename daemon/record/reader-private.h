/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The reader's inside, for daemon/record/reader.c (the loop) and daemon/record/reader-resume.c (what comes before
 * it when an earlier daemon had begun).
 */

#include <pthread.h>

#include "daemon/record/reader.h"
#include "store/segment.h"

#define READER_SMALL_PIPE_BYTES (64 << 10) /* what pipe2() gives */

struct Reader {
        /* constant while the thread runs */
        ReaderShared *shared;
        uint32_t cpu;
        int raw_fd, kick_fd;
        PipeMark *mark; /* NULL: somebody holds the pipe */
        pthread_t thread;
        bool is_started;

        ReaderCounters counters;

        /* the thread's alone */
        int pipe_fds[2];
        bool pipe_is_grown;
        size_t n_piped; /* bytes in the pipe */
        int cpu_dir_fd;
        SegmentWriter *segment;
        uint64_t sequence; /* of the segment */
        uint64_t previous; /* of the last segment that was closed; UINT64_MAX: none */
        uint8_t *tail;     /* page that read() fills, or NULL */
        size_t n_tail;     /* bytes of it that are there */
};
