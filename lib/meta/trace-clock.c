/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table.  ktime_get_mono_fast_ns() and its sisters, which stamp the events, are what
 * clock_gettime() reads, too (linux 6.1 kernel/time/timekeeping.c).
 */

#include "base/cleanup.h"
#include "base/now.h"
#include "meta/trace-clock.h"

static const struct {
        const char *name;
        bool is_readable;
        clockid_t id;
} clocks[] = {
        { "mono", true, CLOCK_MONOTONIC },
        { "mono_raw", true, CLOCK_MONOTONIC_RAW },
        { "boot", true, CLOCK_BOOTTIME },
        { "tai", true, CLOCK_TAI },
        { "local", false, 0 },
        { "global", false, 0 },
        { "perf", false, 0 },
        { "uptime", false, 0 },
        { "tsc2nsec", false, 0 }, /* what trace-cmd makes of x86-tsc */
};

bool trace_clock_is_ns(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(clocks); i++)
                if (streq(clocks[i].name, name))
                        return true;
        return false;
}

int trace_clock_id(const char *name, clockid_t *ret) {
        for (size_t i = 0; i < ELEMENTSOF(clocks); i++)
                if (streq(clocks[i].name, name) && clocks[i].is_readable) {
                        *ret = clocks[i].id;
                        return 0;
                }
        return ORIGIN(-ENOENT);
}

int trace_clock_estimate(const char *name, const ClockTuple *start, uint64_t *ret_ns) {
        clockid_t id;

        if (trace_clock_id(name, &id) >= 0)
                *ret_ns = now_ns(id);
        else if (trace_clock_is_ns(name))
                *ret_ns = now_ns(CLOCK_MONOTONIC) - start->monotonic_ns + start->trace_ns;
        else
                return ORIGIN(-ENOENT);
        return 0;
}
