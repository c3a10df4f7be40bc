/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A pipe stands for trace_pipe_raw: splice() takes from it, and it says EAGAIN when it is empty.
 * What a pipe cannot show, the partly filled page that only read() gives, is tests/root's.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/record/reader.h"
#include "segment-map.h"
#include "store/segment.h"
#include "tests/unit/unit.h"

#define CPU 3
#define PAGE 4096U
#define MIB (UINT64_C(1) << 20)

typedef struct Fixture {
        char path[64];
        ReaderShared shared;
        Reader *reader;
        int kernel_fd; /* what is written here the reader finds */
} Fixture;

static void fixture_init(Fixture *f) {
        int fds[2];

        *f = (Fixture){ .path = "/tmp/test-reader-XXXXXX" };
        ck_assert_ptr_nonnull(mkdtemp(f->path));
        f->shared = (ReaderShared){ .session_id = "0123456789abcdef",
                                    .page_bytes = PAGE,
                                    .segment_bytes = READER_SEGMENT_BYTES,
                                    .drain_max_bytes = 64 << 20,
                                    .give_up_ms = 300,
                                    .goal_bytes = 1 << 20,
                                    .idle_ms = READER_IDLE_MS,
                                    .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
        ck_assert_int_eq(
                session_dir_take_fds(&f->shared.dir, open(f->path, O_RDONLY | O_DIRECTORY), -EBADF),
                0);
        ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
        f->kernel_fd = fds[1];
        ck_assert_int_eq(reader_new(&f->reader, &f->shared, CPU, fds[0]), 0);
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
        (void) close(f->kernel_fd);
        (void) close(f->shared.wake_fd);
        ck_assert_int_eq(tree_remove(AT_FDCWD, f->path), 0);
}

#define CASE(f)                                                                                    \
        _cleanup_(fixture_done) Fixture f;                                                         \
        fixture_init(&f)

/* Page @i has its number in each of its words. */
static void feed(Fixture *f, unsigned first, unsigned n) {
        for (unsigned i = first; i < first + n; i++) {
                uint32_t page[PAGE / sizeof(uint32_t)];

                for (size_t j = 0; j < ELEMENTSOF(page); j++)
                        page[j] = i;
                while (write(f->kernel_fd, page, sizeof(page)) < 0) {
                        ck_assert_int_eq(errno, EAGAIN);
                        (void) usleep(1000);
                }
        }
}

static void wait_for_pages(Fixture *f, uint64_t n) {
        for (unsigned i = 0; atomic_load(&f->reader->counters.n_pages) < n; i++) {
                ck_assert_uint_lt(i, 60000);
                (void) usleep(1000);
        }
}

/* Reads all segments back: how many, and whether the pages are 0, 1, 2, ... */
static size_t check_pages(Fixture *f, unsigned n_pages) {
        _cleanup_free_ uint64_t *sequences = NULL;
        unsigned page = 0;
        size_t n = 0;

        if (session_dir_list_segments(f->shared.dir, CPU, &sequences, &n) < 0)
                n = 0;
        for (size_t i = 0; i < n; i++) {
                _cleanup_(segment_freep) Segment *s = NULL;

                ck_assert_int_eq(session_dir_open_segment(f->shared.dir, CPU, sequences[i], &s), 0);
                ck_assert(s->header.state == SEGMENT_STATE_CLOSED);
                ck_assert_uint_eq(s->n_torn, 0);
                for (uint64_t j = 0; j < s->header.n_pages; j++, page++) {
                        const uint32_t *p = segment_page(s, j);

                        ck_assert_uint_eq(p[0], page);
                        ck_assert_uint_eq(p[PAGE / sizeof(*p) - 1], page);
                }
        }
        ck_assert_uint_eq(page, n_pages);
        return n;
}

START_TEST(every_page_arrives_once_and_in_order)
        {
                CASE(f);

                ck_assert_int_eq(reader_start(f.reader), 0);
                feed(&f, 0, 1000);
                fixture_stop(&f);
                ck_assert_uint_eq(check_pages(&f, 1000), 1);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.n_bytes), 1000 * PAGE);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.pages_lost), 0);
        }
END_TEST

START_TEST(what_is_there_when_the_stop_comes_is_stored)
        {
                CASE(f);

                feed(&f, 0, 10);
                atomic_store(&f.shared.stopping, true);
                reader_kick(f.reader);
                ck_assert_int_eq(reader_start(f.reader), 0);
                fixture_stop(&f);
                (void) check_pages(&f, 10);
        }
