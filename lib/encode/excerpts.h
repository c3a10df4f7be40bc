/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Excerpts: lines of Linux's source around those that somebody names, for the page
 *
 * They are written as JSON that may stand in an HTML script: an item for each file, in the order of the first lines
 * that were asked for
 *
 *      [{"name": "net/ipv4/udp.c", "n": 3412, "parts": [1098, "\tif (err)\n\t\tgoto out;\n", ...], "other": [1028]},
 *       {"name": "include/generated/x.h", "problem": "is not in the source"}]
 *
 * @parts: the number of a line, and the text from there on; "other": where a function should be defined, and its name is
 * not.  Names of files are from debug information, which is hostile: of what is below the directory only regular
 * files are read, up to EXCERPTS_FILE_MAX, and all excerpts together end with the line
 * that exceeds EXCERPTS_BYTES_MAX of JSON.
 */

#include <stdbool.h>

#include "base/buf.h"

#define EXCERPTS_FILE_MAX ((size_t) 4 << 20)
#define EXCERPTS_BYTES_MAX ((size_t) 300 << 10)

typedef struct Excerpts Excerpts;

enum { EXCERPTS_E_NONE = 1 };

/* @dir: an unpacked source.  0; EXCERPTS_E_NONE: it is none, as it has no Makefile that tells a version; -errno, also of
 * that one: -EXDEV: it lies outside. */
int excerpts_new(Excerpts **ret, const char *dir);
/* "6.12.117" */
const char *excerpts_version(const Excerpts *e);
/* Whether a kernel of that release may have been built of it: "6.12.117+deb12-amd64", "6.1.0-56-amd64". */
bool excerpts_fit(const Excerpts *e, const char *release);
/* Asks for what is around a line.  @defined: the name, not ended, of the function that is defined there; NULL: none is
 * known to be.  Both texts are borrowed.  @ret_file: the file's index.  0 or -ENOMEM. */
int excerpts_add(Excerpts *e, const char *file, uint32_t line, const char *defined,
                 size_t n_defined, size_t *ret_file);

typedef struct ExcerptsCount {
        size_t n_files, n_without; /* of them, those that have no text */
        size_t n_other; /* functions that are not where they should be, and lines beyond an end */
        size_t n_left_out; /* lines for which there was no room */
} ExcerptsCount;

int excerpts_write(Excerpts *e, Buf *out, ExcerptsCount *ret);
Excerpts *excerpts_free(Excerpts *e);
DEFINE_CLEANUP(Excerpts *, excerpts_free);
