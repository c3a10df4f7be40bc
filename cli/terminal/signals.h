/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Signals: Ctrl-C and its kin as something to read
 *
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked and arrive at a descriptor,
 * so that nothing is interrupted half-way and the kernel is always put back.
 */

#include <stdbool.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"

/* The descriptor, non-blocking, which the caller owns; or -errno. */
int signals_open(void);
/* The next one; false if there is none now. */
bool signals_next(int fd, struct signalfd_siginfo *ret);
/* True if somebody wants us to end; reads all that there is. */
bool signals_want_end(int fd);
/* Signals do again what they usually do; what came until now is forgotten. */
void signals_close(int *fd);
#define _cleanup_signals_ _cleanup_(signals_close)
