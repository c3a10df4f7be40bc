/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>
#include <sys/resource.h>

#include "encode/spill.h"
#include "unit.h"

static void fill(Spill *s, size_t from, size_t to) {
        for (size_t i = from; i < to; i += 4096) {
                size_t *p = spill_room(s, i + 4096);

                ck_assert_ptr_nonnull(p);
                p[i / sizeof(*p)] = i;
        }
}

static void look(const Spill *s, size_t n) {
        for (size_t i = 0; i < n; i += 4096)
                ck_assert_uint_eq(((size_t *) s->data)[i / sizeof(size_t)], i);
}

TEST(what_grows_beyond_the_limit_is_a_file_and_keeps_what_it_has) {
        Spill s = SPILL_INIT;

        fill(&s, 0, SPILL_BYTES);
        ck_assert_int_lt(s.fd, 0);
        fill(&s, SPILL_BYTES, 3 * SPILL_BYTES);
        ck_assert_int_ge(s.fd, 0);
        look(&s, 3 * SPILL_BYTES);
        spill_relax(&s);
        look(&s, 3 * SPILL_BYTES);
        spill_shrink(&s);
        ck_assert_int_lt(s.fd, 0);
        ck_assert_uint_eq(s.n_room, 0);
        fill(&s, 0, 8192);
        look(&s, 8192);
        spill_shrink(&s);
        look(&s, 8192);
        spill_done(&s);
}

TEST(without_a_directory_it_stays_memory) {
        Spill s = SPILL_INIT;

        ck_assert_int_eq(setenv("TMPDIR", "/does/not/exist", 1), 0);
        fill(&s, 0, 2 * SPILL_BYTES);
        ck_assert_int_lt(s.fd, 0);
        look(&s, 2 * SPILL_BYTES);
        spill_done(&s);
}

TEST(a_disk_that_is_full_is_an_error_and_no_signal) {
        const struct rlimit small = { 2 * SPILL_BYTES, 2 * SPILL_BYTES };
        Spill s = SPILL_INIT;

        (void) signal(SIGXFSZ, SIG_IGN);
        fill(&s, 0, SPILL_BYTES + 4096);
        ck_assert_int_ge(s.fd, 0);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        ck_assert_ptr_null(spill_room(&s, 5 * SPILL_BYTES));
        look(&s, SPILL_BYTES);
        spill_done(&s);
}
