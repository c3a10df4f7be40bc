/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Outfile: a file that is there whole or not at all
 *
 * A regular file is written beside its name and put in its place at the end;
 * what a symbolic link points to is replaced, not the link.  Anything else (a
 * device, a pipe) is written as it stands.
 */

#include <sys/types.h>

#include "base/cleanup.h"

typedef struct Outfile {
        int fd;
        char *path;      /* where it shall be */
        char *temporary; /* where it is; NULL: in place already */
} Outfile;

#define OUTFILE_INIT ((Outfile){ .fd = -EBADF })

/* @mode: of a new file, less the umask.  0 or -errno. */
int outfile_open(Outfile *ret, const char *path, mode_t mode);
int outfile_commit(Outfile *f);
/* Closes; what was not committed is removed. */
void outfile_done(Outfile *f);
#define _cleanup_outfile_ _cleanup_(outfile_done)
