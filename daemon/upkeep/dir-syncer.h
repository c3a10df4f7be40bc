/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Dir syncer: has a directory's names written to the disk, once, beside the loop
 *
 * Which may take a disk as long as it likes: fsync() of a directory waits for the file system's journal, and for
 * what others have written.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct DirSyncer DirSyncer;

/* From the loop: 0 or -errno of fsync(). */
typedef void (*DirSynced)(int result, void *userdata);

/* @dir_fd: dup()ed.  0 or -errno. */
int dir_syncer_new(DirSyncer **ret, sd_event *event, int dir_fd, DirSynced done, void *userdata);
/* Waits for nothing: whatever becomes of it, @done is not called any more.  It may be called by @done. */
DirSyncer *dir_syncer_free(DirSyncer *s);
DEFINE_CLEANUP(DirSyncer *, dir_syncer_free);
