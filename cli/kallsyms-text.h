/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One kallsyms text for a recording, for formats that have room for one only
 *
 * The first map is taken whole, and of each later one the lines of modules whose
 * addresses were nothing's beginning before: each function that was ever loaded
 * has its name, but for one that began exactly where another had begun.
 */

#include "store/session-dir.h"

/* The caller frees *@ret, which is "" if there are no symbols; *@ret_is_damaged: some could not be
 * read.  0 or -errno. */
int kallsyms_text_read(const SessionDir *dir, const SessionMeta *meta, char **ret, size_t *ret_n,
                       bool *ret_is_damaged);
