/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * INI: text of the form that systemd's configuration files have
 *
 *      # or ; begins a comment
 *      [Section]
 *      Key=Value                  blanks around either do not count
 *      Key=begins here \
 *        and goes on              joined by a blank; comments in between are left out
 */

#include "base/strv.h"

#define INI_BYTES_MAX ((size_t) 1 << 20) /* of a file */

typedef struct IniEntry {
        const char *section; /* "" before the first */
        const char *key, *value;
        unsigned line; /* from 1; the first of several */
} IniEntry;

typedef struct IniHandler {
        /* 0, or a negative that ends the parse. */
        int (*set)(const IniEntry *e, void *userdata);
        /* A section begins.  May be NULL. */
        int (*section)(const char *name, unsigned line, void *userdata);
        /* A line that is none of the above: @what is the rest of "LINE: ...".  May be NULL. */
        int (*bad)(unsigned line, const char *what, void *userdata);
        void *userdata;
} IniHandler;

/* @text: changed meanwhile.  0, or what a handler returned. */
int ini_parse(char *text, const IniHandler *h);
/* Adds "FILE:LINE: ...".  0 or -ENOMEM. */
int ini_complain(Strv *problems, const char *file, unsigned line, const char *format, ...)
        _printf_(4, 5);
