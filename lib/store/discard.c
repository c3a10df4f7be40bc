/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * First the name goes, then the content: whoever opens a file by its name finds it whole or not at all,
 * and of two that unlink their names of one segment at the same time the later sees that it is the last.
 * A name that nobody looks for goes after the content: who is killed between the two leaves a name, by
 * which the next finds the file, and else would leave what only its holders could free.
 *
 * A file is truncated, not punched: a file system would write what is dirty of a hole to the disk first.
 *
 * Names that are left are other sessions', unless fs.protected_hardlinks lets everybody link what they
 * can read: then the other sessions are looked through, where a segment has the same place.
 */

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/discard.h"
#include "store/segment-header.h"

#define PROTECTED_PATH "/proc/sys/fs/protected_hardlinks"

/* Whether nobody but the owner of a file and root can link it.  Where it cannot be told: no. */
static bool links_are_protected(void) {
        _cleanup_free_ char *text = NULL;

        return file_read(AT_FDCWD, PROTECTED_PATH, &text, NULL, 64) >= 0 && text[0] == '1';
}

/* "cpuN/SSSSSSSS.seg", where a session has it; false if it is no segment. */
static bool segment_place(int fd, char ret[static SEGMENT_PATH_MAX]) {
        SegmentHeader h;
        int r = segment_read_header(fd, &h);

        if (r != 0 && r != SEGMENT_E_SEALED)
                return false;
        (void) segment_format_path(ret, h.cpu, h.sequence);
        return true;
}

/* Whether a session has the file @st at @place. */
static bool is_in_a_session(int sessions_fd, const char *place, const struct stat *st) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;

        if (dir_list(&d, dir_open(sessions_fd, ".")) < 0)
                return true; /* who knows */
        while ((e = readdir(d))) {
                char path[PATH_MAX];
                struct stat other;

                if (streq(e->d_name, ".") || streq(e->d_name, "..") ||
                    (size_t) snprintf(path, sizeof(path), "%s/%s", e->d_name, place) >=
                            sizeof(path))
                        continue;
                if (fstatat(sessions_fd, path, &other, AT_SYMLINK_NOFOLLOW) >= 0 &&
                    other.st_ino == st->st_ino && other.st_dev == st->st_dev)
                        return true;
        }
        return false;
}

static bool is_shared(int fd, int sessions_fd, const struct stat *st) {
        char place[SEGMENT_PATH_MAX];

        if (st->st_nlink == 0 || sessions_fd < 0)
                return false;
        return links_are_protected() || !segment_place(fd, place) ||
               is_in_a_session(sessions_fd, place, st);
}

static void empty_file(int fd, const struct stat *st, uint64_t *freed_bytes) {
        if (S_ISREG(st->st_mode) && ftruncate(fd, 0) >= 0 && freed_bytes)
                *freed_bytes += (uint64_t) st->st_blocks * 512;
}

void discard_fd(int fd, int sessions_fd, uint64_t *freed_bytes) {
        struct stat st;

        if (fstat(fd, &st) >= 0 && !is_shared(fd, sessions_fd, &st))
                empty_file(fd, &st, freed_bytes);
}

int discard_file(int dir_fd, const char *path, int sessions_fd, uint64_t *freed_bytes) {
        _cleanup_close_ int fd =
                openat(dir_fd, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        const char *slash = strrchr(path, '/');
        struct stat st;

        if (fd >= 0 && (slash ? slash[1] : path[0]) == '.' && fstat(fd, &st) >= 0 &&
            st.st_nlink == 1)
                empty_file(fd, &st, freed_bytes);
        if (unlinkat(dir_fd, path, 0) < 0)
                return ORIGIN(-errno);
        if (fd >= 0)
                discard_fd(fd, sessions_fd, freed_bytes);
        return 0;
}

int discard_hidden_file(int dir_fd, const char *name, int sessions_fd, uint64_t *freed_bytes) {
        char unseen[NAME_MAX + 1];
        struct stat st;

        if (name[0] != '.' && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
            S_ISREG(st.st_mode) &&
            (size_t) snprintf(unseen, sizeof(unseen), ".%s", name) < sizeof(unseen) &&
            renameat(dir_fd, name, dir_fd, unseen) >= 0)
                name = unseen;
        return discard_file(dir_fd, name, sessions_fd, freed_bytes);
}
