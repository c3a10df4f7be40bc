/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The list of every CPU is ascending, so one pass over all of them fills a table of sequences that
 * is sorted once and then added up where neighbours are equal.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/periods.h"
#include "store/sealed.h"

#define SEGMENT_PATH_MAX (16 + SEGMENT_NAME_MAX)
#define STAT_BLOCK_BYTES 512U

static char *format_path(char path[static SEGMENT_PATH_MAX], uint32_t cpu, uint64_t sequence) {
        char name[SEGMENT_NAME_MAX];

        (void) snprintf(path, SEGMENT_PATH_MAX, "cpu%" PRIu32 "/%s", cpu,
                        segment_format_name(name, sequence));
        return path;
}

static int add_cpu(const SessionDir *d, uint32_t cpu, Period **periods, size_t *n) {
        _cleanup_free_ uint64_t *sequences = NULL;
        size_t n_more;
        Period *p;
        int r;

        r = session_dir_list_segments(d, cpu, &sequences, &n_more);
        if (r < 0)
                return r == -ENOENT ? 0 : r; /* its directory went meanwhile */
        p = reallocarray(*periods, *n + n_more + 1, sizeof(*p));
        if (!p)
                return -ENOMEM;
        *periods = p;
        for (size_t i = 0; i < n_more; i++) {
                char path[SEGMENT_PATH_MAX];
                struct stat st;

                if (fstatat(session_dir_fd(d), format_path(path, cpu, sequences[i]), &st,
                            AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                p[(*n)++] = (Period){ sequences[i], (uint64_t) st.st_blocks * STAT_BLOCK_BYTES };
        }
        return 0;
}

static int by_sequence(const void *a, const void *b) {
        const Period *x = a, *y = b;

        return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

int periods_list(const SessionDir *d, Period **ret, size_t *ret_n) {
        _cleanup_free_ uint32_t *cpus = NULL;
        _cleanup_free_ Period *p = NULL;
        size_t n_cpus, n = 0, n_sums = 0;
        int r;

        r = session_dir_list_cpus(d, &cpus, &n_cpus);
        for (size_t i = 0; r >= 0 && i < n_cpus; i++)
                r = add_cpu(d, cpus[i], &p, &n);
        if (r < 0)
                return r;
        if (n > 0)
                qsort(p, n, sizeof(*p), by_sequence);
        for (size_t i = 0; i < n; i++)
                if (n_sums > 0 && p[n_sums - 1].sequence == p[i].sequence)
                        p[n_sums - 1].n_bytes += p[i].n_bytes;
                else
                        p[n_sums++] = p[i];
        *ret = TAKE_PTR(p);
        *ret_n = n_sums;
        return 0;
}

/* As its header says, sealed or not; 0 if that cannot be read. */
static uint64_t count_pages(const SessionDir *d, uint32_t cpu, uint64_t sequence) {
        _cleanup_close_ int fd = session_dir_open_segment_file(d, cpu, sequence);
        SealedHeader sealed;
        SegmentHeader h;

        if (fd < 0)
                return 0;
        switch (segment_read_header(fd, &h)) {
        case 0:
                return h.n_pages;
        case SEGMENT_E_SEALED:
                return sealed_header_read(&sealed, fd) == 0 ? sealed.n_pages : 0;
        default:
                return 0;
        }
}

int periods_drop(const SessionDir *d, uint64_t sequence, PeriodDropped dropped, void *userdata) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r;

        r = session_dir_list_cpus(d, &cpus, &n_cpus);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n_cpus; i++) {
                uint64_t n_pages = count_pages(d, cpus[i], sequence);
                char path[SEGMENT_PATH_MAX];

                if (unlinkat(session_dir_fd(d), format_path(path, cpus[i], sequence), 0) >= 0)
                        dropped(cpus[i], n_pages, userdata);
                else if (errno != ENOENT)
                        r = r < 0 ? r : -errno;
        }
        return MIN(r, 0);
}
