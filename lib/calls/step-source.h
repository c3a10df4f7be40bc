/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Step source: wherever steps come from, a recording or a text
 */

#include "calls/step.h"

typedef struct StepSource {
        /* The next step not later than @until_ns: 1, 0 (there is none), negative as the source has
         * it.  A text does not mind @until_ns. */
        int (*next)(void *source, uint64_t until_ns, Step *ret);
        void *source;
} StepSource;

static inline int step_source_next(const StepSource *s, uint64_t until_ns, Step *ret) {
        return s->next(s->source, until_ns, ret);
}
