/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A pipe stands for trace_pipe_raw: splice() takes from it, and it says EAGAIN when it is empty.
 * What a pipe cannot show, the partly filled page that only read() gives, is tests/root's.
 * Readers are killed in a process of their own, while this one holds what a service manager would hold.
 */

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "daemon/record/reader.h"
#include "scratch.h"
#include "segment-map.h"

#define CPU 3
#define PAGE 4096U
#define MIB (UINT64_C(1) << 20)

typedef struct Fixture {
        Scratch scratch;
        ReaderShared shared;
        Reader *reader; /* NULL: the test makes its own */
        int raw_fds[2]; /* what is written to the second one is what readers find */
        int pipe_fd;    /* in a service manager's hands: nobody writes to it */
} Fixture;

static void fixture_init(Fixture *f) {
        int fds[2];

        *f = (Fixture){ .scratch = SCRATCH };
        f->shared = (ReaderShared){ .session_id = "0123456789abcdef",
                                    .page_bytes = PAGE,
                                    .segment_bytes = 300 * PAGE,
                                    .drain_max_bytes = 64 << 20,
                                    .give_up_ms = 300,
                                    .goal_bytes = 1 << 20,
                                    .idle_ms = READER_IDLE_MS,
                                    .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
        ck_assert_int_eq(session_dir_take_fds(&f->shared.dir, dup(f->scratch.fd), -EBADF), 0);
        ck_assert_int_eq(pipe2(f->raw_fds, O_NONBLOCK | O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        f->pipe_fd = fds[0];
        (void) close(fds[1]);
}

static void fixture_init_reader(Fixture *f) {
        fixture_init(f);
        f->shared.segment_bytes = READER_SEGMENT_BYTES;
        ck_assert_int_eq(reader_new(&f->reader, &f->shared, CPU, dup(f->raw_fds[0]), -EBADF), 0);
}

static void fixture_stop(Fixture *f) {
        atomic_store(&f->shared.stopping, true);
        reader_kick(f->reader);
        while (!atomic_load(&f->reader->counters.ended))
                (void) usleep(1000);
}

static void fixture_done(Fixture *f) {
        f->reader = reader_free(f->reader);
        f->shared.dir = session_dir_free(f->shared.dir);
        safe_close(f->raw_fds[0]);
        safe_close(f->raw_fds[1]);
        safe_close(f->pipe_fd);
        safe_close(f->shared.wake_fd);
        scratch_done(&f->scratch);
}
#define FIXTURE_TEST(name, init)                                                                   \
        TEST_WITH(name, (Fixture * f), _cleanup_(fixture_done) Fixture f; init(&f), &f)
#define CASE_TEST(name) FIXTURE_TEST(name, fixture_init_reader)

/* Page @i has the number after it in each of its words; nothing if there is no room. */
static bool try_feed(Fixture *f, unsigned i) {
        uint32_t page[PAGE / sizeof(uint32_t)];

        for (size_t j = 0; j < ELEMENTSOF(page); j++)
                page[j] = i + 1;
        return write(f->raw_fds[1], page, sizeof(page)) == sizeof(page);
}

static void feed(Fixture *f, unsigned first, unsigned n) {
        for (unsigned i = first; i < first + n; i++)
                WAIT_WHILE(!try_feed(f, i));
}

static void wait_for_pages(const Reader *r, uint64_t n) {
        WAIT_WHILE(atomic_load(&r->counters.n_pages) < n);
}

/* That of @n_pages all but @n_missing are stored, in their order.  In how many segments. */
static size_t check_pages(Fixture *f, unsigned n_pages, unsigned n_missing) {
        _cleanup_free_ uint64_t *sequences = NULL;
        unsigned last = 0, missing = 0;
        size_t n = 0;

        ck_assert_int_eq(session_dir_list_segments(f->shared.dir, CPU, &sequences, &n), 0);
        for (size_t i = 0; i < n; i++) {
                _cleanup_(segment_freep) Segment *s = NULL;

                ck_assert_int_eq(session_dir_open_segment(f->shared.dir, CPU, sequences[i], &s), 0);
                ck_assert(s->header.state == SEGMENT_STATE_CLOSED);
                ck_assert_uint_eq(s->n_torn, 0);
                for (uint64_t j = 0; j < s->header.n_pages; j++) {
                        const uint32_t *p = segment_page(s, j);

                        ck_assert_uint_gt(p[0], last);
                        missing += p[0] - last - 1;
                        last = p[0];
                        for (size_t k = 0; k < PAGE / sizeof(*p); k++)
                                ck_assert_uint_eq(p[k], last);
                }
        }
        ck_assert_uint_eq(last, n_pages);
        ck_assert_uint_eq(missing, n_missing);
        return n;
}

CASE_TEST(every_page_arrives_once_and_in_order) {
        ck_assert_int_eq(reader_start(f->reader), 0);
        feed(f, 0, 1000);
        fixture_stop(f);
        ck_assert_uint_eq(check_pages(f, 1000, 0), 1);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.n_bytes), 1000 * PAGE);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.pages_lost), 0);
}

