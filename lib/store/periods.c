/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whatever CPU has a segment of that sequence: most have. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "store/discard.h"
#include "store/periods.h"

/* As its header says, sealed or not; 0 if that cannot be read. */
static uint64_t count_pages(const SessionDir *d, uint32_t cpu, uint64_t sequence) {
        _cleanup_close_ int fd = session_dir_open_segment_file(d, cpu, sequence);
        SegmentHeader h;
        int r = fd < 0 ? fd : segment_read_header(fd, &h);

        return r == 0 || r == SEGMENT_E_SEALED ? h.n_pages : 0;
}

int periods_drop(const SessionDir *d, uint64_t sequence, PeriodDropped dropped, void *userdata) {
        _cleanup_close_ int sessions_fd = dir_open(session_dir_fd(d), "..");
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r;

        r = session_dir_list_cpus(d, &cpus, &n_cpus);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n_cpus; i++) {
                uint64_t n_pages = count_pages(d, cpus[i], sequence);
                char path[SEGMENT_PATH_MAX];
                int k = discard_file(session_dir_fd(d),
                                     segment_format_path(path, cpus[i], sequence), sessions_fd,
                                     NULL);

                if (k >= 0)
                        dropped(cpus[i], n_pages, userdata);
                else if (k != -ENOENT)
                        r = r < 0 ? r : k;
        }
        return MIN(r, 0);
}
