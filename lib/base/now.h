/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/unit.h"

/* What a clock that every kernel has shows now [ns]. */
static inline uint64_t now_ns(clockid_t clock) {
        struct timespec t = {};

        (void) clock_gettime(clock, &t);
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}
