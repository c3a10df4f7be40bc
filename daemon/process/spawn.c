/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * posix_spawn() returns when the child has closed what is to be closed (it waits as vfork() does): a
 * matter of milliseconds.  Closing may take the kernel long, so nobody waits for that: whoever has closed
 * waits for the children that were being made, each of which may have closed the last copy.
 */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>

#include "base/cleanup.h"
#include "daemon/process/spawn.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of n_making */
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static int n_making;

static void count_making(int change) {
        (void) pthread_mutex_lock(&lock);
        n_making += change;
        (void) pthread_cond_broadcast(&made);
        (void) pthread_mutex_unlock(&lock);
}

static int spawn(pid_t *ret, char *const *words, const posix_spawn_file_actions_t *actions) {
        posix_spawnattr_t attributes;
        sigset_t none, all;
        int r;

        (void) sigemptyset(&none);
        (void) sigfillset(&all);
        r = posix_spawnattr_init(&attributes);
        if (r != 0)
                return -r;
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawnattr_setsigdefault(&attributes, &all);
        (void) posix_spawnattr_setflags(&attributes,
                                        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        count_making(1);
        r = posix_spawn(ret, words[0], actions, &attributes, words, environ);
        count_making(-1);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}

int spawn_worker(pid_t *ret, const char *const *words, const int *fds, size_t n) {
        _cleanup_free_ int *moved = calloc(n, sizeof(*moved));
        posix_spawn_file_actions_t actions;
        size_t n_moved = 0;
        int r;

        if (!moved)
                return -ENOMEM;
        r = -posix_spawn_file_actions_init(&actions);
        if (r < 0)
                return r;
        /* Above all that it is to have, so that none overwrites another. */
        for (; r == 0 && n_moved < n; n_moved++) {
                moved[n_moved] = fcntl(fds[n_moved], F_DUPFD_CLOEXEC, (int) n);
                if (moved[n_moved] < 0) {
                        r = ORIGIN(-errno);
                        break;
                }
                r = -posix_spawn_file_actions_adddup2(&actions, moved[n_moved], (int) n_moved);
        }
        r = r ?: -posix_spawn_file_actions_addclosefrom_np(&actions, (int) n)
                    ?: spawn(ret, (char *const *) words, &actions);
        (void) posix_spawn_file_actions_destroy(&actions);
        for (size_t i = 0; i < n_moved; i++)
                (void) safe_close(moved[i]);
        return r;
}

int spawn_close(int fd) {
        int r = close(fd) < 0 ? ORIGIN(-errno) : 0;

        (void) pthread_mutex_lock(&lock);
        while (n_making > 0)
                (void) pthread_cond_wait(&made, &lock);
        (void) pthread_mutex_unlock(&lock);
        return r;
}
