/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/syscall.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"
#include "daemon/record/reader.h"
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

#define CASE_TEST(name, ...)                                                                       \
        TEST_WITH(name, (Fixture * f), _cleanup_(fixture_done) Fixture f;                          \
                  fixture_init(&f, __VA_ARGS__), &f)

/* A closed segment of @n_pages, which begins at 1000. */
static int make_segment(Fixture *f, uint64_t n_pages) {
        SegmentWriter *w;
        int fd, cpu_fd = session_dir_make_cpu(f->dir, 0);

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, 0, PAGE, "0123456789abcdef"), 0);
        for (uint64_t i = 0; i < n_pages; i++) {
                uint64_t page[PAGE / sizeof(uint64_t)] = { 1000 + i };

                ck_assert_int_eq(write_full(w->fd, page, PAGE), 0);
                segment_publish(w, PAGE);
        }
        ck_assert_uint_eq(segment_writer_last_ns(w), 999 + n_pages);
        ck_assert_int_eq(segment_writer_close(w, NULL, &fd), 0);
        (void) close(cpu_fd);
        return fd;
}

static void run_until_done(Fixture *f) {
        while (!syncer_look(f->syncer).is_done)
                ck_assert_int_ge(sd_event_run(f->event, 100000), 0);
}

static unsigned held;      /* atomic: files are not synced yet */
static unsigned n_failing; /* atomic: so many are not written */

int fdatasync(int fd) {
        while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) > 0)
                (void) usleep(1000);
        if (__atomic_load_n(&n_failing, __ATOMIC_ACQUIRE) > 0) {
                __atomic_fetch_sub(&n_failing, 1, __ATOMIC_ACQ_REL);
                return (errno = EIO, -1);
        }
        return (int) syscall(SYS_fdatasync, fd);
}

CASE_TEST(what_a_disk_holds_up_is_left_also_where_nobody_has_listed_it, true) {
        (void) close(make_segment(f, 5));
        __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
        syncer_add_all(f->syncer, 5);
        syncer_end(f->syncer);
        (void) sd_event_run(f->event, 100000);
        ck_assert(!syncer_look(f->syncer).is_done);
        ck_assert_uint_eq(syncer_look(f->syncer).n_left, 5);
        __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
        run_until_done(f);
        ck_assert_uint_eq(syncer_look(f->syncer).n_left, 0);
}

CASE_TEST(what_is_closed_is_synced_and_the_end_is_told, false) {
        SyncerFailure failure;

        syncer_add(f->syncer, make_segment(f, 5), 0, 5);
        ck_assert(!syncer_look(f->syncer).is_done);
        syncer_end(f->syncer);
        run_until_done(f);
        while (f->n_moved == 0)
                ck_assert_int_ge(sd_event_run(f->event, 100000), 0);
        ck_assert(!syncer_take_failure(f->syncer, &failure));
        ck_assert_uint_eq(syncer_look(f->syncer).n_left, 0);
        ck_assert_int_eq(syncer_look(f->syncer).error, 0);

        syncer_end(f->syncer); /* session.json may be another */
        run_until_done(f);
}

CASE_TEST(what_fails_is_told_once_with_all_its_pages_and_the_next_is_well, false) {
        SyncerFailure failure;

        __atomic_store_n(&n_failing, 1, __ATOMIC_RELEASE);
        syncer_add(f->syncer, make_segment(f, 5), 0, 5);
        while (!syncer_take_failure(f->syncer, &failure))
                ck_assert_int_ge(sd_event_run(f->event, 10000), 0);
        ck_assert_uint_eq(failure.cpu, 0);
        ck_assert_uint_eq(failure.n_pages, 5);
        ck_assert_uint_eq(failure.first_ns, 1000);
        ck_assert_int_eq(failure.error, EIO);
        ck_assert_int_eq(syncer_look(f->syncer).error, EIO);
        ck_assert_uint_eq(syncer_look(f->syncer).n_left, 0);
        syncer_add(f->syncer, memfd_create("other", MFD_CLOEXEC), 0, 1);
        syncer_end(f->syncer);
        run_until_done(f);
        ck_assert(!syncer_take_failure(f->syncer, &failure));
}

CASE_TEST(a_file_without_pages_that_fails_is_told_without_a_place, false) {
        SyncerFailure failure;

        syncer_end(f->syncer);
        run_until_done(f);
        (void) close(openat(session_dir_fd(f->dir), "session.json", O_CREAT | O_WRONLY, 0600));
        __atomic_store_n(&n_failing, 1, __ATOMIC_RELEASE);
        syncer_end(f->syncer);
        run_until_done(f);
        ck_assert(syncer_take_failure(f->syncer, &failure));
        ck_assert_uint_eq(failure.n_pages, 0);
        ck_assert_int_eq(failure.error, EIO);
        ck_assert(!syncer_take_failure(f->syncer, &failure));
}

CASE_TEST(what_has_no_name_any_more_is_passed_over, false) {
        SyncerFailure failure;
        int fd;

        fd = make_segment(f, 5);
        ck_assert_int_eq(unlinkat(session_dir_fd(f->dir), "cpu0/00000000.seg", 0), 0);
        __atomic_store_n(&n_failing, 1, __ATOMIC_RELEASE);
        syncer_add(f->syncer, fd, 0, 5);
        syncer_end(f->syncer);
        run_until_done(f);
        ck_assert(!syncer_take_failure(f->syncer, &failure));
        __atomic_store_n(&n_failing, 0, __ATOMIC_RELEASE);
}
