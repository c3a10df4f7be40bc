/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lib/public/client.c needs of lib/public/source.c. */

#include "public/ftraced.h"
#include "store/session-dir.h"

/* @dir: consumed, also on failure.  As ftraced_source_open(). */
int ftraced_source_take_dir(ftraced_source **ret, SessionDir *dir);
