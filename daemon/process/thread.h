/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Thread: one beside the main thread, which alone takes signals
 */

#include <pthread.h>
#include <stddef.h>

/* @stack_bytes: 0: as usual.  pthread_join() it.  0 or -errno. */
int thread_start(pthread_t *ret, size_t stack_bytes, void *(*run)(void *userdata), void *userdata);
