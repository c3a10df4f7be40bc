/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The loop: wait for the kernel, for a kick or for the time; splice whole pages
 * through the pipe until there is none; wait again, as long as the stream's
 * pace says.  Order is kept
 * by one rule: nothing new is taken from the kernel before the pipe is empty
 * and a page that read() has begun is complete.
 *
 * What trace_pipe_raw does that one would not guess (linux 6.1
 * kernel/trace/trace.c, tracing_buffers_read() and tracing_buffers_splice_read();
 * tried on 6.1, 6.12 and 7.x):
 *   - splice() hands out full pages only and says EAGAIN for a partly filled one, although
 *     poll() calls the descriptor readable: we sleep a little instead of spinning.
 *   - read() must ask for exactly one page: a shorter one leaves the rest of the *copied* page to
 *     the next read(), and so does one that fails with EFAULT, while splice() would overtake it.
 *   - no data is EAGAIN, or 0 after the CPU went offline (6.12).
 *   - a possible CPU that never was online: open() works, read() says ENODEV, poll() POLLERR.
 */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "base/io.h"
#include "base/unit.h"
#include "daemon/process/thread.h"
#include "daemon/record/reader.h"
#include "store/page.h"

#define READER_STACK_BYTES ((size_t) 512 << 10)
#define READER_TURN_BYTES (64ULL << 20) /* spliced before the loop looks at the stop again */
#define PERCENT_MAX 25U            /* leaves three quarters for what comes until the reader runs */
#define READER_FOREVER_MS UINT_MAX /* poll()'s -1 */

typedef enum Wake {
        WAKE_TIMEOUT,
        WAKE_READABLE,
        WAKE_OFFLINE,
        WAKE_KICK,
} Wake;

static uint64_t now_ms(void) {
        return now_ns(CLOCK_MONOTONIC) / NSEC_PER_MSEC;
}

static void reader_wake_main(Reader *r) {
        /* EAGAIN means that the main thread has 2^64-2 wake-ups to look at: it will. */
        (void) eventfd_write(r->shared->wake_fd, 1);
}

/* @error: 0 or negative; tells the main thread when it changes. */
static void reader_set_error(Reader *r, int error) {
        if (atomic_exchange(&r->counters.error, -error) != -error)
                reader_wake_main(r);
}

/* Waits for data (unless @deaf), a kick, or @timeout_ms. */
static Wake reader_wait(Reader *r, bool deaf, unsigned timeout_ms) {
        struct pollfd fds[] = {
                { .fd = r->kick_fd, .events = POLLIN },
                { .fd = deaf ? -EBADF : r->raw_fd, .events = POLLIN },
        };
        eventfd_t n;

        if (poll(fds, ELEMENTSOF(fds), (int) timeout_ms) <= 0)
                return WAKE_TIMEOUT;
        if (fds[0].revents) {
                (void) eventfd_read(r->kick_fd, &n);
                return WAKE_KICK;
        }
        return fds[1].revents & POLLIN ? WAKE_READABLE : WAKE_OFFLINE;
}

/* --- how long to wait -------------------------------------------------------------------------- */

unsigned backoff_percent(uint64_t buffer_bytes, uint64_t max_bytes) {
        double percent = 100.0 * (double) max_bytes / 8 / (double) MAX(buffer_bytes, (uint64_t) 1);

        if (max_bytes == 0 || percent > PERCENT_MAX)
                return PERCENT_MAX;
        return MAX((unsigned) percent, 1U);
}

uint64_t backoff_goal(uint64_t buffer_bytes, uint64_t max_bytes) {
        return buffer_bytes / 200 * backoff_percent(buffer_bytes, max_bytes);
}

/*
 * The rate of the last interval says when the goal is reached again.  A stream that gets faster is
 * followed at once, one that gets slower by doubling, so that a pause does not make us sleep
 * through what follows it.
 */
