/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sweeper: what has to be gone when we are, whatever we die of
 *
 * A process that does nothing but wait for our end of a pipe to be closed, as it is by SIGKILL too,
 * and then removes a temporary file, or a directory with what is in it.  Whoever has removed or
 * renamed it before leaves it nothing to do.
 */

#include "base/cleanup.h"

/* @path: removed once the descriptor that is returned is closed.  -errno: nobody will. */
int sweeper_start(const char *path);
