/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Spawn: other processes, and files that act when nobody has them open any more
 *
 * Until it has become another program a child has a copy of each of our descriptors, whatever
 * O_CLOEXEC says.  The control files that hold lists of functions act when the last copy is closed
 * (daemon/tracefs/control.h), so a close() of ours beside a child that is just being made would do nothing yet.
 */

#include <sys/types.h>

/* @words: the program and its arguments, up to NULL.  @fds become 0 to @n - 1; it gets no
 * others, and no signal is blocked or ignored in it.  It has become the program when this returns.  0 or -errno. */
int spawn_worker(pid_t *ret, const char *const *words, const int *fds, size_t n);
/* A child that calls @serve with a socket for standard input, nothing else open and no core file, and ends with it.  The
 * socket's other end, which the caller owns, or -errno. */
int spawn_server(const char *name, int (*serve)(int fd));
/* A descriptor of who listens at @path; -ENOENT, -ECONNREFUSED: nobody does; -errno. */
int spawn_connect(const char *path);
/* close(), and nobody has a copy when this returns.  Others are not held up meanwhile.  0 or -errno. */
int spawn_close(int fd);
