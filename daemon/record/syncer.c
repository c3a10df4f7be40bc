/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A list of jobs and a thread that takes them in order, those that have failed when their time comes:
 *
 *      segment closed -> sync ── well ──> done
 *                          └─ failed ──> make dirty, sync ── well ──> what memory had lost has failed
 *                                ^               └─ failed ── again after SYNCER_RETRY_MS
 *                                                       └─ too late: what the disk lacks has failed
 *
 * A disk may hold the thread up for as long as it likes, so nobody ever joins it: what both sides need
 * is shared, and freed by who leaves last.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

#include "base/io.h"
#include "base/now.h"
#include "daemon/process/thread.h"
#include "daemon/record/syncer.h"
#include "store/entry.h"
#include "store/segment.h"

#define STACK_BYTES ((size_t) 256 << 10)
#define FAILING_MAX 64     /* segments that are tried again, each with its descriptor */
#define RETRY_MAX_MS 30000 /* so long at most between two tries, each of which is twice as long */

typedef struct Job Job;
struct Job {
        Job *next;
        int fd;
        uint32_t cpu;
        uint64_t sequence, n_pages; /* 0: a file without pages */
        bool has_failed;
        uint64_t retry_ms, pause_ms; /* CLOCK_MONOTONIC: not before; what is added next */
};

typedef struct Failed Failed;
struct Failed {
        Failed *next;
        SyncerFailure failure;
};

/* Of both sides; what is below the lock is guarded by it. */
typedef struct Shared {
        SessionDir *dir;
        uint32_t page_bytes;
        int wake_fd; /* eventfd: the loop is to look */
        pthread_mutex_t lock;
        pthread_cond_t changed; /* the thread is to look */
        Job *jobs, **end;
        Job *current; /* the thread's, out of the list */
        Failed *failed;
        bool wants_all;      /* syncer_add_all() */
        uint64_t n_unlisted; /* pages that run_all() has not come to yet, as far as that is known */
        bool is_ending;      /* syncer_end() */
        bool is_done;        /* and all of it is */
        bool is_synced;      /* once */
        bool rest_failed;    /* the thread's: what has no pages, when it was synced last */
        bool is_left;        /* by the loop's side: the thread ends */
        bool has_thread;
        uint64_t give_up_ms; /* CLOCK_MONOTONIC */
        int error;           /* of what fails now */
} Shared;

struct Syncer {
        Shared *shared;
        bool is_ring;
        sd_event_source *wake;
        void (*moved)(void *userdata);
        void *userdata;
};

static uint64_t now_ms(void) {
        return now_ns(CLOCK_MONOTONIC) / NSEC_PER_MSEC;
}

static Job *job_free(Job *job) {
        if (!job)
                return NULL;
        safe_close(job->fd);
        return mfree(job);
}
DEFINE_CLEANUP(Job *, job_free);

static void shared_free(Shared *s) {
        for (Job *job; (job = POP(s->jobs));)
                (void) job_free(job);
        for (Failed *f; (f = POP(s->failed));)
                free(f);
        (void) session_dir_free(s->dir);
        safe_close(s->wake_fd);
        (void) pthread_mutex_destroy(&s->lock);
        (void) pthread_cond_destroy(&s->changed);
        free(s);
}

/* --- in the thread ---------------------------------------------------------------------------- */

static void lock(Shared *s) {
        (void) pthread_mutex_lock(&s->lock);
}

static void unlock(Shared *s) {
        (void) pthread_mutex_unlock(&s->lock);
}

static void append(Shared *s, Job *job) {
        job->next = NULL;
        *s->end = job;
        s->end = &job->next;
}

/* With the lock. */
static void set_error(Shared *s, int error) {
        if (TAKE(s->error, error) != error)
                (void) eventfd_write(s->wake_fd, 1);
}

/* What is not on the disk as it should be, for good. */
static void give_up(Shared *s, const Job *job, bool is_synced, int error) {
        Failed *f = calloc(1, sizeof(*f));
        uint64_t first_ns = 0, n;

        n = segment_count_missing(job->fd, job->n_pages, s->page_bytes, is_synced, &first_ns);
        if (!f || (n == 0 && (is_synced || job->n_pages > 0))) {
                free(f);
                return;
        }
        f->failure = (SyncerFailure){ job->cpu, job->sequence, n, first_ns, -error };
        lock(s);
        f->next = s->failed;
        s->failed = f;
        unlock(s);
}

/* Whether it has no name any more: sealed or removed. */
static bool is_gone(const Job *job) {
        struct stat st;

        return fstat(job->fd, &st) >= 0 && st.st_nlink == 0;
}

