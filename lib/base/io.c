/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loops around system calls that every other file would otherwise write again. */

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/io.h"
#include "base/unit.h"

#define AT_OFFSET UINT64_MAX /* the descriptor's own */

int write_full(int fd, const void *data, size_t n) {
        return pwrite_full(fd, data, n, AT_OFFSET);
}

int pwrite_full(int fd, const void *data, size_t n, uint64_t at) {
        for (size_t done = 0; done < n;) {
                const char *p = (const char *) data + done;
                ssize_t k = at == AT_OFFSET ? write(fd, p, n - done)
                                            : pwrite(fd, p, n - done, (off_t) (at + done));

                if (k < 0 && errno != EINTR)
                        return ORIGIN(-errno);
                done += (size_t) MAX(k, 0);
        }
        return 0;
}

ssize_t read_up_to(int fd, void *data, size_t n) {
        return pread_up_to(fd, data, n, AT_OFFSET);
}

ssize_t pread_up_to(int fd, void *data, size_t n, uint64_t at) {
        size_t done = 0;

        while (done < n) {
                char *p = (char *) data + done;
                ssize_t k = at == AT_OFFSET ? read(fd, p, n - done)
                                            : pread(fd, p, n - done, (off_t) (at + done));

                if (k < 0 && errno != EINTR)
                        return ORIGIN(-errno);
                if (k == 0)
                        break;
                done += (size_t) MAX(k, 0);
        }
        return (ssize_t) done;
}

uint64_t fd_hole_bytes(int fd, uint64_t at, uint64_t end) {
        off_t data = at < end ? lseek(fd, (off_t) at, SEEK_DATA) : 0;

        if (data < 0)
                return errno == ENXIO ? end - at : 0;
        return (uint64_t) data > at ? MIN((uint64_t) data, end) - at : 0;
}

uint64_t fd_next_hole(int fd, uint64_t at, uint64_t end) {
        off_t hole = at < end ? lseek(fd, (off_t) at, SEEK_HOLE) : -1;

        return hole < 0 ? end : MIN((uint64_t) hole, end);
}

uint64_t fd_data_end(int fd, uint64_t begin, uint64_t end) {
        uint64_t data_end = begin;

        for (uint64_t at = begin; at < end;) {
                at += fd_hole_bytes(fd, at, end);
                if (at < end)
                        data_end = at = fd_next_hole(fd, at, end);
        }
        return data_end;
}

#define PAGE_READ ((size_t) 4096)

int fd_read(int fd, char **ret, size_t *ret_n, size_t max) {
        _cleanup_free_ char *data = NULL;
        size_t n = 0, n_room = 0;
        off_t at, end;

        /* A worker that has locked itself up may seek, but not stat. */
        at = lseek(fd, 0, SEEK_CUR);
        end = at < 0 ? -1 : lseek(fd, 0, SEEK_END);
        if (end >= 0 && lseek(fd, at, SEEK_SET) < 0)
                return ORIGIN(-errno);
        if (end >= 0 && (uint64_t) end > max)
                return ORIGIN(-EFBIG);
        if (end > at) {
                n_room = (size_t) (end - at) + PAGE_READ + 1;
                data = malloc_huge(n_room);
                if (!data)
                        return -ENOMEM;
        }
        for (;;) {
                ssize_t k;

                /* The kernel hands out a list in pages, and walks it from its beginning for each, and for the end. */
                if (!ARRAY_ROOM(data, n_room, n + PAGE_READ + 1))
                        return -ENOMEM;
                k = read(fd, data + n, n_room - n - 1);
                if (k < 0 && errno != EINTR)
                        return ORIGIN(-errno);
                if (k == 0)
                        break;
                n += (size_t) MAX(k, 0);
                if (n > max)
                        return ORIGIN(-EFBIG);
        }
        data[n] = 0;
        *ret = TAKE_PTR(data);
        if (ret_n)
                *ret_n = n;
        return 0;
}

int file_read(int dir_fd, const char *path, char **ret, size_t *ret_n, size_t max) {
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return ORIGIN(-errno);
        return fd_read(fd, ret, ret_n, max);
}

/* A file of ours that a crash left is in the way and goes; a FIFO or a link is somebody else's. */
static int open_temporary(int dir_fd, const char *path, mode_t mode) {
        for (unsigned i = 0; i < 2; i++) {
                int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
                struct stat st;

                if (fd >= 0)
                        return fd;
                if (errno != EEXIST)
                        return ORIGIN(-errno);
                if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno != ENOENT)
                                return ORIGIN(-errno);
                        continue;
                }
                if (!S_ISREG(st.st_mode))
                        return S_ISLNK(st.st_mode) ? -ELOOP : -EEXIST;
                if (unlinkat(dir_fd, path, 0) < 0 && errno != ENOENT)
                        return ORIGIN(-errno);
        }
        return ORIGIN(-EEXIST);
}

int file_replace_full(int dir_fd, const char *path, const void *data, size_t n, mode_t mode,
                      bool synced) {
        char temporary[PATH_MAX];
        _cleanup_close_ int fd = -EBADF;
        int r;

        if ((size_t) snprintf(temporary, sizeof(temporary), "%s.new", path) >= sizeof(temporary))
                return ORIGIN(-ENAMETOOLONG);
        fd = open_temporary(dir_fd, temporary, mode);
        if (fd < 0)
                return fd;
        r = write_full(fd, data, n);
        if (r >= 0 && synced && fsync(fd) < 0)
                r = ORIGIN(-errno);
        if (r >= 0 && renameat(dir_fd, temporary, dir_fd, path) < 0)
                r = ORIGIN(-errno);
        if (r < 0)
                (void) unlinkat(dir_fd, temporary, 0);
        return r;
}

