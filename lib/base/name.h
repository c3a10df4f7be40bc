/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What may be a name
 *
 * Names arrive from the socket and end in paths and in tracefs files, where
 * ':' starts a command, whitespace ends a word and '!' removes one.  Whatever
 * is not expressly allowed is refused.
 */

#include <stdbool.h>

#define SESSION_NAME_MAX 63   /* bytes */
#define FUNCTION_NAME_MAX 255 /* bytes; KSYM_NAME_LEN is 512 in 6.1, real names stay far below */

/* [A-Za-z0-9][A-Za-z0-9._-]{0,62}, and no "..": a file name and an instance name. */
bool session_name_is_valid(const char *s);

/* A kernel function or a glob over functions: [A-Za-z0-9_.$] and the glob characters * ? [ ] ^ -,
 * at least one character that is not a glob's. */
bool function_pattern_is_valid(const char *s);
bool function_pattern_is_glob(const char *s); /* has any of * ? [ */
bool function_name_is_valid(const char *s);   /* a pattern that is no glob */

/* A trace clock: [a-z0-9_-]{1,31}. */
bool clock_name_is_valid(const char *s);

/* The name of a task: 1 to COMM_MAX bytes, no control characters, no '"' and no backslash. */
#define COMM_MAX 15 /* TASK_COMM_LEN - 1, linux 6.1 include/linux/sched.h */
bool comm_is_valid(const char *s);

/* The path of a control group, from wherever: no "..", no control characters. */
#define CGROUP_PATH_MAX 1023
bool cgroup_path_is_valid(const char *s);

/*
 * name_quote() - a hostile string made fit for a message
 *
 * Copies @s into @text, all that is not plain (base/plain-text.h) as \xNN, cut
 * with "..." at the size.  Returns @text.
 */
#define NAME_QUOTE_MAX 96
char *name_quote(char text[static NAME_QUOTE_MAX], const char *s);
/* The same, in memory of its own until the end of the block. */
#define NAME_QUOTED(s) name_quote((char[NAME_QUOTE_MAX]){}, (s))
