/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "daemon/upkeep/upkeep.h"
#include "tests/unit/unit.h"

#define PAGE 4096U

static char path[64];
static SessionDir *dir;

static void setup(void) {
        (void) snprintf(path, sizeof(path), "/tmp/test-disk-usage-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(path));
        ck_assert_int_eq(session_dir_take_fds(&dir, dir_open(AT_FDCWD, path), -EBADF), 0);
}

static void teardown(void) {
        dir = session_dir_free(dir);
        ck_assert_int_eq(tree_remove(AT_FDCWD, path), 0);
}

/* A segment of @n_pages whose writer dies with half a page written. */
static void leave_segment(uint32_t cpu, unsigned n_pages) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(dir, cpu);
        uint64_t page[PAGE / sizeof(uint64_t)] = { 1, 8 }; /* a time, and a length that fits */

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, cpu, PAGE, "0123456789abcdef"),
                         0);
        for (unsigned i = 0; i < n_pages; i++)
                ck_assert_int_eq(write_full(w->fd, page, sizeof(page)), 0);
        ck_assert_int_eq(write_full(w->fd, page, sizeof(page) / 2), 0);
}

TEST(a_dead_daemons_pages_are_counted_without_the_torn_one) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;

        setup();
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->page_bytes = PAGE;
        m->cpus = calloc(2, sizeof(*m->cpus));
        m->n_cpus = 2;
        m->cpus[0] = (CpuAccount){ .cpu = 0, .n_pages = 99 };
        m->cpus[1] = (CpuAccount){ .cpu = 4 };
        leave_segment(4, 3);
        ck_assert_int_eq(disk_usage_recover(dir, m), 0);
        ck_assert_uint_eq(m->cpus[0].n_pages, 0);
        ck_assert_uint_eq(m->cpus[1].n_pages, 3);
        ck_assert_uint_eq(m->cpus[1].n_bytes, 3 * PAGE);
        ck_assert_uint_eq(m->warnings.n, 0);
        teardown();
}

TEST(a_damaged_segment_is_named_and_the_others_count) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        char name[96];

        setup();
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->page_bytes = PAGE;
        m->cpus = calloc(1, sizeof(*m->cpus));
        m->n_cpus = 1;
        leave_segment(0, 2);
        (void) snprintf(name, sizeof(name), "%s/cpu0/00000001.seg", path);
        ck_assert_int_eq(file_replace(AT_FDCWD, name, "nonsense", 8, 0600), 0);
        ck_assert_int_eq(disk_usage_recover(dir, m), 0);
        ck_assert_uint_eq(m->cpus[0].n_pages, 2);
        ck_assert_uint_eq(m->warnings.n, 1);
        ck_assert_ptr_nonnull(strstr(m->warnings.items[0], "cpu0/00000001.seg"));
        teardown();
}

TEST(what_is_kept_for_the_end_goes_when_it_comes) {
        setup();
        ck_assert_int_eq(disk_usage_reserve(dir), 0);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "reserve", F_OK, 0), 0);
        disk_usage_release(dir);
        ck_assert_int_eq(faccessat(session_dir_fd(dir), "reserve", F_OK, 0), -1);
        teardown();
}
