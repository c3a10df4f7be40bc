/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Overhead: what tracing cost the outermost calls, and the sentence that says so
 *
 * What the recording itself shows (analyze/floor.h).  A tracer does not slow sleep down, so its share
 * is one of the time that was not waited: the same wherever it is told.
 *
 * The outermost calls took shown.total_ns, of which shown.blocked_ns were waited; of the rest between
 * real_low_ns and real_high_ns would have been taken without the tracer, and low_percent to
 * high_percent are the tracer's.
 */

#include "analyze/floor.h"
#include "base/buf.h"

typedef struct Overhead {
        FloorShown shown;
        FloorCost cost; /* if has_cost; what follows, too */
        bool has_cost;
        bool is_too_little; /* to tell: all of it would be the tracer's */
        uint64_t real_low_ns, real_high_ns;
        double low_percent, high_percent;
} Overhead;

Overhead overhead_of(const Floor *f);
/* "Shown 191.1 us a call of udp_sendmsg; about 40.0 to 43.0 us of it real, 77 to 79 % is what tracing
 * costs."  Nothing, if there are no calls. */
void overhead_describe(const Overhead *o, Buf *out);
