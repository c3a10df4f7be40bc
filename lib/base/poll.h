/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * poll() with a deadline and without EINTR, and beside a child
 */

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

/* @end_ns: CLOCK_MONOTONIC; UINT64_MAX: none.  0: one of @p has something; -ETIMEDOUT; -errno. */
int poll_until(struct pollfd *p, nfds_t n, uint64_t end_ns);
/*
 * poll_child() - the same, and until a child has ended
 * @pid: the child, which stays to be waited for
 * @p:   the first of the @n is the child's and need not be filled in
 *
 * Before linux 5.3, which has no pidfd_open(2), the child is looked at every POLL_CHILD_MS.
 *
 * Return: POLL_CHILD_ENDED, or what poll_until() returns.
 */
enum { POLL_CHILD_ENDED = 1 };
#define POLL_CHILD_MS 10
int poll_child(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns);
