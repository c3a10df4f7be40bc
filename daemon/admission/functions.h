/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Functions: what can be traced here
 *
 * available_filter_functions as a sorted list.  Reading it costs the kernel
 * hundreds of milliseconds, so it is kept for as long as the list of modules
 * stays the same.  Modules' functions are shown there as "name [module]";
 * filters match the name alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "daemon/tracefs/tracefs.h"

typedef struct FunctionLine {
        const char *name; /* in Functions.text */
        uint32_t line;    /* of available_filter_functions, from 1 */
} FunctionLine;

typedef struct Functions {
        char *text; /* all names, each with its NUL, and its "[module]" after that */
        size_t n_text;
        const char **names; /* n of them, sorted, unique, in text */
        size_t n;
        FunctionLine *lines; /* n_lines of them, sorted by name, then line; names may repeat */
        size_t n_lines;
        char *modules; /* kernel_modules_read() when it was read */
        int list_fd;   /* functions_open_list(); of meaning if n > 0 */
        int root_fd;   /* borrowed: where that was */
} Functions;

/* Reads the list if there is none or the modules have changed.  0 or -errno. */
int functions_load(Functions *f, const Tracefs *fs);
/* Whether there is nothing to read. */
bool functions_are_current(const Functions *f, const Tracefs *fs);
void functions_done(Functions *f);

bool functions_contain(const Functions *f, const char *name);
/* "[module]", borrowed, or NULL: it is the kernel's own, or not there. */
const char *functions_find_module(const Functions *f, const char *name);
/*
 * functions_expand() - every function that @patterns stand for
 * @ret:   they are added, sorted, each once; none if there are more than @max
 * @ret_n: how many there are, or which pattern it was
 *
 * Globs have the kernel's meaning (linux 6.1 lib/glob.c, glob_match()): '*', '?', "[a-z]", and a
 * '[' that is never closed stands for itself.  Names, and globs that begin with some letters, are found
 * quickly; of others there may be so many, and so much in each, that it would take more than about a
 * quarter of a second.
 * Return: 0, FUNCTIONS_E_NOTHING (a pattern stands for none), FUNCTIONS_E_COSTLY, -ENOMEM.
 */
enum { FUNCTIONS_E_NOTHING = 1, FUNCTIONS_E_COSTLY = 2 };
int functions_expand(const Functions *f, const Strv *patterns, size_t max, Strv *ret,
                     size_t *ret_n);
/*
 * functions_shorten() - the same functions in fewer words
 * @names: each once
 * @globs: of which some may stand for many of them; NULL: none
 * @ret:   names, and globs that stand for nothing but @names
 *
 * For each word that is written to set_graph_function the kernel compares all of its functions, so that
 * "vfs_*" takes it a 78th of the time of the 78 names.  Nothing is shortened by less than a few words.
 * Return: 0 or -ENOMEM.
 */
int functions_shorten(const Functions *f, const Strv *names, const Strv *globs, Strv *ret);
/*
 * functions_find_lines() - where @names are in available_filter_functions
 * @ret: decimal line numbers are added; a name that occurs several times has several, and one that
 *       does not occur has none
 *
 * set_ftrace_filter takes such a number in the place of a name and then finds the function without
 * comparing it with all others (linux 6.1 kernel/trace/ftrace.c, add_rec_by_index()).
 * Return: 0 or -ENOMEM.
 */
int functions_find_lines(const Functions *f, const Strv *names, Strv *ret);
/* A sealed memfd with all functions, "name" or "name [module]", one a line: a descriptor of it with its
 * own place, which the caller owns, or -errno.  It was written when they were loaded. */
int functions_open_list(const Functions *f);

/* One glob against one name, as the kernel would.  *@n_steps: characters compared are added. */
bool function_glob_matches(const char *pattern, const char *name, uint64_t *n_steps);

/*
 * clock_reader_find() - functions with which the kernel reads the trace clock, of the clock source in use
 *
 * read_tsc() and the hypervisors' clocks cannot be traced, but read_hpet() and acpi_pm_read() can: each event's time
 * stamp is then an event of its own, and where an interrupt meets one the protection against recursion drops others,
 * which no kernel counts as lost (seen on 7.2 with the HPET).  So they go into the session's set_ftrace_notrace.
 *
 * Source: linux 6.12 arch/x86/kernel/hpet.c, drivers/clocksource/acpi_pm.c, kernel/time/jiffies.c.
 * Adds those that can be traced here; none is the rule.  0 or -errno.
 */
int clock_reader_find(const Tracefs *fs, const Functions *f, Strv *ret);