CASE_TEST(what_is_there_when_the_stop_comes_is_stored) {
        feed(f, 0, 10);
        atomic_store(&f->shared.stopping, true);
        reader_kick(f->reader);
        ck_assert_int_eq(reader_start(f->reader), 0);
        fixture_stop(f);
        (void) check_pages(f, 10, 0);
}

CASE_TEST(a_full_segment_is_followed_by_another) {
        f->shared.segment_bytes = 8 * PAGE;
        ck_assert_int_eq(reader_start(f->reader), 0);
        for (unsigned i = 0; i < 40; i += 4) {
                feed(f, i, 4);
                wait_for_pages(f->reader, i + 4);
        }
        fixture_stop(f);
        ck_assert_uint_eq(check_pages(f, 40, 0), 5);
}

CASE_TEST(a_cut_gives_all_cpus_the_same_sequence) {
        int fds[2];
        Reader *other;
        _cleanup_(segment_freep) Segment *segment = NULL;
        _cleanup_free_ uint64_t *s = NULL;
        size_t n;

        f->shared.segment_bytes = 4 * PAGE;
        ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
        ck_assert_int_eq(reader_new(&other, &f->shared, CPU + 1, fds[0], -EBADF), 0);
        ck_assert_int_eq(reader_start(f->reader), 0);
        ck_assert_int_eq(reader_start(other), 0);

        /* Periods 0, 1 and 2 on the one; the other has data in 0 and 2 only. */
        ck_assert_int_eq(write(fds[1], (char[PAGE]){}, PAGE), PAGE);
        wait_for_pages(other, 1);
        for (unsigned i = 0; i < 9; i++) {
                feed(f, i, 1);
                wait_for_pages(f->reader, i + 1);
        }
        ck_assert_uint_eq(atomic_load(&f->shared.sequence), 2);
        ck_assert_int_eq(write(fds[1], (char[PAGE]){}, PAGE), PAGE);
        fixture_stop(f);
        reader_kick(other);
        (void) reader_free(other);

        ck_assert_uint_eq(check_pages(f, 9, 0), 3);
        ck_assert_int_eq(session_dir_list_segments(f->shared.dir, CPU + 1, &s, &n), 0);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(s[0], 0);
        ck_assert_uint_eq(s[1], 2);
        ck_assert_int_eq(session_dir_open_segment(f->shared.dir, CPU + 1, 2, &segment), 0);
        ck_assert_uint_eq(segment->header.previous, 1);
        (void) close(fds[1]);
}

CASE_TEST(a_quiet_cpu_does_not_hold_back_a_cut) {
        _cleanup_(segment_freep) Segment *s = NULL;
        const ReaderCounters *c;

        ck_assert_int_eq(reader_start(f->reader), 0);
        c = &f->reader->counters;
        feed(f, 0, 2);
        wait_for_pages(f->reader, 2);
        ck_assert_uint_eq(atomic_load(&c->open_sequence), 0);
        ck_assert(reader_cut(&f->shared, 0));
        ck_assert(!reader_cut(&f->shared, 0)); /* it is one cut, whoever else asks for it */
        reader_kick(f->reader);
        WAIT_WHILE(atomic_load(&c->open_sequence) != UINT64_MAX);
        ck_assert_int_eq(session_dir_open_segment(f->shared.dir, CPU, 0, &s), 0);
        ck_assert(s->header.state == SEGMENT_STATE_CLOSED);
        fixture_stop(f);
}

