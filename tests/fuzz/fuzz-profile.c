/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text as a profile: whatever it says, what comes out of it a Spec may have. */

#include "fuzz.h"
#include "meta/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = calloc(1, n_data + 1);
        _cleanup_profile_ Profile p = PROFILE_INIT;
        _cleanup_spec_ Spec spec = {};
        json_auto_t *json = NULL;
        const char *field;

        if (!text)
                return 0;
        memcpy(text, data, n_data);
        FUZZ_CHECK(profile_parse(&p, "f", text, n_data) == 0);
        FUZZ_CHECK(p.problems.n <= PROFILE_MAX_PROBLEMS);
        for (size_t i = 0; i < p.problems.n; i++)
                FUZZ_CHECK(startswith(p.problems.items[i], "f:"));
        json = profile_to_json(&p);
        FUZZ_CHECK(json);
        if (!json_object_get(p.spec, "functions"))
                FUZZ_CHECK(json_object_set_new(p.spec, "functions", json_pack("[s]", "x")) == 0);
        FUZZ_CHECK(spec_from_json(&spec, p.spec, &field) == 0);
        return 0;
}
