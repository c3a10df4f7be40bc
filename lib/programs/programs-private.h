/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the room's files have of each other. */

#include "programs/programs.h"
#include "spaces/stack-copies.h"

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
/* How to come from the byte at @at of the file to its caller, valid until the next one is asked for; NULL: it does not say. */
typedef struct UnwindRules UnwindRules;
const UnwindRules *program_image_rules(ProgramImage *i, uint64_t at);
ProgramImage *program_image_free(ProgramImage *i);
DEFINE_CLEANUP(ProgramImage *, program_image_free);

/* --- unwind.c -------------------------------------------------------------------------------------- */

#ifdef HAVE_ELFUTILS
#include <elfutils/libdw.h>

/* Of one register. */
typedef struct UnwindRule {
        enum { UNWIND_UNDEFINED, UNWIND_SAME, UNWIND_BY_OPS } kind;
        uint32_t n;
        const Dwarf_Op *ops; /* of libdw, or room */
        Dwarf_Op room[3];
} UnwindRule;

struct UnwindRules {
        Dwarf_Frame *frame; /* owned; what ops lead into */
        bool is_signal;
        uint8_t return_register;
        UnwindRule cfa, registers[32];
};

typedef enum UnwindStep {
        UNWIND_CALLED,      /* @c is the caller, and its pc behind the call */
        UNWIND_INTERRUPTED, /* it is what a signal has interrupted there */
        UNWIND_WHOLE,       /* nobody has called it */
        UNWIND_CUT,         /* more of the stack would tell */
        UNWIND_LOST,
} UnwindStep;

/* @c becomes its caller; @rules: NULL: there are none for its pc. */
UnwindStep unwind_step(StackCopy *c, const UnwindRules *rules);
#endif

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
