/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "retention/uptime.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

#define ID "0123456789abcdef"
#define HOUR_NS (3600 * NSEC_PER_SEC)

static Scratch scratch;

static void put(uint64_t ns, const char *boot_id, uint64_t boottime_ns) {
        char line[128];
        int n = snprintf(line, sizeof(line), "%s %" PRIu64 " %s %" PRIu64 "\n", ID, ns, boot_id,
                         boottime_ns);

        scratch_write(scratch.fd, "uptime", line, (size_t) n);
}

START_TEST(it_goes_on_in_the_same_boot_with_whatever_time_went_by)
        {
                uint64_t now = now_ns(CLOCK_BOOTTIME);
                char boot_id[UPTIME_BOOT_ID_CHARS + 1];
                Uptime u;

                scratch = scratch_new();
                uptime_boot_id(boot_id);
                put(50 * HOUR_NS + now / 2, boot_id, now / 2);
                ck_assert_int_eq(uptime_load(&u, scratch.fd), 0);
                ck_assert_str_eq(u.id, ID);
                ck_assert_uint_eq(u.before_ns, 50 * HOUR_NS);
                ck_assert_uint_ge(uptime_now(&u), 50 * HOUR_NS + now);
                ck_assert_uint_eq(uptime_at(&u, 1), 50 * HOUR_NS + 1);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(another_boot_begins_where_the_last_one_was_seen)
        {
                uint64_t now = now_ns(CLOCK_BOOTTIME);
                Uptime u;

                scratch = scratch_new();
                put(50 * HOUR_NS, "another", 7);
                ck_assert_int_eq(uptime_load(&u, scratch.fd), 0);
                ck_assert_uint_eq(u.before_ns, 50 * HOUR_NS);
                ck_assert_uint_lt(uptime_now(&u) - 50 * HOUR_NS - now, HOUR_NS);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(what_was_saved_is_loaded_and_never_goes_back)
        {
                Uptime u, again;
                uint64_t before;

                scratch = scratch_new();
                ck_assert_int_eq(uptime_load(&u, scratch.fd), 0);
                ck_assert_uint_ge(uptime_now(&u), UPTIME_BEGIN_NS);
                before = uptime_now(&u);
                ck_assert_int_eq(uptime_save(&u, scratch.fd), 0);
                ck_assert_int_eq(uptime_load(&again, scratch.fd), 0);
                ck_assert_str_eq(again.id, u.id);
                ck_assert_uint_eq(again.before_ns, u.before_ns);
                ck_assert_uint_ge(uptime_now(&again), before);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(what_cannot_be_read_is_begun_anew)
        {
                static const char *const bad[] = {
                        "",
                        "x\n",
                        ID " 5 boot\n",
                        ID " -5 boot 5\n",
                        ID " 5 boot 5 5\n",
                        "0123456789ABCDEF 5 boot 5\n",
                        "0123 5 boot 5\n",
                        ID " 9223372036854775807 boot 5\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                        Uptime u;

                        scratch = scratch_new();
                        scratch_write(scratch.fd, "uptime", bad[i], strlen(bad[i]));
                        ck_assert_int_eq(uptime_load(&u, scratch.fd), 0);
                        ck_assert_msg(u.before_ns == UPTIME_BEGIN_NS, "%s", bad[i]);
                        scratch_done(&scratch);
                }
        }
END_TEST

START_TEST(the_clock_on_the_wall_is_as_far_off)
        {
                Uptime u = { .before_ns = UPTIME_BEGIN_NS };
                uint64_t wall = now_ns(CLOCK_REALTIME), up = uptime_now(&u);

                ck_assert_uint_lt(uptime_to_realtime(&u, up + HOUR_NS) - wall - HOUR_NS +
                                          NSEC_PER_SEC,
                                  60 * NSEC_PER_SEC);
                ck_assert_uint_lt(uptime_to_realtime(&u, up - HOUR_NS) - wall + HOUR_NS +
                                          NSEC_PER_SEC,
                                  60 * NSEC_PER_SEC);
                ck_assert_uint_eq(uptime_to_realtime(&u, 0), 0);
        }
END_TEST

UNIT_SUITE("uptime", it_goes_on_in_the_same_boot_with_whatever_time_went_by,
           another_boot_begins_where_the_last_one_was_seen,
           what_was_saved_is_loaded_and_never_goes_back, what_cannot_be_read_is_begun_anew,
           the_clock_on_the_wall_is_as_far_off)
