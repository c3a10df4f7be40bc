/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A reader is killed with SIGKILL in a process of its own, again and again, while this one holds
 * the descriptors that a service manager would hold, and feeds pages.  A pipe stands for
 * trace_pipe_raw.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/io.h"
#include "daemon/record/reader.h"
#include "segment-map.h"
#include "store/segment.h"
#include "tests/unit/scratch.h"

#define CPU 3
#define PAGE 4096U

typedef struct Fixture {
        Scratch scratch;
        ReaderShared shared;
        int raw_fds[2], pipe_fd;
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
        (void) close(fds[1]); /* nobody writes: as in a service manager's hands */
}

static void fixture_done(Fixture *f) {
        f->shared.dir = session_dir_free(f->shared.dir);
        (void) close(f->raw_fds[0]);
        (void) close(f->raw_fds[1]);
        (void) close(f->pipe_fd);
        (void) close(f->shared.wake_fd);
        scratch_done(&f->scratch);
}

#define CASE(f)                                                                                    \
        _cleanup_(fixture_done) Fixture f;                                                         \
        fixture_init(&f)

/* A reader that goes on where the last one was.  Asserts nothing: a process that is killed in the middle
 * of telling check(3) would garble what its parent tells. */
static int try_take_up(Reader **ret, Fixture *f, bool with_pipe) {
        int r = reader_new(ret, &f->shared, CPU, dup(f->raw_fds[0]));

        if (r == 0 && with_pipe)
                r = reader_take_pipe(*ret, dup(f->pipe_fd));
        return r == 0 ? reader_resume(*ret) : r;
}

