/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A text as session.json: what is accepted is written, read again and written again, and both
 * writings must be equal.
 */

#include "fuzz-mutate.h"
#include "meta/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL, *again = NULL;
        json_auto_t *o = json_loadb((const char *) data, n_data, JSON_REJECT_DUPLICATES, NULL);
        json_auto_t *written = NULL, *rewritten = NULL;
        _cleanup_free_ char *text = NULL;
        const char *field = NULL;
        int r;

        if (!o)
                return 0;
        r = session_meta_from_json(&m, o, &field);
        FUZZ_CHECK(r != META_E_INVALID || field);
        if (r != 0)
                return 0;
        FUZZ_CHECK(m->name && m->id && m->kernel && m->machine && m->host && m->boot_id &&
                   m->clock);
        (void) session_meta_total(m).n_bytes;
        (void) session_meta_events_lost(m);
        (void) session_meta_total(m).pages_lost;
        (void) session_meta_length_ns(m);
        written = session_meta_to_json(m);
        text = json_dumps(written, 0);
        FUZZ_CHECK(written && text);
        FUZZ_CHECK(session_meta_from_json(&again, written, &field) == 0);
        rewritten = session_meta_to_json(again);
        FUZZ_CHECK(rewritten && json_equal(written, rewritten));
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_json(data, n, max, seed);
}
