/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever JSON a peer sends as a call: it is refused, or it is a method with parameters and at most
 * one flag; and a spec in it that is taken says the same when it was written and read again, and a
 * member gets no more of it than he is allowed.
 *
 * Input: a message without its NUL.
 */

#include "daemon/api/api.h"
#include "daemon/server/server-private.h"
#include "fuzz-mutate.h"
#include "wire/frame.h"

static const MemberLimits limits = { .max_stored_bytes = 4000 };

static void check_names(const Strv *names) {
        for (size_t i = 0; i < names->n; i++)
                FUZZ_CHECK(strncmp(names->items[i], "udp_", 4) == 0);
}

static void check_allowance(Spec *spec, const json_t *given) {
        _cleanup_strv_ Strv allowed = {}, warnings = {};
        _cleanup_refusal_ Refusal refusal = {};
        const Limits l = { .member_functions = &allowed };
        unsigned asked;

        FUZZ_CHECK(strv_add(&allowed, "udp_*") == 0);
        FUZZ_CHECK(allowance_ask(&asked, given, false, &refusal) == 0);
        if (allowance_check(&l, spec, asked, &refusal) == 0) {
                check_names(&spec->functions);
                check_names(&spec->notrace);
                check_names(&spec->hooked);
                FUZZ_CHECK(spec->events.n == 0);
                for (size_t i = 0; i < spec->triggers.n; i++)
                        FUZZ_CHECK(!strstr(spec->triggers.items[i], " event:") &&
                                   (!strstr(spec->triggers.items[i], " function:") ||
                                    strstr(spec->triggers.items[i], " function:udp_")));
        }
        FUZZ_CHECK(allowance_narrow(&limits, &(AllowanceUse){ .stored_bytes = 1000 }, spec,
                                    &warnings) == 0);
        FUZZ_CHECK(spec->max_bytes > 0 && spec->max_bytes <= 3000);
}

static void check_spec(const json_t *given) {
        _cleanup_spec_ Spec spec = {}, again = {};
        json_t *written, *rewritten;
        const char *field = NULL;
        int r;

        r = spec_from_json(&spec, given, &field);
        FUZZ_CHECK(r == 0 || (r == SPEC_E_INVALID && field));
        if (r != 0)
                return;
        written = spec_to_json(&spec);
        FUZZ_CHECK(written && spec_from_json(&again, written, &field) == 0);
        rewritten = spec_to_json(&again);
        FUZZ_CHECK(json_equal(written, rewritten));
        json_decref(written);
        json_decref(rewritten);
        check_allowance(&spec, given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        size_t n_values = FRAME_CALL_VALUES_MAX;
        json_t *message, *spec;
        Request q;

        if (n_data > FRAME_CALL_MAX ||
            frame_parse(&message, (const char *) data, n_data, &n_values, NULL) != 0)
                return 0;
        if (request_parse(&q, message) == 0) {
                FUZZ_CHECK(q.method);
                FUZZ_CHECK(q.more + q.oneway + q.upgrade <= 1);
                FUZZ_CHECK(!q.parameters || json_is_object(q.parameters));
                spec = json_object_get(q.parameters, "spec");
                if (json_is_object(spec))
                        check_spec(spec);
        }
        json_decref(message);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_json(data, n, max, seed);
}
