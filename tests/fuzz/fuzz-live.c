/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in a session's live.json: it is refused, or it is the same when it was written and read
 * again.
 *
 * Input: the file.
 */

#include "daemon/watch/watch.h"
#include "fuzz-scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_fuzz_scratch_ FuzzScratch s = fuzz_scratch_new();
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_live_ Live l = {}, again = {};
        int r;

        fuzz_write(&s, "live.json", data, n_data);
        FUZZ_CHECK(session_dir_take_fds(&dir, fcntl(s.fd, F_DUPFD_CLOEXEC, 3), -EBADF) == 0);
        r = live_read(dir, &l);
        FUZZ_CHECK(r == LIVE_E_NEWER || (r == 0) == (l.version >= 1 && l.version <= LIVE_VERSION));
        if (r == LIVE_E_NEWER)
                FUZZ_CHECK(l.version > LIVE_VERSION && l.n_cpus == 0 && !l.cpus);
        if (r != 0)
                return 0;
        FUZZ_CHECK(l.n_cpus <= STORE_MAX_CPUS);
        FUZZ_CHECK(live_write(dir, &l) == 0 && live_read(dir, &again) == 0);
        FUZZ_CHECK(again.attached == l.attached && again.held == l.held && again.left == l.left);
        FUZZ_CHECK(again.n_cpus == l.n_cpus);
        for (size_t i = 0; i < l.n_cpus; i++) {
                FUZZ_CHECK(l.cpus[i].cpu < STORE_MAX_CPUS && again.cpus[i].cpu == l.cpus[i].cpu);
                FUZZ_CHECK(memcmp(&again.cpus[i].counters, &l.cpus[i].counters,
                                  sizeof(l.cpus[i].counters)) == 0);
        }
        return 0;
}
