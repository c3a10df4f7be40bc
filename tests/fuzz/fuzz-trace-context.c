/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Any text of a marker: it says a context, an end or nothing; what is read is what stands there, and an
 * id is never zero.
 *
 * Input: texts, each ended by a NUL; the first byte of each chooses the task and moves time.
 */

#include "calls/trace-context.h"
#include "fuzz.h"

static void check_text(const char *text) {
        TraceContext c;
        int r = trace_context_parse(&c, text);

        FUZZ_CHECK(r == 0 || r == TRACE_CONTEXT_E_SILENT || r == TRACE_CONTEXT_E_ENDS);
        if (r != TRACE_CONTEXT_E_SILENT)
                FUZZ_CHECK(strstr(text, "traceparent="));
        if (r != 0)
                return;
        FUZZ_CHECK(strlen(c.trace_id) == 32 && strstr(text, c.trace_id));
        FUZZ_CHECK(strspn(c.trace_id, "0") < 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(trace_contexts_freep) TraceContexts *contexts = NULL;
        uint64_t now_ns = 0;

        FUZZ_CHECK(trace_contexts_new(&contexts) == 0);
        for (size_t i = 0; i < size;) {
                size_t n = strnlen((const char *) data + i, size - i);
                char *text = fuzz_text(data + i + 1, n > 0 ? n - 1 : 0);
                Step step = { .kind = STEP_OTHER, .pid = data[i] & 7, .text = text };

                now_ns += data[i] >> 4;
                step.timestamp_ns = now_ns;
                check_text(text);
                FUZZ_CHECK(trace_contexts_step(contexts, &step) == 0);
                if (data[i] & 8)
                        (void) trace_contexts_find(contexts, step_task_key(&step), now_ns);
                free(text);
                i += n + 1;
        }
        return 0;
}
