/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Records are moved as they are: what is between tail and head of a ring is whole records.  A file that cannot take all of
 * them is cut back to those it has.
 */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/process/thread.h"
#include "daemon/record/stack-copier.h"
#include "spaces/stack-copies.h"

#define STACK_BYTES ((size_t) 128 << 10)
#define FILES_MAX 1000000

typedef struct CpuRing {
        uint32_t cpu, n_pages;
        int event; /* whose ring it is, borrowed */
        struct perf_event_mmap_page *page;
        unsigned k; /* of its file */
        int fd;     /* -EBADF: there is none yet */
        uint64_t n_file;
} CpuRing;

/* The thread alone has what is below the lock's line, while it is there. */
struct StackCopier {
        StacksHeader header;
        uint64_t max_bytes;
        bool is_ring;
        int *events;
        size_t n_events;
        pthread_t thread;
        bool has_thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool is_ending; /* with the lock */
        bool is_over;   /* the thread's, for others to look at */

        int dir_fd;
        CpuRing *rings;
        size_t n_rings;
        uint64_t n_bytes;
        bool is_full;
        int error;
};

int stack_copier_new(StackCopier **ret, const SessionDir *dir, const Spec *spec) {
        StackCopier *c = NULL;
        pthread_condattr_t attr;
        int fd = session_dir_fd(dir);

        if (mkdirat(fd, STACKS_DIR, 0700) < 0 && errno != EEXIST)
                return ORIGIN(-errno);
        c = NEW(StackCopier, .dir_fd = dir_open(fd, STACKS_DIR), .is_ring = spec->ring,
                .max_bytes = spec->max_bytes > 0 ? spec->max_bytes : STACKS_DEFAULT_MAX_BYTES,
                .header = { .magic = STACKS_MAGIC,
                            .version = STACKS_VERSION,
                            .machine = STACKS_MACHINE,
                            .registers = STACKS_REGISTERS,
                            .n_bytes = (uint32_t) spec->stack_bytes,
                            .every = (uint32_t) MAX(spec->stack_every, UINT64_C(1)) });
        if (!c)
                return -ENOMEM;
        (void) pthread_mutex_init(&c->lock, NULL);
        (void) pthread_condattr_init(&attr);
        (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        (void) pthread_cond_init(&c->changed, &attr);
        (void) pthread_condattr_destroy(&attr);
        if (c->dir_fd < 0) {
                int r = c->dir_fd;

                (void) stack_copier_free(c);
                return r;
        }
        *ret = c;
        return 0;
}

/* A smaller one, if this much may not be locked. */
static int map_ring(CpuRing *ring, int event_fd) {
        size_t page = (size_t) sysconf(_SC_PAGESIZE);
        void *p = MAP_FAILED;

        for (uint32_t n = STACKS_RING_PAGES; p == MAP_FAILED && n >= STACKS_RING_PAGES / 8;
             n /= 2) {
                p = mmap(NULL, (n + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, event_fd, 0);
                if (p == MAP_FAILED && errno != EPERM)
                        break;
                ring->n_pages = n;
        }
        if (p == MAP_FAILED)
                return ORIGIN(-errno);
        ring->page = p;
        return 0;
}

/* What an earlier copier of the session left counts, and its files are older. */
static int count_files(StackCopier *c, CpuRing *ring) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, dir_open(c->dir_fd, "."));

        while (r >= 0 && (e = dir_next(d, &r))) {
                unsigned cpu, k;
                struct stat st;

                if (sscanf(e->d_name, "cpu%u-%u", &cpu, &k) != 2 || cpu != ring->cpu ||
                    k > FILES_MAX || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                c->n_bytes += (uint64_t) st.st_size;
                ring->k = MAX(ring->k, k + 1);
        }
        return MIN(r, 0);
}

int stack_copier_add(StackCopier *c, uint32_t cpu, int event_fd) {
        _cleanup_close_ int fd = event_fd;
        CpuRing ring = { .cpu = cpu, .event = event_fd, .fd = -EBADF };
        int r;

        if (!ARRAY_ADD(c->events, c->n_events, fd))
                return -ENOMEM;
        event_fd = TAKE_FD(fd);
        for (size_t i = 0; i < c->n_rings; i++)
                if (c->rings[i].cpu == cpu)
                        return ioctl(event_fd, PERF_EVENT_IOC_SET_OUTPUT, c->rings[i].event) < 0
                                       ? ORIGIN(-errno)
                                       : 0;
        if (!ARRAY_GROW(c->rings, c->n_rings))
                return -ENOMEM;
        r = count_files(c, &ring);
        if (r >= 0)
                r = map_ring(&ring, event_fd);
        if (r < 0)
                return r;
        c->rings[c->n_rings++] = ring;
        return 0;
}

/* --- in the thread ---------------------------------------------------------------------------------- */

static void switch_all(const StackCopier *c, unsigned long how) {
        for (size_t i = 0; i < c->n_events; i++)
                (void) ioctl(c->events[i], how, 0);
}

/* The next file of the CPU; in a ring the last but one goes. */
static int begin_file(StackCopier *c, CpuRing *ring) {
        StacksHeader h = c->header;
        char name[STACKS_NAME_MAX];
        int r;

        h.cpu = ring->cpu;
        ring->fd = safe_close(ring->fd);
        if (ring->k >= FILES_MAX)
                return ORIGIN(-ENFILE);
        (void) snprintf(name, sizeof(name), "cpu%u-%u", ring->cpu, ring->k);
        ring->fd =
                openat(c->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (ring->fd < 0)
                return ORIGIN(-errno);
        r = pwrite_full(ring->fd, &h, sizeof(h), 0);
        if (r < 0) {
                (void) unlinkat(c->dir_fd, name, 0);
                ring->fd = safe_close(ring->fd);
                return r;
        }
        ring->n_file = sizeof(h);
        ring->k++;
        if (c->is_ring && ring->k > 2) {
                (void) snprintf(name, sizeof(name), "cpu%u-%u", ring->cpu, ring->k - 3);
                (void) unlinkat(c->dir_fd, name, 0);
        }
        return 0;
}

static int drain(StackCopier *c, CpuRing *ring) {
        const char *data = (const char *) ring->page + ring->page->data_offset;
        uint64_t size = ring->page->data_size,
                 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
                 tail = ring->page->data_tail, n = head - tail, at = tail % size,
                 n_first = MIN(n, size - at);
        int r = 0;

        if (n == 0)
                return 0;
        if (!c->is_ring && c->n_bytes + n > c->max_bytes) {
                c->is_full = true;
                return 0;
        }
        if (ring->fd < 0 ||
            (c->is_ring && ring->n_file + n > c->max_bytes / (2 * c->n_rings) && ring->n_file > n))
                r = begin_file(c, ring);
        r = r ?: pwrite_full(ring->fd, data + at, n_first, ring->n_file)
                    ?: pwrite_full(ring->fd, data, n - n_first, ring->n_file + n_first);
        if (r < 0) {
                (void) ftruncate(ring->fd, (off_t) ring->n_file);
                return r;
        }
        ring->n_file += n;
        c->n_bytes += n;
        __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
        return 0;
}

static void *run(void *userdata) {
        StackCopier *c = userdata;
        bool is_ending = false;

        (void) pthread_setname_np(pthread_self(), "stacks");
        while (!is_ending && !c->is_full && c->error == 0) {
                uint64_t until = now_ns(CLOCK_MONOTONIC) + NSEC_PER_SEC / STACKS_DRAINS_S;
                struct timespec t = { (time_t) (until / NSEC_PER_SEC),
                                      (long) (until % NSEC_PER_SEC) };

                (void) pthread_mutex_lock(&c->lock);
                while (!c->is_ending &&
                       pthread_cond_timedwait(&c->changed, &c->lock, &t) != ETIMEDOUT)
                        ;
                is_ending = c->is_ending;
                (void) pthread_mutex_unlock(&c->lock);
                for (size_t i = 0; i < c->n_rings && c->error == 0; i++) {
                        int r = drain(c, &c->rings[i]);

                        /* On a full disk the rings wait for room, as the recording does. */
                        if (r < 0 && (is_ending || (r != -ENOSPC && r != -EDQUOT)))
                                c->error = -r;
                }
        }
        __atomic_store_n(&c->is_over, true, __ATOMIC_RELEASE);
        switch_all(c, PERF_EVENT_IOC_DISABLE);
        return NULL;
}

/* --- in the loop's ---------------------------------------------------------------------------------- */

int stack_copier_switch(StackCopier *c, bool on) {
        int r = on && !c->has_thread ? thread_start(&c->thread, STACK_BYTES, run, c) : 0;

        if (r < 0)
                return ORIGIN(r);
        c->has_thread |= on;
        if (!__atomic_load_n(&c->is_over, __ATOMIC_ACQUIRE) || !on)
                switch_all(c, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
        return 0;
}

StackCopier *stack_copier_end(StackCopier *c, int *ret_error, bool *ret_full) {
        if (!c)
                return NULL;
        switch_all(c, PERF_EVENT_IOC_DISABLE);
        (void) pthread_mutex_lock(&c->lock);
        c->is_ending = true;
        (void) pthread_cond_broadcast(&c->changed);
        (void) pthread_mutex_unlock(&c->lock);
        if (c->has_thread)
                (void) pthread_join(c->thread, NULL);
        if (ret_error)
                *ret_error = -c->error;
        if (ret_full)
                *ret_full = c->is_full;
        /* A probe cannot be removed while an event of it is there, which a mapping keeps. */
        for (size_t i = 0; i < c->n_rings; i++) {
                (void) munmap(c->rings[i].page,
                              (c->rings[i].n_pages + 1) * (size_t) sysconf(_SC_PAGESIZE));
                safe_close(c->rings[i].fd);
        }
        for (size_t i = 0; i < c->n_events; i++)
                safe_close(c->events[i]);
        (void) pthread_mutex_destroy(&c->lock);
        (void) pthread_cond_destroy(&c->changed);
        safe_close(c->dir_fd);
        free(c->rings);
        free(c->events);
        return mfree(c);
}
