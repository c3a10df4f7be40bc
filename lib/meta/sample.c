/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* XXH64 of "MACHINE-ID DAYS", of which the upper 53 bits are compared with the share as a fraction. */

#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/now.h"
#include "meta/sample.h"

#define PATH "/etc/machine-id"
#define DAY_NS (86400 * NSEC_PER_SEC)
#define FRACTION_BITS 53

bool sample_has(const char *machine_id, uint64_t now_ns, uint64_t ppm) {
        char text[SAMPLE_ID_BYTES + 32];
        int n = snprintf(text, sizeof(text), "%.*s %" PRIu64, SAMPLE_ID_BYTES, machine_id,
                         (uint64_t) (now_ns / DAY_NS));
        uint64_t h = XXH64(text, (size_t) n, 0) >> (64 - FRACTION_BITS);

        return ppm == 0 || ppm >= SAMPLE_ALL_PPM ||
               (double) h / (double) (UINT64_C(1) << FRACTION_BITS) * SAMPLE_ALL_PPM < (double) ppm;
}

int sample_has_us(bool *ret, uint64_t ppm) {
        _cleanup_free_ char *text = NULL;
        int r = file_read(AT_FDCWD, PATH, &text, NULL, 4096);

        if (r < 0)
                return r;
        if (strspn(text, "0123456789abcdef") != SAMPLE_ID_BYTES)
                return ORIGIN(-ENOMEDIUM);
        *ret = sample_has(text, now_ns(CLOCK_REALTIME), ppm);
        return 0;
}
