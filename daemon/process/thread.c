/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A thread inherits the mask of signals, so all are blocked for the moment in which it is made.
 */

#include <signal.h>

#include "daemon/process/thread.h"

int thread_start(pthread_t *ret, size_t stack_bytes, void *(*run)(void *userdata), void *userdata) {
        sigset_t all, before;
        pthread_attr_t attr;
        int k = pthread_attr_init(&attr);

        if (k != 0)
                return -k;
        if (stack_bytes > 0)
                (void) pthread_attr_setstacksize(&attr, stack_bytes);
        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &before);
        k = pthread_create(ret, &attr, run, userdata);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void) pthread_attr_destroy(&attr);
        return -k;
}
