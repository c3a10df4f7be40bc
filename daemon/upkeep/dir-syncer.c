/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A thread that nobody joins, since a disk may hold it up for ever: what both sides need is freed by who
 * leaves last.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "daemon/process/thread.h"
#include "daemon/upkeep/dir-syncer.h"

#define STACK_BYTES ((size_t) 64 << 10)

/* The thread writes the result before it wakes the loop, which reads it after that. */
typedef struct Shared {
        int dir_fd, wake_fd;
        int result;
        unsigned n_users; /* atomic */
} Shared;

struct DirSyncer {
        Shared *shared;
        sd_event_source *wake;
        DirSynced done;
        void *userdata;
};

static void leave(Shared *s) {
        if (__atomic_sub_fetch(&s->n_users, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        safe_close(s->dir_fd);
        safe_close(s->wake_fd);
        free(s);
}

static void *thread_run(void *userdata) {
        Shared *s = userdata;

        (void) pthread_setname_np(pthread_self(), "dir-syncer");
        __atomic_store_n(&s->result, fsync(s->dir_fd) < 0 ? ORIGIN(-errno) : 0, __ATOMIC_RELEASE);
        (void) eventfd_write(s->wake_fd, 1);
        leave(s);
        return NULL;
}

static int on_wake(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        DirSyncer *s = userdata;

        (void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
        s->done(__atomic_load_n(&s->shared->result, __ATOMIC_ACQUIRE), s->userdata);
        return 0;
}

static int shared_new(Shared **ret, int dir_fd) {
        Shared *s = NEW(Shared, .dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3),
                        .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .n_users = 1);
        int r;

        if (!s)
                return -ENOMEM;
        if (s->dir_fd < 0 || s->wake_fd < 0) {
                r = ORIGIN(-errno);
                leave(s);
                return r;
        }
        *ret = s;
        return 0;
}

int dir_syncer_new(DirSyncer **ret, sd_event *event, int dir_fd, DirSynced done, void *userdata) {
        _cleanup_(dir_syncer_freep) DirSyncer *s =
                NEW(DirSyncer, .done = done, .userdata = userdata);
        pthread_t thread;
        int r;

        if (!s)
                return -ENOMEM;
        r = shared_new(&s->shared, dir_fd);
        if (r >= 0)
                r = sd_event_add_io(event, &s->wake, s->shared->wake_fd, EPOLLIN, on_wake, s);
        if (r < 0)
                return r;
        s->shared->n_users = 2;
        r = thread_start(&thread, STACK_BYTES, thread_run, s->shared);
        if (r < 0) {
                s->shared->n_users = 1;
                return r;
        }
        (void) pthread_detach(thread);
        *ret = TAKE_PTR(s);
        return 0;
}

DirSyncer *dir_syncer_free(DirSyncer *s) {
        if (!s)
                return NULL;
        (void) sd_event_source_disable_unref(s->wake);
        if (s->shared)
                leave(s->shared);
        return mfree(s);
}
