/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Asked before a buffer is made: a kernel that runs out of memory for it would take it from everybody. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/admission/memory.h"

int memory_available(int root_fd, uint64_t *ret) {
        _cleanup_free_ char *text = NULL;
        const char *line;
        uint64_t kib;
        int r = file_read(root_fd, "proc/meminfo", &text, NULL, 65536);

        if (r < 0)
                return r;
        line = strstr(text, "MemAvailable:");
        if (!line || sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) != 1)
                return ORIGIN(-EBADMSG);
        *ret = kib * 1024;
        return 0;
}

/* @otherwise if it cannot be told. */
static size_t online_cpus(int root_fd, size_t otherwise) {
        _cleanup_free_ char *text = NULL;
        unsigned first, last;
        const char *list;
        size_t n = 0;

        if (file_read(root_fd, "sys/devices/system/cpu/online", &text, NULL, 65536) < 0)
                return otherwise;
        list = text;
        while (cpu_list_next(&list, &first, &last) > 0)
                n += last - first + 1;
        return n > 0 ? n : otherwise;
}

uint64_t memory_of_buffers(const Spec *spec, uint64_t n_cpus) {
        uint64_t n;

        return __builtin_mul_overflow(spec->buffer_bytes, n_cpus, &n) ? UINT64_MAX : n;
}

/*
 * What others hold is part of what is available no more, for as many CPUs as have been online: a
 * CPU gets its buffers when it comes online (linux 6.1 kernel/trace/ring_buffer.c,
 * trace_rb_cpu_prepare()).  So it is added before the share is taken.
 */
int memory_admit(const Tracefs *fs, const Spec *spec, const MemoryUse *use, Refusal *refusal) {
        char each[UNIT_TEXT_MAX], total[UNIT_TEXT_MAX],
                others[UNIT_TEXT_MAX + 32] = "", rest[UNIT_TEXT_MAX], fit[UNIT_TEXT_MAX + 64];
        uint64_t available, needed, limit, per_cpu;
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n, n_online;
        int r = tracefs_get_cpus(fs, &cpus, &n);

        if (r < 0)
                return r;
        if ((use->limit.percent == 0 && use->limit.bytes == 0) || spec->black_box)
                return 0; /* what the kernel was booted with is nobody else's */
        if (memory_available(fs->root_fd, &available) < 0)
                return 0; /* nothing to compare with; the kernel refuses what it cannot give */
        n_online = MIN(online_cpus(fs->root_fd, n), n);
        limit = use->limit.bytes;
        if (use->limit.percent > 0)
                limit = (uint64_t) ((double) (available + use->held_bytes * n_online) *
                                    use->limit.percent / 100);
        needed = memory_of_buffers(spec, n);
        if (!__builtin_add_overflow(needed, use->held_bytes * n, &needed) && needed <= limit)
                return 0;

        per_cpu = (limit / n > use->held_bytes ? limit / n - use->held_bytes : 0) >> 20 << 20;
        if (per_cpu > 0)
                (void) snprintf(fit, sizeof(fit), "Use --buffer-size=%s or less",
                                format_bytes(rest, per_cpu));
        else
                (void) snprintf(fit, sizeof(fit), "Stop another session");
        if (use->held_bytes > 0)
                (void) snprintf(others, sizeof(others), " beside %s of other sessions",
                                format_bytes(rest, use->held_bytes * n));
        return refusal_set(refusal, REFUSAL_NO_MEMORY, NULL,
                           "buffers of %s for each of %zu CPUs%s need %s, which is more than the "
                           "%s that MaxBufferMemory= allows. %s.",
                           format_bytes(each, spec->buffer_bytes), n, others,
                           format_bytes(total, needed), format_bytes(rest, limit), fit);
}
