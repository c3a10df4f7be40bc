/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/admission/memory.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

#define MIB (1ULL << 20)

/* A host with four possible CPUs and @available KiB, of which @online are online. */
static Tracefs host(const Scratch *s, const char *available, const char *online) {
        static const char *const dirs[] = { "proc",         "sys",
                                            "sys/devices",  "sys/devices/system",
                                            "per_cpu",      "sys/devices/system/cpu",
                                            "per_cpu/cpu0", "per_cpu/cpu1",
                                            "per_cpu/cpu2", "per_cpu/cpu3" };
        char text[128];

        for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
                ck_assert_int_eq(mkdirat(s->fd, dirs[i], 0750), 0);
        (void) snprintf(text, sizeof(text), "MemTotal: 9 kB\nMemAvailable: %s kB\n", available);
        scratch_write(s->fd, "proc/meminfo", text, strlen(text));
        scratch_write(s->fd, "sys/devices/system/cpu/online", online, strlen(online));
        return (Tracefs){ .fd = s->fd, .root_fd = s->fd };
}

static int admit(const Tracefs *fs, uint64_t buffer_bytes, const MemoryUse *use, const char *part) {
        const Spec spec = { .buffer_bytes = buffer_bytes };
        _cleanup_refusal_ Refusal refusal = {};
        int r = memory_admit(fs, &spec, use, &refusal);

        if (r == REFUSED)
                ck_assert_msg(part && strstr(refusal_message(&refusal), part), "%s",
                              refusal_message(&refusal));
        return r;
}

START_TEST(buffers_of_all_possible_cpus_count)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "81920", "0\n"); /* 80 MiB */
                MemoryUse use = { .limit.percent = 50 };

                ck_assert_int_eq(admit(&fs, 10 * MIB, &use, NULL), 0);
                ck_assert_int_eq(admit(&fs, 10 * MIB + 4096, &use, "4 CPUs need 40M"), REFUSED);
                ck_assert_int_eq(admit(&fs, 64 * MIB, &use, "--buffer-size=10M or less"), REFUSED);
        }
END_TEST

START_TEST(what_other_sessions_hold_counts_with_what_they_have_taken_already)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "40960", "0-3\n"); /* 40 MiB, and 4 * 10 are held */
                MemoryUse use = { .limit.percent = 75, .held_bytes = 10 * MIB };

                ck_assert_int_eq(admit(&fs, 5 * MIB - 65536, &use, NULL), 0);
                ck_assert_int_eq(admit(&fs, 6 * MIB, &use, "beside 40M of other sessions need 64M"),
                                 REFUSED);
                use.held_bytes = 40 * MIB;
                ck_assert_int_eq(admit(&fs, MIB, &use, "Stop another session"), REFUSED);
        }
END_TEST

START_TEST(what_cpus_that_are_not_online_would_take_is_not_available_twice)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "40960", "1\n"); /* 40 MiB, and 10 are held */
                MemoryUse use = { .limit.percent = 100, .held_bytes = 10 * MIB };

                ck_assert_int_eq(admit(&fs, 2 * MIB, &use, NULL), 0);
                ck_assert_int_eq(admit(&fs, 3 * MIB, &use, "need 52M"), REFUSED);
        }
END_TEST

START_TEST(a_limit_in_bytes_holds_whatever_is_available)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "999999999", "0-1,3\n");
                MemoryUse use = { .limit.bytes = 16 * MIB };

                ck_assert_int_eq(admit(&fs, 4 * MIB, &use, NULL), 0);
                ck_assert_int_eq(admit(&fs, 5 * MIB, &use, "the 16M that MaxBufferMemory="),
                                 REFUSED);
        }
END_TEST

START_TEST(without_a_limit_the_kernel_decides)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "1", "0\n");
                MemoryUse use = {};

                ck_assert_int_eq(admit(&fs, UINT64_MAX, &use, NULL), 0);
        }
END_TEST

START_TEST(a_size_that_wraps_around_is_refused)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Tracefs fs = host(&s, "40960", "0\n");
                MemoryUse use = { .limit.percent = 50, .held_bytes = 1 };

                ck_assert_int_eq(admit(&fs, UINT64_MAX / 4 + 2, &use, ""), REFUSED);
        }
END_TEST

UNIT_SUITE("memory", buffers_of_all_possible_cpus_count,
           what_other_sessions_hold_counts_with_what_they_have_taken_already,
           what_cpus_that_are_not_online_would_take_is_not_available_twice,
           a_limit_in_bytes_holds_whatever_is_available, without_a_limit_the_kernel_decides,
           a_size_that_wraps_around_is_refused)
