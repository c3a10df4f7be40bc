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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

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

int spawn_server(const char *name, int (*serve)(int fd)) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        int pair[2];
        pid_t pid;
        char c;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return ORIGIN(-errno);
        ours = pair[0];
        theirs = pair[1];
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_NAME, name);
                (void) setsid(); /* a terminal's ^C is for the daemon */
                (void) setrlimit(RLIMIT_CORE, &(struct rlimit){});
                if (dup2(theirs, STDIN_FILENO) < 0)
                        _exit(1);
                closefrom(STDOUT_FILENO);
                _exit(write(STDIN_FILENO, "", 1) != 1 || serve(STDIN_FILENO) < 0);
        }
        if (pid < 0)
                return ORIGIN(-errno);
        /* Until it runs it has our locks, too, and we may have ended by then. */
        theirs = safe_close(theirs);
        return read(ours, &c, 1) == 1 ? TAKE_FD(ours) : ORIGIN(-ECHILD);
}

int spawn_connect(const char *path) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address = { AF_UNIX };

        (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        if (fd < 0 || connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return ORIGIN(-errno);
        return TAKE_FD(fd);
}

int spawn_close(int fd) {
        int r = close(fd) < 0 ? ORIGIN(-errno) : 0;

        (void) pthread_mutex_lock(&lock);
        while (n_making > 0)
                (void) pthread_cond_wait(&made, &lock);
        (void) pthread_mutex_unlock(&lock);
        return r;
}
