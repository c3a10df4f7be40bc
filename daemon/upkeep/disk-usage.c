/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "daemon/upkeep/upkeep.h"
#include "pages/page-source.h"
#include "store/entry.h"
#include "store/segment.h"

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

/* The pages of a segment, also of one that is being written; nothing has none that is no file.  0 or -errno. */
static int count_pages(const SessionDir *dir, const char *path, uint64_t *ret) {
        _cleanup_(page_source_freep) PageSource *g = NULL;
        int fd = entry_open_file(session_dir_fd(dir), path, O_RDONLY), r;

        *ret = 0;
        if (fd < 0)
                return fd == -EISDIR || fd == -EBADFD ? 0 : fd;
        r = page_source_take_fd(&g, fd, NULL);
        if (r == 0)
                *ret = g->n_pages;
        return MIN(r, 0);
}

/* The same of one that is to be closed; @m is warned of one that is damaged. */
static int recover_pages(const SessionDir *dir, const char *path, SessionMeta *m, uint64_t *ret) {
        char text[128];
        int r = segment_recover(session_dir_fd(dir), path, ret);

        if (r <= 0)
                return r;
        *ret = 0;
        (void) snprintf(text, sizeof(text), "segment %s %s and cannot be read", path,
                        r == SEGMENT_E_NEWER ? "was written by a newer ftraced" : "is damaged");
        return strv_add_new(&m->warnings, text);
}

static int add_up(const SessionDir *dir, SessionMeta *m, bool recovers) {
        _cleanup_free_ SegmentPlace *places = NULL;
        size_t n;
        int r = session_dir_list_places(dir, &places, &n);

        for (size_t i = 0; i < m->n_cpus; i++) {
                m->cpus[i].n_pages = 0;
                if (recovers)
                        m->cpus[i].n_bytes = 0;
        }
        for (size_t i = 0; r >= 0 && i < n; i++) {
                CpuAccount *account = session_meta_account(m, places[i].cpu);
                char path[SEGMENT_PATH_MAX];
                uint64_t n_pages;

                segment_format_path(path, places[i].cpu, places[i].sequence);
                r = recovers ? recover_pages(dir, path, m, &n_pages)
                             : count_pages(dir, path, &n_pages);
                if (r < 0 || !account)
                        continue;
                account->n_pages += n_pages;
                if (recovers)
                        account->n_bytes += n_pages * m->page_bytes;
        }
        return r;
}

int disk_usage_count(const SessionDir *dir, SessionMeta *m) {
        return add_up(dir, m, false);
}

int disk_usage_recover(const SessionDir *dir, SessionMeta *m) {
        disk_usage_release(dir);
        return add_up(dir, m, true);
}
