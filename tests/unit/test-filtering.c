/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/options/filtering.h"
#include "unit.h"

TEST(a_moment_is_said_in_three_ways) {
        static const struct {
                const char *text;
                unsigned kind;
                uint64_t ns;
        } good[] = {
                { "1234", MOMENT_TRACE, 1234000000000 },
                { "0.000000001", MOMENT_TRACE, 1 },
                { "12.5", MOMENT_TRACE, 12500000000 },
                { "+20ms", MOMENT_SINCE_BEGIN, 20000000 },
                { "+1.5", MOMENT_SINCE_BEGIN, 1500000000 },
                { "10:42", MOMENT_OF_DAY, 38520000000000 },
                { "10:42:03.25", MOMENT_OF_DAY, 38523250000000 },
        };
        static const char *const bad[] = { "",      "x",     "1x",      "-1", "+",     "10:",
                                           "24:00", "10:60", "1:2:3:4", ":",  "1.5:00" };
        Moment m;

        for (size_t i = 0; i < ELEMENTSOF(good); i++) {
                ck_assert_int_eq(moment_parse(good[i].text, &m), 0);
                ck_assert_uint_eq(m.kind, good[i].kind);
                ck_assert_uint_eq(m.ns, good[i].ns);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(moment_parse(bad[i], &m) == -EINVAL, "%s", bad[i]);
}

TEST(a_number_is_ticks_where_the_clock_counts_those) {
        SessionMeta meta = { .id = (char *) "", .clock = (char *) "x86-tsc" };
        const char *problem = NULL;
        Filtering f = {};

        ck_assert_int_eq(moment_parse("414492044876", &f.from), 0);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(414492044876));
        meta.clock = (char *) "tsc2nsec";
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(414492044876));
        ck_assert_int_eq(moment_parse("414", &f.from), 0);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(414000000000));
}

TEST(what_trace_cmd_has_rounded_finds_what_it_was) {
        SessionMeta meta = { .id = (char *) "", .clock = (char *) "local" };
        const char *problem = NULL;
        Filtering f = {};

        ck_assert_int_eq(moment_parse("420.756495", &f.from), 0);
        ck_assert_int_eq(moment_parse("420.756495", &f.to), 0);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(420756494500));
        ck_assert_uint_eq(f.spec.to_ns, UINT64_C(420756495499));
        /* A recording of ours, and one that is said exactly. */
        meta.id = (char *) "0123456789abcdef";
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(420756495000));
        meta.id = (char *) "";
        ck_assert_int_eq(moment_parse("420.7564950", &f.from), 0);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 0, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(420756495000));
}

TEST(times_become_those_of_the_trace_clock) {
        SessionMeta meta = { .start = { .trace_ns = 5000000000 } };
        Filtering f = { .from = { MOMENT_SINCE_BEGIN, 7 }, .to = { MOMENT_TRACE, 9 } };
        const char *problem = NULL;

        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, 107);
        ck_assert_uint_eq(f.spec.to_ns, 9);

        f = (Filtering){ .from = { MOMENT_OF_DAY, UINT64_C(36610000000000) } }; /* 10:10:10 */
        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), FILTERING_E_UNKNOWN);
        ck_assert_ptr_nonnull(problem);
        setenv("TZ", "UTC", 1);
        tzset();
        meta.start.realtime_ns = UINT64_C(36600500000000); /* 10:10:00.5 */
        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, 5000000000 + 9500000000);
        /* A minute before the beginning is the beginning, an hour before the next day. */
        f.from.ns = UINT64_C(36600000000000);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, 5000000000);
        f.from.ns -= UINT64_C(3600000000000);
        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, 5000000000 + UINT64_C(86400000000000) - 3600500000000);
        /* Of a ring that began days ago it is the day of what is left. */
        meta.kept_since = (ClockTuple){ .trace_ns = UINT64_C(300000000000000),
                                        .realtime_ns = UINT64_C(331600000000000) };
        f.from.ns = UINT64_C(72410000000000); /* 20:06:50; kept since 20:06:40 */
        ck_assert_int_eq(filtering_resolve(&f, &meta, 100, &problem), 0);
        ck_assert_uint_eq(f.spec.from_ns, UINT64_C(300010000000000));
}

TEST(lists_of_cpus_have_ranges) {
        char *ranges[] = { (char *) "0", (char *) "2-3" };
        const Options o = { .spec.cpus = { .items = ranges, .n = ELEMENTSOF(ranges) } };
        Filtering f;

        ck_assert_int_eq(filtering_init(&f, &o), STATUS_OK);
        for (size_t i = 0; i < 6; i++)
                ck_assert_int_eq(f.spec.cpus[i], i == 0 || i == 2 || i == 3);
        filtering_done(&f);
}

TEST(trees_are_kept_by_a_time_or_by_a_percentile) {
        static const char *const bad[] = { "", "p", "p0", "p100", "px", "0", "fast" };
        const Function root = { .label = "root" };
        Options o = {};
        Filtering f;

        o.filter.keep_slower = "5ms";
        ck_assert_int_eq(filtering_init(&f, &o), STATUS_OK);
        ck_assert_uint_eq(f.spec.keep_ns, 5000000);
        ck_assert(!filtering_is_empty(&f));
        filtering_done(&f);

        o.filter.keep_slower = "p90";
        ck_assert_int_eq(filtering_init(&f, &o), STATUS_OK);
        ck_assert_uint_eq(f.spec.keep_ns, 0);
        for (uint64_t i = 1; i <= 20; i++)
                ck_assert_int_eq(
                        f.spec.keep_limits->learn(f.spec.keep_limits->data, &root, 100 * i), 0);
        /* As the 18th of the 20. */
        ck_assert_uint_eq(f.spec.keep_limits->limit_ns(f.spec.keep_limits->data, &root), 1800);
        filtering_done(&f);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                o.filter.keep_slower = bad[i];
                ck_assert_msg(filtering_init(&f, &o) == STATUS_USAGE, "%s", bad[i]);
                filtering_done(&f);
        }
}
