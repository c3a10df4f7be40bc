/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sample: which hosts of a fleet record what is a sample
 *
 * A profile that is on every host says Sample=1%, and every host decides by itself, by a hash of its
 * machine-id(5) and of the day in UTC: each day others.  Whoever adds up what the hosts recorded of a day multiplies each
 * row by its weight, the inverse of the share, and has an estimate of what all would have recorded.
 *
 * Hosts that share a machine id, as clones by mistake do, are in or out together.
 */

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_ALL_PPM 1000000
#define SAMPLE_ID_BYTES 32 /* hexadecimal digits of a machine id */

/* Whether the host with @machine_id, of SAMPLE_ID_BYTES, is among @ppm millionths at @now_ns of
 * CLOCK_REALTIME.  0 is no sample, and has all. */
bool sample_has(const char *machine_id, uint64_t now_ns, uint64_t ppm);
/* The same of this host now; *@ret.  0, or -errno: /etc/machine-id cannot be read, or holds none. */
int sample_has_us(bool *ret, uint64_t ppm);
/* How many hosts one of them stands for. */
static inline double sample_weight(uint64_t ppm) {
        return ppm > 0 ? (double) SAMPLE_ALL_PPM / (double) ppm : 1;
}
