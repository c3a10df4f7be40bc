/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "daemon/watch/stored-pages.h"

#define MAX_SEGMENTS 512

static int add_segment(const SessionDir *dir, uint32_t cpu, uint64_t sequence, int *ret_fd,
                       uint64_t *n_bytes) {
        int fd = session_dir_open_segment_file(dir, cpu, sequence);

        if (fd < 0)
                return fd;
        *n_bytes += (uint64_t) MAX(lseek(fd, 0, SEEK_END), (off_t) 0);
        (void) lseek(fd, 0, SEEK_SET);
        *ret_fd = fd;
        return 0;
}

/* The last segments of all CPUs, then those before them. */
static int open_segments(const SessionDir *dir, int fds[static MAX_SEGMENTS], size_t *ret_n) {
        _cleanup_free_ uint32_t *cpus = NULL;
        uint64_t n_bytes = 0;
        size_t n_cpus, n = 0, n_found = 1;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t k = 1; r >= 0 && n_found > 0 && n_bytes < STORED_PAGES_MAX_BYTES; k++) {
                n_found = 0;
                for (size_t i = 0; r >= 0 && i < n_cpus && n < MAX_SEGMENTS; i++) {
                        _cleanup_free_ uint64_t *sequences = NULL;
                        size_t n_sequences;

                        r = session_dir_list_segments(dir, cpus[i], &sequences, &n_sequences);
                        if (r < 0 || k > n_sequences)
                                continue;
                        r = add_segment(dir, cpus[i], sequences[n_sequences - k], &fds[n],
                                        &n_bytes);
                        if (r == -ENOENT) { /* a ring has dropped it just now */
                                r = 0;
                                continue;
                        }
                        n += r >= 0;
                        n_found += r >= 0;
                }
        }
        *ret_n = n;
        return r;
}

int stored_pages_count(Learner **ret, sd_event *event, const SessionDir *dir, uint64_t from_ns,
                       uint64_t to_ns, LearnerDone done, void *userdata) {
        _cleanup_free_ char *format = NULL, *exit_format = NULL;
        int fds[MAX_SEGMENTS], r;
        size_t n = 0;

        r = session_dir_read_tracing(dir, "events/ftrace/funcgraph_entry/format", &format, NULL);
        if (r >= 0)
                r = session_dir_read_tracing(dir, "events/ftrace/funcgraph_exit/format",
                                             &exit_format, NULL);
        if (r < 0)
                return r;
        r = open_segments(dir, fds, &n);
        if (r >= 0 && n == 0)
                r = -ENODATA;
        if (r >= 0)
                r = learner_start(ret, event,
                                  &(LearnerJob){ .fds = fds,
                                                 .n_fds = n,
                                                 .format = format,
                                                 .field = "func",
                                                 .exit_format = exit_format,
                                                 .from_ns = from_ns,
                                                 .to_ns = to_ns },
                                  done, userdata);
        for (size_t i = 0; i < n; i++)
                (void) safe_close(fds[i]);
        return r;
}
