/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * ConfFiles: where configuration is
 *
 *      /etc/ftraced/NAME                  the first of these that there is
 *      /run/ftraced/NAME
 *      /usr/local/lib/ftraced/NAME
 *      /usr/lib/ftraced/NAME
 *      .../NAME.d/DROP-IN.conf            then these of all four, by DROP-IN; of one name, the
 *                                         first directory's
 *
 * An empty file, or a link to /dev/null, is one as well: it says nothing and hides the others.
 * The first two as configured; this is what systemd's programs do (systemd 252, man 5
 * journald.conf).
 */

#include "base/strv.h"

/*
 * conf_files_find() - the files that make up @name ("ftraced.conf", "profiles.d/x.conf")
 * @root:         before every path; NULL: none
 * @ret:          paths are added, in the order in which they are to be read
 * @ret_has_main: whether the first of them is no drop-in; may be NULL
 */
int conf_files_find(Strv *ret, const char *root, const char *name, bool *ret_has_main);
/* Adds the names of all that end in ".conf" in directory @dir ("profiles.d") of any place; sorted. */
int conf_files_list(Strv *ret, const char *root, const char *dir);