uint32_t backoff_next(Backoff *p, uint64_t n_bytes, uint64_t elapsed_ms) {
        uint64_t next_ms = MIN(2 * (uint64_t) p->interval_ms, p->max_ms);

        if (n_bytes > 0) {
                /* In double: the product of the two may not fit 64 bits. */
                double due_ms =
                        (double) MAX(elapsed_ms, 1U) * (double) p->goal_bytes / (double) n_bytes;

                if (due_ms < (double) next_ms)
                        next_ms = (uint64_t) due_ms;
        }
        p->interval_ms = (uint32_t) MAX(next_ms, (uint64_t) BACKOFF_MIN_MS);
        return p->interval_ms;
}

void backoff_wake(Backoff *p) {
        p->interval_ms = MIN(p->interval_ms, (uint32_t) BACKOFF_FIRST_MS / 2);
}

/* --- segments ------------------------------------------------------------------------------- */

bool reader_cut(ReaderShared *shared, uint64_t sequence) {
        if (!atomic_compare_exchange_strong(&shared->sequence, &sequence, sequence + 1))
                return false;
        atomic_store(&shared->cut_at_bytes, atomic_load(&shared->n_bytes) + shared->period_bytes);
        return true;
}

static void reader_end_period(Reader *r) {
        if (reader_cut(r->shared, r->sequence))
                reader_wake_main(r);
}

static void reader_count(Reader *r, uint64_t n_bytes, uint64_t n_pages) {
        uint64_t before;

        atomic_fetch_add(&r->counters.n_pages, n_pages);
        atomic_fetch_add(&r->counters.n_bytes, n_bytes);
        before = atomic_fetch_add(&r->shared->n_bytes, n_bytes);
        if (before < atomic_load(&r->shared->look_at_bytes) &&
            before + n_bytes >= atomic_load(&r->shared->look_at_bytes))
                reader_wake_main(r);
        if (r->shared->max_bytes > 0 && before < r->shared->max_bytes &&
            before + n_bytes >= r->shared->max_bytes)
                reader_wake_main(r);
        if (r->shared->period_bytes > 0 &&
            before + n_bytes >= atomic_load(&r->shared->cut_at_bytes))
                reader_end_period(r);
}

static int reader_close_segment(Reader *r) {
        _cleanup_close_ int fd = -EBADF;
        uint64_t n_pages;
        size_t n_torn = 0;
        bool is_empty;
        int k;

        if (!r->segment)
                return 0;

        is_empty = r->segment->n_bytes == 0;
        n_pages = segment_writer_n_pages(r->segment);
        k = segment_writer_close(TAKE_PTR(r->segment), &n_torn, &fd);
        if (n_torn > 0) {
                atomic_fetch_add(&r->counters.pages_lost, 1);
                atomic_fetch_sub(&r->counters.n_bytes, n_torn);
        }
        if (is_empty) {
                char name[SEGMENT_NAME_MAX];

                (void) unlinkat(r->cpu_dir_fd, segment_format_name(name, r->sequence), 0);
        } else {
                r->previous = r->sequence;
                if (r->shared->syncer)
                        syncer_add(r->shared->syncer, TAKE_FD(fd), r->cpu, n_pages);
        }
        atomic_store(&r->counters.open_sequence, UINT64_MAX);
        return k;
}

/* The sequence for a new segment.  Either the main thread sees that it is in use, or this sees that
 * there was a cut and takes the next: what is dropped is never begun. */
static uint64_t reader_claim_sequence(Reader *r) {
        uint64_t sequence;

        do {
                sequence = atomic_load(&r->shared->sequence);
                atomic_store(&r->counters.open_sequence, sequence);
        } while (sequence != atomic_load(&r->shared->sequence));
        return sequence;
}

/* Makes sure that there is a segment with room. */
static int reader_open_segment(Reader *r) {
        int k;

        if (r->segment) {
                uint64_t n = r->segment->n_bytes;

                if (n % r->shared->page_bytes != 0)
                        return 0;
                if (n >= r->shared->segment_bytes)
                        reader_end_period(r);
                if (r->sequence == atomic_load(&r->shared->sequence))
                        return 0;
                k = reader_close_segment(r);
                if (k < 0)
                        return k;
        }

        if (r->cpu_dir_fd < 0) {
                k = session_dir_make_cpu(r->shared->dir, r->cpu);
                if (k < 0)
                        return k;
                r->cpu_dir_fd = k;
        }
        k = segment_create(&r->segment, r->cpu_dir_fd, reader_claim_sequence(r), r->previous,
                           r->cpu, r->shared->page_bytes, r->shared->session_id);
        if (k < 0)
                return k;
        r->sequence = atomic_load(&r->counters.open_sequence);
        return 0;
}