/* Whether a job that failed is not tried again. */
static bool is_late(Shared *s) {
        size_t n_failing = 0;
        bool late;

        lock(s);
        for (const Job *job = s->jobs; job; job = job->next)
                n_failing += job->has_failed;
        late = s->is_left || n_failing >= FAILING_MAX ||
               (s->is_ending && now_ms() >= s->give_up_ms);
        unlock(s);
        return late;
}

/* All of it, after a failure: the kernel takes for clean what it could not write. */
static int sync_again(int fd) {
        struct stat st;
        int r;

        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        r = segment_make_dirty(fd, (uint64_t) st.st_size);
        return r < 0 ? r : fdatasync(fd) < 0 ? ORIGIN(-errno) : 0;
}

/* True: nothing is left of it to be done. */
static bool work(Shared *s, Job *job) {
        int r = 0;

        if (is_gone(job))
                return true;
        if (!job->has_failed) {
                r = fdatasync(job->fd) < 0 ? ORIGIN(-errno) : 0;
                if (r >= 0)
                        return true;
                job->has_failed = true;
        } else
                r = sync_again(job->fd);
        if (is_gone(job))
                return true;
        if (r >= 0 || is_late(s)) {
                give_up(s, job, r >= 0, r);
                return true;
        }
        lock(s);
        set_error(s, -r);
        job->pause_ms = MAX(2 * job->pause_ms, (uint64_t) SYNCER_RETRY_MS);
        if (s->is_ending)
                job->pause_ms = SYNCER_RETRY_MS;
        job->pause_ms = MIN(job->pause_ms, (uint64_t) RETRY_MAX_MS);
        job->retry_ms = now_ms() + job->pause_ms;
        unlock(s);
        return false;
}

/* The first whose time has come, out of the list; with the lock. */
static Job *take_job(Shared *s, uint64_t *ret_wait_ms) {
        uint64_t at_ms = now_ms();

        *ret_wait_ms = UINT64_MAX;
        for (Job **at = &s->jobs, *job; (job = *at); at = &job->next) {
                if (job->retry_ms > at_ms && !s->is_left) {
                        *ret_wait_ms = MIN(*ret_wait_ms, job->retry_ms - at_ms);
                        continue;
                }
                *at = job->next;
                if (s->end == &job->next)
                        s->end = at;
                return job;
        }
        return NULL;
}

