/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "base/io.h"
#include "store/session-dir.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

#define PAGE 4096U

static Scratch scratch;
static SessionDir *dir;

static void setup(void) {
        scratch = scratch_new();
        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, "it"), 0);
}

static void teardown(void) {
        dir = session_dir_free(dir);
        scratch_done(&scratch);
}

static void add(uint32_t cpu, uint64_t sequence, unsigned n_pages) {
        _cleanup_close_ int fd = session_dir_make_cpu(dir, cpu);
        char page[PAGE];
        SegmentWriter *w;

        memset(page, 1, sizeof(page));
        ck_assert_int_eq(
                segment_create(&w, fd, sequence, UINT64_MAX, cpu, PAGE, "0123456789abcdef"), 0);
        for (unsigned i = 0; i < n_pages; i++) {
                ck_assert_int_eq(write_full(segment_writer_fd(w), page, sizeof(page)), 0);
                segment_publish(w, sizeof(page));
        }
        ck_assert_int_eq(segment_writer_close(w, NULL), 0);
}

static void count(uint32_t cpu, uint64_t n_pages, void *userdata) {
        uint64_t *counts = userdata;

        counts[cpu] += n_pages;
}

START_TEST(a_period_is_dropped_on_all_cpus_and_nothing_else)
        {
                uint64_t counts[8] = {};

                setup();
                add(0, 3, 10);
                add(1, 3, 5);
                add(1, 4, 2);
                ck_assert_int_eq(file_replace(session_dir_fd(dir), "cpu0/notes", "mine", 4, 0600),
                                 0);
                ck_assert_int_eq(session_dir_drop_period(dir, 3, count, counts), 0);
                ck_assert_uint_eq(counts[0], 10);
                ck_assert_uint_eq(counts[1], 5);
                ck_assert_int_lt(faccessat(session_dir_fd(dir), "cpu0/00000003.seg", F_OK, 0), 0);
                ck_assert_int_lt(faccessat(session_dir_fd(dir), "cpu1/00000003.seg", F_OK, 0), 0);
                ck_assert_int_eq(faccessat(session_dir_fd(dir), "cpu1/00000004.seg", F_OK, 0), 0);
                ck_assert_int_eq(faccessat(session_dir_fd(dir), "cpu0/notes", F_OK, 0), 0);
                teardown();
        }
END_TEST

UNIT_SUITE("periods", a_period_is_dropped_on_all_cpus_and_nothing_else)
