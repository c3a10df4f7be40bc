/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Both questions are walks over cpuN/SSSSSSSS.seg: `walk` does it and hands
 * every segment's path to a visitor.
 */

#include <fcntl.h>
#include <stdio.h>

#include "daemon/upkeep/disk-usage.h"
#include "pages/page-source.h"
#include "store/entry.h"
#include "store/segment.h"

typedef int (*Visitor)(const SessionDir *dir, uint32_t cpu, const char *path, void *userdata);

static int walk(const SessionDir *dir, Visitor visit, void *userdata) {
        _cleanup_free_ SegmentPlace *places = NULL;
        char path[SEGMENT_PATH_MAX];
        size_t n;
        int r = session_dir_list_places(dir, &places, &n);

        for (size_t i = 0; r >= 0 && i < n; i++)
                r = visit(dir, places[i].cpu,
                          segment_format_path(path, places[i].cpu, places[i].sequence), userdata);
        return r;
}

int disk_usage_reserve(const SessionDir *dir) {
        _cleanup_close_ int fd = -EBADF;

        fd = openat(session_dir_fd(dir), STORE_RESERVE_NAME,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, STORE_FILE_MODE);
        if (fd < 0)
                return ORIGIN(-errno);
        /* Where the file system cannot, there is nothing to keep. */
        if (fallocate(fd, 0, 0, DISK_USAGE_RESERVE_BYTES) < 0 && errno != EOPNOTSUPP)
                return ORIGIN(-errno);
        return 0;
}

void disk_usage_release(const SessionDir *dir) {
        (void) unlinkat(session_dir_fd(dir), STORE_RESERVE_NAME, 0);
}

static int visit_count(const SessionDir *dir, uint32_t cpu, const char *path, void *userdata) {
        SessionMeta *m = userdata;
        CpuAccount *account = session_meta_account(m, cpu);
        _cleanup_(page_source_freep) PageSource *g = NULL;
        int fd, r;

        fd = entry_open_file(session_dir_fd(dir), path, O_RDONLY);
        if (fd < 0)
                return fd == -EISDIR || fd == -EBADFD ? 0 : fd;
        r = page_source_take_fd(&g, fd, NULL);
        if (r == 0 && account)
                account->n_pages += page_source_n_pages(g);
        return MIN(r, 0);
}

int disk_usage_count(const SessionDir *dir, SessionMeta *m) {
        for (size_t i = 0; i < m->n_cpus; i++)
                m->cpus[i].n_pages = 0;
        return walk(dir, visit_count, m);
}

static int visit_recover(const SessionDir *dir, uint32_t cpu, const char *path, void *userdata) {
        SessionMeta *m = userdata;
        CpuAccount *account = session_meta_account(m, cpu);
        uint64_t n_pages;
        int r = segment_recover(session_dir_fd(dir), path, &n_pages);

        if (r < 0)
                return r;
        if (r > 0) {
                char text[128];

                (void) snprintf(text, sizeof(text), "segment %s %s and cannot be read", path,
                                r == SEGMENT_E_NEWER ? "was written by a newer ftraced"
                                                     : "is damaged");
                return strv_add_new(&m->warnings, text);
        }
        if (account) {
                account->n_pages += n_pages;
                account->n_bytes += n_pages * m->page_bytes;
        }
        return 0;
}

int disk_usage_recover(const SessionDir *dir, SessionMeta *m) {
        disk_usage_release(dir);
        for (size_t i = 0; i < m->n_cpus; i++)
                m->cpus[i].n_pages = m->cpus[i].n_bytes = 0;
        return walk(dir, visit_recover, m);
}
