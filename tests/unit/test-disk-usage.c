/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "daemon/upkeep/disk-usage.h"
#include "tests/unit/scratch.h"

#define PAGE 4096U

static Scratch scratch;
static SessionDir *dir;
static SessionMeta *m;

/* A session of so many CPUs. */
static int setup(uint32_t n_cpus) {
        scratch = scratch_new();
        ck_assert_int_eq(session_dir_take_fds(&dir, dup(scratch.fd), -EBADF), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->page_bytes = PAGE;
        m->cpus = calloc(n_cpus, sizeof(*m->cpus));
        m->n_cpus = n_cpus;
        return 0;
}

static void teardown(const int *unused) {
        dir = session_dir_free(dir);
        m = session_meta_free(m);
        scratch_done(&scratch);
}

#define CASE(n_cpus) _cleanup_(teardown) int is_set_up __attribute__((unused)) = setup(n_cpus)

/* A segment of @n_pages whose writer dies with half a page written. */
static void leave_segment(uint32_t cpu, unsigned n_pages) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(dir, cpu);
        uint64_t page[PAGE / sizeof(uint64_t)] = { 1, 8 }; /* a time, and a length that fits */

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, cpu, PAGE, "0123456789abcdef"),
                         0);
        for (unsigned i = 0; i < n_pages; i++)
                ck_assert_int_eq(write_full(segment_writer_fd(w), page, sizeof(page)), 0);
        ck_assert_int_eq(write_full(segment_writer_fd(w), page, sizeof(page) / 2), 0);
}

TEST(a_dead_daemons_pages_are_counted_without_the_torn_one) {
        CASE(2);

        m->cpus[0] = (CpuAccount){ .cpu = 0, .n_pages = 99 };
        m->cpus[1] = (CpuAccount){ .cpu = 4 };
        leave_segment(4, 3);
        ck_assert_int_eq(disk_usage_recover(dir, m), 0);
        ck_assert_uint_eq(m->cpus[0].n_pages, 0);
        ck_assert_uint_eq(m->cpus[1].n_pages, 3);
        ck_assert_uint_eq(m->cpus[1].n_bytes, 3 * PAGE);
        ck_assert_uint_eq(m->warnings.n, 0);
}

TEST(a_damaged_segment_is_named_and_the_others_count) {
        CASE(1);

        leave_segment(0, 2);
        scratch_write(scratch.fd, "cpu0/00000001.seg", "nonsense", 8);
        ck_assert_int_eq(disk_usage_recover(dir, m), 0);
        ck_assert_uint_eq(m->cpus[0].n_pages, 2);
        ck_assert_uint_eq(m->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "cpu0/00000001.seg"));
}

TEST(what_is_kept_for_the_end_goes_when_it_comes) {
        CASE(1);

        ck_assert_int_eq(disk_usage_reserve(dir), 0);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "reserve", F_OK, 0), 0);
        disk_usage_release(dir);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "reserve", F_OK, 0), -1);
}