CASE_TEST(a_quiet_cpu_leaves_no_file) {
        ck_assert_int_eq(reader_start(f->reader), 0);
        fixture_stop(f);
        ck_assert_int_eq(faccessat(f->scratch.fd, "cpu3", F_OK, 0), -1);
}

CASE_TEST(an_idle_reader_sleeps_and_says_that_it_waits) {
        const ReaderCounters *c;

        ck_assert_int_eq(reader_start(f->reader), 0);
        c = &f->reader->counters;
        WAIT_WHILE(atomic_load(&c->wait_until_ms) == 0);
        (void) usleep(1200 * 1000);
        ck_assert_uint_le(atomic_load(&c->n_wakeups), 1);
        ck_assert(atomic_load(&c->wait_until_ms) > 0);
        fixture_stop(f);
}

CASE_TEST(a_cpu_whose_descriptor_is_in_error_does_not_spin) {
        const ReaderCounters *c;

        (void) close(f->raw_fds[1]); /* POLLHUP for ever, as POLLERR of a CPU never online */
        f->raw_fds[1] = -EBADF;
        ck_assert_int_eq(reader_start(f->reader), 0);
        c = &f->reader->counters;
        WAIT_WHILE(atomic_load(&c->progress) == 0);
        (void) usleep(1200 * 1000);
        ck_assert_uint_le(atomic_load(&c->progress), 10);
        fixture_stop(f);
}

CASE_TEST(half_a_page_is_cut_off_and_counted) {
        char half[PAGE / 2] = {};

        feed(f, 0, 2);
        ck_assert_int_eq(write(f->raw_fds[1], half, sizeof(half)), sizeof(half));
        ck_assert_int_eq(reader_start(f->reader), 0);
        wait_for_pages(f->reader, 2);
        fixture_stop(f);
        (void) check_pages(f, 2, 0);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.pages_lost), 1);
}

static void flush(Fixture *f, uint64_t n) {
        atomic_store(&f->shared.flush, n);
        reader_kick(f->reader);
        WAIT_WHILE(atomic_load(&f->reader->counters.flushed) < n);
}

CASE_TEST(a_held_reader_takes_nothing_but_what_a_flush_asks_for) {
        atomic_store(&f->shared.held, true);
        ck_assert_int_eq(reader_start(f->reader), 0);
        feed(f, 0, 3);
        (void) usleep(300000);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.n_pages), 0);
        ck_assert_uint_le(atomic_load(&f->reader->counters.n_wakeups), 1);
        flush(f, 1);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.n_pages), 3);
        feed(f, 3, 1);
        (void) usleep(100000);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.n_pages), 3);
        atomic_store(&f->shared.held, false);
        reader_kick(f->reader);
        wait_for_pages(f->reader, 4);
        fixture_stop(f);
        (void) check_pages(f, 4, 0);
}

CASE_TEST(after_a_cut_and_a_flush_the_older_segment_is_closed) {
        atomic_store(&f->shared.held, true);
        ck_assert_int_eq(reader_start(f->reader), 0);
        feed(f, 0, 2);
        flush(f, 1);
        ck_assert_uint_eq(atomic_load(&f->reader->counters.open_sequence), 0);
        ck_assert(reader_cut(&f->shared, 0));
        flush(f, 2);
        ck_assert_uint_gt(atomic_load(&f->reader->counters.open_sequence), 0);
        feed(f, 2, 1);
        fixture_stop(f);
        ck_assert_uint_eq(check_pages(f, 3, 0), 2);
}

