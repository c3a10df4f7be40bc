/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each directory is opened with O_NOFOLLOW from the one before.  O_NONBLOCK keeps a planted FIFO from
 * blocking the open; for the regular files that we then insist on it means nothing.
 */

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/io.h"
#include "store/entry.h"
#include "store/format.h"

#define OPEN_FLAGS (O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static bool path_is_valid(const char *path) {
        if (strnlen(path, PATH_MAX) >= PATH_MAX)
                return false;
        for (;;) {
                size_t n = strcspn(path, "/");

                if (n == 0 || (n <= 2 && strspn(path, ".") >= n))
                        return false;
                if (path[n] == 0)
                        return true;
                path += n + 1;
        }
}

bool entry_is_misplaced(int r) {
        return r == -ELOOP || r == -ENOTDIR || r == -EISDIR || r == -EBADFD || r == -ENXIO;
}

/* Opening is all that some devices wait for: a tape is wound back, a watchdog begins to count. */
static bool is_device(int dir_fd, const char *path) {
        struct stat st;

        return fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
               (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

/* Consumes @fd. */
static int insist_on_file(int fd) {
        _cleanup_close_ int owned = fd;
        struct stat st;

        if (fstat(owned, &st) < 0)
                return ORIGIN(-errno);
        if (S_ISDIR(st.st_mode))
                return ORIGIN(-EISDIR);
        if (!S_ISREG(st.st_mode))
                return ORIGIN(-EBADFD);
        return TAKE_FD(owned);
}

/* Opens the directory that @path lies in; *@ret_name is the last component.  With @make missing
 * directories are made. */
static int open_parent(int dir_fd, const char *path, bool make, const char **ret_name) {
        const char *slash = strchr(path, '/');
        _cleanup_close_ int at = slash ? -EBADF : dir_open(dir_fd, ".");

        for (int from = dir_fd; slash; from = at, slash = at < 0 ? NULL : strchr(path, '/')) {
                char name[NAME_MAX + 1];
                size_t n = (size_t) (slash - path);
                int next;

                if (n > NAME_MAX)
                        return ORIGIN(-ENAMETOOLONG);
                memcpy(name, path, n);
                name[n] = 0;
                next = make ? dir_make(from, name, STORE_DIR_MODE) : 0;
                if (next == 0)
                        next = dir_open(from, name);
                safe_close(at);
                at = next;
                path = slash + 1;
        }
        *ret_name = path;
        return TAKE_FD(at);
}

int entry_open_file(int dir_fd, const char *path, int flags) {
        _cleanup_close_ int parent_fd = -EBADF;
        const char *name;
        int fd;

        if (!path_is_valid(path))
                return ORIGIN(-EINVAL);
        parent_fd = open_parent(dir_fd, path, false, &name);
        if (parent_fd < 0)
                return parent_fd;
        if (is_device(parent_fd, name))
                return ORIGIN(-EBADFD);
        fd = openat(parent_fd, name, flags | OPEN_FLAGS);
        return fd < 0 ? ORIGIN(-errno) : insist_on_file(fd);
}

int entry_read(int dir_fd, const char *path, char **ret, size_t *ret_n, size_t max) {
        _cleanup_close_ int fd = entry_open_file(dir_fd, path, O_RDONLY);

        return fd < 0 ? fd : fd_read(fd, ret, ret_n, max);
}

int entry_replace(int dir_fd, const char *path, const void *data, size_t n, bool synced) {
        _cleanup_close_ int parent_fd = -EBADF;
        const char *name;

        if (!path_is_valid(path))
                return ORIGIN(-EINVAL);
        parent_fd = open_parent(dir_fd, path, true, &name);
        if (parent_fd < 0)
                return parent_fd;
        return file_replace_full(parent_fd, name, data, n, STORE_FILE_MODE, synced);
}

int entry_append(int dir_fd, const char *name, const void *data, size_t n, uint64_t *ret_n) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | OPEN_FLAGS, STORE_FILE_MODE);
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISREG(st.st_mode))
                return ORIGIN(-EBADFD);
        r = write_full(fd, data, n);
        if (r < 0)
                (void) ftruncate(fd,
                                 st.st_size); /* no half a line for the next one to go on with */
        else
                *ret_n = (uint64_t) st.st_size + n;
        return r;
}