static Reader *take_up(Fixture *f, bool with_pipe) {
        Reader *r;

        ck_assert_int_eq(try_take_up(&r, f, with_pipe), 0);
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
        int status;

        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Page @i has its number in each of its words; nothing if there is no room. */
static bool feed(Fixture *f, unsigned i) {
        uint32_t page[PAGE / sizeof(uint32_t)];

        for (size_t j = 0; j < ELEMENTSOF(page); j++)
                page[j] = i + 1;
        return write(f->raw_fds[1], page, sizeof(page)) == sizeof(page);
}

/* The number of the last page; each is one more than the one before, and at most @n_missing are
 * not there. */
static unsigned check_pages(Fixture *f, unsigned n_missing) {
        _cleanup_free_ uint64_t *sequences = NULL;
        unsigned last = 0, missing = 0;
        size_t n = 0;

        ck_assert_int_eq(session_dir_list_segments(f->shared.dir, CPU, &sequences, &n), 0);
        for (size_t i = 0; i < n; i++) {
                _cleanup_(segment_freep) Segment *s = NULL;

                ck_assert_int_eq(session_dir_open_segment(f->shared.dir, CPU, sequences[i], &s), 0);
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
        ck_assert_uint_le(missing, n_missing);
        return last;
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

START_TEST(no_page_is_lost_or_doubled_by_500_kills)
        {
                CASE(f);
                unsigned seed = (unsigned) getpid(), n = 0;

                fprintf(stderr, "# seed %u\n", seed);
                for (unsigned i = 0; i < 500; i++) {
                        pid_t pid = spawn(&f);

                        for (int k = rand_r(&seed) % 60; k > 0; k--)
                                if (feed(&f, n))
                                        n++;
                        if (i % 2 > 0)
                                wait_until_one_reads(&f);
                        (void) usleep((useconds_t) rand_r(&seed) % 2000);
                        kill_it(pid);
                }
                ck_assert_uint_eq(drain(&f, take_up(&f, true)), 0);
                ck_assert_uint_gt(n, 300);
                ck_assert_uint_eq(check_pages(&f, 0), n);
        }
END_TEST

/* @n_before bytes of a page are in the segment, the others in the pipe or nowhere. */
static void cut_page(Fixture *f, size_t n_before, bool is_piped) {
        _cleanup_close_ int cpu_fd = -EBADF, write_fd = -EBADF;
        char page[PAGE] = {}, path[64];
        SegmentWriter *w;

        for (size_t i = 0; i < PAGE; i += 4)
                page[i] = 1;
        cpu_fd = session_dir_make_cpu(f->shared.dir, CPU);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, CPU, PAGE, f->shared.session_id),
                         0);
        ck_assert_int_eq(write_full(segment_writer_fd(w), page, n_before), 0);
        (void) segment_writer_free(w);
        if (!is_piped)
                return;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", f->pipe_fd);
        write_fd = open(path, O_WRONLY | O_CLOEXEC);
        ck_assert_int_eq(write_full(write_fd, page + n_before, PAGE - n_before), 0);
}

START_TEST(a_page_cut_in_two_goes_on_in_the_pipe)
        {
                for (size_t n = 1; n < PAGE; n += 517) {
                        Fixture f;
                        Reader *r;

                        fixture_init(&f);
                        cut_page(&f, n, true);
                        ck_assert(feed(&f, 1));
                        r = take_up(&f, true);
                        reader_add_pages(r, 0, 0);
                        ck_assert_uint_eq(drain(&f, r), 0);
                        ck_assert_uint_eq(check_pages(&f, 0), 2);
                        ck_assert_uint_eq(atomic_load(&f.shared.n_bytes), 2 * PAGE);
                        fixture_done(&f);
                }
        }
END_TEST

START_TEST(without_the_pipe_half_a_page_is_cut_and_counted)
        {
                CASE(f);

                cut_page(&f, 1000, false);
                ck_assert(feed(&f, 1));
                ck_assert_uint_eq(drain(&f, take_up(&f, false)), 1);
                ck_assert_uint_eq(check_pages(&f, 1), 2);
        }
END_TEST

START_TEST(the_rest_of_a_page_whose_beginning_is_gone_is_thrown_away_and_counted)
        {
                CASE(f);
                _cleanup_close_ int write_fd = -EBADF;
                char rest[1000] = {}, path[64];

                (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", f.pipe_fd);
                write_fd = open(path, O_WRONLY | O_CLOEXEC);
                ck_assert_int_eq(write_full(write_fd, rest, sizeof(rest)), 0);
                ck_assert(feed(&f, 0));
                ck_assert_uint_eq(drain(&f, take_up(&f, true)), 1);
                ck_assert_uint_eq(check_pages(&f, 0), 1);
        }
END_TEST

START_TEST(one_that_leaves_empties_its_pipe_and_leaves_the_segment_open)
        {
                CASE(f);
                Reader *r;
                int n_piped = -1;

                ck_assert(feed(&f, 0) && feed(&f, 1));
                r = take_up(&f, true);
                ck_assert_int_eq(reader_start(r), 0);
                for (unsigned i = 0; atomic_load(&r->counters.n_pages) < 2; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                atomic_store(&f.shared.leaving, true);
                atomic_store(&f.shared.stopping, true);
                reader_kick(r);
                (void) reader_free(r);
                ck_assert_int_eq(ioctl(f.pipe_fd, FIONREAD, &n_piped), 0);
                ck_assert_int_eq(n_piped, 0);
                atomic_store(&f.shared.leaving, false);
                atomic_store(&f.shared.stopping, false);

                ck_assert(feed(&f, 2));
                ck_assert_uint_eq(drain(&f, take_up(&f, true)), 0);
                ck_assert_uint_eq(check_pages(&f, 0), 3);
        }
END_TEST

UNIT_SUITE("reader-resume", no_page_is_lost_or_doubled_by_500_kills,
           a_page_cut_in_two_goes_on_in_the_pipe, without_the_pipe_half_a_page_is_cut_and_counted,
           the_rest_of_a_page_whose_beginning_is_gone_is_thrown_away_and_counted,
           one_that_leaves_empties_its_pipe_and_leaves_the_segment_open)
