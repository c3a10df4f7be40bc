/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A pipe stands for a file whose disk fails: it can be neither synced nor written again. */

#include <sys/syscall.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/record/syncer.h"
#include "store/segment.h"
#include "tests/unit/unit.h"

#define PAGE 4096U

typedef struct Fixture {
        char path[64];
        sd_event *event;
        SessionDir *dir;
        Syncer *syncer;
        unsigned n_moved;
} Fixture;

static void on_moved(void *userdata) {
        ((Fixture *) userdata)->n_moved++;
}

static void fixture_init(Fixture *f, bool is_ring) {
        *f = (Fixture){ .path = "/tmp/test-syncer-XXXXXX" };
        ck_assert_ptr_nonnull(mkdtemp(f->path));
        ck_assert_int_ge(sd_event_new(&f->event), 0);
        ck_assert_int_eq(
                session_dir_take_fds(&f->dir, open(f->path, O_RDONLY | O_DIRECTORY), -EBADF), 0);
        ck_assert_int_eq(syncer_new(&f->syncer, &(SyncerConfig){ .event = f->event,
                                                                 .dir = f->dir,
                                                                 .page_bytes = PAGE,
                                                                 .is_ring = is_ring,
                                                                 .moved = on_moved,
                                                                 .userdata = f }),
                         0);
}

static void fixture_done(Fixture *f) {
        f->syncer = syncer_free(f->syncer);
        f->dir = session_dir_free(f->dir);
        sd_event_unref(f->event);
        ck_assert_int_eq(tree_remove(AT_FDCWD, f->path), 0);
}

/* A closed segment of @n_pages, each with a time but for those from @n_good on. */
static int make_segment(Fixture *f, uint64_t n_pages, uint64_t n_good) {
        SegmentWriter *w;
        int fd, cpu_fd = session_dir_make_cpu(f->dir, 0);

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, 0, PAGE, "0123456789abcdef"), 0);
        for (uint64_t i = 0; i < n_pages; i++) {
                uint64_t page[PAGE / sizeof(uint64_t)] = { i < n_good ? 1000 + i : 0 };

                ck_assert_int_eq(write_full(segment_writer_fd(w), page, PAGE), 0);
                segment_publish(w, PAGE);
        }
        ck_assert_uint_eq(segment_writer_last_ns(w), n_good == n_pages ? 999 + n_pages : 0);
        ck_assert_int_eq(segment_writer_check(w), 0);
        ck_assert_int_eq(segment_writer_end(w, NULL, &fd), 0);
        (void) close(cpu_fd);
        return fd;
}

static void run_until_done(Fixture *f) {
        while (!syncer_is_done(f->syncer))
                ck_assert_int_ge(sd_event_run(f->event, 100000), 0);
}

static unsigned held; /* atomic: files are not synced yet */

int fdatasync(int fd) {
        while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) > 0)
                (void) usleep(1000);
        return (int) syscall(SYS_fdatasync, fd);
}

START_TEST(what_a_disk_holds_up_is_left_also_where_nobody_has_listed_it)
        {
                Fixture f;

                fixture_init(&f, true);
                (void) close(make_segment(&f, 5, 5));
                __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
                syncer_add_all(f.syncer, 5);
                syncer_end(f.syncer, 10000);
                (void) sd_event_run(f.event, 100000);
                ck_assert(!syncer_is_done(f.syncer));
                ck_assert_uint_eq(syncer_n_left(f.syncer), 5);
                __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
                run_until_done(&f);
                ck_assert_uint_eq(syncer_n_left(f.syncer), 0);
                fixture_done(&f);
        }
END_TEST