/* After a cut a reader that has nothing to store closes what it holds. */
static int reader_follow_cut(Reader *r) {
        if (!r->segment || r->tail || r->sequence == atomic_load(&r->shared->sequence) ||
            r->segment->n_bytes % r->shared->page_bytes != 0)
                return 0;
        return reader_close_segment(r);
}

/* --- moving pages --------------------------------------------------------------------------- */

/*
 * As large as allowed once the CPU proves busy: above fs.pipe-max-size, or over the user's
 * fs.pipe-user-pages-soft, which idle CPUs should not eat up, F_SETPIPE_SZ is EPERM.
 */
static void reader_grow_pipe(Reader *r) {
        if (r->pipe_is_grown)
                return;
        r->pipe_is_grown = true;
        for (unsigned n = READER_PIPE_BYTES; n > READER_SMALL_PIPE_BYTES; n /= 2)
                if (fcntl(r->pipe_fds[1], F_SETPIPE_SZ, (int) n) >= 0)
                        break;
}

static int reader_empty_pipe(Reader *r) {
        while (r->n_piped > 0) {
                uint64_t n_pages;
                ssize_t n;
                int k = reader_open_segment(r);

                if (k < 0)
                        return k;

                n_pages = segment_writer_n_pages(r->segment);
                n = splice(r->pipe_fds[0], NULL, r->segment->fd, NULL, r->n_piped, SPLICE_F_MOVE);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? ORIGIN(-errno) : -EIO;

                segment_publish(r->segment, (size_t) n);
                r->n_piped -= (size_t) n;
                reader_count(r, (uint64_t) n, segment_writer_n_pages(r->segment) - n_pages);
                atomic_fetch_add(&r->counters.progress, 1);
        }
        return 0;
}

static void reader_note_stored(Reader *r) {
        uint64_t stored_ns = r->segment ? segment_writer_last_ns(r->segment) : 0;

        if (stored_ns > 0)
                atomic_store(&r->counters.stored_ns, stored_ns);
}

static void reader_commit_tail(Reader *r) {
        segment_tail_commit(r->segment);
        reader_note_stored(r);
        r->tail = NULL;
        r->n_tail = 0;
        reader_count(r, r->shared->page_bytes, 1);
}

/* Room for a page at the end of the segment. */
static int reader_begin_tail(Reader *r, void **ret) {
        return reader_open_segment(r) ?: segment_tail(r->segment, ret);
}

/* Reads one page, full or not, into the end of the segment.  1: done, 0: there is none, -errno. */
static int reader_read_page(Reader *r) {
        size_t page_bytes = r->shared->page_bytes;
        int k;

        if (!r->tail) {
                void *tail;

                k = reader_empty_pipe(r);
                if (k < 0)
                        return k;
                k = reader_begin_tail(r, &tail);
                if (k < 0)
                        return k;
                r->tail = tail;
                r->n_tail = 0;
        }

        while (r->n_tail < page_bytes) {
                ssize_t n = read(r->raw_fd, r->tail + r->n_tail, page_bytes - r->n_tail);

                if (n > 0) {
                        r->n_tail += (size_t) n;
                        continue;
                }
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno != EAGAIN && errno != ENODEV)
                        return ORIGIN(
                                -errno); /* the mapping stays: the next read() gives this page */
                if (r->n_tail > 0)
                        break; /* its rest is zeroes, as in the mapping */
                segment_tail_abort(r->segment);
                r->tail = NULL;
                return 0;
        }

        reader_commit_tail(r);
        return 1;
}

