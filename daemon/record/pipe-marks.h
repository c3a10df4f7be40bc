/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * PipeMarks: how much is in the readers' pipes, for whoever comes after a kill
 *
 * Where no service manager holds the pipes, what is in them dies with the daemon.  A number for each
 * CPU in shared memory (/dev/shm/ftraced-SESSIONID) outlives it and says how much that was at most.
 * Not a file in the store: its pages would be written back for ever, and a disk that fails would turn
 * a store to it into SIGBUS.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef atomic_uint_fast64_t PipeMark; /* bytes, or PIPE_MARK_MOVING: up to a pipe's size */
#define PIPE_MARK_MOVING UINT64_MAX

typedef struct PipeMarks PipeMarks;

/* Makes those of a session anew, @n of them, all 0.  0 or -errno. */
int pipe_marks_new(PipeMarks **ret, const char *session_id, size_t n);
/* Those that a dead daemon left.  -ENOENT, -EPERM (not this user's), -EBADMSG (not so many). */
int pipe_marks_open(PipeMarks **ret, const char *session_id, size_t n);
PipeMark *pipe_marks_get(PipeMarks *m, size_t i);
PipeMarks *pipe_marks_free(PipeMarks *m); /* this process's view of them only */
DEFINE_CLEANUP(PipeMarks *, pipe_marks_free);
/* The session has ended: nobody will ask. */
void pipe_marks_remove(const char *session_id);
