/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A queue and a thread that takes what is in it, one after the other:
 *
 *      segment closed -> fdatasync() ── well ──> done
 *                              └─ failed ──> told, with all its pages: the kernel does not say which
 *
 * A disk may hold the thread up for as long as it likes, so nobody ever joins it: what both sides need
 * is shared, and freed by who leaves last.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/process/thread.h"
#include "daemon/record/reader.h"
#include "store/entry.h"
#include "store/page.h"

#define STACK_BYTES ((size_t) 256 << 10)

typedef struct Job Job;
struct Job {
        Job *next;
        int fd;
        SyncerFailure failure; /* if it fails; n_pages 0: a file without pages */
};

/* Of both sides; what is below the lock is guarded by it. */
typedef struct Shared {
        SessionDir *dir;
        uint32_t page_bytes;
        int wake_fd; /* eventfd: the loop is to look */
        pthread_mutex_t lock;
        pthread_cond_t changed; /* the thread is to look */
        Job *jobs, **end;
        Job *failed;         /* nobody has taken them */
        bool wants_all;      /* syncer_add_all() */
        uint64_t n_queued;   /* pages in the list and in the thread's hands */
        uint64_t n_unlisted; /* those that run_all() has not come to yet, as far as that is known */
        bool is_ending;      /* syncer_end() */
        bool is_done;        /* and all of it is */
        bool is_left;        /* by the loop's side: the thread ends */
        bool has_thread;
        int error;      /* of the last segment */
        int rest_error; /* of what has no pages, until it is taken */
} Shared;

struct Syncer {
        Shared *shared;
        bool is_ring;
        sd_event_source *wake;
        void (*moved)(void *userdata);
        void *userdata;
};

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
        for (Job *job; (job = POP(s->failed));)
                (void) job_free(job);
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

/* True if it has no name any more: sealed or removed. */
static bool is_gone(const Job *job) {
        struct stat st;

        return fstat(job->fd, &st) >= 0 && st.st_nlink == 0;
}

/* Of a segment, as memory has it; 0: it does not tell. */
static uint64_t read_first_ns(int fd, uint32_t page_bytes) {
        _cleanup_free_ char *page = malloc(page_bytes);
        PageInfo info;

        return page &&
                               pread_up_to(fd, page, page_bytes, SEGMENT_HEADER_BYTES) ==
                                       (ssize_t) page_bytes &&
                               page_parse(&info, page, page_bytes, false) == 0
                       ? info.timestamp
                       : 0;
}

/* Consumes @job, which is one of @n_left. */
static void run_job(Shared *s, Job *job, uint64_t *n_left) {
        SyncerFailure *f = &job->failure;
        int error = is_gone(job) || fdatasync(job->fd) >= 0 ? 0 : errno;

        if (error != 0 && is_gone(job))
                error = 0;
        f->error = error;
        if (error != 0 && f->n_pages > 0)
                f->first_ns = read_first_ns(job->fd, s->page_bytes);
        job->fd = safe_close(job->fd);
        lock(s);
        *n_left -= MIN(*n_left, f->n_pages);
        if (error != 0 || s->error != 0)
                (void) eventfd_write(s->wake_fd, 1);
        s->error = error;
        if (error != 0) {
                job->next = s->failed;
                s->failed = TAKE_PTR(job);
        }
        unlock(s);
        (void) job_free(job);
}

/* --- what has no pages ------------------------------------------------------------------------ */

static int sync_below(int dir_fd);

static int sync_entry(int dir_fd, const char *name) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        uint64_t sequence;

        if (fd < 0 || fstat(fd, &st) < 0)
                return errno == ENOENT || errno == ELOOP ? 0 : ORIGIN(-errno);
        if (S_ISDIR(st.st_mode))
                return sync_below(fd);
        if (!S_ISREG(st.st_mode) || segment_parse_name(name, &sequence))
                return 0;
        return fdatasync(fd) < 0 ? ORIGIN(-errno) : 0;
}

/* Files, and then the names that they have; goes on after a failure, and returns the first. */
static int sync_below(int dir_fd) {
        _cleanup_(closedirp) DIR *dir = NULL;
        struct dirent *e;
        int r = dir_list(&dir, dir_open(dir_fd, ".")), k;

        if (r < 0)
                return r;
        while ((e = readdir(dir))) {
                if (streq(e->d_name, ".") || streq(e->d_name, ".."))
                        continue;
                k = sync_entry(dirfd(dir), e->d_name);
                r = r < 0 ? r : k;
        }
        k = fsync(dirfd(dir)) < 0 ? ORIGIN(-errno) : 0;
        return r ?: k;
}

/* With the session's own directory's name. */
static void run_rest(Shared *s) {
        int fd = session_dir_fd(s->dir), r = sync_below(fd);
        _cleanup_close_ int above_fd = dir_open(fd, "..");

        if (r >= 0 && above_fd >= 0 && fsync(above_fd) < 0)
                r = ORIGIN(-errno);
        lock(s);
        s->rest_error = -r;
        s->is_done = true;
        (void) eventfd_write(s->wake_fd, 1);
        unlock(s);
}