/* Splices whole pages until there is none, or about @max_bytes.  1: some, 0: none, -errno. */
static int reader_splice(Reader *r, uint64_t max_bytes) {
        uint64_t n_moved = 0;
        int k;

        if (r->tail) {
                k = reader_read_page(r);
                if (k < 0)
                        return k;
        }
        while (n_moved < max_bytes) {
                ssize_t n;

                k = reader_empty_pipe(r);
                if (k < 0)
                        return k;

                atomic_store(&r->counters.asks_tracefs, true);
                n = splice(r->raw_fd, NULL, r->pipe_fds[1], NULL, READER_PIPE_BYTES,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
                atomic_store(&r->counters.asks_tracefs, false);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n == 0 || (n < 0 && (errno == EAGAIN || errno == ENODEV)))
                        break;
                if (n < 0)
                        return ORIGIN(-errno);
                r->n_piped = (size_t) n;
                n_moved += (uint64_t) n;
                reader_grow_pipe(r);
        }

        k = reader_empty_pipe(r);
        if (k < 0)
                return k;
        if (n_moved > 0)
                reader_note_stored(r);
        return n_moved > 0;
}

/* --- the end -------------------------------------------------------------------------------- */

/* Everything that the kernel still has.  0 or -errno. */
static int reader_drain(Reader *r) {
        uint64_t n_before = atomic_load(&r->counters.n_bytes);
        int k;

        do {
                k = reader_splice(r, r->shared->drain_max_bytes);
                if (k >= 0)
                        k = reader_read_page(r);
                atomic_fetch_add(&r->counters.progress, 1);
        } while (k > 0 &&
                 atomic_load(&r->counters.n_bytes) - n_before < r->shared->drain_max_bytes);
        return MIN(k, 0);
}

/* The disk takes no more: count what is in the pipe, and what the kernel has, as lost. */
static void reader_abandon(Reader *r) {
        size_t page_bytes = r->shared->page_bytes;
        _cleanup_free_ void *page = malloc(page_bytes);
        uint64_t n_lost = r->n_piped / page_bytes; /* a page cut in two is counted by its segment */

        if (r->tail) {
                segment_tail_abort(r->segment);
                r->tail = NULL;
                n_lost += r->n_tail > 0;
        }
        for (uint64_t n = 0; page && n < r->shared->drain_max_bytes; n += page_bytes) {
                if (read(r->raw_fd, page, page_bytes) <= 0)
                        break;
                n_lost++;
        }
        atomic_fetch_add(&r->counters.pages_lost, n_lost);
}

/* Leaves the pipe empty, if the disk lets it, and the segment open. */
static void reader_leave(Reader *r) {
        int k = r->tail ? reader_read_page(r) : reader_empty_pipe(r);

        reader_set_error(r, MIN(k, 0));
        r->segment = segment_writer_free(r->segment);
}

static void reader_finish(Reader *r) {
        uint64_t since_ms = now_ms();
        int k;

        if (atomic_load(&r->shared->leaving)) {
                reader_leave(r);
                return;
        }
        for (;;) {
                k = reader_drain(r);
                reader_set_error(r, k);
                if (k >= 0)
                        break;
                if (now_ms() - since_ms >= r->shared->give_up_ms) {
                        reader_abandon(r);
                        break;
                }
                (void) poll(NULL, 0, READER_RETRY_MS);
                atomic_fetch_add(&r->counters.progress, 1);
        }

        k = reader_close_segment(r);
        if (k < 0)
                reader_set_error(r, k);
        if (r->cpu_dir_fd >= 0) {
                char name[32];

                /* Fails, as it should, unless the CPU was quiet. */
                (void) snprintf(name, sizeof(name), "cpu%u", r->cpu);
                (void) unlinkat(session_dir_fd(r->shared->dir), name, AT_REMOVEDIR);
        }
}

/* One page with read().  1: @page is filled, 0: there is none, -errno. */
static int read_page(Reader *r, uint8_t *page) {
        size_t n_page = r->shared->page_bytes;
        ssize_t n;

        atomic_store(&r->counters.asks_tracefs, true);
        do
                n = read(r->raw_fd, page, n_page);
        while (n < 0 && errno == EINTR);
        atomic_store(&r->counters.asks_tracefs, false);
        if (n < 0)
                return errno == EAGAIN || errno == ENODEV ? 0 : ORIGIN(-errno);
        if (n > 0)
                memset(page + n, 0, n_page - (size_t) n);
        return n > 0;
}

