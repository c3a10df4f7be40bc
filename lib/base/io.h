/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whole reads, whole writes, atomic replacement, waiting.  Paths are relative to a
 * directory descriptor (AT_FDCWD allowed).  All return 0 or -errno unless said.
 */

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/unit.h"

/* Returns what a clock that every kernel has shows now [ns]. */
static inline uint64_t now_ns(clockid_t clock) {
        struct timespec t = {};

        (void) clock_gettime(clock, &t);
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}

int write_full(int fd, const void *data, size_t n); /* retries EINTR and short writes */
int pwrite_full(int fd, const void *data, size_t n, uint64_t at); /* the same at an offset */
ssize_t read_up_to(int fd, void *data, size_t n);                 /* until n bytes or end of file */
ssize_t pread_up_to(int fd, void *data, size_t n, uint64_t at);

/*
 * file_read() - a whole file as a NUL-terminated string
 * @ret:   malloc()ed; the caller frees
 * @ret_n: bytes without the NUL; may be NULL
 * @max:   more than so many bytes is -EFBIG
 *
 * Works on procfs and tracefs, whose sizes read as 0.
 */
int file_read(int dir_fd, const char *path, char **ret, size_t *ret_n, size_t max);
int fd_read(int fd, char **ret, size_t *ret_n, size_t max);

/*
 * Holes: what a file has without having it on disk
 *
 * A file that claims 900 GB may be made in no time, and it takes hours to read.  Where a file system
 * does not tell, everything is data.  All three move the descriptor's offset.
 */
uint64_t fd_hole_bytes(int fd, uint64_t at, uint64_t end);  /* from @at on; 0: there is data */
uint64_t fd_next_hole(int fd, uint64_t at, uint64_t end);   /* where; @end: there is none before */
uint64_t fd_data_end(int fd, uint64_t begin, uint64_t end); /* of the last data; @begin: none */

/* Writes @path by way of a temporary beside it and rename(): readers see old or new, never half. */
int file_replace(int dir_fd, const char *path, const void *data, size_t n, mode_t mode);
/* The same; @synced: whatever crashes, there is the old file or the new one, and it waits for the disk. */
int file_replace_full(int dir_fd, const char *path, const void *data, size_t n, mode_t mode,
                      bool synced);

/* Removes @path and all below it; never follows a symbolic link. */
int tree_remove(int dir_fd, const char *path);
/*
 * The same in parts: at least one entry each time, and more until @until_ns (CLOCK_MONOTONIC).
 * @remove: unlinks what is no directory; -EISDIR or -EPERM of what is one
 *
 * Return: 0: nothing is left; TREE_GOES_ON; -errno.
 */
enum { TREE_GOES_ON = 1 };
typedef int (*TreeFile)(int dir_fd, const char *name, void *userdata);
int tree_remove_until(int dir_fd, const char *path, uint64_t until_ns, TreeFile remove,
                      void *userdata);

/* A regular file below @dir_fd for reading, resolved as openat2(2)'s @resolve says.  Nothing else is opened, since a device
 * may act by that: a watchdog begins to count.  A descriptor; -EBADMSG: it is none; -errno. */
int file_open_regular(int dir_fd, const char *path, uint64_t resolve);
/* mkdir() that is content with an existing directory. */
int dir_make(int dir_fd, const char *path, mode_t mode);
/* Opens @path as a directory, O_NOFOLLOW; a descriptor or -errno. */
int dir_open(int dir_fd, const char *path);
/* To list what dir_open() has opened; @fd is consumed, and if it is an error that is returned. */
int dir_list(DIR **ret, int fd);
/* The next entry but "." and ".."; NULL: there is none, or *@r is why it cannot be read. */
struct dirent *dir_next(DIR *d, int *r);
/* The next name that is a number, as those of processes in /proc; NULL: there is none. */
const char *dir_next_number(DIR *d);

/* poll() without EINTR until @end_ns of CLOCK_MONOTONIC; UINT64_MAX: for ever.  0: one of @p has something;
 * -ETIMEDOUT; -errno. */
int poll_until(struct pollfd *p, nfds_t n, uint64_t end_ns);
/*
 * poll_child() - the same, and until a child has ended
 * @pid: the child, which stays to be waited for
 * @p:   the first of the @n is the child's and need not be filled in
 *
 * Before linux 5.3, which has no pidfd_open(2), the child is looked at every POLL_CHILD_MS.
 *
 * Return: POLL_CHILD_ENDED, or what poll_until() returns.
 */
enum { POLL_CHILD_ENDED = 1 };
#define POLL_CHILD_MS 10
int poll_child(pid_t pid, struct pollfd *p, nfds_t n, uint64_t end_ns);