END_TEST

START_TEST(a_full_segment_is_followed_by_another)
        {
                CASE(f);

                f.shared.segment_bytes = 8 * PAGE;
                ck_assert_int_eq(reader_start(f.reader), 0);
                for (unsigned i = 0; i < 40; i += 4) {
                        feed(&f, i, 4);
                        wait_for_pages(&f, i + 4);
                }
                fixture_stop(&f);
                ck_assert_uint_eq(check_pages(&f, 40), 5);
        }
END_TEST

static size_t list(Fixture *f, uint32_t cpu, uint64_t *sequences, size_t n_max) {
        _cleanup_free_ uint64_t *found = NULL;
        size_t n = 0;

        if (session_dir_list_segments(f->shared.dir, cpu, &found, &n) < 0)
                return 0;
        ck_assert_uint_le(n, n_max);
        if (n > 0)
                memcpy(sequences, found, n * sizeof(*found));
        return n;
}

START_TEST(a_cut_gives_all_cpus_the_same_sequence)
        {
                CASE(f);
                int fds[2];
                Reader *other;
                uint64_t s[4];

                f.shared.segment_bytes = 4 * PAGE;
                ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
                ck_assert_int_eq(reader_new(&other, &f.shared, CPU + 1, fds[0]), 0);
                ck_assert_int_eq(reader_start(f.reader), 0);
                ck_assert_int_eq(reader_start(other), 0);

                /* Periods 0, 1 and 2 on the one; the other has data in 0 and 2 only. */
                ck_assert_int_eq(write(fds[1], (char[PAGE]){}, PAGE), PAGE);
                for (unsigned i = 0; atomic_load(&other->counters.n_pages) < 1; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                for (unsigned i = 0; i < 9; i++) {
                        feed(&f, i, 1);
                        wait_for_pages(&f, i + 1);
                }
                ck_assert_uint_eq(atomic_load(&f.shared.sequence), 2);
                ck_assert_int_eq(write(fds[1], (char[PAGE]){}, PAGE), PAGE);
                fixture_stop(&f);
                reader_kick(other);
                (void) reader_free(other);

                ck_assert_uint_eq(list(&f, CPU, s, 4), 3);
                ck_assert_uint_eq(s[2], 2);
                ck_assert_uint_eq(list(&f, CPU + 1, s, 4), 2);
                ck_assert_uint_eq(s[0], 0);
                ck_assert_uint_eq(s[1], 2);
                {
                        _cleanup_(segment_freep) Segment *segment = NULL;

                        ck_assert_int_eq(
                                session_dir_open_segment(f.shared.dir, CPU + 1, 2, &segment), 0);
                        ck_assert_uint_eq(segment->header.previous, 1);
                }
                (void) close(fds[1]);
        }
END_TEST

START_TEST(a_quiet_cpu_does_not_hold_back_a_cut)
        {
                CASE(f);
                _cleanup_(segment_freep) Segment *s = NULL;
                const ReaderCounters *c;

                ck_assert_int_eq(reader_start(f.reader), 0);
                c = &f.reader->counters;
                feed(&f, 0, 2);
                wait_for_pages(&f, 2);
                ck_assert_uint_eq(atomic_load(&c->open_sequence), 0);
                ck_assert(reader_cut(&f.shared, 0));
                ck_assert(!reader_cut(&f.shared, 0)); /* it is one cut, whoever else asks for it */
                reader_kick(f.reader);
                for (unsigned i = 0; atomic_load(&c->open_sequence) != UINT64_MAX; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                ck_assert_int_eq(session_dir_open_segment(f.shared.dir, CPU, 0, &s), 0);
                ck_assert(s->header.state == SEGMENT_STATE_CLOSED);
                fixture_stop(&f);
        }
END_TEST

START_TEST(what_all_cpus_stored_together_makes_a_cut)
        {
                CASE(f);

                f.shared.period_bytes = 3 * PAGE;
                f.shared.cut_at_bytes = 3 * PAGE;
                ck_assert_int_eq(reader_start(f.reader), 0);
                for (unsigned i = 0; i < 9; i++) {
                        feed(&f, i, 1);
                        wait_for_pages(&f, i + 1);
                }
                fixture_stop(&f);
                ck_assert_uint_eq(atomic_load(&f.shared.sequence), 3);
                ck_assert_uint_eq(check_pages(&f, 9), 3);
        }
END_TEST

START_TEST(a_quiet_cpu_leaves_no_file)
        {
                CASE(f);
                char path[96];

                ck_assert_int_eq(reader_start(f.reader), 0);
                fixture_stop(&f);
                (void) snprintf(path, sizeof(path), "%s/cpu%i", f.path, CPU);
                ck_assert_int_eq(access(path, F_OK), -1);
        }
END_TEST

START_TEST(an_idle_reader_sleeps_and_says_that_it_waits)
        {
                CASE(f);
                const ReaderCounters *c;

                ck_assert_int_eq(reader_start(f.reader), 0);
                c = &f.reader->counters;
                for (unsigned i = 0; atomic_load(&c->wait_until_ms) == 0; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                (void) usleep(1200 * 1000);
                ck_assert_uint_le(atomic_load(&c->n_wakeups), 1);
                ck_assert(atomic_load(&c->wait_until_ms) > 0);
                fixture_stop(&f);
        }
END_TEST

START_TEST(a_cpu_whose_descriptor_is_in_error_does_not_spin)
        {
                CASE(f);
                const ReaderCounters *c;

                (void) close(f.kernel_fd); /* POLLHUP for ever, as POLLERR of a CPU never online */
                f.kernel_fd = -EBADF;
                ck_assert_int_eq(reader_start(f.reader), 0);
                c = &f.reader->counters;
                for (unsigned i = 0; atomic_load(&c->progress) == 0; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                (void) usleep(1200 * 1000);
                ck_assert_uint_le(atomic_load(&c->progress), 10);
                fixture_stop(&f);
        }
END_TEST

/* check(3) writes a file of its own, a line for each assertion: room for both. */
#define LIMIT (200 * PAGE)
#define LIMIT_PAGES 206U

static void limit_file_size(rlim_t n) {
        struct rlimit limit;

        (void) signal(SIGXFSZ, SIG_IGN);
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = n;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(what_the_disk_refuses_is_stored_when_it_takes_it_again)
        {
                CASE(f);
                const ReaderCounters *c;

                limit_file_size(LIMIT); /* EFBIG comes the way of ENOSPC */
                ck_assert_int_eq(reader_start(f.reader), 0);
                c = &f.reader->counters;
                feed(&f, 0, LIMIT_PAGES);
                for (unsigned i = 0; atomic_load(&c->error) == 0; i++) {
                        ck_assert_uint_lt(i, 60000);
                        (void) usleep(1000);
                }
                ck_assert_int_eq(atomic_load(&c->error), EFBIG);
                limit_file_size(RLIM_INFINITY);
                wait_for_pages(&f, LIMIT_PAGES);
                fixture_stop(&f);
                ck_assert_int_eq(atomic_load(&c->error), 0);
                ck_assert_uint_eq(atomic_load(&c->pages_lost), 0);
                (void) check_pages(&f, LIMIT_PAGES);
        }
END_TEST

START_TEST(what_the_disk_refuses_for_good_is_counted_as_lost)
        {
                CASE(f);
                const ReaderCounters *c;

                limit_file_size(LIMIT);
                ck_assert_int_eq(reader_start(f.reader), 0);
                c = &f.reader->counters;
                feed(&f, 0, LIMIT_PAGES);
                fixture_stop(&f);
                ck_assert_int_eq(atomic_load(&c->error), EFBIG);
                ck_assert_uint_eq(atomic_load(&c->n_pages) + atomic_load(&c->pages_lost),
                                  LIMIT_PAGES);
                ck_assert_uint_gt(atomic_load(&c->pages_lost), 0);
                (void) check_pages(&f, (unsigned) atomic_load(&c->n_pages));
        }
END_TEST

START_TEST(half_a_page_is_cut_off_and_counted)
        {
                CASE(f);
                char half[PAGE / 2] = {};

                feed(&f, 0, 2);
                ck_assert_int_eq(write(f.kernel_fd, half, sizeof(half)), sizeof(half));
                ck_assert_int_eq(reader_start(f.reader), 0);
                wait_for_pages(&f, 2);
                fixture_stop(&f);
                (void) check_pages(&f, 2);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.pages_lost), 1);
        }
END_TEST

START_TEST(reaching_max_bytes_wakes_the_main_thread)
        {
                CASE(f);
                eventfd_t n;

                f.shared.max_bytes = 5 * PAGE;
                ck_assert_int_eq(reader_start(f.reader), 0);
                feed(&f, 0, 4);
                wait_for_pages(&f, 4);
                ck_assert_int_eq(eventfd_read(f.shared.wake_fd, &n), -1);
                feed(&f, 4, 1);
                wait_for_pages(&f, 5);
                ck_assert_int_eq(poll(&(struct pollfd){ .fd = f.shared.wake_fd, .events = POLLIN },
                                      1, 60000),
                                 1);
                fixture_stop(&f);
        }
END_TEST

static void wait_for_flush(Fixture *f, uint64_t n) {
        for (unsigned i = 0; atomic_load(&f->reader->counters.flushed) < n; i++) {
                ck_assert_uint_lt(i, 60000);
                (void) usleep(1000);
        }
}

START_TEST(a_held_reader_takes_nothing_but_what_a_flush_asks_for)
        {
                CASE(f);

                atomic_store(&f.shared.held, true);
                ck_assert_int_eq(reader_start(f.reader), 0);
                feed(&f, 0, 3);
                (void) usleep(300000);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.n_pages), 0);
                ck_assert_uint_le(atomic_load(&f.reader->counters.n_wakeups), 1);
                atomic_store(&f.shared.flush, 1);
                reader_kick(f.reader);
                wait_for_flush(&f, 1);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.n_pages), 3);
                feed(&f, 3, 1);
                (void) usleep(100000);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.n_pages), 3);
                atomic_store(&f.shared.held, false);
                reader_kick(f.reader);
                wait_for_pages(&f, 4);
                fixture_stop(&f);
                (void) check_pages(&f, 4);
        }