/*
 * The first pages of a buffer that was left to be overwritten.  The very first may be the one that
 * the last reader had in its hand, which no writer overwrites (linux 6.1 kernel/trace/ring_buffer.c,
 * rb_get_reader_page()): then it is much older, and the second is marked as having lost what was in
 * between.  That page goes, and so does the mark of the one that is first.
 */
static int reader_begin_overwritten(Reader *r) {
        _cleanup_free_ uint8_t *second = malloc(r->shared->page_bytes);
        PageInfo info;
        void *first;
        int k;

        if (!second)
                return -ENOMEM;
        k = reader_begin_tail(r, &first);
        if (k < 0)
                return k;
        k = read_page(r, first);
        if (k <= 0) {
                segment_tail_abort(r->segment);
                return k;
        }
        k = read_page(r, second);
        if (k > 0 && page_parse(&info, second, r->shared->page_bytes, false) == 0 && info.missed) {
                memcpy(first, second, r->shared->page_bytes);
                k = 0;
        }
        page_forget_missed(first);
        reader_commit_tail(r);
        if (k <= 0)
                return k;
        k = reader_begin_tail(r, &first);
        if (k < 0) {
                atomic_fetch_add(&r->counters.pages_lost, 1);
                return k;
        }
        memcpy(first, second, r->shared->page_bytes);
        reader_commit_tail(r);
        return 0;
}

/* What the kernel has now, with the partly filled page. */
static int reader_flush(Reader *r) {
        uint64_t flush = atomic_load(&r->shared->flush);
        int k = reader_follow_cut(r);

        if (k >= 0 && r->shared->is_overwritten && !r->tail && r->n_piped == 0)
                k = reader_begin_overwritten(r);
        if (k >= 0)
                k = reader_drain(r);
        if (k < 0)
                return k;
        atomic_store(&r->counters.flushed, flush);
        reader_wake_main(r);
        return 0;
}

/* One look at the kernel's buffer.  1: there were whole pages, 0: there were none, -errno. */
static int reader_turn(Reader *r, bool is_deaf) {
        int k;

        if (atomic_load(&r->shared->flush) != atomic_load(&r->counters.flushed))
                return reader_flush(r);
        if (atomic_load(&r->shared->held))
                return 0;
        k = reader_splice(r, READER_TURN_BYTES);
        if (k == 0 && atomic_load(&r->shared->watched) && !is_deaf)
                k = MIN(reader_read_page(r), 0);
        if (k >= 0)
                k = reader_follow_cut(r) ?: k;
        return k;
}

/* How long to wait after a turn that moved @n_bytes in @elapsed_ms and ended with @error. */
static unsigned reader_timeout(const Reader *r, Backoff *backoff, uint64_t n_bytes,
                               uint64_t elapsed_ms, int error) {
        unsigned timeout_ms = backoff_next(backoff, n_bytes, elapsed_ms);

        if (error < 0)
                return READER_RETRY_MS;
        if (atomic_load(&r->shared->held))
                return READER_FOREVER_MS;
        if (atomic_load(&r->shared->watched))
                return MIN(timeout_ms, (unsigned) READER_WATCHED_MS);
        return timeout_ms;
}

