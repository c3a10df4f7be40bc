/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Discard: a file that is removed takes nothing any more, whoever has it open
 *
 * Whoever may read a store can keep what was opened, mapped or linked for as long as they like, and with
 * it the disk space of files that nobody counts any more.  So a file is emptied when it has lost its
 * last name in the store.  What is left to who holds it is an inode, of which their own limit of
 * descriptors bounds the number.
 *
 * A reader sees that its file has become shorter: it has been removed, or another has its name now
 * (codec/page-source.h, entry_read()).
 */

#include <stdint.h>

/*
 * discard_file() - unlink and empty
 * @path:        relative to @dir_fd, never followed if a symbolic link
 * @sessions_fd: where else a segment may have a name, as snapshots share theirs (borrowed); -EBADF: nowhere
 * @freed_bytes: what it took on disk is added if it was emptied; may be NULL
 *
 * Return: 0, -errno as of unlinkat(): -ENOENT, -EISDIR.  That it cannot be emptied is no failure.
 */
int discard_file(int dir_fd, const char *path, int sessions_fd, uint64_t *freed_bytes);
/* The same in a directory that is hidden: whoever is killed meanwhile leaves a name, by which the file is
 * discarded the next time.  ".NAME" is taken for it. */
int discard_hidden_file(int dir_fd, const char *name, int sessions_fd, uint64_t *freed_bytes);
/* The same of a file that may have lost its name already, open for writing (borrowed); with @sessions_fd
 * one that has a name stays as it is. */
void discard_fd(int fd, int sessions_fd, uint64_t *freed_bytes);
