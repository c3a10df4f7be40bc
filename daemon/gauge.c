/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Rounds are sorted, and the same place of two kinds compared: whatever came by and made some rounds
 * longer is then in the upper places of both.
 */

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/now.h"
#include "daemon/gauge.h"

#define PS_PER_NS 1000
#define MEDIAN (GAUGE_ROUNDS / 2)
#define HIGH (GAUGE_ROUNDS * 3 / 4)

#define BELOW "from_kuid_munged" /* which getuid(2) calls: linux 6.12 kernel/sys.c */

/* What SYSCALL_DEFINE0() is called in available_filter_functions: on x86 the name of the system call is
 * an alias of the first (linux 6.12 arch/x86/include/asm/syscall_wrapper.h, __SYS_STUB0()). */
static const char *const prefixes[] = { "__do_sys_",    "__x64_sys_",   "__arm64_sys_",
                                        "__s390x_sys_", "__riscv_sys_", "sys_" };

int gauge_functions(const Functions *f, Strv *ret_roots, Strv *ret_names) {
        static const char *const calls[] = { "getppid", "getuid" };
        _cleanup_strv_ Strv roots = {}, names = {};
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(prefixes) && roots.n == 0; i++) {
                char name[64];

                for (size_t k = 0; k < ELEMENTSOF(calls) && r >= 0; k++) {
                        (void) snprintf(name, sizeof(name), "%s%s", prefixes[i], calls[k]);
                        if (functions_contain(f, name))
                                r = strv_add(&roots, name);
                }
        }
        if (r >= 0 && (roots.n < ELEMENTSOF(calls) || !functions_contain(f, BELOW)))
                return GAUGE_E_NONE;
        if (r >= 0)
                r = strv_copy(&names, &roots);
        if (r >= 0)
                r = strv_add(&names, BELOW);
        if (r < 0)
                return r;
        *ret_roots = TAKE(roots, (Strv){});
        *ret_names = TAKE(names, (Strv){});
        return 0;
}

static int compare(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

static void time_rounds(uint64_t ret[static GAUGE_ROUNDS], long number) {
        for (size_t i = 0; i < GAUGE_ROUNDS; i++) {
                uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

                for (unsigned k = 0; k < GAUGE_CALLS; k++)
                        (void) syscall(number);
                ret[i] = (now_ns(CLOCK_MONOTONIC) - since_ns) * PS_PER_NS / GAUGE_CALLS;
        }
        qsort(ret, GAUGE_ROUNDS, sizeof(*ret), compare);
}

void gauge_time(GaugeTimes *ret) {
        time_rounds(ret->outer, SYS_getppid);
        time_rounds(ret->both, SYS_getuid);
}

/* How much longer a call takes that is recorded. */
static uint64_t outer_ps(const GaugeTimes *quiet, const GaugeTimes *recorded, size_t i) {
        return recorded->outer[i] - MIN(recorded->outer[i], quiet->outer[i]);
}

/* The same of the one below: two are recorded, and one of them is known. */
static uint64_t inner_ns(const GaugeTimes *quiet, const GaugeTimes *recorded, size_t i) {
        uint64_t ps = recorded->both[i] - MIN(recorded->both[i], quiet->both[i]);

        return (ps - MIN(ps, outer_ps(quiet, recorded, i))) / PS_PER_NS;
}

bool gauge_compare(Calibration *ret, const GaugeTimes *quiet, const GaugeTimes *recorded) {
        uint64_t median = inner_ns(quiet, recorded, MEDIAN);
        Calibration c = { .n = (uint64_t) GAUGE_ROUNDS * GAUGE_CALLS,
                          .outer_ns = outer_ps(quiet, recorded, MEDIAN) / PS_PER_NS,
                          .inner_low_ns = MIN(inner_ns(quiet, recorded, 0), median),
                          .inner_ns = median,
                          .inner_high_ns = MAX(inner_ns(quiet, recorded, HIGH), median) };

        if (c.outer_ns == 0 || c.inner_low_ns == 0 || c.outer_ns > CALIBRATION_MAX_NS ||
            c.inner_high_ns > CALIBRATION_MAX_NS)
                return false;
        *ret = c;
        return true;
}
