/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "base/now.h"
#include "meta/sample.h"
#include "tests/unit/unit.h"

#define DAY_NS (86400 * NSEC_PER_SEC)
#define HOSTS 100000

/* As systemd-machine-id-setup makes them: random digits, here the same in each run. */
static void make_id(char text[static SAMPLE_ID_BYTES + 1], uint64_t i) {
        uint64_t a = (i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                 b = (a ^ a >> 31) * UINT64_C(0xbf58476d1ce4e5b9);

        (void) snprintf(text, SAMPLE_ID_BYTES + 1, "%016llx%016llx", (unsigned long long) a,
                        (unsigned long long) b);
}

static unsigned count(uint64_t day, uint64_t ppm) {
        char id[SAMPLE_ID_BYTES + 1];
        unsigned n = 0;

        for (uint64_t i = 0; i < HOSTS; i++) {
                make_id(id, i);
                n += sample_has(id, day * DAY_NS + 5, ppm);
        }
        return n;
}

START_TEST(sums_times_weights_estimate_all)
        {
                for (uint64_t day = 20000; day < 20005; day++) {
                        /* Four standard deviations of a binomial: sqrt(100000 p (1 - p)). */
                        ck_assert_double_eq_tol(count(day, 10000) * sample_weight(10000), HOSTS,
                                                100 * 4 * 31.5);
                        ck_assert_double_eq_tol(count(day, 500000) * sample_weight(500000), HOSTS,
                                                2 * 4 * 158.1);
                }
        }
END_TEST

START_TEST(a_larger_share_has_the_hosts_of_a_smaller_one)
        {
                char id[SAMPLE_ID_BYTES + 1];

                for (uint64_t i = 0; i < HOSTS; i++) {
                        make_id(id, i);
                        if (sample_has(id, 0, 10000))
                                ck_assert(sample_has(id, 0, 20000));
                }
        }
END_TEST

START_TEST(a_host_is_in_for_a_day_and_not_for_ever)
        {
                unsigned n_first = 0, n_both = 0;
                char id[SAMPLE_ID_BYTES + 1];

                for (uint64_t i = 0; i < HOSTS; i++) {
                        make_id(id, i);
                        ck_assert_int_eq(sample_has(id, DAY_NS, 100000),
                                         sample_has(id, 2 * DAY_NS - 1, 100000));
                        n_first += sample_has(id, DAY_NS, 100000);
                        n_both += sample_has(id, DAY_NS, 100000) &&
                                  sample_has(id, 2 * DAY_NS, 100000);
                }
                ck_assert_uint_gt(n_both, 0);
                ck_assert_uint_lt(n_both * 5, n_first);
        }
END_TEST

START_TEST(all_and_no_sample_have_everybody)
        {
                ck_assert_uint_eq(count(1, 0), HOSTS);
                ck_assert_uint_eq(count(1, SAMPLE_ALL_PPM), HOSTS);
                ck_assert_double_eq(sample_weight(0), 1);
                ck_assert_double_eq(sample_weight(SAMPLE_ALL_PPM), 1);
        }
END_TEST

UNIT_SUITE("sample", sums_times_weights_estimate_all, a_larger_share_has_the_hosts_of_a_smaller_one,
           a_host_is_in_for_a_day_and_not_for_ever, all_and_no_sample_have_everybody)