static void wait_for_change(Shared *s, uint64_t wait_ms) {
        uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + wait_ms * NSEC_PER_MSEC;
        struct timespec until = { .tv_sec = (time_t) (until_ns / NSEC_PER_SEC),
                                  .tv_nsec = (long) (until_ns % NSEC_PER_SEC) };

        if (wait_ms == UINT64_MAX)
                (void) pthread_cond_wait(&s->changed, &s->lock);
        else
                (void) pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

static void run_job(Shared *s, Job *job) {
        bool is_over, fails = false;

        s->current = job;
        unlock(s);
        is_over = work(s, job);
        lock(s);
        s->current = NULL;
        if (is_over)
                (void) job_free(job);
        else
                append(s, job);
        for (const Job *other = s->jobs; other && !fails; other = other->next)
                fails = other->has_failed;
        if (!fails)
                set_error(s, 0);
}

/* --- what has no pages ------------------------------------------------------------------------ */

static int sync_below(int dir_fd, bool again);

static int sync_entry(int dir_fd, const char *name, bool again) {
        _cleanup_close_ int fd = openat(dir_fd, name,
                                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
                            rw_fd = -EBADF;
        struct stat st;
        uint64_t sequence;

        if (fd < 0 || fstat(fd, &st) < 0)
                return errno == ENOENT || errno == ELOOP ? 0 : ORIGIN(-errno);
        if (S_ISDIR(st.st_mode))
                return sync_below(fd, again);
        if (!S_ISREG(st.st_mode) || segment_parse_name(name, &sequence))
                return 0;
        if (!again && fdatasync(fd) >= 0)
                return 0;
        rw_fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        return rw_fd >= 0 ? sync_again(rw_fd) : errno == ENOENT ? 0 : ORIGIN(-errno);
}

/* Files, and then the names that they have; goes on after a failure, and returns the first.  @again: it
 * failed before. */
static int sync_below(int dir_fd, bool again) {
        _cleanup_(closedirp) DIR *dir = NULL;
        struct dirent *e;
        int r = dir_list(&dir, dir_open(dir_fd, ".")), k;

        if (r < 0)
                return r;
        while ((e = readdir(dir))) {
                if (streq(e->d_name, ".") || streq(e->d_name, ".."))
                        continue;
                k = sync_entry(dirfd(dir), e->d_name, again);
                r = r < 0 ? r : k;
        }
        k = fsync(dirfd(dir)) < 0 ? ORIGIN(-errno) : 0;
        return r < 0 ? r : k;
}

/* Of the session's own directory: its name as well. */
static int sync_rest(const Shared *s) {
        int fd = session_dir_fd(s->dir), r;
        _cleanup_close_ int above_fd = dir_open(fd, "..");

        if (s->is_synced) {
                r = sync_entry(fd, "session.json", s->rest_failed);
                return r < 0 ? r : fsync(fd) < 0 ? ORIGIN(-errno) : 0;
        }
        r = sync_below(fd, s->rest_failed);
        if (r >= 0 && above_fd >= 0 && fsync(above_fd) < 0)
                r = ORIGIN(-errno);
        return r;
}

/* What has no segment's place is retried as if it had no pages. */
static void run_rest(Shared *s) {
        Failed *f = NULL;
        int r;

        unlock(s);
        r = sync_rest(s);
        lock(s);
        s->rest_failed = r < 0;
        if (r < 0 && now_ms() < s->give_up_ms && !s->is_left) {
                set_error(s, -r);
                wait_for_change(s, SYNCER_RETRY_MS);
                return;
        }
        set_error(s, 0);
        if (r < 0 && (f = calloc(1, sizeof(*f)))) {
                f->failure.error = -r;
                f->next = s->failed;
                s->failed = f;
        }
        s->is_done = s->is_synced = true;
        (void) eventfd_write(s->wake_fd, 1);
}

/* One that nobody has handed over; what is sealed or open is passed over. */
static void add_segment(Shared *s, uint32_t cpu, uint64_t sequence) {
        _cleanup_(job_freep) Job *job = malloc(sizeof(*job));
        char path[SEGMENT_PATH_MAX];
        SegmentHeader h;
        bool is_over;

        if (!job)
                return;
        segment_format_path(path, cpu, sequence);
        *job = (Job){ .fd = entry_open_file(session_dir_fd(s->dir), path, O_RDWR),
                      .cpu = cpu,
                      .sequence = sequence };
        if (job->fd < 0 || segment_read_header(job->fd, &h) != 0 || h.state != SEGMENT_STATE_CLOSED)
                return;
        job->n_pages = h.n_pages;
        is_over = work(s, job);
        lock(s);
        s->n_unlisted -= MIN(s->n_unlisted, job->n_pages);
        if (!is_over)
                append(s, TAKE_PTR(job));
        unlock(s);
}

static void run_all(Shared *s) {
        _cleanup_free_ SegmentPlace *places = NULL;
        size_t n = 0;

        s->wants_all = false;
        unlock(s);
        (void) session_dir_list_places(s->dir, &places, &n);
        for (size_t i = 0; i < n; i++)
                add_segment(s, places[i].cpu, places[i].sequence);
        lock(s);
        if (!s->wants_all)
                s->n_unlisted = 0;
}

static void *thread_run(void *userdata) {
        Shared *s = userdata;
        uint64_t wait_ms;

        (void) pthread_setname_np(pthread_self(), "syncer");
        lock(s);
        while (!s->is_left) {
                Job *job = s->wants_all ? NULL : take_job(s, &wait_ms);

                if (s->wants_all)
                        run_all(s);
                else if (job)
                        run_job(s, job);
                else if (!s->jobs && s->is_ending && !s->is_done)
                        run_rest(s);
                else
                        wait_for_change(s, wait_ms);
        }
        unlock(s);
        shared_free(s);
        return NULL;
}

/* --- in the loop's and the readers' ------------------------------------------------------------ */

/* With the lock. */
static void change(Shared *s) {
        pthread_t thread;

        if (s->has_thread) {
                (void) pthread_cond_broadcast(&s->changed);
                return;
        }
        if (thread_start(&thread, STACK_BYTES, thread_run, s) < 0)
                return; /* with the next change */
        (void) pthread_detach(thread);
        s->has_thread = true;
}

static int on_wake(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Syncer *s = userdata;
        eventfd_t n;

        (void) eventfd_read(fd, &n);
        s->moved(s->userdata);
        return 0;
}

static int shared_new(Shared **ret, const SyncerConfig *config) {
        _cleanup_close_ int fd = -EBADF;
        pthread_condattr_t attr;
        Shared *s;
        int r;

        fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (fd < 0)
                return ORIGIN(-errno);
        s = NEW(Shared, .page_bytes = config->page_bytes, .wake_fd = TAKE_FD(fd));
        if (!s)
                return -ENOMEM;
        s->end = &s->jobs;
        (void) pthread_mutex_init(&s->lock, NULL);
        (void) pthread_condattr_init(&attr);
        (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        (void) pthread_cond_init(&s->changed, &attr);
        (void) pthread_condattr_destroy(&attr);
        fd = dir_open(session_dir_fd(config->dir), ".");
        r = fd < 0 ? fd : session_dir_take_fds(&s->dir, TAKE_FD(fd), -EBADF);
        if (r < 0) {
                shared_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

int syncer_new(Syncer **ret, const SyncerConfig *config) {
        _cleanup_(syncer_freep) Syncer *s =
                NEW(Syncer, .is_ring = config->is_ring, .moved = config->moved,
                    .userdata = config->userdata);
        int r;

        if (!s)
                return -ENOMEM;
        r = shared_new(&s->shared, config);
        if (r >= 0)
                r = sd_event_add_io(config->event, &s->wake, s->shared->wake_fd, EPOLLIN, on_wake,
                                    s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

/* Consumes the descriptor of @new.  Without memory all are looked for instead. */
static void add_job(Shared *s, const Job *new) {
        Job *job = malloc(sizeof(*job));

        lock(s);
        if (job) {
                *job = *new;
                append(s, job);
        } else {
                safe_close(new->fd);
                s->wants_all = true;
        }
        change(s);
        unlock(s);
}

void syncer_add(Syncer *s, int fd, uint32_t cpu, uint64_t sequence, uint64_t n_pages,
                bool has_failed) {
        if (fd >= 0 && s->is_ring && !has_failed)
                safe_close(fd);
        else if (fd >= 0)
                add_job(s->shared, &(Job){ .fd = fd,
                                           .cpu = cpu,
                                           .sequence = sequence,
                                           .n_pages = n_pages,
                                           .has_failed = has_failed });
}

void syncer_add_file(Syncer *s, int fd) {
        if (fd >= 0)
                add_job(s->shared, &(Job){ .fd = fd });
}

void syncer_add_all(Syncer *s, uint64_t n_pages) {
        lock(s->shared);
        s->shared->wants_all = true;
        s->shared->n_unlisted = n_pages;
        change(s->shared);
        unlock(s->shared);
}

void syncer_end(Syncer *s, uint64_t give_up_ms) {
        lock(s->shared);
        s->shared->is_ending = true;
        s->shared->is_done = false;
        s->shared->give_up_ms = now_ms() + give_up_ms;
        for (Job *job = s->shared->jobs; job; job = job->next)
                job->retry_ms = 0;
        change(s->shared);
        unlock(s->shared);
}

bool syncer_is_done(Syncer *s) {
        bool is_done;

        lock(s->shared);
        is_done = s->shared->is_done;
        unlock(s->shared);
        return is_done;
}

static uint64_t pages_of(Shared *s, bool failing_alone) {
        uint64_t n = 0;

        for (const Job *job = s->jobs; job; job = job->next)
                if (job->has_failed || !failing_alone)
                        n += job->n_pages;
        if (s->current && !failing_alone)
                n += s->current->n_pages;
        return failing_alone ? n : n + s->n_unlisted;
}

int syncer_error(Syncer *s, uint64_t *ret_n_pages) {
        int error;

        lock(s->shared);
        error = s->shared->error;
        *ret_n_pages = pages_of(s->shared, true);
        unlock(s->shared);
        return error;
}

uint64_t syncer_n_left(Syncer *s) {
        uint64_t n;

        lock(s->shared);
        n = pages_of(s->shared, false);
        unlock(s->shared);
        return n;
}

bool syncer_take_failure(Syncer *s, SyncerFailure *ret) {
        Failed *f;

        lock(s->shared);
        f = POP(s->shared->failed);
        unlock(s->shared);
        if (!f)
                return false;
        *ret = f->failure;
        free(f);
        return true;
}

Syncer *syncer_free(Syncer *s) {
        Shared *shared;
        bool has_thread;

        if (!s)
                return NULL;
        (void) sd_event_source_disable_unref(s->wake);
        shared = s->shared;
        if (shared) {
                lock(shared);
                shared->is_left = true;
                has_thread = shared->has_thread;
                (void) pthread_cond_broadcast(&shared->changed);
                unlock(shared);
                if (!has_thread)
                        shared_free(shared);
        }
        return mfree(s);
}
