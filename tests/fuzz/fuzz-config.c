/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text as ftraced.conf: whatever it says, the limits that come out are within their bounds. */

#include "fuzz.h"
#include "meta/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = fuzz_text(data, n_data);
        _cleanup_config_ Config c = CONFIG_INIT;
        _cleanup_strv_ Strv problems = {};
        Limits l;

        FUZZ_CHECK(config_parse(&c, "f", text, &problems) == 0);
        for (size_t i = 0; config_keys[i].name; i++)
                FUZZ_CHECK(config_text(&c, i) && !c.origins[i].file == !c.origins[i].text);
        for (size_t i = 0; i < problems.n; i++)
                FUZZ_CHECK(startswith(problems.items[i], "f:"));
        l = config_limits(&c, 1ULL << 40, 4);
        FUZZ_CHECK(l.max_segment_bytes == 0 || l.max_segment_bytes >= SPEC_SEGMENT_BYTES_MIN);
        FUZZ_CHECK(l.max_segment_ns == 0 || l.max_segment_ns >= SPEC_SEGMENT_NS_MIN);
        return 0;
}