TEST(a_stream_is_fetched_as_fast_as_it_comes) {
        static const struct {
                uint64_t goal_bytes;
                bool is_woken;
                struct {
                        uint64_t n_bytes, elapsed_ms, wait_ms; /* 0: no more */
                } turns[4];
        } cases[] = {
                /* when the goal is reached: 4 MiB a second */
                { MIB, false, { { 4 * MIB, 1000, 250 }, { MIB, 250, 250 } } },
                { MIB, false, { { MIB / 2, 125, 250 } } },
                /* a faster one at once, a slower one by doubling, silence to the longest wait */
                { MIB, false, { { MIB, 1000, 1000 }, { 100 * MIB, 1000, 10 } } },
                { MIB, false, { { MIB, 10, 10 }, { 1, 10, 20 }, { 0, 20, 40 } } },
                { MIB, false, { { MIB, 3000, 3000 }, { 0, 1, 4000 }, { 0, 4000, 4000 } } },
                /* who was woken has waited too long */
                { MIB, true, { { 2 * MIB, 3600 * 1000, BACKOFF_FIRST_MS } } },
                /* no rate makes it spin or overflow */
                { MIB,
                  false,
                  { { UINT64_MAX, 0, BACKOFF_MIN_MS },
                    { UINT64_MAX, UINT64_MAX, 2 * BACKOFF_MIN_MS } } },
                { UINT64_MAX, false, { { 1, UINT64_MAX, 4000 } } },
                { 0, false, { { 1, 1, BACKOFF_MIN_MS } } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Backoff p = BACKOFF_INIT(cases[i].goal_bytes, 4000);

                if (cases[i].is_woken)
                        backoff_wake(&p);
                for (size_t k = 0; cases[i].turns[k].wait_ms > 0; k++)
                        ck_assert_uint_eq(backoff_next(&p, cases[i].turns[k].n_bytes,
                                                       cases[i].turns[k].elapsed_ms),
                                          cases[i].turns[k].wait_ms);
        }
}

TEST(a_small_recording_is_fetched_in_small_parts) {
        ck_assert_uint_eq(backoff_percent(8 << 20, 0), 25);
        ck_assert_uint_eq(backoff_percent(8 << 20, 1 << 30), 25);
        ck_assert_uint_eq(backoff_percent(8 << 20, 8 << 20), 12);
        ck_assert_uint_eq(backoff_percent(8 << 20, 1), 1);
        ck_assert_uint_eq(backoff_percent(0, UINT64_MAX), 25);
        ck_assert_uint_eq(backoff_goal(8 << 20, 0), (8U << 20) / 200 * 25);
        ck_assert_uint_le(backoff_goal(8 << 20, 1 << 20), 1 << 16);
}

/* --- one that goes on where another one was ------------------------------------------------------ */

#define RESUMED_TEST(name) FIXTURE_TEST(name, fixture_init)

/* A reader that goes on where the last one was.  Asserts nothing: a process that is killed in the middle
 * of telling check(3) would garble what its parent tells. */
static int try_take_up(Reader **ret, Fixture *f, bool with_pipe) {
        int r = reader_new(ret, &f->shared, CPU, dup(f->raw_fds[0]),
                           with_pipe ? dup(f->pipe_fd) : -EBADF);

        return r == 0 ? reader_resume(*ret) : r;
}

static Reader *take_up(Fixture *f, bool with_pipe) {
        Reader *r = MADE(Reader, try_take_up, f, with_pipe);

        return r;
}

/* One that runs until somebody kills it. */
static pid_t spawn(Fixture *f) {
        pid_t pid = fork();
        Reader *r;

        if (pid == 0) {
                if (try_take_up(&r, f, true) != 0 || reader_start(r) < 0)
                        _exit(1);
                for (;;)
                        (void) pause();
        }
        ck_assert_int_gt(pid, 0);
        return pid;
}

static void kill_it(pid_t pid) {
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(unit_wait(pid), 128 + SIGKILL);
}

static uint64_t drain(Fixture *f, Reader *r) {
        uint64_t n_lost;

        atomic_store(&f->shared.stopping, true);
        ck_assert_int_eq(reader_start(r), 0);
        reader_kick(r);
        while (!atomic_load(&r->counters.ended))
                (void) usleep(1000);
        n_lost = atomic_load(&r->counters.pages_lost);
        (void) reader_free(r);
        return n_lost;
}

/* Until a reader has taken some of what it was fed; it may take longer than that to begin. */
static void wait_until_one_reads(const Fixture *f) {
        int n_fed, n;

        ck_assert_int_eq(ioctl(f->raw_fds[0], FIONREAD, &n_fed), 0);
        for (unsigned i = 0; n_fed > 0 && i < 20000; i++) {
                ck_assert_int_eq(ioctl(f->raw_fds[0], FIONREAD, &n), 0);
                if (n < n_fed)
                        return;
                (void) usleep(100);
        }
}

RESUMED_TEST(no_page_is_lost_or_doubled_by_500_kills) {
        unsigned seed = unit_seed(), n = 0;

        for (unsigned i = 0; i < 500; i++) {
                pid_t pid = spawn(f);

                for (int k = rand_r(&seed) % 60; k > 0; k--)
                        if (try_feed(f, n))
                                n++;
                if (i % 2 > 0)
                        wait_until_one_reads(f);
                (void) usleep((useconds_t) rand_r(&seed) % 2000);
                kill_it(pid);
        }
        ck_assert_uint_eq(drain(f, take_up(f, true)), 0);
        ck_assert_uint_gt(n, 300);
        (void) check_pages(f, n, 0);
}

static int open_to_write(const Fixture *f) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", f->pipe_fd);
        return open(path, O_WRONLY | O_CLOEXEC);
}

