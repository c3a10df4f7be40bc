/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Entry: a file inside a store, opened so that it is inside the store
 *
 * A store may have been unpacked from anywhere.  A symbolic link, a FIFO or a
 * ".." in it must not lead a reader (who may be root) elsewhere or make it hang.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * entry_open_file() - open a regular file below a directory
 * @path:  relative, no empty component, no "." and no "..", shorter than PATH_MAX; or -EINVAL
 * @flags: O_RDONLY or O_RDWR
 *
 * No component may be a symbolic link (-ELOOP, or -ENOTDIR where a directory was wanted).  What is
 * no regular file is -EISDIR, -EBADFD or, of a socket, -ENXIO; a FIFO does not block, and a device is
 * not opened.
 * Return: a descriptor that the caller owns, or -errno.
 */
int entry_open_file(int dir_fd, const char *path, int flags);
/* True if it failed because there is something else in the file's place. */
bool entry_is_misplaced(int r);

/* entry_open_file() for reading, and all of the file as a NUL-terminated string, which the caller
 * frees; more than @max bytes are -EFBIG. */
int entry_read(int dir_fd, const char *path, char **ret, size_t *ret_n, size_t max);
/* Replaces the file atomically (mode STORE_FILE_MODE), making the directories above it; @synced: after a crash
 * there is the old one or the new one, and it waits for the disk. */
int entry_replace(int dir_fd, const char *path, const void *data, size_t n, bool synced);
/* Writes behind the file's end, making it if it is missing (mode STORE_FILE_MODE), all or nothing.
 * *@ret_n: how long it is then. */
int entry_append(int dir_fd, const char *name, const void *data, size_t n, uint64_t *ret_n);