END_TEST

START_TEST(after_a_cut_and_a_flush_the_older_segment_is_closed)
        {
                CASE(f);

                atomic_store(&f.shared.held, true);
                ck_assert_int_eq(reader_start(f.reader), 0);
                feed(&f, 0, 2);
                atomic_store(&f.shared.flush, 1);
                reader_kick(f.reader);
                wait_for_flush(&f, 1);
                ck_assert_uint_eq(atomic_load(&f.reader->counters.open_sequence), 0);
                ck_assert(reader_cut(&f.shared, 0));
                atomic_store(&f.shared.flush, 2);
                reader_kick(f.reader);
                wait_for_flush(&f, 2);
                ck_assert_uint_gt(atomic_load(&f.reader->counters.open_sequence), 0);
                feed(&f, 2, 1);
                fixture_stop(&f);
                ck_assert_uint_eq(check_pages(&f, 3), 2);
        }
END_TEST

START_TEST(a_stream_is_fetched_as_fast_as_it_comes)
        {
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
END_TEST

START_TEST(a_small_recording_is_fetched_in_small_parts)
        {
                ck_assert_uint_eq(backoff_percent(8 << 20, 0), 25);
                ck_assert_uint_eq(backoff_percent(8 << 20, 1 << 30), 25);
                ck_assert_uint_eq(backoff_percent(8 << 20, 8 << 20), 12);
                ck_assert_uint_eq(backoff_percent(8 << 20, 1), 1);
                ck_assert_uint_eq(backoff_percent(0, UINT64_MAX), 25);
                ck_assert_uint_eq(backoff_goal(8 << 20, 0), (8U << 20) / 200 * 25);
                ck_assert_uint_le(backoff_goal(8 << 20, 1 << 20), 1 << 16);
        }
END_TEST

UNIT_SUITE("reader", every_page_arrives_once_and_in_order,
           what_is_there_when_the_stop_comes_is_stored, a_full_segment_is_followed_by_another,
           a_cut_gives_all_cpus_the_same_sequence, a_quiet_cpu_does_not_hold_back_a_cut,
           what_all_cpus_stored_together_makes_a_cut, a_quiet_cpu_leaves_no_file,
           an_idle_reader_sleeps_and_says_that_it_waits,
           a_cpu_whose_descriptor_is_in_error_does_not_spin,
           what_the_disk_refuses_is_stored_when_it_takes_it_again,
           what_the_disk_refuses_for_good_is_counted_as_lost, half_a_page_is_cut_off_and_counted,
           reaching_max_bytes_wakes_the_main_thread,
           a_held_reader_takes_nothing_but_what_a_flush_asks_for,
           after_a_cut_and_a_flush_the_older_segment_is_closed,
           a_stream_is_fetched_as_fast_as_it_comes, a_small_recording_is_fetched_in_small_parts)
