/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in a session's "cuts": what is taken of it ascends, is the same when it was written
 * and read again, and is gone on with.
 *
 * Input: the file.
 */

#include "fuzz-scratch.h"
#include "store/session-dir.h"

static void check_same(const SessionDir *dir, const Cut *wanted, size_t n_wanted) {
        _cleanup_free_ Cut *cuts = NULL;
        size_t n;

        FUZZ_CHECK(cut_log_read(dir, &cuts, &n) == 0 && n == n_wanted);
        for (size_t i = 0; i < n; i++)
                FUZZ_CHECK(cuts[i].sequence == wanted[i].sequence &&
                           cuts[i].clocks.trace_ns == wanted[i].clocks.trace_ns &&
                           cuts[i].clocks.monotonic_ns == wanted[i].clocks.monotonic_ns &&
                           cuts[i].clocks.boottime_ns == wanted[i].clocks.boottime_ns &&
                           cuts[i].clocks.realtime_ns == wanted[i].clocks.realtime_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_fuzz_scratch_ FuzzScratch s = fuzz_scratch_new();
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_free_ Cut *cuts = NULL;
        size_t n;
        int r;

        fuzz_write(&s, "cuts", data, n_data);
        FUZZ_CHECK(session_dir_take_fds(&dir, fcntl(s.fd, F_DUPFD_CLOEXEC, 3), -EBADF) == 0);
        r = cut_log_read(dir, &cuts, &n);
        if (r < 0)
                return 0;
        for (size_t i = 1; i < n; i++)
                FUZZ_CHECK(cuts[i].sequence > cuts[i - 1].sequence);
        FUZZ_CHECK(n <= n_data / 10 + 1); /* five numbers and what ends them */
        FUZZ_CHECK(cut_log_replace(dir, cuts, n) == 0);
        check_same(dir, cuts, n);
        if (n > 0 && cuts[n - 1].sequence < UINT32_MAX) {
                Cut next = cuts[n - 1];

                next.sequence++;
                cuts = reallocarray(cuts, n + 1, sizeof(*cuts));
                cuts[n] = next;
                FUZZ_CHECK(cut_log_append(dir, &next) == 0);
                check_same(dir, cuts, n + 1);
        }
        return 0;
}