/* @n_before bytes of a page are in the segment, the others in the pipe or nowhere. */
static void cut_page(Fixture *f, size_t n_before, bool is_piped) {
        _cleanup_close_ int cpu_fd = -EBADF, write_fd = -EBADF;
        char page[PAGE] = {};
        SegmentWriter *w;

        for (size_t i = 0; i < PAGE; i += 4)
                page[i] = 1;
        cpu_fd = session_dir_make_cpu(f->shared.dir, CPU);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, CPU, PAGE, f->shared.session_id),
                         0);
        ck_assert_int_eq(write_full(w->fd, page, n_before), 0);
        (void) segment_writer_free(w);
        if (!is_piped)
                return;
        write_fd = open_to_write(f);
        ck_assert_int_eq(write_full(write_fd, page + n_before, PAGE - n_before), 0);
}

TEST(a_page_cut_in_two_goes_on_in_the_pipe) {
        for (size_t n = 1; n < PAGE; n += 517) {
                Fixture f;
                Reader *r;

                fixture_init(&f);
                cut_page(&f, n, true);
                feed(&f, 1, 1);
                r = take_up(&f, true);
                ck_assert_uint_eq(drain(&f, r), 0);
                (void) check_pages(&f, 2, 0);
                ck_assert_uint_eq(atomic_load(&f.shared.n_bytes), 2 * PAGE);
                fixture_done(&f);
        }
}

RESUMED_TEST(without_the_pipe_half_a_page_is_cut_and_counted) {
        cut_page(f, 1000, false);
        feed(f, 1, 1);
        ck_assert_uint_eq(drain(f, take_up(f, false)), 1);
        (void) check_pages(f, 2, 1);
}

RESUMED_TEST(the_rest_of_a_page_whose_beginning_is_gone_is_thrown_away_and_counted) {
        _cleanup_close_ int write_fd = -EBADF;
        char rest[1000] = {};

        write_fd = open_to_write(f);
        ck_assert_int_eq(write_full(write_fd, rest, sizeof(rest)), 0);
        feed(f, 0, 1);
        ck_assert_uint_eq(drain(f, take_up(f, true)), 1);
        (void) check_pages(f, 1, 0);
}

RESUMED_TEST(one_that_leaves_empties_its_pipe_and_leaves_the_segment_open) {
        Reader *r;
        int n_piped = -1;

        feed(f, 0, 2);
        r = take_up(f, true);
        ck_assert_int_eq(reader_start(r), 0);
        wait_for_pages(r, 2);
        atomic_store(&f->shared.leaving, true);
        atomic_store(&f->shared.stopping, true);
        reader_kick(r);
        (void) reader_free(r);
        ck_assert_int_eq(ioctl(f->pipe_fd, FIONREAD, &n_piped), 0);
        ck_assert_int_eq(n_piped, 0);
        atomic_store(&f->shared.leaving, false);
        atomic_store(&f->shared.stopping, false);

        feed(f, 2, 1);
        ck_assert_uint_eq(drain(f, take_up(f, true)), 0);
        (void) check_pages(f, 3, 0);
}
