/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the room's files have of each other. */

#include "programs/programs.h"

#define PROGRAM_NAME_MAX 4096 /* bytes of a symbol; what is longer is cut */

/* --- program-image.c: an ELF file ---------------------------------------------------------------- */

typedef struct ProgramImage ProgramImage;

enum { PROGRAM_IMAGE_E_INVALID = 1 };

/*
 * program_image_open() - read the symbols of a file
 * @fd:     consumed, of a regular file
 * @debug:  where debug files are, "/usr/lib/debug"
 *
 * Return: 0; PROGRAM_IMAGE_E_INVALID, with what it is in *@ret_problem, half a sentence; -ENOMEM.
 */
int program_image_open(ProgramImage **ret, int fd, const char *debug, const char **ret_problem);
/* Fills what it knows of the byte at @at of the file. */
void program_image_name(ProgramImage *i, uint64_t at, ProgramFrame *frame);
ProgramImage *program_image_free(ProgramImage *i);
DEFINE_CLEANUP(ProgramImage *, program_image_free);

/* --- perf-map.c ------------------------------------------------------------------------------------ */

#define PERF_MAP_BYTES_MAX ((size_t) 64 << 20)

typedef struct PerfMapItem {
        uint64_t start, n_bytes;
        const char *name; /* n_name bytes, in the text */
        uint32_t n_name, order;
} PerfMapItem;

typedef struct PerfMap {
        char *text;         /* owned */
        PerfMapItem *items; /* by start, one of each */
        size_t n;
} PerfMap;

/* @text: NUL-terminated, hostile, consumed.  0 or -ENOMEM. */
int perf_map_read(PerfMap *ret, char *text);
/* What @address is in; NULL: nothing. */
const PerfMapItem *perf_map_find(const PerfMap *m, uint64_t address);
void perf_map_done(PerfMap *m);

/* --- demangle.c -------------------------------------------------------------------------------------- */

/* What a compiler of C++ or Rust made of a name, which the caller frees; NULL: nothing, or nobody knows. */
char *demangle(const char *name);
