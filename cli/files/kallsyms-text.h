/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One kallsyms text for a recording, for formats that have room for one only
 *
 * The first map is taken whole, and of each later one the lines of modules whose
 * addresses were nothing's beginning before: each function that was ever loaded
 * has its name, but for one that began exactly where another had begun.
 *
 * Behind them all stands one that is made up.  libtraceevent 1.7.1 takes an address for the last
 * symbol's only if it is where that begins (src/event-parse.c, func_map_init()); what is recorded of
 * a function may be 4 bytes behind, and symbols may have been cut down before.
 */

#define KALLSYMS_TEXT_END "ftraced_end_of_symbols"

#include "store/session-dir.h"

/* The caller frees *@ret, which is "" if there are no symbols; *@ret_is_damaged: some could not be
 * read.  0 or -errno. */
int kallsyms_text_read(const SessionDir *dir, const SessionMeta *meta, char **ret, size_t *ret_n,
                       bool *ret_is_damaged);
