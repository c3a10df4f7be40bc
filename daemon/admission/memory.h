/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Memory: what the kernel's buffers take of it, and may take */

#include <stdint.h>

#include "daemon/tracefs/tracefs.h"
#include "meta/config.h"
#include "meta/spec.h"
#include "wire/refusal.h"

typedef struct MemoryUse {
        ConfigShare limit;   /* of the memory that is available, or bytes; all 0: none */
        uint64_t held_bytes; /* of all live sessions, for each CPU */
} MemoryUse;

/* MemAvailable of /proc/meminfo [bytes]: 0, -EBADMSG, -errno. */
int memory_available(int root_fd, uint64_t *ret);
/* What a session's buffers take of @n_cpus CPUs; UINT64_MAX beyond that. */
uint64_t memory_of_buffers(const Spec *spec, uint64_t n_cpus);
/* Whether the buffers of all possible CPUs fit, with those of all other sessions: 0, REFUSED, -errno. */
int memory_admit(const Tracefs *fs, const Spec *spec, const MemoryUse *use, Refusal *refusal);
