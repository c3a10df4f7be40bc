/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/admission/admission.h"
#include "tests/unit/scratch.h"

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

/* Buffers of all possible CPUs count, and what other sessions hold with what they have taken already; what CPUs that
 * are not online would take is not available twice. */
TEST(buffers_are_admitted_as_far_as_all_of_them_fit) {
        static const struct {
                const char *available, *online;
                unsigned percent;
                uint64_t bytes, held_bytes, buffer_bytes;
                const char *part; /* of the refusal; NULL: none */
        } table[] = {
                { "81920", "0\n", 50, 0, 0, 10 * MIB, NULL },
                { "81920", "0\n", 50, 0, 0, 10 * MIB + 4096, "4 CPUs need 40M" },
                { "81920", "0\n", 50, 0, 0, 64 * MIB, "--buffer-size=10M or less" },
                { "40960", "0-3\n", 75, 0, 10 * MIB, 5 * MIB - 65536, NULL },
                { "40960", "0-3\n", 75, 0, 10 * MIB, 6 * MIB,
                  "beside 40M of other sessions need 64M" },
                { "40960", "0-3\n", 75, 0, 40 * MIB, MIB, "Stop another session" },
                { "40960", "1\n", 100, 0, 10 * MIB, 2 * MIB, NULL },
                { "40960", "1\n", 100, 0, 10 * MIB, 3 * MIB, "need 52M" },
                { "999999999", "0-1,3\n", 0, 16 * MIB, 0, 4 * MIB, NULL },
                { "999999999", "0-1,3\n", 0, 16 * MIB, 0, 5 * MIB,
                  "the 16M that MaxBufferMemory=" },
                { "1", "0\n", 0, 0, 0, UINT64_MAX, NULL },            /* the kernel decides */
                { "40960", "0\n", 50, 0, 1, UINT64_MAX / 4 + 2, "" }, /* wraps around */
        };

        for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_refusal_ Refusal refusal = {};
                Tracefs fs = host(&s, table[i].available, table[i].online);
                const Spec spec = { .buffer_bytes = table[i].buffer_bytes };
                const MemoryUse use = { .limit = { .percent = table[i].percent,
                                                   .bytes = table[i].bytes },
                                        .held_bytes = table[i].held_bytes };
                int r = memory_admit(&fs, &spec, &use, &refusal);

                ck_assert_msg(r == (table[i].part ? REFUSED : 0), "%zu: %i", i, r);
                if (table[i].part)
                        ck_assert_msg(strstr(refusal_message(&refusal), table[i].part), "%s",
                                      refusal_message(&refusal));
        }
}
