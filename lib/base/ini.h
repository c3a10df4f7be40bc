/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * INI: where configuration is, and text of the form that systemd's configuration files have
 *
 *      # or ; begins a comment
 *      [Section]
 *      Key=Value                  blanks around either do not count
 *      Key=begins here \
 *        and goes on              joined by a blank; comments in between are left out
 */

#include "base/array.h"

#define INI_BYTES_MAX ((size_t) 1 << 20) /* of a file */

typedef struct IniEntry {
        const char *section; /* "" before the first */
        const char *key, *value;
        unsigned line; /* from 1; the first of several */
} IniEntry;

typedef struct IniHandler {
        /* 0, or a negative that ends the parse. */
        int (*set)(const IniEntry *e, void *userdata);
        /* Whether it is one of ours; what is in any other is passed over, in silence if it is "X-...".  NULL: all are. */
        bool (*knows)(const char *section);
        /* A line that is none of that: @what is the rest of "LINE: ...".  May be NULL. */
        int (*bad)(unsigned line, const char *what, void *userdata);
        void *userdata;
} IniHandler;

/* @text: changed meanwhile.  0, or what a handler returned. */
int ini_parse(char *text, const IniHandler *h);
/* Adds "FILE:LINE: ...".  0 or -ENOMEM. */
#define ini_complain(problems, file, line, format, ...)                                            \
        strv_addf((problems), "%s:%u: " format, (file), (line), ##__VA_ARGS__)

/*
 * conf_files_find() - the files that make up @name ("ftraced.conf", "profiles.d/x.conf")
 * @root:         before every path; NULL: none
 * @ret:          paths are added, in the order in which they are to be read
 * @ret_has_main: whether the first of them is no drop-in; may be NULL
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
int conf_files_find(Strv *ret, const char *root, const char *name, bool *ret_has_main);
/* Adds the names of all that end in ".conf" in directory @dir ("profiles.d") of any place; sorted. */
int conf_files_list(Strv *ret, const char *root, const char *dir);
