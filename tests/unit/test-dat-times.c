/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "pages/dat-private.h"
#include "unit.h"

static void take(DatTimes *t, uint16_t id, const void *data, size_t n) {
        ck_assert_int_eq(dat_times_read(t, id, (DatBytes){ .data = data, .n = n }), 0);
}

TEST(without_options_a_time_is_what_the_page_holds) {
        DatTimes t = {};

        ck_assert(dat_times_are_plain(&t));
        ck_assert_uint_eq(dat_times_apply(&t, 3, UINT64_MAX), UINT64_MAX);
        ck_assert_uint_eq(dat_times_find(&t, 1234), 1234);
}

/* Of recordings of trace-cmd 3.1.6, and what its report printed. */
TEST(dates_are_microseconds_and_offsets_nanoseconds) {
        DatTimes t = {};

        take(&t, DAT_OPTION_DATE, "0x660e4f8ae2f6e", 16);
        ck_assert(t.is_of_day);
        ck_assert_int_eq(t.offset_ns, INT64_C(1795386401238894000));
        take(&t, DAT_OPTION_OFFSET, "-1000", 6);
        ck_assert_uint_eq(dat_times_apply(&t, 0, 5000), UINT64_C(1795386401238898000));
        ck_assert_uint_eq(dat_times_find(&t, UINT64_C(1795386401238898000)), 5000);
        ck_assert_uint_eq(dat_times_find(&t, 7), 0);
}

TEST(ticks_become_nanoseconds) {
        const uint32_t option[] = { 827181386, 31, 0, 0 };
        DatTimes t = {};

        take(&t, DAT_OPTION_TSC2NSEC, option, sizeof(option));
        ck_assert_uint_eq(dat_times_apply(&t, 0, UINT64_C(477389314000)), UINT64_C(183883846931));
        for (uint64_t ns = 1; ns < UINT64_C(1) << 62; ns = ns * 3 + 1) {
                uint64_t raw = dat_times_find(&t, ns);

                ck_assert_uint_le(dat_times_apply(&t, 0, raw), ns);
                ck_assert_uint_ge(dat_times_apply(&t, 0, raw + 4), ns);
        }
}

TEST(a_guest_is_as_far_off_as_its_samples_say) {
        uint64_t option[] = {
                77,                                      /* the host's trace */
                HOST_BIG_ENDIAN ? 2 : UINT64_C(2) << 32, /* u32 flags, u32 CPUs */
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
        };
        uint8_t bytes[sizeof(option)], *p = bytes + 16;
        DatTimes t = {};
        uint32_t n = 2;
        int64_t samples[] = { 1000, 2000, 100, 200, 1, 1 };

        memcpy(bytes, option, 16);
        memcpy(p, &n, sizeof(n));
        memcpy(p + 4, samples, sizeof(samples));
        n = 1;
        memcpy(p + 52, &n, sizeof(n));
        samples[0] = 5;
        samples[1] = -7;
        samples[2] = 1;
        memcpy(p + 56, samples, 24);
        take(&t, DAT_OPTION_TIME_SHIFT, bytes, 96);
        /* A section that was unpacked for it is gone afterwards. */
        ck_assert_uint_eq(t.n_shift_option, 96);
        ck_assert_int_eq(memcmp(t.shift_option, bytes, 96), 0);
        ck_assert_ptr_ne(t.shift_option, bytes);
        ck_assert_uint_eq(t.n_cpus, 2);
        ck_assert_uint_eq(dat_times_apply(&t, 0, 500), 600);
        ck_assert_uint_eq(dat_times_apply(&t, 0, 2500), 2600);
        ck_assert_uint_eq(dat_times_apply(&t, 1, 500), 493);
        ck_assert_uint_eq(dat_times_apply(&t, 2, 500), 500);
        /* With the flag it moves from one sample to the next. */
        t.interpolates = true;
        ck_assert_uint_eq(dat_times_apply(&t, 0, 1500), 1650);
        ck_assert_uint_eq(dat_times_apply(&t, 0, 1990), 2189);
        dat_times_done(&t);
}

TEST(what_cannot_be_understood_changes_nothing) {
        static const uint8_t many[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0,    0,
                                        0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff };
        const uint32_t shift[] = { 1, 64, 0, 0 };
        DatTimes t = {};

        for (size_t n = 0; n <= sizeof(many); n++)
                take(&t, DAT_OPTION_TIME_SHIFT, many, n);
        take(&t, DAT_OPTION_TSC2NSEC, shift, sizeof(shift));
        take(&t, DAT_OPTION_TSC2NSEC, shift, 7);
        take(&t, DAT_OPTION_OFFSET, "", 0);
        take(&t, DAT_OPTION_OFFSET, "soon", 4);
        ck_assert(dat_times_are_plain(&t));
}
