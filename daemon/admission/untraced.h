/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Untraced: why a name is not among the functions that can be traced
 */

/*
 * untraced_explain()
 * @root_fd: where proc/kallsyms and lib/modules are read
 * @ret:     ": REASON", or "" if that is not known; the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int untraced_explain(char **ret, int root_fd, const char *name);
