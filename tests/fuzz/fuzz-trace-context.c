/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Any text of a marker: it says a context, an end or nothing; what is read is what stands there.
 *
 * Input: texts, each ended by a NUL.
 */

#include <inttypes.h>

#include "calls/stacks.h"
#include "fuzz.h"

static void check_text(const char *text) {
        const Step step = { .kind = STEP_OTHER, .text = text };
        char id[TRACE_ID_CHARS + 1];
        TraceContext c;

        if (!trace_context_is_said(&step))
                return;
        FUZZ_CHECK(strstr(text, "traceparent=") || startswith(text, "sched_process_exit: "));
        c = trace_context_of(&step);
        (void) snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, c.high, c.low);
        FUZZ_CHECK(!trace_context_is_set(&c) || strstr(text, id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        for (size_t i = 0; i < size;) {
                size_t n = strnlen((const char *) data + i, size - i);
                char *text = fuzz_text(data + i, n);

                check_text(text);
                free(text);
                i += n + 1;
        }
        return 0;
}