START_TEST(what_is_closed_is_synced_and_the_end_is_told)
        {
                SyncerFailure failure;
                uint64_t n;
                Fixture f;

                fixture_init(&f, false);
                syncer_add(f.syncer, make_segment(&f, 5, 5), 0, 0, 5, false);
                ck_assert(!syncer_is_done(f.syncer));
                syncer_end(f.syncer, 10000);
                run_until_done(&f);
                while (f.n_moved == 0)
                        ck_assert_int_ge(sd_event_run(f.event, 100000), 0);
                ck_assert(!syncer_take_failure(f.syncer, &failure));
                ck_assert_uint_eq(syncer_n_left(f.syncer), 0);
                ck_assert_int_eq(syncer_error(f.syncer, &n), 0);

                syncer_end(f.syncer, 10000); /* session.json may be another */
                run_until_done(&f);
                fixture_done(&f);
        }
END_TEST

START_TEST(what_memory_had_lost_has_failed_though_it_can_be_written)
        {
                SyncerFailure failure;
                Fixture f;

                fixture_init(&f, true);
                /* Its descriptor has told of a failure: it is made dirty and synced again. */
                syncer_add(f.syncer, make_segment(&f, 5, 3), 0, 7, 5, true);
                syncer_end(f.syncer, 10000);
                run_until_done(&f);
                ck_assert(syncer_take_failure(f.syncer, &failure));
                ck_assert_uint_eq(failure.n_pages, 2);
                ck_assert_uint_eq(failure.sequence, 7);
                ck_assert(!syncer_take_failure(f.syncer, &failure));
                fixture_done(&f);
        }
END_TEST

START_TEST(what_fails_is_told_and_tried_again_and_nobody_waits_for_it)
        {
                uint64_t n_pages = 0;
                Fixture f;
                int fds[2];

                fixture_init(&f, false);
                ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
                syncer_add(f.syncer, fds[1], 3, 0, 9, false);
                while (syncer_error(f.syncer, &n_pages) == 0 || n_pages == 0)
                        ck_assert_int_ge(sd_event_run(f.event, 10000), 0);
                ck_assert_uint_eq(n_pages, 9);
                ck_assert_uint_eq(syncer_n_left(f.syncer), 9);
                syncer_end(f.syncer, 10000);
                ck_assert(!syncer_is_done(f.syncer));
                (void) close(fds[0]);
                fixture_done(&f);
        }
END_TEST

START_TEST(what_has_no_name_any_more_is_passed_over)
        {
                SyncerFailure failure;
                Fixture f;
                int fd;

                fixture_init(&f, false);
                fd = make_segment(&f, 5, 0);
                ck_assert_int_eq(unlinkat(session_dir_fd(f.dir), "cpu0/00000000.seg", 0), 0);
                syncer_add(f.syncer, fd, 0, 0, 5, true);
                syncer_end(f.syncer, 10000);
                run_until_done(&f);
                ck_assert(!syncer_take_failure(f.syncer, &failure));
                fixture_done(&f);
        }
END_TEST

START_TEST(making_dirty_changes_no_byte)
        {
                _cleanup_free_ char *before = NULL, *after = NULL;
                size_t n_before, n_after;
                Fixture f;
                int fd;

                fixture_init(&f, false);
                fd = make_segment(&f, 300, 300);
                ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
                ck_assert_int_eq(fd_read(fd, &before, &n_before, 4 << 20), 0);
                ck_assert_int_eq(segment_make_dirty(fd, n_before), 0);
                ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
                ck_assert_int_eq(fd_read(fd, &after, &n_after, 4 << 20), 0);
                ck_assert_uint_eq(n_before, n_after);
                ck_assert_mem_eq(before, after, n_before);
                (void) close(fd);
                fixture_done(&f);
        }
END_TEST

UNIT_SUITE("syncer", what_is_closed_is_synced_and_the_end_is_told,
           what_a_disk_holds_up_is_left_also_where_nobody_has_listed_it,
           what_memory_had_lost_has_failed_though_it_can_be_written,
           what_fails_is_told_and_tried_again_and_nobody_waits_for_it,
           what_has_no_name_any_more_is_passed_over, making_dirty_changes_no_byte)
