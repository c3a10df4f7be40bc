/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Outfile: a file that is there whole or not at all
 *
 * A regular file is written beside the one that it replaces, as .ftraced-0123456789abcdef, and
 * renamed at the end; what a symbolic link points to is replaced, not the link.  Anything else (a
 * device, a pipe) is written as it stands.  Whatever we die of, nothing is left, for a sweeper is
 * there.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

typedef struct Outfile {
        int fd;
        char *path;      /* where it shall be */
        char *temporary; /* where it is; NULL: in place */
        int sweeper_fd;
} Outfile;

#define OUTFILE_INIT ((Outfile){ .fd = -EBADF, .sweeper_fd = -EBADF })

/* @mode: of a new file, less the umask.  0 or -errno. */
int outfile_open(Outfile *ret, const char *path, mode_t mode);
/* The same, as @temporary until outfile_commit(), a new file on the file system of @path;
 * whoever chooses that sees to it that nothing is left. */
int outfile_open_as(Outfile *ret, const char *path, const char *temporary, mode_t mode);
/* All is written, and it takes no descriptor until outfile_commit().  0 or -errno. */
int outfile_close(Outfile *f);
/* False: it is written in place, and need not be a file that can be sought in. */
static inline bool outfile_is_new(const Outfile *f) {
        return f->temporary;
}
int outfile_commit(Outfile *f);
/* Closes; what was not committed is gone. */
void outfile_done(Outfile *f);
#define _cleanup_outfile_ _cleanup_(outfile_done)

/*
 * sweeper_start() - a process that does nothing but wait for our end of a pipe to be closed, as it
 * is by SIGKILL too
 * @path: a temporary file, or a directory with what is in it, which it then removes; whoever has
 *        removed or renamed it before leaves it nothing to do
 *
 * Return: our end; -errno: nobody will.
 */
int sweeper_start(const char *path);