static void *reader_run(void *userdata) {
        Reader *r = userdata;
        Backoff backoff = BACKOFF_INIT(r->shared->goal_bytes, r->shared->idle_ms);
        bool is_deaf = false; /* do not listen to the raw descriptor in the next wait */
        unsigned timeout_ms = BACKOFF_FIRST_MS;
        uint64_t since_ms = now_ms();
        char name[16];

        (void) snprintf(name, sizeof(name), "cpu%u", r->cpu);
        /* Another thread's needs a /proc that can be written to. */
        (void) pthread_setname_np(pthread_self(), name);
        atomic_store(&r->counters.tid, gettid());
        for (;;) {
                uint64_t n_before = atomic_load(&r->counters.n_bytes), until_ms;
                Wake wake;
                int k;

                atomic_store(&r->counters.wait_until_ms,
                             timeout_ms == READER_FOREVER_MS ? UINT64_MAX : now_ms() + timeout_ms);
                wake = reader_wait(r, is_deaf || atomic_load(&r->shared->held), timeout_ms);
                atomic_store(&r->counters.wait_until_ms, 0);
                atomic_fetch_add(&r->counters.progress, 1);
                if (atomic_load(&r->shared->stopping))
                        break;

                if (wake != WAKE_TIMEOUT &&
                    atomic_exchange(&r->counters.offline, wake == WAKE_OFFLINE) !=
                            (wake == WAKE_OFFLINE))
                        reader_wake_main(r);
                if (wake == WAKE_OFFLINE) {
                        is_deaf = true;
                        timeout_ms = r->shared->idle_ms;
                        continue;
                }
                atomic_fetch_add(&r->counters.n_wakeups, 1);

                k = reader_turn(r, is_deaf);
                reader_set_error(r, MIN(k, 0));

                is_deaf = k < 0 || (k == 0 && wake == WAKE_READABLE);
                if (wake == WAKE_READABLE)
                        backoff_wake(&backoff);
                until_ms = now_ms();
                timeout_ms =
                        reader_timeout(r, &backoff, atomic_load(&r->counters.n_bytes) - n_before,
                                       until_ms - since_ms, k);
                if (is_deaf && k == 0)
                        timeout_ms = READER_SPURIOUS_MS;
                since_ms = until_ms;
        }

        reader_finish(r);
        atomic_store(&r->counters.ended, true);
        reader_wake_main(r);
        return NULL;
}

/* --- seen from the main thread --------------------------------------------------------------- */

/* A pipe keeps what is in it as long as one end is open; the other end is made again. */
static int take_pipe(Reader *r, int pipe_fd) {
        _cleanup_close_ int fd = -EBADF;
        char path[64];
        int n_piped, size;

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", pipe_fd);
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        size = fd < 0 ? -1 : fcntl(fd, F_GETPIPE_SZ);
        if (size < 0 || ioctl(pipe_fd, FIONREAD, &n_piped) < 0 || fcntl(fd, F_SETFL, 0) < 0)
                return ORIGIN(-errno);
        r->pipe_fds[0] = pipe_fd;
        r->pipe_fds[1] = TAKE_FD(fd);
        r->n_piped = (size_t) n_piped;
        r->pipe_is_grown = size > READER_SMALL_PIPE_BYTES;
        return 0;
}

int reader_new(Reader **ret, ReaderShared *shared, uint32_t cpu, int raw_fd, int pipe_fd) {
        _cleanup_close_ int kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        _cleanup_free_ Reader *r = calloc(1, sizeof(*r));
        int k = 0;

        if (!r)
                return -ENOMEM;
        if (kick_fd < 0)
                return ORIGIN(-errno);
        if (pipe_fd >= 0)
                k = take_pipe(r, pipe_fd);
        else if (pipe2(r->pipe_fds, O_CLOEXEC) < 0)
                k = ORIGIN(-errno);
        if (k < 0)
                return k;
        r->shared = shared;
        r->cpu = cpu;
        r->raw_fd = raw_fd;
        r->kick_fd = TAKE_FD(kick_fd);
        r->cpu_dir_fd = -EBADF;
        r->previous = UINT64_MAX;
        atomic_store(&r->counters.open_sequence, UINT64_MAX);
        *ret = TAKE_PTR(r);
        return 0;
}

void reader_kick(Reader *r) {
        (void) eventfd_write(r->kick_fd, 1);
}

int reader_start(Reader *r) {
        int k = thread_start(&r->thread, READER_STACK_BYTES, reader_run, r);

        r->is_started = k >= 0;
        return k;
}

uint64_t reader_cpu_ns(const Reader *r) {
        struct timespec t = {};
        clockid_t clock;

        if (!r->is_started || atomic_load(&r->counters.ended) ||
            pthread_getcpuclockid(r->thread, &clock) != 0 || clock_gettime(clock, &t) < 0)
                return 0;
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}

Reader *reader_free(Reader *r) {
        if (!r)
                return NULL;

        if (r->is_started)
                (void) pthread_join(r->thread, NULL);
        (void) segment_writer_free(r->segment);
        (void) safe_close(r->cpu_dir_fd);
        (void) safe_close(r->pipe_fds[0]);
        (void) safe_close(r->pipe_fds[1]);
        (void) safe_close(r->raw_fd);
        (void) safe_close(r->kick_fd);
        return mfree(r);
}
