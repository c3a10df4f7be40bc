/* SPDX-License-Identifier: GPL-2.0-or-later */

/* When this host does more, or less, than what is usual. */

#include "daemon/watch/watch.h"
#include "unit.h"

static HostLoadChange add(HostLoad *l, unsigned second, unsigned busy_ticks, unsigned switches) {
        char text[128];
        HostLoadSample s;

        (void) snprintf(text, sizeof(text),
                        "cpu  %u 0 0 99999 7 0 0 0 0 0\ncpu0 1 2 3 4\nintr 5\nctxt %u\nbtime 1\n",
                        busy_ticks, switches);
        s = host_load_parse(text, (second + 1) * UINT64_C(1000000000));
        return host_load_add(l, &s);
}

TEST(more_and_less_than_usual_are_noticed) {
        HostLoad l = HOST_LOAD_INIT;

        ck_assert_int_eq((int) add(&l, 0, 1000, 500), HOST_LOAD_SAME);
        ck_assert_int_eq((int) add(&l, 1, 1010, 600), HOST_LOAD_SAME); /* this is usual */
        ck_assert_int_eq((int) add(&l, 2, 1025, 900), HOST_LOAD_SAME);
        ck_assert_int_eq((int) add(&l, 3, 1050, 1000), HOST_LOAD_MORE); /* a quarter of a CPU */
        ck_assert_int_eq((int) add(&l, 4, 1075, 1100), HOST_LOAD_SAME); /* as just now */
        ck_assert_int_eq((int) add(&l, 5, 1085, 9000), HOST_LOAD_MORE); /* switches */
}

TEST(a_pause_is_not_less) {
        HostLoad l = HOST_LOAD_INIT;
        unsigned ticks = 1000, second = 0;

        (void) add(&l, second++, ticks, 500);
        for (unsigned turn = 0; turn < 3; turn++) {
                ck_assert_int_eq((int) add(&l, second++, ticks += 80, 500), HOST_LOAD_SAME);
                for (unsigned i = 1; i < HOST_LOAD_LESS_LOOKS; i++)
                        ck_assert_int_eq((int) add(&l, second++, ticks, 500), HOST_LOAD_SAME);
        }
        ck_assert_int_eq((int) add(&l, second++, ticks, 500), HOST_LOAD_LESS);
        ck_assert_int_eq((int) add(&l, second++, ticks, 500), HOST_LOAD_SAME);
}

TEST(what_is_no_statistics_changes_nothing) {
        HostLoad l = HOST_LOAD_INIT;
        HostLoadSample none = host_load_parse("cpu x", 5), back = { .at_ns = 3 };

        ck_assert_uint_eq(none.at_ns, 0);
        (void) add(&l, 4, 1000, 500);
        ck_assert_int_eq((int) host_load_add(&l, &none), HOST_LOAD_SAME);
        ck_assert_int_eq((int) host_load_add(&l, &back), HOST_LOAD_SAME);
}
