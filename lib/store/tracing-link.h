/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tracing link: the files of tracefs that one recording keeps, in another one as well
 *
 * Hard links: they are replaced as a whole or not at all (session_dir_write_tracing()), never changed.
 */

#include "store/session-dir.h"

/*
 * tracing_link() - all files in tracing/ of @from, at the same paths in @to
 *
 * What is neither a directory nor a regular file is left out, and so is what lies deeper or is more than any
 * recording has.  Return: 0; -EEXIST: one is there already; other -errno.
 */
int tracing_link(const SessionDir *from, const SessionDir *to);