/* One that nobody has handed over; what is sealed or open is passed over. */
static void run_segment(Shared *s, uint32_t cpu, uint64_t sequence) {
        _cleanup_(job_freep) Job *job = malloc(sizeof(*job));
        char path[SEGMENT_PATH_MAX];
        SegmentHeader h;

        if (!job)
                return;
        segment_format_path(path, cpu, sequence);
        *job = (Job){ .fd = entry_open_file(session_dir_fd(s->dir), path, O_RDONLY) };
        if (job->fd < 0 || segment_read_header(job->fd, &h) != 0 || h.state != SEGMENT_STATE_CLOSED)
                return;
        job->failure = (SyncerFailure){ .cpu = cpu, .n_pages = h.n_pages };
        run_job(s, TAKE_PTR(job), &s->n_unlisted);
}

static void run_all(Shared *s) {
        _cleanup_free_ SegmentPlace *places = NULL;
        size_t n = 0;

        (void) session_dir_list_places(s->dir, &places, &n);
        for (size_t i = 0; i < n; i++)
                run_segment(s, places[i].cpu, places[i].sequence);
        lock(s);
        if (!s->wants_all)
                s->n_unlisted = 0;
        unlock(s);
}

static void *thread_run(void *userdata) {
        Shared *s = userdata;

        (void) pthread_setname_np(pthread_self(), "syncer");
        lock(s);
        while (!s->is_left) {
                bool wants_all = TAKE(s->wants_all, false);
                Job *job = wants_all ? NULL : POP(s->jobs);

                if (!s->jobs)
                        s->end = &s->jobs;
                if (!wants_all && !job && (!s->is_ending || s->is_done)) {
                        (void) pthread_cond_wait(&s->changed, &s->lock);
                        continue;
                }
                unlock(s);
                if (wants_all)
                        run_all(s);
                else if (job)
                        run_job(s, job, &s->n_queued);
                else
                        run_rest(s);
                lock(s);
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

int syncer_new(Syncer **ret, const SyncerConfig *config) {
        _cleanup_(syncer_freep) Syncer *s =
                NEW(Syncer, .is_ring = config->is_ring, .moved = config->moved,
                    .userdata = config->userdata);
        Shared *shared;
        int r, fd;

        if (!s)
                return -ENOMEM;
        s->shared = shared = NEW(Shared, .page_bytes = config->page_bytes);
        if (!shared)
                return -ENOMEM;
        shared->end = &shared->jobs;
        (void) pthread_mutex_init(&shared->lock, NULL);
        (void) pthread_cond_init(&shared->changed, NULL);
        shared->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (shared->wake_fd < 0)
                return ORIGIN(-errno);
        fd = dir_open(session_dir_fd(config->dir), ".");
        r = fd < 0 ? fd : session_dir_take_fds(&shared->dir, fd, -EBADF);
        if (r >= 0)
                r = sd_event_add_io(config->event, &s->wake, shared->wake_fd, EPOLLIN, on_wake, s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

/* Without memory all are looked for instead. */
void syncer_add(Syncer *s, int fd, uint32_t cpu, uint64_t n_pages) {
        Shared *shared = s->shared;
        Job *job;

        if (fd < 0 || (s->is_ring && n_pages > 0)) {
                safe_close(fd);
                return;
        }
        job = NEW(Job, .fd = fd, .failure = { .cpu = cpu, .n_pages = n_pages });
        lock(shared);
        if (job) {
                shared->n_queued += n_pages;
                *shared->end = job;
                shared->end = &job->next;
        } else {
                safe_close(fd);
                shared->n_unlisted += n_pages;
                shared->wants_all = true;
        }
        change(shared);
        unlock(shared);
}

void syncer_add_all(Syncer *s, uint64_t n_pages) {
        lock(s->shared);
        s->shared->wants_all = true;
        s->shared->n_unlisted += n_pages;
        change(s->shared);
        unlock(s->shared);
}

void syncer_end(Syncer *s) {
        lock(s->shared);
        s->shared->is_ending = true;
        s->shared->is_done = false;
        change(s->shared);
        unlock(s->shared);
}

SyncerState syncer_look(Syncer *s) {
        SyncerState state;

        lock(s->shared);
        state = (SyncerState){ .is_done = s->shared->is_done,
                               .error = s->shared->error,
                               .n_left = s->shared->n_queued + s->shared->n_unlisted };
        unlock(s->shared);
        return state;
}

bool syncer_take_failure(Syncer *s, SyncerFailure *ret) {
        _cleanup_(job_freep) Job *job = NULL;

        lock(s->shared);
        job = POP(s->shared->failed);
        *ret = job ? job->failure : (SyncerFailure){ .error = TAKE(s->shared->rest_error, 0) };
        unlock(s->shared);
        return ret->error != 0;
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
