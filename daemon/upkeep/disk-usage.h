/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Disk usage: what a session has on disk, counted and mended
 */

#include <stdint.h>

#include "store/session-dir.h"

/*
 * disk_usage_reserve() - room kept for the end
 *
 * A recording that filled the disk still has to write down how it ended and what must be put back
 * in the kernel: disk_usage_release() gives these DISK_USAGE_RESERVE_BYTES back for that.
 * Return: 0 or -errno (-ENOSPC: it should not begin at all).
 */
#define DISK_USAGE_RESERVE_BYTES (512 << 10)
int disk_usage_reserve(const SessionDir *dir);
void disk_usage_release(const SessionDir *dir);

/* The accounts' n_pages become what the segments hold, also those that are being written; nothing is
 * changed.  0 or -errno. */
int disk_usage_count(const SessionDir *dir, SessionMeta *m);

/*
 * disk_usage_recover() - close what a dead daemon left open
 * @m: the accounts' n_pages and n_bytes become what is there; warnings name damaged
 *     segments
 *
 * Return: 0 or -errno.
 */
int disk_usage_recover(const SessionDir *dir, SessionMeta *m);