int file_replace(int dir_fd, const char *path, const void *data, size_t n, mode_t mode) {
        return file_replace_full(dir_fd, path, data, n, mode, false);
}

int dir_make(int dir_fd, const char *path, mode_t mode) {
        if (mkdirat(dir_fd, path, mode) < 0 && errno != EEXIST)
                return ORIGIN(-errno);
        return 0;
}

int file_open_regular(int dir_fd, const char *path, uint64_t resolve) {
        struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
        _cleanup_close_ int place = (int) syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
        char name[32];
        struct stat st;
        int fd;

        if (place < 0 || fstat(place, &st) < 0)
                return ORIGIN(-errno);
        if (!S_ISREG(st.st_mode))
                return ORIGIN(-EBADMSG);
        (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? ORIGIN(-errno) : fd;
}

int dir_open(int dir_fd, const char *path) {
        int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? ORIGIN(-errno) : fd;
}

int dir_list(DIR **ret, int fd) {
        int r;

        if (fd < 0)
                return fd;
        *ret = fdopendir(fd);
        if (*ret)
                return 0;
        r = ORIGIN(-errno);
        safe_close(fd);
        return r;
}

struct dirent *dir_next(DIR *d, int *r) {
        struct dirent *e;

        do {
                errno = 0;
                e = readdir(d);
        } while (e && (streq(e->d_name, ".") || streq(e->d_name, "..")));
        if (errno != 0)
                *r = ORIGIN(-errno);
        return e;
}

const char *dir_next_number(DIR *d) {
        struct dirent *e;
        uint64_t n;

        while ((e = readdir(d)))
                if (parse_u64(e->d_name, INT32_MAX, &n) >= 0)
                        return e->d_name;
        return NULL;
}

/* What cannot be removed does not keep the rest: the first error is told at the end. */
int tree_remove_until(int dir_fd, const char *path, uint64_t until_ns, TreeFile remove,
                      void *userdata) {
        _cleanup_(closedirp) DIR *d = NULL;
        int r = remove(dir_fd, path, userdata), unread = 0;
        struct dirent *e;

        if (r != -EISDIR && r != -EPERM)
                return r;
        r = dir_list(&d, dir_open(dir_fd, path));
        if (r < 0)
                return r;
        while ((e = dir_next(d, &unread))) {
                int k = tree_remove_until(dirfd(d), e->d_name, until_ns, remove, userdata);

                if (k < 0 && k != -ENOENT && r == 0) /* what @remove renamed may be listed again */
                        r = k;
                if (r == 0 && (k == TREE_GOES_ON || now_ns(CLOCK_MONOTONIC) >= until_ns))
                        return TREE_GOES_ON;
        }
        r = r ?: unread;
        if (unlinkat(dir_fd, path, AT_REMOVEDIR) < 0 && r == 0)
                r = ORIGIN(-errno);
        return r;
}

static int unlink_file(int dir_fd, const char *name, void *userdata) {
        return unlinkat(dir_fd, name, 0) < 0 ? ORIGIN(-errno) : 0;
}

int tree_remove(int dir_fd, const char *path) {
        return tree_remove_until(dir_fd, path, UINT64_MAX, unlink_file, NULL);
}

/* --- waiting ---------------------------------------------------------------------------------- */

int poll_until(struct pollfd *p, nfds_t n, uint64_t end_ns) {
        for (;;) {
                int timeout_ms = -1, r;

                if (end_ns != UINT64_MAX) {
                        uint64_t now = now_ns(CLOCK_MONOTONIC), left;

                        left = now < end_ns ? (end_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC
                                            : 0;
                        timeout_ms = (int) MIN(left, (uint64_t) INT_MAX);
                }
                r = poll(p, n, timeout_ms);
                if (r > 0)
                        return 0;
                if (r == 0)
                        return ORIGIN(-ETIMEDOUT);
                if (errno != EINTR)
                        return ORIGIN(-errno);
        }
}

static int has_ended(pid_t pid) {
        siginfo_t info = {};

        if (waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
                return ORIGIN(-errno);
        return info.si_pid == pid;
}

static int poll_by_turns(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns) {
        for (;;) {
                uint64_t now = now_ns(CLOCK_MONOTONIC);
                int r = has_ended(pid);

                if (r != 0)
                        return r < 0 ? r : POLL_CHILD_ENDED;
                r = poll_until(p, n, MIN(end_ns, now + POLL_CHILD_MS * NSEC_PER_MSEC));
                if (r >= 0 || r != -ETIMEDOUT || now >= end_ns)
                        return r;
        }
}

/* A descriptor of the child tells its end without a signal, whose handler belongs to the program; without one,
 * it is asked for, again and again. */
int poll_child(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns) {
        _cleanup_close_ int fd = (int) syscall(SYS_pidfd_open, pid, 0);
        int r;

        if (fd < 0 && errno != ENOSYS)
                return ORIGIN(-errno);
        p[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
        if (fd < 0)
                return poll_by_turns(pid, p, n, end_ns);
        r = poll_until(p, n, end_ns);
        return r >= 0 && p[0].revents != 0 ? POLL_CHILD_ENDED : r;
}
