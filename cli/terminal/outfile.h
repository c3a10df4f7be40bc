/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Outfile: a file that is there whole or not at all
 *
 * A regular file is written without a name, in the directory where it shall be, and gets its name
 * at the end; what a symbolic link points to is replaced, not the link.  Anything else (a device, a
 * pipe) is written as it stands.
 *
 * Whatever we die of, nothing is left: a file without a name goes with its last descriptor.  Where
 * the file system has none (NFS, FUSE, 9p), or /proc is missing, it has the name PATH.XXXXXX
 * meanwhile, and a sweeper; so it has for the moment in which it takes the place of an old one.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

typedef struct Outfile {
        int fd;
        char *path;      /* where it shall be */
        char *temporary; /* where it is; NULL: nowhere, or in place */
        bool is_nameless;
        int sweeper_fd;
} Outfile;

#define OUTFILE_INIT ((Outfile){ .fd = -EBADF, .sweeper_fd = -EBADF })

/* @mode: of a new file, less the umask.  0 or -errno. */
int outfile_open(Outfile *ret, const char *path, mode_t mode);
/* The same as where there are no files without a name. */
int outfile_open_named(Outfile *ret, const char *path, mode_t mode);
/* The same, as @temporary until outfile_commit(), a new file on the file system of @path; whoever chooses that sees to
 * it that nothing is left. */
int outfile_open_as(Outfile *ret, const char *path, const char *temporary, mode_t mode);
/* Of one that has a name: all is written, and it takes no descriptor until outfile_commit().  0 or -errno. */
int outfile_close(Outfile *f);
/* False: it is written in place, and need not be a file that can be sought in. */
static inline bool outfile_is_new(const Outfile *f) {
        return f->is_nameless || f->temporary;
}
int outfile_commit(Outfile *f);
/* Closes; what was not committed is gone. */
void outfile_done(Outfile *f);
#define _cleanup_outfile_ _cleanup_(outfile_done)
